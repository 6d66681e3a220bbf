//! Compares two sides: checks, matches, judges, divides the change.

use std::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh3::xxh3_128;

use super::basis::{Basis, BasisChoice};
use super::comparability::{Allowed, Level, checks, have_other_devices};
use super::counters::counter_rows;
use super::digest::{Times, write as write_digest};
use super::document::{
    BasisFacts, ChangedGpu, Comparison, Delta, Gate, IterationRow, KernelRow, OneSided, PartRow, RankRow, Renamed,
    ReplacedRow, SCHEMA, SCHEMA_VERSION, Settings, SideFacts, Tail, Total,
};
use super::effects::effects;
use super::evidence::{Evidence, has_same_mix, of_row, of_times};
use super::families::Families;
use super::judgment::{Judgment, Strictness, Verdict, judge};
use super::lengths::{Lengths, WHY};
use super::matching::{KernelPair, MatchLevel, Matched, MatchedBy, SideKernel, matched};
use super::paths::{on_path, path_rows, range_rows};
use super::places::{Replaced, alignment};
use super::side::{GpuKey, Side, calls, join_inputs, key, separate_waits};
use super::summary;
use super::tree::{SpanPart, kernel_ns, kernel_of, kernel_times, of_gpu, of_side, time_of};
use wavesieve_model::analysis::categories::COMMUNICATION;

/// Assumed noise between two runs on the same GPUs, and on different ones, as a share.
const NOISE_FLOOR: f64 = 0.01;
const NOISE_FLOOR_OTHER_DEVICES: f64 = 0.02;

/// Options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    pub basis: BasisChoice,
    pub level: MatchLevel,
    /// Smallest relevant change, as a share.
    pub effect: f64,
    /// Assumed noise between two runs, as a share; by default 1 % on the same GPUs and 2 % on different ones.
    pub noise_floor: Option<f64>,
    pub alpha: f64,
    /// Minimum share of the kernel time of either side for a kernel that is tested.
    pub least_share: f64,
    pub allowed: Allowed,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            basis: BasisChoice::Auto,
            level: MatchLevel::default(),
            effect: 0.03,
            noise_floor: None,
            alpha: 0.01,
            least_share: 0.002,
            allowed: Allowed::default(),
        }
    }
}

/// Compares two sides.
pub fn compare(base: &Side, new: &Side, options: &CompareOptions) -> Comparison {
    let (mut base, mut new) = (base.clone(), new.clone());
    // The order in which runs are given is not a property of a side.
    for side in [&mut base, &mut new] {
        side.runs.sort_by(|one, other| one.facts.inputs.cmp(&other.facts.inputs));
    }
    let digests = [&base, &new].map(digest_of);
    let first = base.clone();
    let are_renamed = [base.pair_with(&first), new.pair_with(&first)].contains(&true);
    separate_waits(&mut [&mut base, &mut new]);
    join_inputs(&mut [&mut base, &mut new]);
    let mut comparison = compare_paired(&base, &new, are_renamed, options);
    [comparison.base.digest, comparison.new.digest] = digests;
    comparison
}

/// The hash of the digests of a side.
fn digest_of(side: &Side) -> Option<String> {
    let mut bytes = Vec::new();
    side.runs.iter().try_for_each(|run| write_digest(run, &mut bytes)).ok()?;
    Some(format!("{:032x}", xxh3_128(&bytes)))
}

