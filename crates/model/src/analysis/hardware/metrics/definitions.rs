//! The definitions of metrics: from `share/metrics/*.toml` and from users.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use crate::analysis::hardware::metrics::expression::{Counter, Expression, Reduction};
use crate::analysis::hardware::metrics::parser::{FormulaError, Vocabulary, parse};

const VARIABLES: &str = data!("share/metrics/variables.toml");
/// Panels in display order, for panels with the same number.
const PANELS: [(&str, &str); 16] = [
    ("speed_of_light", data!("share/metrics/speed_of_light.toml")),
    ("bottleneck_evidence", data!("share/metrics/bottleneck_evidence.toml")),
    ("memory_chart", data!("share/metrics/memory_chart.toml")),
    ("roofline", data!("share/metrics/roofline.toml")),
    ("command_processor", data!("share/metrics/command_processor.toml")),
    ("workgroup_manager", data!("share/metrics/workgroup_manager.toml")),
    ("wavefront", data!("share/metrics/wavefront.toml")),
    ("derived_counters", data!("share/metrics/derived_counters.toml")),
    ("instruction_mix", data!("share/metrics/instruction_mix.toml")),
    ("compute_pipeline", data!("share/metrics/compute_pipeline.toml")),
    ("lds", data!("share/metrics/lds.toml")),
    ("instruction_cache", data!("share/metrics/instruction_cache.toml")),
    ("scalar_cache", data!("share/metrics/scalar_cache.toml")),
    ("address_and_data", data!("share/metrics/address_and_data.toml")),
    ("vector_cache", data!("share/metrics/vector_cache.toml")),
    ("l2_cache", data!("share/metrics/l2_cache.toml")),
];

/// Why definitions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// Not TOML of the documented form.
    #[error("{file} holds no metrics: {reason}; see share/metrics for the form")]
    Form {
        file: String,
        /// Message of the TOML parser.
        reason: String,
    },
    /// A formula that cannot be understood.
    #[error("{file}: the {part} of {metric} is not a formula: {error}")]
    Formula {
        file: String,
        metric: String,
        /// Formula or peak.
        part: &'static str,
        /// The error in the formula.
        error: FormulaError,
    },
    /// Two definitions of one metric for one architecture in one file.
    #[error("{file}: {metric} is defined twice for {architecture}; leave one of them")]
    Twice { file: String, metric: String, architecture: String },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariableFile {
    constants: BTreeMap<String, String>,
    dispatch: BTreeMap<String, String>,
    formulas: BTreeMap<String, String>,
    normalizations: BTreeMap<String, String>,
    accumulated: Accumulated,
}

