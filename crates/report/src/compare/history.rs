//! Many runs in order of time: the figures of each, and the run after which a step starts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::basis::{Basis, BasisChoice};
use super::comparability::have_other_devices;
use super::comparison::{CompareOptions, METRICS, noise_floor, of_runs, rounded};
use super::digest::Digest;
use super::evidence::{Evidence, of_row, of_times};
use super::judgment::{Judgment, Strictness, Verdict, judge};
use super::lengths::{Lengths, WHY};
use super::matching::{KernelPair, MatchLevel, MatchedBy, forget_unequal_inputs, kernels_of, matched};
use super::side::{Side, join_inputs, separate_waits};
use super::tree::{kernel_times, of_side, time_of};

/// Maximum number of kernels with most time that are tested for steps.
const MAX_KERNELS: usize = 50;

/// The document of a history.
#[derive(Clone, Debug, Serialize)]
pub struct History {
    pub schema: &'static str,
    pub schema_version: &'static str,
    pub basis: String,
    pub runs: Vec<String>,
    /// Times of the span first, then times of kernels, most time first.
    pub series: Vec<Series>,
}

/// A time over all runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// `time` of a part of the span, or `kernel`.
    pub kind: &'static str,
    pub name: String,
    /// Nanoseconds per unit of the basis, averaged over GPUs; null for a run without it.
    pub values_ns: Vec<Option<i64>>,
    /// First run after the step.
    pub step_at: Option<String>,
    pub step_pct: Option<f64>,
    /// Single GPUs that stepped, if the mean over all GPUs does not show it.
    pub step_gpus: Vec<String>,
    pub p_holm: Option<f64>,
    /// Smallest detectable step in the middle of the history, in percent.
    pub resolution_pct: Option<f64>,
    pub step_why: Option<&'static str>,
}

/// Compares the runs before and after each run, and keeps the surest relevant step of each time. All of these tests are
/// adjusted together, so that the probability of any false step stays below alpha.
pub fn history(runs: &[Digest], options: &CompareOptions) -> History {
    let mut all = Side { runs: runs.to_vec() };
    all.pair_with(&Side { runs: runs.first().into_iter().cloned().collect() });
    separate_waits(&mut [&mut all]);
    join_inputs(&mut [&mut all]);
    let runs = all.runs;
    let sides: Vec<(Side, Side)> = (1..runs.len())
        .map(|place| {
            let (before, after) = runs.split_at(place);
            (Side { runs: before.to_vec() }, Side { runs: after.to_vec() })
        })
        .collect();
    let basis = sides.iter().map(|(before, after)| options.basis.resolve(before, after)).next();
    let basis = basis.unwrap_or(if options.basis == BasisChoice::Auto { Basis::Run } else { Basis::Iteration });
    let floor = sides.first().is_some_and(|(before, after)| have_other_devices(before, after));
    let strictness =
        Strictness { effect: options.effect, noise_floor: noise_floor(options, floor), alpha: options.alpha };
    let trees: Vec<_> = runs.iter().map(|run| of_side(&Side { runs: vec![run.clone()] }, basis)).collect();
    let have_other_lengths = basis == Basis::Run && options.basis == BasisChoice::Auto && have_other_lengths(&runs);
    let mut series: Vec<(Series, Vec<Option<Evidence>>)> = Vec::new();
    for (name, time) in METRICS {
        let values_ns: Vec<Option<i64>> = trees.iter().map(|tree| time_of(tree.as_ref()?, name)).collect();
        if values_ns.iter().all(|value| value.is_none_or(|value| value == 0)) {
            continue;
        }
        let evidence = |(before, after): &(Side, Side)| {
            let evidence = match basis {
                _ if have_other_lengths => None,
                Basis::Iteration => of_times(before, after, time),
                Basis::Run => of_runs(before, after, time),
            };
            evidence.map(|evidence| Evidence { by_gpu: Vec::new(), ..evidence })
        };
        series.push((
            Series { kind: "time", name: name.to_owned(), values_ns, ..Series::default() },
            sides.iter().map(evidence).collect(),
        ));
    }
    let of_runs: Vec<BTreeMap<&str, i64>> =
        trees.iter().map(|tree| tree.as_ref().map(kernel_times).unwrap_or_default()).collect();
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for (name, time_ns) in of_runs.iter().flatten() {
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(*time_ns);
    }
    let mut names: Vec<(i64, &str)> = sums.into_iter().map(|(name, sum)| (sum, name)).collect();
    names.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(other.1)));
    names.truncate(MAX_KERNELS);
    let of_sides: Vec<_> =
        sides.iter().map(|(before, after)| (kernels_of(before, basis), kernels_of(after, basis))).collect();
    for (_, name) in names {
        let values_ns = of_runs.iter().map(|times| times.get(name).copied()).collect();
        let evidence = of_sides.iter().map(|(before, after)| {
            let (mut base, mut new) = (before.get(name).cloned(), after.get(name).cloned());
            let lacks_inputs =
                base.as_mut().zip(new.as_mut()).is_some_and(|(base, new)| forget_unequal_inputs(base, new));
            of_row(&KernelPair { base, new, matched_by: MatchedBy::Exact, lacks_inputs }, basis)
                .filter(|evidence| evidence.error.is_some())
        });
        let name = name.to_owned();
        series.push((Series { kind: "kernel", name, values_ns, ..Series::default() }, evidence.collect()));
    }
    let all: Vec<(Option<&Evidence>, f64)> =
        series.iter().flat_map(|(_, evidence)| evidence.iter().map(|one| (one.as_ref(), 0.0))).collect();
    let judged = judge(&all, strictness);
    let names: Vec<String> = runs.iter().map(|run| run.facts.inputs.join(" ")).collect();
    let splits = sides.len().max(1);
    let with_step = |((series, _), judged): ((Series, _), &[Judgment])| {
        let series = find_step(series, judged, &names);
        let why = if have_other_lengths && series.kind == "time" { Some(WHY) } else { series.step_why };
        Series { step_why: why, ..series }
    };
    History {
        schema: "wavesieve-history",
        schema_version: "1.0",
        basis: options.basis.unit(basis, sides.iter().flat_map(|(base, new)| [base, new])),
        series: series.into_iter().zip(judged.chunks(splits)).map(with_step).collect(),
        runs: names,
    }
}

