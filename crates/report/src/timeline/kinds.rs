//! Kinds of slices and shares: color classes in a fixed order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::model::SliceKind;

/// Facts about kinds, and places of findings by rule.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    kind: Vec<KindFacts>,
    place: BTreeMap<String, String>,
    unit: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindFacts {
    id: String,
    label: String,
    color: String,
}

/// The tests exclude that the file is wrong.
static FACTS: LazyLock<Facts> = LazyLock::new(|| toml::from_str(data!("share/timeline.toml")).unwrap_or_default());

/// Colors of categories without an entry, by their hash.
const OTHER_COLORS: [&str; 3] = ["other", "slate", "olive"];

/// The kind whose longest interval is the place of a finding of a rule.
pub(super) fn kind_of_rule(rule: &str) -> Option<&'static str> {
    FACTS.place.get(rule).map(String::as_str)
}

/// The unit that a rule is about: `longest`, `jump`, `warmup` or `median`.
pub(super) fn unit_of_rule(rule: &str) -> Option<&'static str> {
    FACTS.unit.get(rule).map(String::as_str)
}

/// Variable of a style sheet with the color of a kind.
pub(super) fn color_of(id: &str) -> &'static str {
    let of_id = FACTS.kind.iter().find(|kind| kind.id == id).map(|kind| kind.color.as_str());
    of_id.unwrap_or_else(|| {
        let sum = id.bytes().map(usize::from).sum::<usize>();
        OTHER_COLORS.get(sum % OTHER_COLORS.len()).copied().unwrap_or("other")
    })
}

/// Kinds of a picture while it is made.
#[derive(Clone)]
pub(super) struct Kinds {
    ids: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Default for Kinds {
    /// The kinds with an entry, so that their numbers do not depend on which process is read first.
    fn default() -> Self {
        let mut kinds = Self { ids: Vec::new(), known: BTreeMap::new() };
        for kind in &FACTS.kind {
            kinds.index(&kind.id);
        }
        kinds
    }
}

impl Kinds {
    /// The number of a kind.
    pub(super) fn index(&mut self, id: &str) -> usize {
        if let Some(known) = self.known.get(id) {
            return *known;
        }
        let next = self.ids.len();
        self.ids.push(id.to_owned());
        self.known.insert(id.to_owned(), next);
        next
    }

    /// Id of a kind.
    pub(super) fn id(&self, index: usize) -> &str {
        self.ids.get(index).map_or("", String::as_str)
    }

    /// The used kinds in their fixed order, and the new number of each.
    pub(super) fn finish(self, used: &BTreeSet<usize>) -> (Vec<SliceKind>, BTreeMap<usize, usize>) {
        let mut kept: Vec<(usize, &String)> =
            self.ids.iter().enumerate().filter(|(index, _)| used.contains(index)).collect();
        kept.sort_by_key(|(_, id)| (kind_place(id), *id));
        let numbers = kept.iter().enumerate().map(|(new, (old, _))| (*old, new)).collect();
        let kinds = kept.into_iter().map(|(_, id)| SliceKind { id: id.clone(), label: kind_label(id) }).collect();
        (kinds, numbers)
    }
}

/// The place of a kind in the fixed order; kinds without an entry come last.
pub fn kind_place(id: &str) -> usize {
    FACTS.kind.iter().position(|kind| kind.id == id).unwrap_or(FACTS.kind.len())
}

/// The name of a kind for people.
pub fn kind_label(id: &str) -> String {
    let of_id = FACTS.kind.iter().find(|kind| kind.id == id).map(|kind| kind.label.clone());
    of_id.unwrap_or_else(|| id.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_name_known_kinds_and_colors() {
        let colors = data!("templates/charts.css");
        assert!(FACTS.kind.len() > 15 && FACTS.place.len() > 5);
        for kind in &FACTS.kind {
            assert!(colors.contains(&format!("--chart-{}:", kind.color)), "{}", kind.color);
        }
        assert!(FACTS.place.values().all(|kind| FACTS.kind.iter().any(|known| known.id == *kind)));
        let rules = wavesieve_engine::findings::RULES;
        assert!(FACTS.place.keys().chain(FACTS.unit.keys()).all(|rule| rules.iter().any(|known| known.id == rule)));
    }

    #[test]
    fn used_kinds_come_in_the_fixed_order() {
        let mut kinds = Kinds::default();
        let numbers = ["zeta", "communication", "alpha", "compute", "gemm"].map(|id| kinds.index(id));
        assert_eq!(kinds.index("alpha"), numbers[2]);
        let (kinds, renumbered) = kinds.finish(&BTreeSet::from([numbers[0], numbers[1], numbers[2], numbers[3]]));
        let ids: Vec<&str> = kinds.iter().map(|kind| kind.id.as_str()).collect();
        assert_eq!(ids, ["compute", "communication", "alpha", "zeta"]);
        assert_eq!(renumbered.get(&numbers[0]), Some(&3));
        assert_eq!(renumbered.get(&numbers[4]), None);
    }
}