/// Counters that the hardware accumulates, and the names of their accumulators.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accumulated {
    /// Counters that can be accumulated.
    pub counters: Vec<String>,
    /// Names of the counter that holds the accumulation of the one collected with it.
    pub accumulator: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PanelFile {
    panel: i64,
    title: String,
    source: String,
    #[serde(default)]
    metric: Vec<MetricForm>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricForm {
    id: String,
    title: String,
    table: String,
    unit: String,
    on: Vec<OnForm>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OnForm {
    architectures: Vec<String>,
    formula: String,
    instead: Option<String>,
    peak: Option<String>,
    source: Option<String>,
    corrected: Option<String>,
}

spelled! {
    /// Basis that values are counted per.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Normalization by name {
        /// Per wavefront.
        Wave = "wave",
        Cycle = "cycle",
        Second = "second",
        /// Per dispatch.
        Kernel = "kernel",
    }
}

impl Normalization {
    /// Its form in a unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Wave => "wavefront",
            Self::Cycle => "cycle",
            Self::Second => "s",
            Self::Kernel => "dispatch",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Metric {
    /// Unique name.
    pub id: String,
    /// Name for people.
    pub title: String,
    /// Number of its panel.
    pub panel: i64,
    pub panel_title: Arc<str>,
    /// Title of its table in the panel.
    pub table: String,
    /// Unit, without the basis that it is counted per.
    pub unit: String,
    /// Its definitions by architecture; at most one for each architecture.
    pub on: Vec<OnArchitecture>,
}

#[derive(Clone, Debug)]
pub struct OnArchitecture {
    /// LLVM names such as gfx942; `gfx11` also stands for chips of its family that are not named.
    pub architectures: BTreeSet<String>,
    /// The value for a dispatch.
    pub formula: Expression,
    /// The fallback if its counters were collected and the counters of the formula were not.
    pub instead: Option<Expression>,
    /// Text of the formula.
    pub text: String,
    /// Text of the fallback.
    pub instead_text: Option<String>,
    pub peak_text: Option<String>,
    /// The highest value that the hardware allows, over constants.
    pub peak: Option<Expression>,
    /// Source of the formula.
    pub source: String,
    /// Error in the source, if it is corrected here.
    pub corrected: Option<String>,
}

impl OnArchitecture {
    /// Whether it is counted per a basis that the user chooses.
    pub fn is_normalized(&self) -> bool {
        let mut found = false;
        self.formula.visit(&mut |part| found |= *part == Expression::Denominator);
        found
    }

    /// Whether the source defines it, as opposed to an addition that the source lacks.
    pub(crate) fn is_from_profiler(&self) -> bool {
        !self.corrected.as_ref().is_some_and(|text| text.starts_with(ADDED))
    }
}

impl Metric {
    /// Whether it is a derived counter of rocprofiler-sdk, whose name is the title.
    pub fn is_derived_counter(&self) -> bool {
        self.panel == DERIVED_PANEL
    }

    /// A derived counter as it was collected.
    pub fn collected(&self) -> Expression {
        Expression::Counter(Counter { name: self.title.clone(), reduction: Reduction::Sum })
    }

    /// The definition on an architecture: by its name, otherwise by the name of its family. gfx125x has other caches
    /// and counters than the rest of gfx12, and profilers define its metrics by name.
    pub fn on(&self, architecture: &str) -> Option<&OnArchitecture> {
        let of = |name: &str| self.on.iter().find(|on| on.architectures.contains(name));
        let stem = || architecture.get(..architecture.len().saturating_sub(2)).filter(|name| name.len() > 4);
        let family = || stem().filter(|_| !architecture.starts_with("gfx125"));
        of(architecture).or_else(|| family().and_then(of)).or_else(|| of(ANY))
    }
}

/// The effective definitions: given ones, or those of `share/metrics`. The latter are read on first use: few tables use
/// them, and reading them takes longer than most queries of a small trace.
#[derive(Clone, Debug, Default)]
pub struct EffectiveDefinitions(Option<Arc<Definitions>>);

impl From<Definitions> for EffectiveDefinitions {
    fn from(definitions: Definitions) -> Self {
        Self(Some(Arc::new(definitions)))
    }
}

impl Deref for EffectiveDefinitions {
    type Target = Definitions;

    fn deref(&self) -> &Definitions {
        match &self.0 {
            Some(definitions) => definitions,
            None => Definitions::shared(),
        }
    }
}

/// All known metrics, and the names that their formulas may use.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The metrics in the order of their panels.
    pub metrics: Vec<Metric>,
    /// Meanings of `denom`.
    pub normalizations: BTreeMap<&'static str, Expression>,
    /// Accumulations.
    pub accumulated: Accumulated,
    /// Measured peaks, by the id of the metric; they replace its own peak.
    pub measured: BTreeMap<String, f64>,
    /// Numbers of panels by the names of their files.
    panels: BTreeMap<String, i64>,
    vocabulary: Vocabulary,
}

impl Definitions {
    /// The definitions of `share/metrics`; a test reads them, so that none is missing.
    pub fn builtin() -> Arc<Self> {
        Arc::clone(Self::shared())
    }

    fn shared() -> &'static Arc<Self> {
        static BUILTIN: OnceLock<Arc<Definitions>> = OnceLock::new();
        BUILTIN.get_or_init(|| Arc::new(Self::read().unwrap_or_default()))
    }

    /// Reads the definitions of `share/metrics`.
    ///
    /// # Errors
    /// When one of them is wrong.
    pub fn read() -> Result<Self, DefinitionError> {
        let file = || "share/metrics/variables.toml".to_owned();
        let form = |error: toml::de::Error| DefinitionError::Form { file: file(), reason: error.message().to_owned() };
        let variables: VariableFile = toml::from_str(VARIABLES).map_err(form)?;
        let mut vocabulary = Vocabulary {
            constants: variables.constants.into_keys().collect(),
            dispatch: variables.dispatch.into_keys().collect(),
            formulas: BTreeMap::new(),
        };
        // A formula may name others, which become known in a later round.
        let mut waiting = variables.formulas;
        while !waiting.is_empty() {
            let parsed: Vec<(String, Result<Expression, FormulaError>)> =
                waiting.iter().map(|(name, text)| (name.clone(), parse(text, &vocabulary))).collect();
            let before = waiting.len();
            let mut wrong = None;
            for (name, result) in parsed {
                match result {
                    Ok(formula) => {
                        waiting.remove(&name);
                        vocabulary.formulas.insert(name, formula);
                    }
                    Err(error) => wrong = Some((name, error)),
                }
            }
            if let (Some((metric, error)), true) = (wrong, waiting.len() == before) {
                return Err(DefinitionError::Formula { file: file(), metric, part: "formula", error });
            }
        }
        let mut normalizations = BTreeMap::new();
        for normalization in Normalization::ALL {
            let text = variables.normalizations.get(normalization.name()).map_or("", String::as_str);
            let formula = parse(text, &vocabulary).map_err(|error| DefinitionError::Formula {
                file: file(),
                metric: normalization.name().to_owned(),
                part: "formula",
                error,
            })?;
            normalizations.insert(normalization.name(), formula);
        }
        let mut definitions =
            Self { normalizations, accumulated: variables.accumulated, vocabulary, ..Self::default() };
        for (name, text) in PANELS {
            definitions.add(text, &format!("share/metrics/{name}.toml"))?;
        }
        Ok(definitions)
    }

    /// These definitions and those of a user's file, which replace definitions with the same id.
    ///
    /// # Errors
    /// When the text is not TOML of the documented form, or a formula cannot be understood.
    pub fn with_user_metrics(&self, toml_text: &str, file_label: &str) -> Result<Self, DefinitionError> {
        let mut definitions = self.clone();
        definitions.add(toml_text, file_label)?;
        Ok(definitions)
    }

    /// These definitions with measured peaks.
    #[must_use]
    pub fn with_measured(&self, measured: BTreeMap<String, f64>) -> Self {
        Self { measured, ..self.clone() }
    }

    fn add(&mut self, text: &str, file: &str) -> Result<(), DefinitionError> {
        let panel: PanelFile = toml::from_str(text)
            .map_err(|error| DefinitionError::Form { file: file.to_owned(), reason: error.message().to_owned() })?;
        let panel_title: Arc<str> = panel.title.into();
        let mut added: Vec<Metric> = Vec::new();
        for form in panel.metric {
            let formula = |text: &str, part: &'static str| {
                parse(text, &self.vocabulary).map_err(|error| DefinitionError::Formula {
                    file: file.to_owned(),
                    metric: form.id.clone(),
                    part,
                    error,
                })
            };
            let mut on: Vec<OnArchitecture> = Vec::new();
            for one in &form.on {
                let known = |name: &&String| on.iter().any(|before| before.architectures.contains(*name));
                if let Some(architecture) = one.architectures.iter().find(known) {
                    return Err(DefinitionError::Twice {
                        file: file.to_owned(),
                        metric: form.id,
                        architecture: architecture.clone(),
                    });
                }
                on.push(OnArchitecture {
                    architectures: one.architectures.iter().cloned().collect(),
                    formula: formula(&one.formula, "formula")?,
                    instead: one.instead.as_deref().map(|text| formula(text, "formula")).transpose()?,
                    text: one.formula.clone(),
                    instead_text: one.instead.clone(),
                    peak_text: one.peak.clone(),
                    peak: one.peak.as_deref().map(|peak| formula(peak, "peak")).transpose()?,
                    source: one.source.clone().unwrap_or_else(|| panel.source.clone()),
                    corrected: one.corrected.clone(),
                });
            }
            if added.iter().any(|metric| metric.id == form.id) {
                return Err(DefinitionError::Twice {
                    file: file.to_owned(),
                    metric: form.id,
                    architecture: "all architectures".to_owned(),
                });
            }
            added.push(Metric {
                id: form.id,
                title: form.title,
                panel: panel.panel,
                panel_title: panel_title.clone(),
                table: form.table,
                unit: form.unit,
                on,
            });
        }
        if let Some(name) = Path::new(file).file_stem() {
            self.panels.insert(name.to_string_lossy().into_owned(), panel.panel);
        }
        self.metrics.retain(|metric| added.iter().all(|new| new.id != metric.id));
        self.metrics.extend(added);
        self.metrics.sort_by_key(|metric| metric.panel);
        Ok(())
    }

    /// The formula of a derived counter on an architecture, by its title.
    pub fn derived(&self, name: &str, architecture: &str) -> Option<&Expression> {
        self.derived_counter(name)?.on(architecture).map(|on| &on.formula)
    }

    /// A derived counter by its title.
    pub(crate) fn derived_counter(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.is_derived_counter() && metric.title == name)
    }

    /// The metrics of a panel by the name of its file in `share/metrics` or its number; empty if no panel matches.
    pub fn panel(&self, name: &str) -> Vec<&Metric> {
        let Some(number) = self.panels.get(name).copied().or_else(|| name.parse().ok()) else { return Vec::new() };
        self.metrics.iter().filter(|metric| metric.panel == number).collect()
    }

    pub(crate) fn panel_names(&self) -> impl Iterator<Item = &str> {
        self.panels.keys().map(String::as_str)
    }

    /// The counters that formulas may use.
    pub fn wanted(&self) -> Wanted {
        let mut wanted = Wanted::default();
        for formula in self.metrics.iter().flat_map(|metric| &metric.on).map(|on| &on.formula) {
            wanted.add(formula);
        }
        self.normalizations.values().for_each(|formula| wanted.add(formula));
        let instead = self.metrics.iter().flat_map(|metric| &metric.on).filter_map(|on| on.instead.as_ref());
        instead.for_each(|formula| wanted.add(formula));
        // Derived counters may have been collected as such.
        for metric in self.metrics.iter().filter(|metric| metric.is_derived_counter()) {
            wanted.add(&metric.collected());
        }
        wanted
    }

    /// Every name of a device constant.
    pub fn constants(&self) -> &[String] {
        &self.vocabulary.constants
    }
}

