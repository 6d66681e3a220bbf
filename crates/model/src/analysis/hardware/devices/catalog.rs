//! The listed figures of GPUs, from `share/gpus.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::schema::facts::AgentFacts;

/// Source of figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    text: String,
    #[serde(default)]
    weak: bool,
}

/// A number, or numbers of a group such as `ops`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SpecEntry {
    Number(f64),
    Group(BTreeMap<String, f64>),
}

type Figures = BTreeMap<String, BTreeMap<String, SpecEntry>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Architecture {
    name: String,
    whole_xccs: Vec<i64>,
    figures: Figures,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Product {
    name: String,
    architecture: String,
    pci_ids: Vec<i64>,
    partitions: Option<Partitions>,
    /// Figures that are listed as unknown.
    #[serde(default, rename = "lacks")]
    _lacks: Vec<String>,
    figures: Figures,
}

/// Modes that divide a GPU.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Partitions {
    compute: Vec<String>,
    memory: Vec<String>,
    /// Name of the source.
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogFile {
    source: BTreeMap<String, Source>,
    architecture: Vec<Architecture>,
    product: Vec<Product>,
    #[serde(rename = "unknown")]
    _unknown: Vec<IgnoredAny>,
}

/// A listed figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    /// Its source.
    pub reference: &'static str,
    /// Whether it was not checked against the maker's documents.
    pub weak: bool,
}

/// Figures of an architecture or a product, by name; figures of a group as `group.name`.
#[derive(Debug, Default)]
pub struct Listed {
    /// Name of the architecture or product.
    pub name: &'static str,
    pub figures: BTreeMap<String, Figure>,
}

impl Listed {
    pub fn get(&self, name: &str) -> Option<Figure> {
        self.figures.get(name).copied()
    }

    /// The figures of a group by their names in it.
    pub fn group(&self, group: &str) -> impl Iterator<Item = (&str, Figure)> {
        let figures = self.figures.iter();
        figures.filter_map(move |(name, figure)| Some((name.strip_prefix(group)?.strip_prefix('.')?, *figure)))
    }
}

#[derive(Debug, Default)]
pub struct Catalog {
    architectures: Vec<(Listed, &'static [i64])>,
    products: Vec<(Listed, &'static Product)>,
}

/// How a product was identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// By its PCI device id.
    PciId(i64),
    Name,
}

impl Catalog {
    /// The catalog of `share/gpus.toml`; a test reads it, so that it is never empty.
    pub fn builtin() -> &'static Self {
        static BUILTIN: LazyLock<Catalog> = LazyLock::new(|| Catalog::new(shared!(CatalogFile, "share/gpus.toml")));
        &BUILTIN
    }

    fn new(file: &'static CatalogFile) -> Self {
        let listed = |name: &'static str, figures| Listed { name, figures: flat(figures, &file.source) };
        let architectures =
            file.architecture.iter().map(|known| (listed(&known.name, &known.figures), known.whole_xccs.as_slice()));
        let products = file.product.iter().map(|known| (listed(&known.name, &known.figures), known));
        Self { architectures: architectures.collect(), products: products.collect() }
    }

    /// Figures that all GPUs of an LLVM target share, and the number of XCDs of an agent that is a whole GPU.
    pub fn architecture(&self, name: &str) -> Option<(&Listed, &'static [i64])> {
        let name = target(name);
        self.architectures.iter().find(|(known, _)| known.name == name).map(|(known, whole)| (known, *whole))
    }

