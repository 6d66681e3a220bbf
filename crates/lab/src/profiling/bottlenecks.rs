//! Bottlenecks of the kernel, the most likely first.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, deeper};
use super::paths::CriticalPath;
use super::trace_of_kernel::Att;
use wavesieve_model::analysis::hardware::metrics::bottlenecks;

const OTHERS: &str = data!("share/lab.toml");
/// Shares may slightly exceed 100%, because counters of several passes do not start at the same time.
const POSSIBLE_PCT: std::ops::RangeInclusive<f64> = 0.0..=110.0;

/// A bottleneck, and whether the kernel has it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    pub bottleneck: String,
    /// The verdict in words.
    pub verdict: String,
    /// `yes`, `no` or `unknown`.
    pub state: String,
    /// How far its weakest evidence reaches its bound, from 0 to 1. If evidence is missing, only known evidence counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub evidence: Vec<Known>,
    /// The evidence that is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A value, and the bound from which it is evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Known {
    pub metric: String,
    pub title: String,
    pub value: f64,
    pub unit: String,
    pub bound: String,
    pub holds: bool,
}

impl Known {
    /// The value with its bound, formatted for reading.
    pub(super) fn text(&self) -> String {
        format!("{} {:.1} {} ({})", self.title, self.value, self.unit, self.bound)
    }
}

/// The verdict on a kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The primary bottleneck in words, `none`, or `unknown`.
    pub primary: String,
    /// Evidence, and missing evidence, a sentence each.
    pub reasoning: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BottlenecksFile {
    bottleneck: Vec<Other>,
}

/// A bottleneck that no counter shows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Other {
    id: String,
    verdict: String,
    #[serde(rename = "about")]
    _about: String,
    measure: Measure,
    title: String,
    at_least: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Measure {
    Launching,
    Waiting,
}

fn others() -> &'static [Other] {
    static OTHER: OnceLock<Vec<Other>> = OnceLock::new();
    OTHER.get_or_init(|| toml::from_str::<BottlenecksFile>(OTHERS).unwrap_or_default().bottleneck)
}

pub(super) fn reached(value: f64, at_least: Option<f64>, at_most: Option<f64>) -> f64 {
    let least = at_least.filter(|least| *least > 0.0).map_or(1.0, |least| (value / least).clamp(0.0, 1.0));
    let most = at_most.filter(|most| value > *most).map_or(1.0, |most| (most / value).clamp(0.0, 1.0));
    least.min(most)
}

/// All bottlenecks of a kernel: those that hold in the order of their rules, then possible ones, then the others, the
/// nearest first.
pub fn ranked(
    evidence: &Evidence,
    kernel: &str,
    path: &Result<CriticalPath, String>,
    att: &Result<Att, String>,
    no_counters: Option<&str>,
) -> (Verdict, Vec<Ranked>) {
    let rows = evidence.rows(&deeper::bottlenecks());
    let own = rows.matching(|rows, row| rows.text(row, "kernel_name") == Some(kernel));
    // With several GPUs, the one where the kernel takes most time counts.
    let first = rows.sorted_down(own.clone(), "time_ns").first().copied();
    let place = |row: usize| (rows.integer(row, "rank"), rows.integer(row, "gpu"));
    let mut all: Vec<Ranked> = Vec::new();
    for rule in bottlenecks() {
        let row = own.iter().copied().find(|row| {
            first.is_some_and(|first| place(*row) == place(first)) && rows.text(*row, "bottleneck") == Some(&rule.id)
        });
        let known = known(evidence, kernel, rule);
        let none = no_counters.unwrap_or("the kernel was not counted");
        all.push(Ranked {
            bottleneck: rule.id.clone(),
            verdict: rule.verdict.clone(),
            state: row.and_then(|row| rows.text(row, "state")).unwrap_or("unknown").to_owned(),
            score: score(&known, rule),
            evidence: known,
            missing: match row {
                Some(row) => rows.text(row, "missing").map(ToOwned::to_owned),
                None => Some(none.to_owned()),
            },
        });
    }
    all.extend(others().iter().map(|other| of_other(other, path, att)));
    order(&mut all);
    (verdict(&all), all)
}