fn compare_paired(base: &Side, new: &Side, are_renamed: bool, options: &CompareOptions) -> Comparison {
    let basis = options.basis.resolve(base, new);
    let Matched { rows, replaced } = matched(base, new, basis, options.level);
    let mut found = checks(base, new, basis, &rows, are_renamed, options.allowed);
    let lengths = if basis == Basis::Run { Lengths::of(&rows) } else { None };
    let is_asked = options.basis != BasisChoice::Auto;
    found.extend(lengths.map(|lengths| lengths.check(is_asked)));
    found.sort_by_key(|check| std::cmp::Reverse(check.level));
    let lengths = lengths.filter(|_| !is_asked);
    let floor = noise_floor(options, have_other_devices(base, new));
    let strictness = Strictness { effect: options.effect, noise_floor: floor, alpha: options.alpha };
    let is_blocked = found.iter().any(|check| check.level == Level::Blocking);
    let empty = SpanPart { name: "span".to_owned(), ..SpanPart::default() };
    let trees = [base, new].map(|side| of_side(side, basis).unwrap_or_else(|| empty.clone()));
    let [base_tree, new_tree] = &trees;
    let totals = totals(base, new, basis, &trees, strictness, lengths.is_none());
    let path = path_rows(base, new, basis, &rows);
    let mut kernels = kernel_rows(&rows, basis, &trees, strictness, options.least_share);
    for kernel in &mut kernels {
        kernel.path_delta_ns = on_path(&path, &kernel.key);
    }
    let ranges = range_rows(base, new, basis);
    // Counters of kernels that take little time change more by chance, and no change of theirs matters.
    let untested = kernels.iter().filter(|kernel| kernel.verdict == Verdict::Untested.word());
    let untested: BTreeSet<String> = untested.map(|kernel| kernel.key.clone()).collect();
    let matters = |key: &str| !untested.contains(key);
    let counters = counter_rows(base, new, &rows, strictness, &matters);
    let is_one_sided = |row: &&KernelPair<'_>| row.matched_by == MatchedBy::None;
    let mut comparison = Comparison {
        schema: SCHEMA,
        schema_version: SCHEMA_VERSION,
        verdict: "unclear",
        reason: String::new(),
        basis: BasisFacts {
            kind: options.basis.kind(basis),
            unit: options.basis.unit(basis, [base, new]),
            base_units: base.units(basis),
            new_units: new.units(basis),
        },
        settings: Settings {
            r#match: options.level.word(),
            effect_pct: rounded(options.effect * 100.0),
            noise_floor_pct: rounded(strictness.noise_floor * 100.0),
            alpha: options.alpha,
            least_share_pct: rounded(options.least_share * 100.0),
        },
        base: side_facts(base),
        new: side_facts(new),
        comparability: found,
        totals,
        decomposition: decomposition(base, new, basis, base_tree, new_tree),
        path_why: path.is_empty().then_some("a side has none; of more than a million dispatches choose --path always"),
        path,
        added: rows.iter().filter(is_one_sided).filter_map(|row| one_sided(row.new.as_ref()?, new_tree)).collect(),
        gone: rows.iter().filter(is_one_sided).filter_map(|row| one_sided(row.base.as_ref()?, base_tree)).collect(),
        replaced: replaced.iter().map(|interval| replaced_row(interval, base_tree, new_tree)).collect(),
        alignment: alignment(base, new, &rows),
        renamed: rows.iter().filter(|row| row.is_renamed()).filter_map(renamed).collect(),
        categories: categories(&kernels),
        kernels,
        ranges_why: ranges.is_empty().then_some("a side has no ROCTx ranges with work"),
        ranges,
        ranks: ranks(base, new, basis),
        iterations: iterations(base, "base").into_iter().chain(iterations(new, "new")).collect(),
        counters_why: counters.is_empty().then_some("no counter was recorded of a kernel on both sides"),
        counters,
        gate: Gate::default(),
        step: lengths.and_then(|lengths| lengths.steps(base, new)),
    };
    (comparison.verdict, comparison.reason) = summary::verdict(&comparison, is_blocked);
    comparison
}

/// The assumed noise between two runs.
pub(super) fn noise_floor(options: &CompareOptions, have_other_devices: bool) -> f64 {
    options.noise_floor.unwrap_or(if have_other_devices { NOISE_FLOOR_OTHER_DEVICES } else { NOISE_FLOOR })
}

/// A number with 12 significant digits, like every number in the output.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

fn side_facts(side: &Side) -> SideFacts {
    let architectures: BTreeSet<&String> = side.runs.iter().flat_map(|run| &run.facts.architectures).collect();
    SideFacts {
        inputs: side.runs.iter().flat_map(|run| run.facts.inputs.clone()).collect(),
        runs: side.runs.len(),
        ranks: side.runs.iter().map(|run| run.facts.ranks).max().unwrap_or(0),
        gpus: side.keys().len(),
        arch: architectures.into_iter().cloned().collect(),
        iterations: side.steady_iterations(),
        digest: None,
    }
}