    /// Products by a name as people write it, such as `MI300X`, `mi300x` or `AMD Instinct MI300X`, with their
    /// architectures, in the order of their names. The product with that name, otherwise those whose names start with a
    /// word of it, as `MI300` does.
    pub(crate) fn products_named(&self, given: &str) -> Vec<(&'static str, &'static str)> {
        let given = given.to_ascii_uppercase();
        let words: Vec<&str> =
            given.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| word.starts_with("MI")).collect();
        let chosen = |fits: &dyn Fn(&str) -> bool| -> Vec<(&'static str, &'static str)> {
            let fitting = self.products.iter().filter(|(listed, _)| fits(listed.name));
            let mut chosen: Vec<_> =
                fitting.map(|(listed, known)| (listed.name, known.architecture.as_str())).collect();
            chosen.sort_unstable();
            chosen
        };
        let named = chosen(&|name| words.contains(&name));
        if named.is_empty() { chosen(&|name| words.iter().any(|word| name.starts_with(word))) } else { named }
    }

    /// The figures of all products of an LLVM target.
    pub fn products_of(&self, name: &str) -> impl Iterator<Item = &Listed> {
        let name = target(name);
        self.products.iter().filter(move |(_, product)| product.architecture == name).map(|(listed, _)| listed)
    }

    /// The product that an agent is: by PCI device id, otherwise by name if only one product fits. Never one of another
    /// architecture.
    pub fn product(&self, agent: &AgentFacts) -> Option<(&Listed, MatchedBy)> {
        let fits = |product: &Product| target(&agent.name).is_empty() || product.architecture == target(&agent.name);
        let by_id = agent.pci_device_id.and_then(|id| {
            let found = self.products.iter().find(|(_, product)| product.pci_ids.contains(&id) && fits(product));
            found.map(|(listed, _)| (listed, MatchedBy::PciId(id)))
        });
        by_id.or_else(|| {
            let name = agent.product_name.as_deref()?.to_ascii_uppercase();
            let words: Vec<&str> = name.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
            let mut named =
                self.products.iter().filter(|(_, product)| words.contains(&product.name.as_str()) && fits(product));
            let (listed, _) = named.next()?;
            named.next().is_none().then_some((listed, MatchedBy::Name))
        })
    }
}

/// Modes that divide XCDs, with the maximum number of memory parts for each.
const MOST_MEMORY_PARTS: [(&str, u32); 2] = [("SPX", 1), ("DPX", 2)];

impl Catalog {
    /// Why the recorded modes of a GPU are impossible: its product has partitions but lacks one of them, or the modes
    /// exclude each other. A text that is not a mode, such as `N/A`, does not count.
    pub fn impossible_partition(&self, agent: &AgentFacts, compute: &str, memory: &str) -> Option<String> {
        let (listed, _) = self.product(agent)?;
        let (_, product) = self.products.iter().find(|(known, _)| known.name == listed.name)?;
        let modes = product.partitions.as_ref()?;
        let (compute, memory) = (compute.trim().to_ascii_uppercase(), memory.trim().to_ascii_uppercase());
        let is_compute = compute.len() == 3 && compute.ends_with("PX");
        let parts: Option<u32> = memory.strip_prefix("NPS").and_then(|parts| parts.parse().ok());
        let name = listed.name;
        if is_compute && !modes.compute.contains(&compute) {
            return Some(format!("{name} has no mode {compute}, only {}", modes.compute.join(", ")));
        }
        if parts.is_some() && !modes.memory.contains(&memory) {
            return Some(format!("{name} has no mode {memory}, only {}", modes.memory.join(", ")));
        }
        let most = MOST_MEMORY_PARTS.iter().find(|(mode, _)| is_compute && *mode == compute)?.1;
        let parts = parts.filter(|parts| *parts > most)?;
        Some(format!("{compute} goes with no more than NPS{most}, not with NPS{parts}"))
    }
}

