//! The table `kernel_bottlenecks`: the bottleneck of every kernel, with evidence.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, dictionary_column, floats, integers, texts};
use crate::derive::counters::metric_evaluation::{BoundMetric, KernelSums, Sums};
use crate::derive::counters::metric_sums::{NO_METRIC, by_gpu, extract, needs, of_kernels, per_part};
use crate::derive::{Build, DerivedTable, Joint, ProcessPart, RowsWhen};
use wavesieve_model::analysis::hardware::metrics::{
    Bottleneck, Definitions, EffectiveDefinitions, Metric, bottlenecks,
};
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["counters"]).if_found(),
    why_empty: NO_METRIC,
    ..DerivedTable::new(
        &tables::hardware::KERNEL_BOTTLENECKS,
        needs,
        Build::Joint(Joint { optional_needs: Vec::new, extract, relate, keep: |_| None }),
    )
};

/// Duration of the dispatches, which is the weight of each kernel.
const TIME: &str = "roof.time";

/// State of a bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Found,
    Absent,
    Unknown,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Found => "yes",
            Self::Absent => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// Result for a bottleneck of a kernel.
struct BottleneckResult {
    kernel: usize,
    ordinal: usize,
    state: State,
    is_verdict: bool,
    evidence: String,
    missing: Option<String>,
}