/// Times that are tested, each with the function that takes it from an interval.
pub(super) type Metric = (&'static str, fn(&Times) -> i64);
pub(super) const METRICS: [Metric; 6] = [
    ("span", |times| times.span_ns),
    ("busy", Times::busy_ns),
    ("idle", |times| times.span_ns.saturating_sub(times.busy_ns())),
    ("compute", |times| times.compute_ns),
    ("exposed_comm", |times| times.exposed_comm_ns),
    ("exposed_copy", |times| times.exposed_copy_ns),
];

fn totals(
    base: &Side,
    new: &Side,
    basis: Basis,
    trees: &[SpanPart; 2],
    strictness: Strictness,
    are_comparable: bool,
) -> Vec<Total> {
    let evidence = |time: fn(&Times) -> i64| match basis {
        _ if !are_comparable => None,
        Basis::Iteration => of_times(base, new, time),
        Basis::Run => of_runs(base, new, time),
    };
    // The figures are means over all GPUs, so the test is about means too.
    let of_means = |evidence: Evidence| Evidence { by_gpu: Vec::new(), ..evidence };
    let evidence: Vec<Option<Evidence>> = METRICS.iter().map(|(_, time)| evidence(*time).map(of_means)).collect();
    let judged: Vec<(Option<&Evidence>, f64)> = evidence.iter().map(|evidence| (evidence.as_ref(), 0.0)).collect();
    let judged = judge(&judged, strictness);
    let rows = METRICS.iter().zip(&evidence).zip(judged).map(|(((metric, _), evidence), judgment)| {
        let [base_ns, new_ns] = trees.each_ref().map(|tree| time_of(tree, metric).unwrap_or(0));
        let pct = |ratio: f64| rounded((ratio - 1.0) * 100.0);
        let delta_ns = new_ns.saturating_sub(base_ns);
        let is_opposite = delta_ns.signum() as f64 * libm::log(judgment.ratio) < 0.0;
        let is_changed = matches!(judgment.verdict, Verdict::Slower | Verdict::Faster);
        let (verdict, verdict_why) = match judgment.interval {
            Some(_) if is_changed && is_opposite => {
                (Some(Verdict::Unclear), Some("the mean and the typical time changed in opposite directions"))
            }
            Some(_) => (Some(judgment.verdict), None),
            None if !are_comparable => (None, Some(WHY)),
            None if basis == Basis::Run => (None, Some("a side has one value; compare several runs")),
            None => (None, Some("too few steady iterations, or none of it in some")),
        };
        Total {
            metric: (*metric).to_owned(),
            base_ns,
            new_ns,
            delta_ns,
            pct: (base_ns > 0).then(|| pct(new_ns as f64 / base_ns as f64)),
            typical_pct: judgment.interval.map(|_| pct(judgment.ratio)),
            ci_low_pct: judgment.interval.map(|(low, _)| pct(low)),
            ci_high_pct: judgment.interval.map(|(_, high)| pct(high)),
            resolution_pct: judgment.resolution_pct.map(rounded),
            unit: evidence.as_ref().and_then(|evidence| Some(evidence.unit?.word())),
            samples: evidence.as_ref().map_or(0, |evidence| evidence.samples),
            verdict: verdict.map(Verdict::word),
            verdict_why,
        }
    });
    rows.filter(|row| row.base_ns != 0 || row.new_ns != 0 || row.metric == "span").collect()
}

/// The evidence of whole runs: their values are the samples. `None` with one run on both sides.
pub(super) fn of_runs(base: &Side, new: &Side, time: fn(&Times) -> i64) -> Option<Evidence> {
    use wavesieve_model::analysis::statistics::trimmed::{Estimate, mean};
    let levels = |side: &Side| {
        let of_run = |run: &super::digest::Digest| {
            let sum: f64 = run.gpus.iter().map(|gpu| time(&gpu.run) as f64).sum();
            (sum > 0.0).then(|| libm::log(sum / run.gpus.len() as f64))
        };
        side.runs.iter().map(of_run).collect::<Option<Vec<f64>>>()
    };
    let (base, new) = (levels(base)?, levels(new)?);
    if base.len() + new.len() < 3 {
        return None;
    }
    let log_ratio = mean(&new)? - mean(&base)?;
    Some(Evidence {
        log_ratio,
        error: Some(Estimate { value: log_ratio, standard_error: 0.0, degrees: f64::INFINITY }),
        unit: None,
        samples: base.len().min(new.len()),
        levels: [base, new],
        by_gpu: Vec::new(),
    })
}

fn kernel_rows(
    rows: &[KernelPair<'_>],
    basis: Basis,
    trees: &[SpanPart; 2],
    strictness: Strictness,
    least_share: f64,
) -> Vec<KernelRow> {
    let times = trees.each_ref().map(kernel_times);
    let all = times.each_ref().map(|times| times.values().sum::<i64>().max(1) as f64);
    let time = |side: usize, kernel: Option<&SideKernel<'_>>| {
        kernel.and_then(|kernel| times.get(side)?.get(kernel.name).copied()).unwrap_or(0)
    };
    let share = |row: &KernelPair<'_>| {
        let of = |side: usize, kernel: Option<&SideKernel<'_>>| {
            time(side, kernel) as f64 / all.get(side).copied().unwrap_or(1.0)
        };
        of(0, row.base.as_ref()).max(of(1, row.new.as_ref()))
    };
    let evidence: Vec<Option<Evidence>> = rows.iter().map(|row| of_row(row, basis)).collect();
    let is_tested = |row: &KernelPair<'_>, evidence: &Option<Evidence>| {
        !waits(row) && share(row) >= least_share && evidence.as_ref().is_some_and(|evidence| evidence.error.is_some())
    };
    let median = |row: &KernelPair<'_>| {
        let all = row.base.iter().flat_map(|side| side.by_gpu.values().flatten());
        all.map(|(_, kernel)| calls(kernel, basis).median_x2_ns / 2).max().unwrap_or(0) as f64
    };
    let tested: Vec<(Option<&Evidence>, f64)> = rows
        .iter()
        .zip(&evidence)
        .filter(|(row, evidence)| is_tested(row, evidence))
        .map(|(row, evidence)| (evidence.as_ref(), median(row)))
        .collect();
    let mut judged = judge(&tested, strictness).into_iter();
    rows.iter()
        .zip(&evidence)
        .map(|(row, evidence)| {
            let judgment = if is_tested(row, evidence) { judged.next() } else { None };
            let totals = [time(0, row.base.as_ref()), time(1, row.new.as_ref())];
            kernel_row(row, evidence.as_ref(), judgment.as_ref(), totals, share(row), strictness, least_share, basis)
        })
        .collect()
}

