//! The numbers of a document, and the check whether it supports a number of an answer.

use std::collections::{BTreeMap, BTreeSet};

use super::clauses::{Around, Share, only_share};
use super::numbers::Written;
use super::table::{UnitKind, stem, words};

/// Minimum integer of nanoseconds or bytes that may be quoted without its unit.
const LEAST_WITHOUT_UNIT: f64 = 1000.0;
/// Maximum difference between a fraction and the percentage that it stands for.
const FRACTION_PCT: f64 = 0.5;

#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub kind: UnitKind,
    /// In the base unit of its kind.
    pub value: f64,
    /// Its own rounding error.
    pub tolerance: f64,
    /// The words of its figure or column, or the words after it in a sentence, in the singular.
    pub stems: Vec<String>,
    /// Whether it is an id, not a count.
    pub is_id: bool,
    /// The row of a table, or the finding, that it belongs to.
    pub row: Option<usize>,
    /// Whether it comes from a statement, whose writer chooses the column names.
    pub is_of_statement: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub(super) all: Vec<Fact>,
    /// The rows of a name.
    pub(super) rows: BTreeMap<String, BTreeSet<usize>>,
    pub(super) row_count: usize,
    /// Fractions in sentences.
    pub(super) fractions: Vec<(f64, f64)>,
    /// Percentages that are figures.
    pub(super) shares: Vec<Share>,
    /// Whether the numbers are results of calls.
    pub(super) is_of_results: bool,
}

/// The words of a column name in the singular, up to `per`.
pub(super) fn stems(name: &str) -> Vec<String> {
    let parts = name.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.take_while(|part| *part != "per").map(stem).collect()
}

impl Facts {
    /// Returns whether the document has a number, up to rounding. A percentage next to a name must come from a row of
    /// that name, or from a figure that the sentence names. In a clause about one figure, it must be that one.
    pub fn support(&self, written: &Written, around: Around<'_>) -> bool {
        if let Some(place) = written.identifies {
            let is_of = |fact: &Fact| fact.kind == UnitKind::Plain && fact.is_id && shares(&place.names, &fact.stems);
            let has_any = self.all.iter().any(is_of);
            return self.has(written, &|fact| if has_any { is_of(fact) } else { fact.kind == UnitKind::Plain });
        }
        if let Some(parts) = written.parts {
            return self.has_fraction(parts, written);
        }
        match written.kind {
            UnitKind::Plain => self.has_count(written),
            UnitKind::Percent => self.has_percent(written, around),
            UnitKind::Times => self.has(written, &is_factor),
            kind => self.has(written, &|fact| fact.kind == kind),
        }
    }

    /// Returns whether a count has a number with the same noun; any other number without a unit may match any number.
    fn has_count(&self, written: &Written) -> bool {
        let nouns: Vec<&String> = written.nouns().flat_map(|noun| &noun.names).collect();
        let is_count = |fact: &Fact| fact.kind == UnitKind::Plain && !fact.is_id;
        if !nouns.is_empty() {
            let is_of = |fact: &Fact| {
                nouns.iter().any(|name| fact.stems.contains(name))
                    || is_unsaid(fact)
                    || is_called_otherwise(fact, written)
            };
            return self.has(written, &|fact| is_count(fact) && is_of(fact));
        }
        let is_of = |fact: &Fact| is_count(fact) && shares(&written.counts, &fact.stems);
        if self.all.iter().any(is_of) {
            return self.has(written, &is_of);
        }
        // In a list of ids, only the first follows its noun.
        let is_id = |fact: &Fact| written.counts.is_empty() && fact.is_id && fact.kind == UnitKind::Plain;
        self.has(written, &|fact| is_quoted_bare(fact, written) || is_id(fact))
    }

