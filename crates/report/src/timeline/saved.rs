//! The picture of a run that was saved as a digest: shares of its units, and the kernels of a typical one.

use std::collections::BTreeMap;

use super::axis::{Axis, Groups, gpu_label};
use super::columns::Extent;
use super::kinds::Kinds;
use super::lanes::{Legend, WindowLanes};
use super::picture::Run;
use super::pieces::{Piece, joined};
use super::record::{GpuRecord, Longest, ProcessRecord, Records, Unit};
use super::slices::{Event, EventLane};
use super::windows::{Chosen, focus};
use crate::compare::{Digest, GpuDigest, Times};
use wavesieve_engine::findings::{counted, duration};

/// Cells into which the units of a GPU are divided, so that a bin holds several: minimum, maximum, and all GPUs together.
const CELLS: (usize, usize, usize) = (1 << 10, 1 << 14, 1 << 19);
/// Cells that a bin holds at least.
const CELLS_OF_BIN: usize = 8;

/// The kernels of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SavedUnit(Vec<SavedKernel>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct SavedKernel {
    name: String,
    category: String,
    time: Extent,
}

/// A run whose steady units stand one after the other; all of it is one unit if it has none.
pub(super) fn saved_run(digest: &Digest) -> Run {
    let word = digest.facts.range.as_ref().or_else(|| digest.facts.units.first());
    let word = word.map_or("iteration", String::as_str);
    let cells = (CELLS.2 / digest.gpus.len().max(1)).clamp(CELLS.0, CELLS.1);
    let mut records = Records::default();
    for gpu in &digest.gpus {
        let (own, units) = gpu_record(gpu, word, cells, &mut records.kinds);
        let record = records.processes.entry(gpu.process).or_insert_with(|| ProcessRecord {
            process: gpu.process,
            rank: gpu.rank,
            ..ProcessRecord::default()
        });
        record.gpus.push(own);
        let all = units.iter().map(|unit| unit.time).reduce(Extent::with);
        record.extent = record.extent.into_iter().chain(all).reduce(Extent::with);
        if units.len() > record.units.len() {
            record.units = units;
        }
    }
    let focus = focus(&records);
    let shown = digest.gpus.iter().filter(|gpu| !gpu.typical.is_empty());
    let shown = shown.min_by_key(|gpu| (Some(gpu.process) != focus, gpu.process, gpu.gpu));
    let (chosen, saved) = shown.and_then(|gpu| typical(gpu, &records)).unzip();
    let (axis, groups) = (Axis::new(&records), Groups::new(&records, ""));
    let detail = if saved.is_some() { ", and the detail the kernels of a typical one without pauses" } else { "" };
    let note = format!(
        "A digest keeps no times of single events: the overview shows its steady parts one after the other{detail}."
    );
    let chosen = chosen.into_iter().collect();
    Run { records, axis, groups, focus, chosen, saved: Some(saved.unwrap_or_default()), notes: vec![note] }
}

/// The lane of the kernels.
pub(super) fn saved_lanes(unit: &SavedUnit, legend: &mut Legend<'_, '_>) -> WindowLanes {
    let event = |(kernel, id): (&SavedKernel, i64)| {
        let SavedKernel { name, category, time } = kernel;
        let (name, kind) = (legend.names.kernel(name), legend.kinds.index(category));
        Event::new((time.start_ns, time.end_ns), name, kind, id)
    };
    let events = unit.0.iter().zip(0..).map(event).collect();
    let group = legend.gpu_group.clone();
    let mut lane = EventLane {
        id: format!("{group}/sequence"),
        group,
        kind: "kernels",
        label: "kernels in order".to_owned(),
        events,
        several: legend.names.index("several kernels"),
        ..EventLane::default()
    };
    lane.arrange();
    WindowLanes { lanes: vec![lane], ..WindowLanes::default() }
}

/// A GPU with its units. Within a unit the order of what it did is not known, so small cells all have its shares.
fn gpu_record(gpu: &GpuDigest, word: &str, cells: usize, kinds: &mut Kinds) -> (GpuRecord, Vec<Unit>) {
    let whole = std::slice::from_ref(&gpu.run);
    let all: &[Times] = if gpu.iterations.is_empty() { whole } else { &gpu.iterations };
    let cells_of_unit = i64::try_from((cells / all.len()).max(1)).unwrap_or(1);
    let (mut pieces, mut units, mut at_ns) = (Vec::new(), Vec::new(), 0_i64);
    let mut record = GpuRecord { gpu: gpu.gpu, cells: Some(cells / CELLS_OF_BIN), ..GpuRecord::default() };
    for (iteration, times) in (0..).zip(all) {
        let start_ns = at_ns;
        let parts = parts(times, kinds);
        for cell in 0..cells_of_unit {
            for (kind, time_ns) in &parts {
                let until = |cell: i64| i128::from(*time_ns) * i128::from(cell) / i128::from(cells_of_unit);
                let length_ns = i64::try_from(until(cell + 1) - until(cell)).unwrap_or(0);
                pieces.push(Piece { start_ns: at_ns, end_ns: at_ns.saturating_add(length_ns), kind: *kind });
                at_ns = at_ns.saturating_add(length_ns);
            }
        }
        record.busy_ns = record.busy_ns.saturating_add(times.busy_ns());
        record.waits_ns = record.waits_ns.saturating_add(times.exposed_comm_ns);
        let unit = if gpu.iterations.is_empty() { "run" } else { word };
        units.push(Unit {
            iteration,
            unit: unit.to_owned(),
            phase: "steady".to_owned(),
            level: 0,
            time: Extent { start_ns, end_ns: at_ns },
        });
    }
    record.pieces = joined(pieces);
    record.longest = record.pieces.iter().map(|piece| (piece.kind, Longest::default())).collect();
    (record, units)
}