#[expect(clippy::too_many_arguments, reason = "the facts of one row")]
fn kernel_row(
    row: &KernelPair<'_>,
    evidence: Option<&Evidence>,
    judgment: Option<&Judgment>,
    [base_total_ns, new_total_ns]: [i64; 2],
    share: f64,
    strictness: Strictness,
    least_share: f64,
    basis: Basis,
) -> KernelRow {
    let (base, new) = (row.base.as_ref(), row.new.as_ref());
    let delta_ns = new_total_ns.saturating_sub(base_total_ns);
    let divided = base.zip(new).map(|(base, new)| effects(base, new, delta_ns));
    let verdict = match (base, new, judgment) {
        _ if row.matched_by == MatchedBy::Replaced => Verdict::Replaced,
        (None, _, _) => Verdict::New,
        (_, None, _) => Verdict::Gone,
        (_, _, Some(judgment)) => judgment.verdict,
        _ if share < least_share || waits(row) => Verdict::Untested,
        _ => Verdict::TooFew,
    };
    let why = match verdict {
        Verdict::New | Verdict::Gone | Verdict::Replaced => Some("only one side has it"),
        Verdict::Untested if waits(row) => Some("its duration includes the wait for other ranks"),
        Verdict::Untested => Some("it takes less than --least-share of the kernel time"),
        Verdict::TooFew => Some("fewer than 15 dispatches on a side, or no shape that both sides have"),
        _ => None,
    };
    let ratio = judgment.map(|judgment| judgment.ratio).or(evidence.map(|evidence| libm::exp(evidence.log_ratio)));
    let clock = base.zip(new).zip(ratio).and_then(|((base, new), ratio)| clock_of(base, new, ratio, basis));
    let sides = || base.into_iter().chain(new);
    let name = new.or(base).map(|side| side.name.to_owned()).unwrap_or_default();
    KernelRow {
        family: Families::builtin().of(&name),
        key: base.or(new).map(|side| side.name.to_owned()).unwrap_or_default(),
        category: sides().next().map(|side| side.category.to_owned()).unwrap_or_default(),
        matched_by: row.matched_by.word(),
        base_name: base.map(|side| side.name.to_owned()),
        new_name: new.map(|side| side.name.to_owned()),
        problem: None,
        base_calls: rounded(base.map_or(0.0, |side| side.calls)),
        new_calls: rounded(new.map_or(0.0, |side| side.calls)),
        base_total_ns,
        new_total_ns,
        delta_ns,
        calls_effect_ns: divided.map(|parts| parts.calls_ns),
        speed_effect_ns: divided.map(|parts| parts.speed_ns),
        mix_effect_ns: divided.map(|parts| parts.mix_ns),
        selection_effect_ns: divided.map(|parts| parts.selection_ns),
        clock_effect_ns: clock.map(|clock| clock.effect_ns),
        path_delta_ns: None,
        ratio: ratio.map(rounded),
        ci_low: judgment.and_then(|judgment| judgment.interval).map(|(low, _)| rounded(low)),
        ci_high: judgment.and_then(|judgment| judgment.interval).map(|(_, high)| rounded(high)),
        resolution_pct: judgment.and_then(|judgment| judgment.resolution_pct).map(rounded),
        resolution_why: why,
        p_holm: judgment.and_then(|judgment| judgment.adjusted_p).map(rounded),
        unit: evidence.and_then(|evidence| Some(evidence.unit?.word())),
        samples: evidence.map_or(0, |evidence| evidence.samples),
        share_pct: rounded(share * 100.0),
        clock_pct: clock.map(|clock| rounded(clock.clock_pct)),
        cycles_pct: clock.map(|clock| rounded(clock.cycles_pct)),
        clock_why: clock.is_none().then_some("the clock was not sampled on both sides while it ran"),
        changed_gpus: judgment.map_or_else(Vec::new, |judgment| judgment.gpus.iter().map(changed_gpu).collect()),
        tail_changed: base
            .zip(new)
            .filter(|_| judgment.is_some())
            .and_then(|(base, new)| tail(base, new, ratio?, strictness.effect, basis)),
        verdict: verdict.word(),
    }
}