    fn has_percent(&self, written: &Written, around: Around<'_>) -> bool {
        let of_share = |written: &Written| Written {
            readings: written.readings.iter().map(|(value, tolerance)| (value / 100.0, tolerance / 100.0)).collect(),
            ..written.clone()
        };
        let is_share =
            |fact: &Fact| fact.kind == UnitKind::Plain && fact.value.fract() != 0.0 && fact.value.abs() <= 1.0;
        let is_among = |is_of: &dyn Fn(&Fact) -> bool| {
            self.has(written, &|fact| fact.kind == UnitKind::Percent && is_of(fact))
                || self.has(&of_share(written), &|fact| is_share(fact) && is_of(fact))
        };
        if let Some(share) = only_share(&self.shares, around) {
            return is_among(&|fact| fact.stems == share.stems);
        }
        let sentence = around.sentence;
        let named = self.named(sentence);
        let is_of_row = |fact: &Fact| fact.row.is_some_and(|row| named.contains(&row));
        if !self.all.iter().any(|fact| fact.kind == UnitKind::Percent && is_of_row(fact)) {
            return is_among(&|_| true);
        }
        let plain = &words().plain_words;
        let said: BTreeSet<String> = stems(sentence).into_iter().filter(|word| !plain.contains(word)).collect();
        is_among(&|fact| is_of_row(fact) || fact.stems.iter().any(|word| said.contains(word)))
    }

    /// The rows of the names in a sentence.
    fn named(&self, sentence: &str) -> BTreeSet<usize> {
        let names = self.rows.iter().filter(|(name, _)| sentence.contains(name.as_str()));
        names.flat_map(|(_, rows)| rows.iter().copied()).collect()
    }

    /// Returns whether a fraction is in a sentence of the document, has both parts in a row, or equals a percentage.
    fn has_fraction(&self, parts: (f64, f64), written: &Written) -> bool {
        if self.fractions.contains(&parts) {
            return true;
        }
        let rows = |value: f64| -> BTreeSet<usize> {
            let is_it = |fact: &&Fact| fact.kind == UnitKind::Plain && !fact.is_id && fact.value == value;
            self.all.iter().filter(is_it).filter_map(|fact| fact.row).collect()
        };
        let pct = Written { readings: vec![(written.value() * 100.0, FRACTION_PCT)], ..written.clone() };
        !rows(parts.0).is_disjoint(&rows(parts.1)) || self.has(&pct, &|fact| fact.kind == UnitKind::Percent)
    }

    fn has(&self, written: &Written, is_of: &dyn Fn(&Fact) -> bool) -> bool {
        let readings = || {
            written.factors.iter().flat_map(|factor| {
                let factor = *factor;
                written.readings.iter().map(move |(value, tolerance)| (value * factor, tolerance * factor))
            })
        };
        self.all.iter().filter(|fact| is_of(fact)).any(|fact| {
            readings().any(|(value, tolerance)| {
                let tolerance = tolerance + fact.tolerance.min(tolerance);
                (fact.value.abs() - value.abs()).abs() <= tolerance * (1.0 + 1e-6) + value.abs() * 1e-9
            })
        })
    }
}

/// Returns whether a column name does not say what it counts.
fn is_unsaid(fact: &Fact) -> bool {
    let unsaid = &words().unsaid_words;
    fact.row.is_some() && !fact.stems.is_empty() && fact.stems.iter().all(|stem| unsaid.contains(stem))
}

/// Returns whether a count from a statement may match the noun of a number though its column has another name: the
/// column names no other noun, or both are runs of kernels.
fn is_called_otherwise(fact: &Fact, written: &Written) -> bool {
    let table = words();
    let is_execution = |stems: &[String]| stems.iter().any(|stem| table.executions.contains(stem));
    let names_other = table.noun.iter().any(|noun| shares(&noun.words, &fact.stems));
    fact.is_of_statement && (!names_other || is_execution(&fact.stems) && is_execution(&written.counts))
}

fn shares(names: &[String], stems: &[String]) -> bool {
    names.iter().any(|name| stems.contains(name))
}

/// Returns whether a number may be a factor, as in "3 times": counts and ids are not.
fn is_factor(fact: &Fact) -> bool {
    let is_called_so =
        ["ratio", "factor", "speedup", "time"].iter().any(|word| fact.stems.iter().any(|stem| stem == word));
    let is_plain = fact.kind == UnitKind::Plain && !fact.is_id;
    fact.kind == UnitKind::Times || is_plain && (is_called_so || fact.value.fract() != 0.0)
}

/// Returns whether a number without a unit may be this one.
fn is_quoted_bare(fact: &Fact, written: &Written) -> bool {
    match fact.kind {
        UnitKind::Plain => !fact.is_id,
        UnitKind::Times => true,
        UnitKind::Percent | UnitKind::Rate | UnitKind::Clock | UnitKind::Flops => written.has_decimals,
        UnitKind::Time | UnitKind::Bytes => written.value() >= LEAST_WITHOUT_UNIT,
    }
}