/// Tries all rules on every kernel.
fn relate(parts: &[ProcessPart<'_>], definitions: &EffectiveDefinitions) -> Result<Vec<DataFrame>> {
    let rules = bottlenecks();
    let used: BTreeSet<&str> = rules
        .iter()
        .flat_map(|rule| rule.evidence.iter().map(|evidence| evidence.metric.as_str()))
        .chain([TIME])
        .collect();
    let is_used = |metric: &Metric| used.contains(metric.id.as_str());
    let rows = |frame: &DataFrame, kernels: &[&KernelSums], asked: &[BoundMetric]| {
        table(frame, kernels, asked, definitions, rules)
    };
    per_part(parts, &by_gpu(parts)?, definitions, is_used, rows, &["kernel_id", "gpu", "ordinal"])
}

/// The rows of some kernels.
fn table(
    frame: &DataFrame,
    kernels: &[&KernelSums],
    asked: &[BoundMetric],
    definitions: &Definitions,
    rules: &[Bottleneck],
) -> Result<DataFrame> {
    let id_of = |asked: &BoundMetric| definitions.metrics.get(asked.metric).map(|metric| metric.id.as_str());
    let mut results: Vec<BottleneckResult> = Vec::new();
    for (at, kernel) in kernels.iter().enumerate() {
        let of_metric = |id: &str| {
            let place = asked.iter().position(|asked| id_of(asked) == Some(id))?;
            Some((asked.get(place)?, kernel.sums.get(place)?))
        };
        let first = results.len();
        for (ordinal, rule) in rules.iter().enumerate() {
            let (state, evidence, missing) = tried(rule, &of_metric, definitions);
            results.push(BottleneckResult { kernel: at, ordinal, state, is_verdict: false, evidence, missing });
        }
        let of_kernel = results.get_mut(first..).unwrap_or_default();
        mark_doubtful(of_kernel, rules);
        conclude(of_kernel, at, rules).into_iter().for_each(|row| results.push(row));
    }
    let kernel_at = |place: usize| kernels.get(place).copied();
    let chosen: Vec<&KernelSums> = results.iter().filter_map(|row| kernel_at(row.kernel)).collect();
    let mut columns = of_kernels(frame, &chosen)?;
    let named = |name: &str, text: fn(&Bottleneck) -> &str| {
        let names: Vec<&str> = rules.iter().map(text).chain([NONE, UNKNOWN]).collect();
        dictionary_column(name, &names, results.iter().map(|row| Some(row.ordinal)))
    };
    let time = |row: &BottleneckResult| {
        let place = asked.iter().position(|asked| id_of(asked) == Some(TIME))?;
        let (sums, _) = kernel_at(row.kernel)?.sums.get(place)?;
        (sums.dispatches > 0).then_some(sums.numerator)
    };
    let verdicts: BooleanChunked = results.iter().map(|row| Some(row.is_verdict)).collect_ca("is_verdict".into());
    columns.extend([
        integers("ordinal", results.iter().map(|row| Some(row.ordinal as i64))),
        named("bottleneck", |rule| &rule.id)?,
        named("verdict", |rule| &rule.verdict)?,
        categories("state", results.iter().map(|row| Some(row.state.name())))?,
        verdicts.into_column(),
        texts("evidence", results.iter().map(|row| Some(row.evidence.as_str()).filter(|text| !text.is_empty()))),
        texts("missing", results.iter().map(|row| row.missing.as_deref())),
        integers("dispatches", chosen.iter().map(|kernel| Some(kernel.dispatches))),
        floats("time_ns", results.iter().map(time)),
    ]);
    Ok(DataFrame::new_infer_height(columns)?)
}

const NONE: &str = "none";
const UNKNOWN: &str = "unknown";

/// Marks bottlenecks that follow from others as unknown if one of the others is unknown.
fn mark_doubtful(results: &mut [BottleneckResult], rules: &[Bottleneck]) {
    let mut unknown: Vec<&str> = Vec::new();
    for row in results {
        let Some(rule) = rules.get(row.ordinal) else { continue };
        if row.state == State::Found && !unknown.is_empty() {
            row.missing = Some(format!("it is not known whether there is: {}", unknown.join(", ")));
            if rule.follows {
                row.state = State::Unknown;
            }
        }
        if row.state == State::Unknown && !rule.follows {
            unknown.push(&rule.verdict);
        }
    }
}

/// Marks the verdict among the bottlenecks of a kernel; returns one more row if none of them is the verdict.
fn conclude(results: &mut [BottleneckResult], kernel: usize, rules: &[Bottleneck]) -> Option<BottleneckResult> {
    if let Some(verdict) = results.iter_mut().find(|row| row.state == State::Found) {
        verdict.is_verdict = true;
        return None;
    }
    let unknown: Vec<String> = results
        .iter()
        .filter(|row| row.state == State::Unknown)
        .filter_map(|row| Some(format!("{}: {}", rules.get(row.ordinal)?.verdict, row.missing.as_deref()?)))
        .collect();
    let ordinal = rules.len() + usize::from(!unknown.is_empty());
    let missing = (!unknown.is_empty()).then(|| unknown.join("; "));
    let state = if unknown.is_empty() { State::Absent } else { State::Unknown };
    Some(BottleneckResult { kernel, ordinal, state, is_verdict: true, evidence: String::new(), missing })
}

/// Shares may be slightly above 100%, because counters of several passes do not start at the same time.
const POSSIBLE_PCT: std::ops::RangeInclusive<f64> = 0.0..=110.0;

/// A requested metric, its sums, and the reason for a missing value.
type MetricCheck<'a> = (&'a BoundMetric, &'a (Sums, Option<String>));

/// Tries one rule: returns its state, its evidence, and the missing data.
fn tried<'a>(
    rule: &Bottleneck,
    of_metric: &dyn Fn(&str) -> Option<MetricCheck<'a>>,
    definitions: &Definitions,
) -> (State, String, Option<String>) {
    let mut evidence = Vec::new();
    let mut missing = Vec::new();
    let mut fails = false;
    for one in &rule.evidence {
        let metric = definitions.metrics.iter().find(|metric| metric.id == one.metric);
        let (title, unit) = metric.map_or((one.metric.as_str(), ""), |metric| (&metric.title, &metric.unit));
        let found = of_metric(&one.metric);
        let value = found.and_then(|(_, (sums, _))| sums.ratio());
        let share = found.and_then(|(asked, _)| asked.peak).filter(|peak| *peak != 0.0);
        let (value, unit) = match one.of_peak {
            true => (value.zip(share).map(|(value, peak)| 100.0 * value / peak), "% of peak"),
            false => (value, unit),
        };
        let is_share = one.of_peak || unit == "%";
        match value {
            Some(value) if is_share && !POSSIBLE_PCT.contains(&value) => {
                missing.push(format!("{title}: {value:.1} {unit} is not possible"));
            }
            Some(value) => {
                fails |= !one.holds(value);
                evidence.push(format!("{title}: {value:.1} {unit} ({})", one.bound()));
            }
            None => {
                let reason = match found {
                    None => "not defined for this architecture, or that is not known".to_owned(),
                    Some((_, (_, Some(reason)))) => reason.clone(),
                    Some((_, (_, None))) => "the peak of the device is not known".to_owned(),
                };
                missing.push(format!("{title}: {reason}"));
            }
        }
    }
    let state = match (fails, missing.is_empty()) {
        (true, _) => State::Absent,
        (false, true) => State::Found,
        (false, false) => State::Unknown,
    };
    (state, evidence.join("; "), (!missing.is_empty()).then(|| missing.join("; ")))
}