/// The LLVM target without the features that may follow it, as in `gfx942:sramecc+:xnack-`.
pub fn target(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

fn flat(figures: &'static Figures, sources: &'static BTreeMap<String, Source>) -> BTreeMap<String, Figure> {
    let mut flat = BTreeMap::new();
    for (source, entries) in figures {
        let (reference, weak) = sources.get(source).map_or(("", true), |source| (source.text.as_str(), source.weak));
        for (name, entry) in entries {
            match entry {
                SpecEntry::Number(value) => {
                    flat.insert(name.clone(), Figure { value: *value, reference, weak });
                }
                SpecEntry::Group(group) => flat.extend(
                    group
                        .iter()
                        .map(|(own, value)| (format!("{name}.{own}"), Figure { value: *value, reference, weak })),
                ),
            }
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn file() -> CatalogFile {
        toml::from_str(data!("share/gpus.toml")).unwrap()
    }

    #[test]
    fn the_file_is_whole() {
        let file = file();
        let targets: BTreeSet<&str> = file.architecture.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(
            targets.into_iter().collect::<Vec<_>>(),
            [
                "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201", "gfx1250", "gfx908", "gfx90a",
                "gfx940", "gfx941", "gfx942", "gfx950"
            ]
        );
        let mut ids = BTreeSet::new();
        for product in &file.product {
            assert!(file.architecture.iter().any(|known| known.name == product.architecture), "{}", product.name);
            assert!(product.pci_ids.iter().all(|id| ids.insert(*id)), "{}: a PCI id of another", product.name);
            // Figures are listed, or listed as unknown.
            let has = |name: &str| product.figures.values().any(|entries| entries.contains_key(name));
            for figure in ["num_cu", "hbm_peak_gbps", "tflops"] {
                let is_lacking = product._lacks.iter().any(|lacking| lacking == figure);
                assert!(has(figure) != is_lacking, "{}: {figure}", product.name);
            }
            if let Some(modes) = &product.partitions {
                assert!(file.source.contains_key(&modes._source), "{}", product.name);
                assert!(modes.compute.contains(&"SPX".to_owned()) && modes.memory.contains(&"NPS1".to_owned()));
            }
        }
        let figures = file.product.iter().map(|known| (&known.name, &known.figures));
        for (name, figures) in figures.chain(file.architecture.iter().map(|known| (&known.name, &known.figures))) {
            let mut seen = BTreeSet::new();
            for (source, entries) in figures {
                assert!(file.source.contains_key(source), "{name}: no source {source}");
                for (figure, entry) in entries {
                    if let SpecEntry::Number(value) = entry {
                        assert!(*value > 0.0, "{name}.{figure}");
                        assert!(seen.insert(figure.clone()), "{name}.{figure} twice");
                    }
                }
            }
        }
        for source in file.source.keys() {
            let used = file.product.iter().any(|known| known.figures.contains_key(source))
                || file.architecture.iter().any(|known| known.figures.contains_key(source));
            assert!(used, "nothing is from {source}");
        }
    }

    #[test]
    fn products_are_found_by_what_people_write() {
        let catalog = Catalog::builtin();
        let mi300x = [("MI300X", "gfx942")];
        for given in ["MI300X", "mi300x", "AMD Instinct MI300X", "amd-instinct-mi300x", "MI300X VF"] {
            assert_eq!(catalog.products_named(given), mi300x, "{given}");
        }
        assert_eq!(catalog.products_named("MI250X"), [("MI250X", "gfx90a")]);
        assert_eq!(catalog.products_named("MI250"), [("MI250", "gfx90a")]);
        assert_eq!(catalog.products_named("MI355X"), [("MI355X", "gfx950")]);
        assert_eq!(
            catalog.products_named("MI300"),
            [("MI300A", "gfx942"), ("MI300X", "gfx942"), ("MI300XHF", "gfx942")]
        );
        for given in ["", "gfx942", "H100", "Instinct"] {
            assert!(catalog.products_named(given).is_empty(), "{given}");
        }
    }

    #[test]
    fn products_are_found() {
        let catalog = Catalog::builtin();
        let find = |name: &str, product: Option<&str>, pci: Option<i64>| {
            let agent = AgentFacts {
                name: name.to_owned(),
                product_name: product.map(str::to_owned),
                pci_device_id: pci,
                ..AgentFacts::default()
            };
            catalog.product(&agent).map(|(listed, found)| (listed.name, found))
        };
        assert_eq!(find("gfx942", None, Some(0x74a1)), Some(("MI300X", MatchedBy::PciId(0x74a1))));
        assert_eq!(find("gfx942:sramecc+:xnack-", None, Some(0x74a1)), Some(("MI300X", MatchedBy::PciId(0x74a1))));
        assert_eq!(find("gfx942", Some("AMD Instinct MI300X"), None), Some(("MI300X", MatchedBy::Name)));
        assert_eq!(find("gfx942", Some("MI300X_A1"), Some(1)), Some(("MI300X", MatchedBy::Name)));
        // The driver reports this name for both; the id distinguishes them.
        assert_eq!(find("gfx90a", Some("AMD Instinct MI250X/MI250"), None), None);
        assert_eq!(
            find("gfx90a", Some("AMD Instinct MI250X/MI250"), Some(0x740c)),
            Some(("MI250", MatchedBy::PciId(0x740c)))
        );
        assert_eq!(find("gfx90a", None, Some(0x74a1)), None, "of another architecture");
        assert_eq!(
            find("gfx1250", Some("AMD Radeon Graphics"), Some(30145)),
            Some(("MI455X", MatchedBy::PciId(0x75c1)))
        );
        assert_eq!(find("gfx1250", Some("AMD Radeon Graphics"), Some(1)), None);
        for (architecture, id, name) in [
            ("gfx950", 0x75a8, "MI350P"),
            ("gfx950", 0x75a2, "MI358"),
            ("gfx942", 0x74a9, "MI300XHF"),
            ("gfx942", 0x74a8, "MI308XHF"),
            ("gfx1151", 0x1586, "RDNA35_HALO"),
            ("gfx1150", 0x150e, "RDNA35_POINT_1"),
            ("gfx1152", 0x1114, "RDNA35_POINT_2"),
        ] {
            assert_eq!(find(architecture, None, Some(id)), Some((name, MatchedBy::PciId(id))));
        }
    }

    #[test]
    fn partition_modes_are_those_of_the_product() {
        let refused = |architecture: &str, id: i64, compute: &str, memory: &str| {
            let agent = AgentFacts { name: architecture.to_owned(), pci_device_id: Some(id), ..AgentFacts::default() };
            Catalog::builtin().impossible_partition(&agent, compute, memory)
        };
        for (architecture, id, compute, memory) in [
            ("gfx942", 0x74a1, "SPX", "NPS1"),
            ("gfx942", 0x74a1, "cpx", "nps4"),
            ("gfx942", 0x74a1, "CPX", "NPS1"),
            ("gfx942", 0x74a1, "DPX", "NPS2"),
            ("gfx942", 0x74a1, "QPX", "NPS4"),
            ("gfx942", 0x74a0, "TPX", "NPS4"),
            ("gfx942", 0x74a2, "CPX", "NPS4"),
            ("gfx950", 0x75a0, "DPX", "NPS2"),
            ("gfx950", 0x75a8, "DPX", "NPS1"),
            ("gfx1250", 0x75c1, "QPX", "NPS1"),
            // Nothing is recorded, or nothing is known.
            ("gfx942", 0x74a1, "N/A", "N/A"),
            ("gfx942", 0x74a1, "", ""),
            ("gfx90a", 0x7408, "SPX", "NPS4"),
            ("gfx1151", 0x1586, "SPX", "NPS8"),
            ("gfx942", 0x1, "TPX", "NPS8"),
        ] {
            assert_eq!(refused(architecture, id, compute, memory), None, "{architecture} {compute} {memory}");
        }
        for (architecture, id, compute, memory, reason) in [
            ("gfx942", 0x74a1, "TPX", "NPS1", "MI300X has no mode TPX, only SPX, DPX, QPX, CPX"),
            ("gfx942", 0x74a1, "CPX", "NPS8", "MI300X has no mode NPS8, only NPS1, NPS2, NPS4"),
            ("gfx942", 0x74a0, "DPX", "NPS1", "MI300A has no mode DPX, only SPX, TPX, CPX"),
            ("gfx950", 0x75a8, "CPX", "NPS4", "MI350P has no mode NPS4, only NPS1"),
            ("gfx942", 0x74a1, "SPX", "NPS4", "SPX goes with no more than NPS1, not with NPS4"),
            ("gfx942", 0x74a1, "DPX", "NPS4", "DPX goes with no more than NPS2, not with NPS4"),
        ] {
            assert_eq!(refused(architecture, id, compute, memory).as_deref(), Some(reason));
        }
    }
}