/// Change of the clock, and its effect.
#[derive(Clone, Copy)]
struct ClockChange {
    clock_pct: f64,
    cycles_pct: f64,
    effect_ns: i64,
}

/// With `c` calls of `n` cycles at the frequency `f`, all means of both sides, the clock accounts for `c n (1/f1 -
/// 1/f0)`, which is a part of the speed effect. `ratio` is the ratio of typical durations.
fn clock_of(base: &SideKernel<'_>, new: &SideKernel<'_>, ratio: f64, basis: Basis) -> Option<ClockChange> {
    let frequency = |side: &SideKernel<'_>| {
        let all = side.by_gpu.values().flatten().map(|(_, kernel)| calls(kernel, basis).clock);
        let (time_ns, cycles) = all.fold((0.0, 0.0), |(ns, sum), one| (ns + one.time_ns as f64, sum + one.cycles));
        (time_ns > 0.0 && cycles > 0.0).then(|| cycles / time_ns)
    };
    let (f0, f1) = (frequency(base)?, frequency(new)?);
    let duration = |side: &SideKernel<'_>| (side.calls > 0.0).then(|| side.time_ns / side.calls);
    let cycles = f64::midpoint(duration(base)? * f0, duration(new)? * f1);
    let effect = f64::midpoint(base.calls, new.calls) * cycles * (1.0 / f1 - 1.0 / f0);
    Some(ClockChange {
        clock_pct: (f1 / f0 - 1.0) * 100.0,
        cycles_pct: (ratio * f1 / f0 - 1.0) * 100.0,
        effect_ns: effect.round() as i64,
    })
}