/// Start of the reason for a definition that its source lacks on the architecture.
const ADDED: &str = "not defined on this architecture";

/// Stands for all architectures that are not named.
const ANY: &str = "*";

/// The panel of rocprofiler-sdk's derived counters.
const DERIVED_PANEL: i64 = 900;

/// Suffixes of counter names that show how their instances were combined.
pub const SUFFIXES: [(&str, Reduction); 4] =
    [("_sum", Reduction::Sum), ("_max", Reduction::Max), ("_min", Reduction::Min), ("_avr", Reduction::Mean)];

/// Maximum depth of derived counters that are made from others.
pub(crate) const MAX_DERIVED_DEPTH: usize = 8;

/// The hardware counter without its instance and the suffix for the combination of its instances.
pub fn hardware_counter(name: &str) -> &str {
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    SUFFIXES.iter().find_map(|(suffix, _)| name.strip_suffix(suffix)).unwrap_or(name)
}

/// The hardware counter of a recorded name, which may also be that of a combination, as in `max_inst(TCC_REQ)`.
pub fn recorded_counter(name: &str) -> &str {
    hardware_counter(name.split_once('(').map_or(name, |(_, inner)| inner.trim_end_matches(')')))
}

/// Counters that formulas may use, under all names by which they may be recorded.
#[derive(Clone, Debug, Default)]
pub struct Wanted(BTreeSet<Counter>);

impl Wanted {
    fn add(&mut self, formula: &Expression) {
        for counter in formula.counters() {
            let sum = |name: String| Counter { name, reduction: Reduction::Sum };
            self.0.insert(counter.clone());
            self.0.insert(sum(counter.name.clone()));
            for (suffix, reduction) in SUFFIXES {
                if let Some(name) = counter.name.strip_suffix(suffix) {
                    self.0.insert(Counter { name: name.to_owned(), reduction });
                }
                if counter.reduction == reduction {
                    self.0.insert(sum(format!("{}{suffix}", counter.name)));
                }
            }
        }
    }

    /// Whether a formula uses a counter with this combination of its instances.
    pub fn needs(&self, name: &str, reduction: Reduction) -> bool {
        self.0.contains(&Counter { name: name.to_owned(), reduction })
    }
}