/// The known metrics of a rule.
fn known(
    evidence: &Evidence,
    kernel: &str,
    rule: &wavesieve_model::analysis::hardware::metrics::Bottleneck,
) -> Vec<Known> {
    let rows = evidence.rows(&deeper::metrics());
    let of_metric = |one: &wavesieve_model::analysis::hardware::metrics::Evidence| {
        let row = rows.places().find(|row| {
            rows.text(*row, "kernel_name") == Some(kernel) && rows.text(*row, "metric") == Some(&one.metric)
        })?;
        let unit = if one.of_peak { "% of peak" } else { rows.text(row, "unit").unwrap_or_default() };
        let value = rows.number(row, if one.of_peak { "pct_of_peak" } else { "value" })?;
        let is_possible = !(one.of_peak || unit == "%") || POSSIBLE_PCT.contains(&value);
        is_possible.then(|| Known {
            metric: one.metric.clone(),
            title: rows.text(row, "title").unwrap_or(&one.metric).to_owned(),
            value,
            unit: unit.to_owned(),
            bound: one.bound(),
            holds: one.holds(value),
        })
    };
    rule.evidence.iter().filter_map(of_metric).collect()
}

fn score(known: &[Known], rule: &wavesieve_model::analysis::hardware::metrics::Bottleneck) -> Option<f64> {
    let of_one = |one: &Known| {
        let bound = rule.evidence.iter().find(|evidence| evidence.metric == one.metric)?;
        Some(reached(one.value, bound.at_least, bound.at_most))
    };
    known.iter().filter_map(of_one).reduce(f64::min)
}

fn of_other(other: &Other, path: &Result<CriticalPath, String>, att: &Result<Att, String>) -> Ranked {
    let nothing = |what: &str| format!("{what} has no length");
    let share = match other.measure {
        Measure::Launching => path.as_ref().map_err(Clone::clone).and_then(|path| {
            let is_long = path.critical_path_ns > 0;
            let share = is_long.then(|| path.launching_ns as f64 / path.critical_path_ns as f64);
            share.ok_or_else(|| nothing("the critical path"))
        }),
        Measure::Waiting => att
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|att| att.waiting().ok_or_else(|| nothing("the latency of the instructions"))),
    };
    let missing = share.as_ref().err().cloned();
    let value = share.ok().map(|share| 100.0 * share);
    let holds = value.is_some_and(|value| value >= other.at_least);
    let evidence = value.map(|value| Known {
        metric: other.id.clone(),
        title: other.title.clone(),
        value,
        unit: "%".to_owned(),
        bound: format!("at least {}", other.at_least),
        holds,
    });
    let state = if value.is_none() {
        "unknown"
    } else if holds {
        "yes"
    } else {
        "no"
    };
    Ranked {
        bottleneck: other.id.clone(),
        verdict: other.verdict.clone(),
        state: state.to_owned(),
        score: value.map(|value| reached(value, Some(other.at_least), None)),
        evidence: evidence.into_iter().collect(),
        missing,
    }
}

pub(super) fn order(all: &mut [Ranked]) {
    let level = |one: &Ranked| match one.state.as_str() {
        "yes" => 0,
        "unknown" => 1,
        _ => 2,
    };
    let score = |one: &Ranked| one.score.unwrap_or(0.0);
    // Rules that hold keep their order, because the sort is stable.
    all.sort_by(|one, other| {
        let levels = level(one).cmp(&level(other));
        levels
            .then_with(|| if level(one) == 0 { std::cmp::Ordering::Equal } else { score(other).total_cmp(&score(one)) })
    });
}

pub(super) fn verdict(all: &[Ranked]) -> Verdict {
    let said = |one: &Known| format!("{}: {:.1} {} ({})", one.title, one.value, one.unit, one.bound);
    if let Some(found) = all.iter().find(|one| one.state == "yes") {
        let missing = found.missing.iter().cloned();
        return Verdict {
            primary: found.verdict.clone(),
            reasoning: found.evidence.iter().map(said).chain(missing).collect(),
        };
    }
    let unknown = all.iter().filter(|one| one.state == "unknown");
    let reasoning: Vec<String> =
        unknown.map(|one| format!("{}: {}", one.verdict, one.missing.as_deref().unwrap_or("not known"))).collect();
    let primary = if reasoning.is_empty() { "none" } else { "unknown" };
    Verdict { primary: primary.to_owned(), reasoning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let file: BottlenecksFile = toml::from_str(OTHERS).unwrap();
        let measures: Vec<Measure> = file.bottleneck.iter().map(|one| one.measure).collect();
        assert_eq!(measures, [Measure::Launching, Measure::Waiting]);
        assert!(file.bottleneck.iter().all(|one| one.at_least > 0.0 && one.at_least < 100.0));
    }
}