fn replaced_row(interval: &Replaced<'_>, base: &SpanPart, new: &SpanPart) -> ReplacedRow {
    let time = |names: &[&str], tree: &SpanPart| {
        names.iter().fold(0, |sum: i64, name| sum.saturating_add(kernel_ns(tree, name)))
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (base_ns, new_ns) = (time(&interval.base, base), time(&interval.new, new));
    ReplacedRow {
        base: names(&interval.base),
        new: names(&interval.new),
        base_ns,
        new_ns,
        delta_ns: new_ns.saturating_sub(base_ns),
    }
}

fn changed_gpu(((rank, gpu), ratio): &(GpuKey, f64)) -> ChangedGpu {
    ChangedGpu { rank: *rank, gpu: *gpu, ratio: rounded(*ratio) }
}

/// Whether dispatches last until other ranks arrive, so that their durations are not a property of the kernel.
fn waits(row: &KernelPair<'_>) -> bool {
    let are_transfers = |side: &SideKernel<'_>| side.by_gpu.values().flatten().all(|(_, kernel)| kernel.is_transfer);
    row.sides().any(|side| side.category == COMMUNICATION && !are_transfers(side))
}

/// The tail, if the change of the mean duration differs from the change of the typical one by more than the smallest
/// relevant change.
fn tail(base: &SideKernel<'_>, new: &SideKernel<'_>, ratio: f64, effect: f64, basis: Basis) -> Option<Tail> {
    if base.name != new.name || !has_same_mix(base, new) {
        return None;
    }
    let mean = |side: &SideKernel<'_>| side.time_ns / side.calls.max(f64::MIN_POSITIVE);
    let of_means = mean(new) / mean(base).max(f64::MIN_POSITIVE);
    if (of_means / ratio - 1.0).abs() <= effect {
        return None;
    }
    let most = |side: &SideKernel<'_>, quantile: fn(&super::digest::Calls) -> i64| {
        let all = side.by_gpu.values().flatten();
        all.map(|(_, kernel)| quantile(calls(kernel, basis))).max().unwrap_or(0)
    };
    Some(Tail {
        base_p95_ns: most(base, |calls| calls.p95_ns),
        new_p95_ns: most(new, |calls| calls.p95_ns),
        base_p99_ns: most(base, |calls| calls.p99_ns),
        new_p99_ns: most(new, |calls| calls.p99_ns),
    })
}

/// The span trees of each GPU in all runs.
fn trees_by_gpu(side: &Side, basis: Basis) -> BTreeMap<GpuKey, Vec<SpanPart>> {
    let mut trees: BTreeMap<GpuKey, Vec<SpanPart>> = BTreeMap::new();
    for gpu in side.gpus() {
        trees.entry(key(gpu)).or_default().extend(of_gpu(gpu, basis));
    }
    trees
}

/// The parts of the span except kernels: of the mean, then of every GPU that both sides have.
fn decomposition(base: &Side, new: &Side, basis: Basis, base_tree: &SpanPart, new_tree: &SpanPart) -> Vec<PartRow> {
    let mut rows = Vec::new();
    add_parts(None, None, Some(base_tree), Some(new_tree), &mut rows);
    let (of_base, of_new) = (trees_by_gpu(base, basis), trees_by_gpu(new, basis));
    for ((rank, gpu), trees) in &of_base {
        let Some(others) = of_new.get(&(*rank, *gpu)) else { continue };
        let label = format!("rank {rank} GPU {gpu}");
        let (one, other) = (super::tree::mean(trees), super::tree::mean(others));
        add_parts(Some(&label), None, one.as_ref(), other.as_ref(), &mut rows);
    }
    rows
}

