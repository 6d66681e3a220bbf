//! Counters of both sides: means over the dispatches of a kernel. They do not depend on how much the collection slows
//! the dispatches.
//!
//! A test needs to know how much a counter differs between two runs without any change, of which one run per side shows nothing. Counts of
//! work hardly differ; cycles that hardware is busy or stalled may differ as much as single dispatches do within a run. Which
//! instance of a block counts depends on the addresses of buffers, which each run has anew, so that single instances are not tested.

use std::collections::BTreeMap;

use super::comparison::rounded;
use super::digest::CounterDigest;
use super::document::CounterRow;
use super::evidence::{Evidence, averaged, difference};
use super::judgment::{Judgment, Strictness, Verdict, judge};
use super::matching::KernelPair;
use super::side::Side;
use wavesieve_model::analysis::statistics::blocks::mean_of_blocks;
use wavesieve_model::analysis::statistics::trimmed::{Estimate, mean};

/// Minimum number of dispatches on a side for a test.
const MIN_DISPATCHES: i64 = 5;

/// Counters of a kernel that both sides have, in the order of kernels and counters.
pub(crate) fn counter_rows(
    base: &Side,
    new: &Side,
    rows: &[KernelPair<'_>],
    strictness: Strictness,
    is_tested: &dyn Fn(&str) -> bool,
) -> Vec<CounterRow> {
    let names: BTreeMap<&str, &str> =
        rows.iter().filter_map(|row| Some((row.new.as_ref()?.name, row.key()?))).collect();
    let of_base = by_kernel(base, &BTreeMap::new());
    let mut of_new = by_kernel(new, &names);
    let common: Vec<Common<'_>> = of_base
        .into_iter()
        .filter_map(|(key, base)| of_new.remove(&key).map(|new| Common { kernel: key.0, counter: key.1, base, new }))
        .collect();
    let is_tested = |one: &Common<'_>| is_tested(one.kernel) && !one.counter.contains('[');
    let tested: Vec<Option<Evidence>> =
        common.iter().filter(|one| is_tested(one)).map(|one| evidence(&one.base, &one.new)).collect();
    let judged = judge(&tested.iter().map(|evidence| (evidence.as_ref(), 0.0)).collect::<Vec<_>>(), strictness);
    let mut judged = judged.into_iter();
    let row = |one: &Common<'_>| match if is_tested(one) { judged.next() } else { None } {
        Some(judgment) => counter_row(one, &judgment),
        None => counter_row(one, &Judgment::untested()),
    };
    common.iter().map(row).collect()
}

/// A counter of a kernel in the runs of both sides.
struct Common<'a> {
    kernel: &'a str,
    counter: &'a str,
    base: Vec<&'a CounterDigest>,
    new: Vec<&'a CounterDigest>,
}

fn counter_row(one: &Common<'_>, judgment: &Judgment) -> CounterRow {
    let (of_base, of_new) = (mean_of(&one.base), mean_of(&one.new));
    CounterRow {
        kernel: one.kernel.to_owned(),
        counter: one.counter.to_owned(),
        base: rounded(of_base),
        new: rounded(of_new),
        delta: rounded(of_new - of_base),
        ratio: (of_base != 0.0).then(|| rounded(of_new / of_base)),
        ci_low: judgment.interval.map(|(low, _)| rounded(low)),
        ci_high: judgment.interval.map(|(_, high)| rounded(high)),
        resolution_pct: judgment.resolution_pct.map(rounded),
        p_holm: judgment.adjusted_p.map(rounded),
        base_dispatches: dispatches(&one.base),
        new_dispatches: dispatches(&one.new),
        verdict: match judgment.verdict {
            Verdict::Slower => "higher",
            Verdict::Faster => "lower",
            other => other.word(),
        },
    }
}

type ByKernel<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a CounterDigest>>;

/// The counters of all runs; kernels are renamed by `names`.
fn by_kernel<'a>(side: &'a Side, names: &BTreeMap<&'a str, &'a str>) -> ByKernel<'a> {
    let mut all = ByKernel::new();
    for counter in side.runs.iter().flat_map(|run| &run.counters) {
        let kernel = names.get(counter.kernel.as_str()).copied().unwrap_or(&counter.kernel);
        all.entry((kernel, &counter.counter)).or_default().push(counter);
    }
    all
}

fn dispatches(counters: &[&CounterDigest]) -> i64 {
    counters.iter().fold(0, |sum: i64, counter| sum.saturating_add(counter.dispatches))
}

/// The mean over all dispatches.
fn mean_of(counters: &[&CounterDigest]) -> f64 {
    counters.iter().map(|counter| counter.sum).sum::<f64>() / dispatches(counters).max(1) as f64
}

/// `None` with few dispatches, or if a mean is not above 0.
fn evidence(base: &[&CounterDigest], new: &[&CounterDigest]) -> Option<Evidence> {
    // The relative error of a mean is the error of its logarithm.
    let level = |counter: &&CounterDigest| {
        let of_blocks = mean_of_blocks(&counter.blocks)?;
        let mean = mean_of(&[counter]);
        (mean > 0.0).then(|| Estimate {
            value: libm::log(mean),
            // Not that of the mean: a run as a whole may differ as much as its dispatches do.
            standard_error: of_blocks.standard_error * (counter.dispatches as f64).sqrt() / mean,
            ..of_blocks
        })
    };
    let levels = |side: &[&CounterDigest]| side.iter().map(level).collect::<Option<Vec<Estimate>>>();
    let samples = dispatches(base).min(dispatches(new));
    if samples < MIN_DISPATCHES {
        return None;
    }
    let (base, new) = (levels(base)?, levels(new)?);
    let error = difference(averaged(&new)?, averaged(&base)?);
    let values = |side: &[Estimate]| side.iter().map(|level| level.value).collect::<Vec<f64>>();
    let log_ratio = mean(&values(&new))? - mean(&values(&base))?;
    Some(Evidence {
        log_ratio,
        error: Some(error),
        unit: None,
        samples: usize::try_from(samples).unwrap_or(0),
        levels: [values(&base), values(&new)],
        by_gpu: Vec::new(),
    })
}