/// Whether any run repeats the kernels of the first run a different number of times.
fn have_other_lengths(runs: &[Digest]) -> bool {
    let side = |run: &Digest| Side { runs: vec![run.clone()] };
    let Some((first, others)) = runs.split_first() else { return false };
    let first = side(first);
    let is_other =
        |run: &Digest| Lengths::of(&matched(&first, &side(run), Basis::Run, MatchLevel::Exact).rows).is_some();
    others.iter().any(is_other)
}

/// The surest step of a series; among equally sure ones the largest, then the first.
fn find_step(mut series: Series, judged: &[Judgment], names: &[String]) -> Series {
    let tested = || judged.iter().enumerate().filter_map(|(place, one)| Some((place, one, one.adjusted_p?)));
    let is_step = |verdict: Verdict| matches!(verdict, Verdict::Slower | Verdict::Faster);
    let size = |one: &Judgment| libm::log(one.change()).abs();
    let step = tested().filter(|(_, one, _)| is_step(one.verdict)).min_by(|one, other| {
        one.2.total_cmp(&other.2).then(size(other.1).total_cmp(&size(one.1))).then(one.0.cmp(&other.0))
    });
    series.resolution_pct = judged.get(judged.len() / 2).and_then(|one| one.resolution_pct).map(rounded);
    match step {
        Some((place, one, p)) => {
            series.step_at = names.get(place + 1).cloned();
            series.step_pct = Some(rounded((one.change() - 1.0) * 100.0));
            series.step_gpus = one.gpus.iter().map(|((rank, gpu), _)| format!("rank {rank} GPU {gpu}")).collect();
            series.p_holm = Some(rounded(p));
        }
        None if tested().next().is_none() => series.step_why = Some("too little of it to be tested"),
        None => {
            series.p_holm = tested().map(|(_, _, p)| p).min_by(f64::total_cmp).map(rounded);
            series.step_why = Some("no relevant step");
        }
    }
    series
}