fn add_parts(
    gpu: Option<&str>,
    parent: Option<&str>,
    base: Option<&SpanPart>,
    new: Option<&SpanPart>,
    rows: &mut Vec<PartRow>,
) {
    let Some(name) = base.or(new).map(|part| part.name.as_str()).filter(|name| kernel_of(name).is_none()) else {
        return;
    };
    let [base_ns, new_ns] = [base, new].map(|part| part.map_or(0, |part| part.time_ns));
    rows.push(PartRow {
        gpu: gpu.map(ToOwned::to_owned),
        part: name.to_owned(),
        parent: parent.map(ToOwned::to_owned),
        base_ns,
        new_ns,
        delta_ns: new_ns.saturating_sub(base_ns),
    });
    let [of_base, of_new] = [base, new].map(|part| part.map_or(&[][..], |part| part.children.as_slice()));
    let find = |all: &'_ [SpanPart], name: &str| all.iter().position(|part| part.name == name);
    let child = |all, name: &str| find(all, name).and_then(|place| all.get(place));
    let only_new = of_new.iter().filter(|part| find(of_base, &part.name).is_none());
    for name_of_child in of_base.iter().chain(only_new).map(|part| part.name.as_str()) {
        add_parts(gpu, Some(name), child(of_base, name_of_child), child(of_new, name_of_child), rows);
    }
}

fn one_sided(kernel: &SideKernel<'_>, tree: &SpanPart) -> Option<OneSided> {
    Some(OneSided {
        kernel: kernel.name.to_owned(),
        category: kernel.category.to_owned(),
        calls: rounded(kernel.calls),
        total_ns: kernel_ns(tree, kernel.name),
    })
}

fn renamed(row: &KernelPair<'_>) -> Option<Renamed> {
    let (base, new) = row.base.as_ref().zip(row.new.as_ref())?;
    Some(Renamed { base: base.name.to_owned(), new: new.name.to_owned(), matched_by: row.matched_by.word()? })
}

fn categories(kernels: &[KernelRow]) -> Vec<Delta> {
    let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    for kernel in kernels {
        let sum = sums.entry(&kernel.category).or_default();
        *sum = (sum.0.saturating_add(kernel.base_total_ns), sum.1.saturating_add(kernel.new_total_ns));
    }
    let delta = |(name, (base_ns, new_ns)): (&str, (i64, i64))| Delta {
        name: name.to_owned(),
        base_ns,
        new_ns,
        delta_ns: new_ns.saturating_sub(base_ns),
    };
    let mut rows: Vec<Delta> = sums.into_iter().map(delta).collect();
    rows.sort_by(|one, other| other.delta_ns.abs().cmp(&one.delta_ns.abs()).then_with(|| one.name.cmp(&other.name)));
    rows
}

fn ranks(base: &Side, new: &Side, basis: Basis) -> Vec<RankRow> {
    let (of_base, of_new) = (trees_by_gpu(base, basis), trees_by_gpu(new, basis));
    let mean = super::tree::mean;
    let common = of_base.iter().filter_map(|(key, base)| Some((key, mean(base)?, mean(of_new.get(key)?)?)));
    common
        .map(|((rank, gpu), base, new)| {
            let delta = |name: &str| time_of(&new, name).unwrap_or(0).saturating_sub(time_of(&base, name).unwrap_or(0));
            RankRow {
                rank: *rank,
                gpu: *gpu,
                base_span_ns: base.time_ns,
                new_span_ns: new.time_ns,
                delta_ns: delta("span"),
                busy_delta_ns: delta("busy"),
                idle_delta_ns: delta("idle"),
            }
        })
        .collect()
}

fn iterations(side: &Side, name: &'static str) -> Vec<IterationRow> {
    let mut rows = Vec::new();
    for (run, digest) in side.runs.iter().enumerate() {
        for gpu in &digest.gpus {
            rows.extend(gpu.iterations.iter().enumerate().map(|(iteration, times)| IterationRow {
                side: name,
                run,
                rank: gpu.rank,
                gpu: gpu.gpu,
                iteration,
                duration_ns: times.span_ns,
                busy_ns: times.busy_ns(),
            }));
        }
    }
    rows
}
