//! The whole run: shares of each GPU by bin, units of work and marks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::axis::{Axis, Groups, gpu_label};
use super::columns::Extent;
use super::kinds::Kinds;
use super::model::{Overview, OverviewLane, OverviewMark};
use super::pieces::{Piece, add_to_bins, encoded_shares, filled, most_bins};
use super::record::{GpuRecord, ProcessRecord, Records, Unit};
use wavesieve_engine::findings::{counted, duration};

/// Bytes of shares of a picture.
pub(super) const BUDGET: usize = 160_000;
/// Minimum and maximum number of bins; the maximum if work goes on all the time.
const BINS: (usize, usize) = (120, 1_600);
/// Maximum number of bins if GPUs work in a small part of the run, in which readers look closer.
const MORE_BINS: usize = 32_768;
/// Maximum number of bins of all rows together, which browsers unpack.
const CELLS: usize = 4 << 20;
/// Lanes of single GPUs if there are more GPUs than [`MAX_LANES`].
const OUTLYING: usize = 32;
const MAX_LANES: usize = 40;
/// Maximum number of ticks and of marks.
const MAX_TICKS: usize = 5_000;
const MAX_MARKS: usize = 400;
/// A GPU of a process.
pub(super) type GpuKey = (i64, i64);

/// An overview, and what it sums up.
pub(super) struct WholeRun {
    /// The overview, with numbers of kinds of the records.
    pub overview: Overview,
    /// Sentences about what is summed up.
    pub notes: Vec<String>,
    /// GPUs in one lane together.
    pub others: usize,
}

/// How many bins an overview has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bins {
    /// As many as fit into these bytes.
    Within(usize),
    /// As many as another overview has.
    Exactly(usize),
}

/// The overview. `focus` is the process whose units are marked, `wanted` are ranks that have lanes of their own.
pub(super) fn overview(
    records: &mut Records,
    axis: &Axis,
    groups: &Groups,
    focus: Option<i64>,
    wanted: &BTreeSet<i64>,
    bins: Bins,
) -> WholeRun {
    let missing = records.kinds.index("missing");
    let gpus: Vec<(&ProcessRecord, &GpuRecord)> =
        records.processes.values().flat_map(|record| record.gpus.iter().map(move |gpu| (record, gpu))).collect();
    let single = single_lanes(&gpus, axis, wanted);
    let lanes = single.len() + usize::from(single.len() < gpus.len());
    let used: BTreeSet<usize> = gpus.iter().flat_map(|(_, gpu)| gpu.longest.keys()).copied().collect();
    let others = gpus.len() - single.len();
    let lanes_of = |bins: usize| {
        let grid = (axis.span_ns, bins);
        let (mut own, mut rest) = (Vec::new(), BTreeMap::new());
        for (record, gpu) in &gpus {
            let key = (record.process, gpu.gpu);
            let pieces = filled(on_axis(record, gpu, axis), axis.span_ns, missing);
            if single.contains(&key) {
                let mut sums = BTreeMap::new();
                add_to_bins(pieces, grid, &mut sums);
                let (group, label) = (groups.id(record.process, Some(gpu.gpu)), gpu_label(record.rank, Some(gpu.gpu)));
                own.push(lane(group, label, 1, &sums, grid));
            } else {
                add_to_bins(pieces, grid, &mut rest);
            }
        }
        if others > 0 {
            own.push(lane(groups.others(), format!("{others} other GPUs"), others, &rest, grid));
        }
        own
    };
    let (bins, own) = match bins {
        Bins::Exactly(bins) => (bins, lanes_of(bins)),
        Bins::Within(budget) => {
            let working_ns = working_ns(&gpus, axis, &records.kinds);
            let mut bins = first_bins(lanes * (used.len() + 1), axis.span_ns, working_ns);
            // Within cells the order of work is not known.
            let cells = gpus.iter().filter_map(|(_, gpu)| gpu.cells).min();
            bins = cells.map_or(bins, |cells| bins.min(cells / 2)).max(1);
            loop {
                let made = lanes_of(bins);
                let bytes: usize = made.iter().flat_map(|lane| lane.shares.values()).map(String::len).sum();
                if bytes <= budget || bins <= BINS.0 {
                    break (bins, made);
                }
                bins = (bins * budget / bytes * 9 / 10).clamp(BINS.0, bins - 1);
            }
        }
    };
    let mut notes = Vec::new();
    if others > 0 {
        notes.push(format!(
            "The overview shows the {} GPUs that differ most from the others; one lane averages the other {others}.",
            single.len()
        ));
    }
    if gpus.iter().any(|(_, gpu)| gpu.cells.is_some()) {
        notes.push(
            "The overview sums up short intervals before it divides them into bins, so edges of bins are approximate."
                .to_owned(),
        );
    }
    let record = focus.and_then(|process| records.processes.get(&process));
    let units = record.map_or(&[][..], |record| &record.units);
    let every = units.len().div_ceil(MAX_TICKS).max(1);
    if every > 1 {
        notes.push(format!("Only every {every}th of {} units has a tick.", units.len()));
    }
    let start = |unit: &Unit| record.map(|record| axis.place(record, unit.time).0);
    let ticks = units.iter().step_by(every).filter_map(start).collect();
    let mut marks = record.map(|record| marks(record, axis, &records.kinds)).unwrap_or_default();
    if marks.len() > MAX_MARKS {
        notes.push(format!("The overview shows the {MAX_MARKS} longest of {} marks.", marks.len()));
        marks.sort_by_key(|mark| Reverse((mark.end_ns - mark.start_ns, Reverse(mark.start_ns))));
        marks.truncate(MAX_MARKS);
        marks.sort_by_key(|mark| (mark.start_ns, mark.end_ns));
    }
    let unit = units.first().map(|unit| unit.unit.clone()).unwrap_or_default();
    WholeRun { overview: Overview { bins, lanes: own, ticks, unit, marks }, notes, others }
}