/// The time of a unit by kind.
fn parts(times: &Times, kinds: &mut Kinds) -> Vec<(usize, i64)> {
    let busy = [
        ("compute", times.compute_ns),
        ("exposed_communication", times.exposed_comm_ns),
        ("exposed_copy", times.exposed_copy_ns),
    ];
    let mut parts: Vec<(usize, i64)> = busy.into_iter().map(|(id, time_ns)| (kinds.index(id), time_ns)).collect();
    parts.extend(times.idle_ns.iter().map(|(cause, time_ns)| (kinds.index(&format!("idle:{cause}")), *time_ns)));
    parts.retain(|(_, time_ns)| *time_ns > 0);
    parts
}

/// The kernels of a typical unit one after the other, where its median unit starts.
fn typical(gpu: &GpuDigest, records: &Records) -> Option<(Chosen, SavedUnit)> {
    let record = records.processes.get(&gpu.process)?;
    let mut units: Vec<&Unit> = record.units.iter().collect();
    units.sort_by_key(|unit| (unit.time.length_ns(), unit.iteration));
    let median = units.get(units.len().checked_sub(1)? / 2)?;
    let mut at_ns = median.time.start_ns;
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    let mut kernels = Vec::new();
    for place in &gpu.typical {
        let kernel = gpu.kernels.get(usize::try_from(*place).ok()?)?;
        let occurrence = seen.entry(*place).or_default();
        // Medians are saved twice as long.
        let twice_ns = kernel.places.get(*occurrence).copied().unwrap_or(kernel.steady.median_x2_ns);
        *occurrence += 1;
        let time = Extent { start_ns: at_ns, end_ns: at_ns.saturating_add(twice_ns / 2) };
        at_ns = time.end_ns;
        kernels.push(SavedKernel { name: kernel.name.clone(), category: kernel.category.clone(), time });
    }
    let length_ns = median.time.length_ns();
    let chosen = Chosen {
        id: "typical".to_owned(),
        label: format!("typical {}: {}", median.unit, gpu_label(gpu.rank, Some(gpu.gpu))),
        reason: format!(
            "its {} of a steady {} with their median durations, which the digest keeps; the median {} takes {}",
            counted(kernels.len() as f64, "kernel"),
            median.unit,
            median.unit,
            duration(length_ns as f64)
        ),
        process: gpu.process,
        gpu: Some(gpu.gpu),
        time: Extent { start_ns: median.time.start_ns, end_ns: at_ns.max(median.time.end_ns) },
    };
    Some((chosen, SavedUnit(kernels)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::pieces::add_to_bins;

    fn times(compute_ns: i64, idle_ns: i64) -> Times {
        let idle = BTreeMap::from([("sync".to_owned(), idle_ns)]);
        Times { span_ns: compute_ns + idle_ns, compute_ns, idle_ns: idle, ..Times::default() }
    }

    #[test]
    fn units_keep_their_times_and_have_the_same_shares_everywhere() {
        let gpu = GpuDigest { iterations: vec![times(600_000, 200_000), times(0, 800_000)], ..GpuDigest::default() };
        let mut kinds = Kinds::default();
        let (record, units) = gpu_record(&gpu, "step", 2_000, &mut kinds);
        let extents: Vec<(i64, i64)> = units.iter().map(|unit| (unit.time.start_ns, unit.time.end_ns)).collect();
        assert_eq!(extents, [(0, 800_000), (800_000, 1_600_000)]);
        let mut sums = BTreeMap::new();
        add_to_bins(record.pieces, (1_600_000, 16), &mut sums);
        let compute = &sums[&kinds.index("compute")];
        assert!(compute[..8].iter().all(|time_ns| (time_ns - 75_000).abs() < 1_000), "{compute:?}");
        assert_eq!((compute.iter().sum::<i64>(), compute[8..].iter().sum::<i64>()), (600_000, 0));
    }
}