/// Time from the first to the last work of any GPU.
fn working_ns(gpus: &[(&ProcessRecord, &GpuRecord)], axis: &Axis, kinds: &Kinds) -> i64 {
    let is_work = |piece: &Piece| !kinds.id(piece.kind).starts_with("idle:");
    let extent = |(record, gpu): &(&ProcessRecord, &GpuRecord)| {
        let first = gpu.pieces.iter().find(|piece| is_work(piece))?;
        let last = gpu.pieces.iter().rfind(|piece| is_work(piece))?;
        let (start_ns, end_ns) = axis.place(record, Extent { start_ns: first.start_ns, end_ns: last.end_ns });
        Some(Extent { start_ns, end_ns })
    };
    gpus.iter().filter_map(extent).reduce(Extent::with).map_or(axis.span_ns, Extent::length_ns)
}

/// The number of bins to try first.
fn first_bins(rows: usize, span_ns: i64, working_ns: i64) -> usize {
    let most = most_bins(span_ns, working_ns, (BINS.1, MORE_BINS));
    (CELLS / rows.max(1)).clamp(BINS.0, most).min(usize::try_from(span_ns).unwrap_or(usize::MAX)).max(1)
}

/// The GPUs with lanes of their own: all if there are few, otherwise those whose shares are farthest from the medians, and those of wanted
/// ranks.
fn single_lanes(gpus: &[(&ProcessRecord, &GpuRecord)], axis: &Axis, wanted: &BTreeSet<i64>) -> BTreeSet<GpuKey> {
    let key = |(record, gpu): &(&ProcessRecord, &GpuRecord)| (record.process, gpu.gpu);
    if gpus.len() <= MAX_LANES {
        return gpus.iter().map(key).collect();
    }
    let mut times: Vec<BTreeMap<usize, i64>> = Vec::with_capacity(gpus.len());
    for (_, gpu) in gpus {
        let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
        for piece in &gpu.pieces {
            *sums.entry(piece.kind).or_default() += piece.length_ns();
        }
        times.push(sums);
    }
    let kinds: BTreeSet<usize> = times.iter().flat_map(BTreeMap::keys).copied().collect();
    let mut distances = vec![0_i64; gpus.len()];
    for kind in kinds {
        let of = |sums: &BTreeMap<usize, i64>| sums.get(&kind).copied().unwrap_or(0);
        let mut sorted: Vec<i64> = times.iter().map(of).collect();
        sorted.sort_unstable();
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
        for (distance, sums) in distances.iter_mut().zip(&times) {
            *distance = distance.saturating_add((of(sums) - median).abs().min(axis.span_ns));
        }
    }
    let mut order: Vec<(bool, i64, GpuKey)> = gpus
        .iter()
        .zip(distances)
        .map(|(gpu, distance)| (!wanted.contains(&gpu.0.rank), -distance, key(gpu)))
        .collect();
    order.sort_unstable();
    order.into_iter().take(OUTLYING).map(|(.., key)| key).collect()
}

fn on_axis<'a>(record: &ProcessRecord, gpu: &'a GpuRecord, axis: &Axis) -> impl Iterator<Item = Piece> + use<'a> {
    let shift_ns = axis.shift_ns(record);
    gpu.pieces.iter().map(move |piece| Piece {
        start_ns: piece.start_ns.saturating_add(shift_ns),
        end_ns: piece.end_ns.saturating_add(shift_ns),
        kind: piece.kind,
    })
}

fn lane(
    group: String,
    label: String,
    count: usize,
    sums: &BTreeMap<usize, Vec<i64>>,
    grid: (i64, usize),
) -> OverviewLane {
    OverviewLane { group, label, count, shares: encoded_shares(sums, count, grid) }
}

/// Phases of units, jumps of their durations, and pauses of the recording.
fn marks(record: &ProcessRecord, axis: &Axis, kinds: &Kinds) -> Vec<OverviewMark> {
    let has_prompts = record.units.iter().any(|unit| unit.phase == "prefill");
    let kind_of = |unit: &Unit| match unit.phase.as_str() {
        "prefill" => Some("prefill"),
        "warmup" => Some("warmup"),
        _ if has_prompts => Some("decode"),
        _ => None,
    };
    let mut marks = Vec::new();
    for same in record.units.chunk_by(|one, next| kind_of(one) == kind_of(next)) {
        let (Some(first), Some(last)) = (same.first(), same.last()) else { continue };
        let Some(kind) = kind_of(first) else { continue };
        let (start_ns, end_ns) = axis.place(record, first.time.with(last.time));
        let label = format!("{kind}: {}", counted(same.len() as f64, &first.unit));
        marks.push(OverviewMark { kind, label, start_ns, end_ns });
    }
    for two in record.units.windows(2) {
        let [before, after] = two else { continue };
        if before.level != after.level && before.phase == "steady" && after.phase == "steady" {
            let at_ns = axis.place(record, after.time).0;
            let times = [before, after].map(|unit| duration(unit.time.length_ns() as f64));
            let [from, to] = times;
            let label = format!("{} {} takes {to}, the one before {from}", after.unit, after.iteration);
            marks.push(OverviewMark { kind: "change_point", label, start_ns: at_ns, end_ns: at_ns });
        }
    }
    let busiest = record.gpus.iter().max_by_key(|gpu| (gpu.busy_ns, Reverse(gpu.gpu)));
    for piece in busiest.iter().flat_map(|gpu| &gpu.pieces).filter(|piece| kinds.id(piece.kind) == "idle:paused") {
        let time = Extent { start_ns: piece.start_ns, end_ns: piece.end_ns };
        let (start_ns, end_ns) = axis.place(record, time);
        let label = format!("the program paused the recording for {}", duration(time.length_ns() as f64));
        marks.push(OverviewMark { kind: "missing", label, start_ns, end_ns });
    }
    marks.sort_by_key(|mark| (mark.start_ns, Reverse(mark.end_ns), mark.kind));
    marks
}
