//! Which parts of the run are shown in detail, and why.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use anyhow::Result;

use super::axis::gpu_label;
use super::columns::{Extent, integers, table, times};
use super::kinds::kind_label;
use super::record::{GpuRecord, Longest, ProcessRecord, Records, Unit};
use wavesieve_engine::findings::{counted, duration};
use wavesieve_tables::columns::requests::ProcessTables;

/// Events that the densest part has.
const DENSE: usize = 1_000;
/// Minimum time on each side of a gap or of a place.
pub(super) const MARGIN_NS: i64 = 20_000;
/// With at most this many events, the whole run is shown.
const FEW: usize = 2_000;
/// Units of one kind of work differ in length by this factor at most.
const SAME_WORK: i64 = 4;

/// A part of the run of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// `typical`, `worst`, `late`, `median`, `gap`, or `place-1` … for places of findings.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// Why.
    pub reason: String,
    /// Its process.
    pub process: i64,
    /// Its GPU; `None` if the process has none.
    pub gpu: Option<i64>,
    /// Its time.
    pub time: Extent,
}

/// The process whose units are typical: that with the median of the median lengths of units, the first of equals.
pub(super) fn focus(records: &Records) -> Option<i64> {
    let mut medians: Vec<(i64, i64)> = records
        .processes
        .values()
        .filter_map(|record| Some((median(&comparable(record))?.time.length_ns(), record.process)))
        .collect();
    medians.sort_unstable();
    let middle = medians.get(medians.len().saturating_sub(1) / 2).map(|(_, process)| *process);
    let busiest = |record: &&ProcessRecord| {
        let busy_ns: i64 = record.gpus.iter().map(|gpu| gpu.busy_ns).sum();
        (busy_ns, record.extent.map_or(0, Extent::length_ns), Reverse(record.process))
    };
    middle.or_else(|| records.processes.values().max_by_key(busiest).map(|record| record.process))
}

/// The units to compare: steady ones, all if none is.
fn comparable(record: &ProcessRecord) -> Vec<&Unit> {
    let steady: Vec<&Unit> = record.units.iter().filter(|unit| unit.phase == "steady").collect();
    if steady.is_empty() { record.units.iter().collect() } else { steady }
}

/// The unit of median length, the first of equals.
fn median<'a>(units: &[&'a Unit]) -> Option<&'a Unit> {
    let mut sorted = units.to_vec();
    sorted.sort_by_key(|unit| (unit.time.length_ns(), unit.iteration));
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// The GPU of a process that worked most.
pub(super) fn busiest_gpu(record: &ProcessRecord) -> Option<&GpuRecord> {
    record.gpus.iter().max_by_key(|gpu| (gpu.busy_ns, Reverse(gpu.gpu)))
}

/// The windows of units. `late` is the rank that others wait for, if a finding names one.
pub(super) fn of_units(records: &Records, focus: i64, late: Option<i64>) -> Vec<Chosen> {
    let Some(record) = records.processes.get(&focus) else { return Vec::new() };
    let units = comparable(record);
    let Some(typical) = median(&units) else { return Vec::new() };
    let took = |unit: &Unit| duration(unit.time.length_ns() as f64);
    let are = if typical.phase == "steady" { "steady " } else { "" };
    let chosen = |id: &'static str, word: &str, record: &ProcessRecord, unit: &Unit, reason: String| Chosen {
        id: id.to_owned(),
        label: format!("{word} {}: {} of rank {}", unit.unit, unit.iteration, record.rank),
        reason,
        process: record.process,
        gpu: busiest_gpu(record).map(|gpu| gpu.gpu),
        time: unit.time,
    };
    let of = counted(units.len() as f64, &typical.unit);
    let mut windows = vec![chosen(
        "typical",
        "typical",
        record,
        typical,
        format!("its {} are the median of {}", took(typical), of.replacen(' ', &format!(" {are}"), 1)),
    )];
    let all =
        records.processes.values().flat_map(|record| comparable(record).into_iter().map(move |unit| (record, unit)));
    let worst = all.max_by_key(|(record, unit)| (unit.time.length_ns(), Reverse((record.process, unit.iteration))));
    if let Some((of, unit)) = worst.filter(|(of, unit)| of.process != focus || unit.iteration != typical.iteration) {
        let among = if records.processes.len() > 1 { " of all ranks" } else { "" };
        let reason = format!("its {} are the most of all {are}{}s{among}", took(unit), unit.unit);
        windows.push(chosen("worst", "worst", of, unit, reason));
    }
    windows.extend(late_window(records, record, typical, late, &chosen));
    windows.extend(gap_window(records));
    windows
}

/// Whether a kind is idle time between work.
fn is_gap(kind: &str) -> bool {
    kind.starts_with("idle:") && !["idle:lead", "idle:tail", "idle:paused"].contains(&kind)
}

/// The longest idle interval of all GPUs, of their steady parts if they have any.
fn gap_window(records: &Records) -> Option<Chosen> {
    let longest = |of: fn(&Longest) -> Option<Extent>| {
        let gpus = records.processes.values().flat_map(|record| record.gpus.iter().map(move |gpu| (record, gpu)));
        let gaps = gpus.flat_map(|(record, gpu)| {
            let gaps = gpu.longest.iter().filter(|(kind, _)| is_gap(records.kinds.id(**kind)));
            gaps.filter_map(move |(kind, longest)| Some((record, gpu.gpu, *kind, of(longest)?)))
        });
        gaps.max_by_key(|(record, gpu, _, time)| (time.length_ns(), Reverse((record.process, *gpu, time.start_ns))))
    };
    let steady = longest(|longest| longest.steady);
    let part = if steady.is_some() { "the steady part" } else { "the run" };
    let (record, gpu, kind, time) = steady.or_else(|| longest(|longest| longest.whole))?;
    let margin_ns = (time.length_ns() / 2).max(MARGIN_NS);
    let cause = kind_label(records.kinds.id(kind));
    Some(Chosen {
        id: "gap".to_owned(),
        label: format!("longest gap: {}", gpu_label(record.rank, Some(gpu))),
        reason: format!(
            "its {} are the longest idle interval of {part}; {}",
            duration(time.length_ns() as f64),
            cause.strip_prefix("idle: ").unwrap_or(&cause)
        ),
        process: record.process,
        gpu: Some(gpu),
        time: Extent {
            start_ns: time.start_ns.saturating_sub(margin_ns),
            end_ns: time.end_ns.saturating_add(margin_ns),
        },
    })
}

/// The unit of a process that is the same work as the typical one; units of another program may have its ordinal.
fn same_unit<'a>(record: &'a ProcessRecord, typical: &Unit) -> Option<&'a Unit> {
    let length_ns = typical.time.length_ns();
    record.units.iter().find(|unit| {
        let own_ns = unit.time.length_ns();
        unit.iteration == typical.iteration
            && unit.unit == typical.unit
            && unit.phase == typical.phase
            && own_ns <= length_ns.saturating_mul(SAME_WORK)
            && length_ns <= own_ns.saturating_mul(SAME_WORK)
    })
}

/// The same unit on the rank that others wait for as a finding says, otherwise on the rank that waits least; if that is the rank of the
/// typical unit, on a rank that waits as long as most.
fn late_window(
    records: &Records,
    focus: &ProcessRecord,
    typical: &Unit,
    late: Option<i64>,
    chosen: &dyn Fn(&'static str, &str, &ProcessRecord, &Unit, String) -> Chosen,
) -> Option<Chosen> {
    let waits = |record: &ProcessRecord| record.gpus.iter().map(|gpu| gpu.waits_ns).sum::<i64>();
    let mut ranks: Vec<&ProcessRecord> =
        records.processes.values().filter(|record| same_unit(record, typical).is_some()).collect();
    ranks.sort_by_key(|record| (waits(record), record.process));
    let named = late.and_then(|rank| ranks.iter().copied().find(|record| record.rank == rank));
    // A rank without exposed communication may work on its own.
    ranks.retain(|record| waits(record) > 0);
    if named.is_none() && waits(focus) == 0 {
        return None;
    }
    let latest = named.or_else(|| ranks.first().copied())?;
    let (id, record, reason) = if latest.process == focus.process {
        let median = ranks.get(ranks.len() / 2).copied().filter(|record| record.process != focus.process)?;
        let reason = if named.is_some() {
            "a finding says that the others wait for the rank of the typical one; this rank waits as long as most"
        } else {
            "the rank of the typical one has the least exposed communication; this rank has as much as most"
        };
        ("median", median, reason.to_owned())
    } else if named.is_some() {
        ("late", latest, "a finding says that the others wait for this rank".to_owned())
    } else {
        let least = duration(waits(latest) as f64);
        ("late", latest, format!("of the ranks that do the same work, it has the least exposed communication: {least}"))
    };
    let unit = same_unit(record, typical)?;
    Some(chosen(id, "the same", record, unit, reason))
}

/// Windows of a process without units: all of a short run, otherwise the densest part, and the longest gap.
pub(super) fn without_units(records: &Records, focus: i64) -> Result<Vec<Chosen>> {
    let Some(record) = records.processes.get(&focus) else { return Ok(Vec::new()) };
    let (Some(tables), Some(extent)) = (&record.tables, record.extent) else { return Ok(Vec::new()) };
    let gpu = busiest_gpu(record);
    let (events, noun) = events(tables, gpu.map(|gpu| gpu.gpu))?;
    let rank = record.rank;
    let place = gpu_label(rank, gpu.map(|gpu| gpu.gpu));
    let chosen = |id: &str, label: String, reason: String, time| Chosen {
        id: id.to_owned(),
        label,
        reason,
        process: focus,
        gpu: gpu.map(|gpu| gpu.gpu),
        time,
    };
    if events.len() <= FEW {
        let time = events.iter().copied().reduce(Extent::with).unwrap_or(extent);
        let time = Extent { start_ns: time.start_ns, end_ns: time.end_ns.max(time.start_ns.saturating_add(1)) };
        let label = format!("all work: {place}");
        let reason = format!("the trace has {} of it, and no unit of work repeats", counted(events.len() as f64, noun));
        return Ok(vec![chosen("typical", label, reason, time)]);
    }
    let span = |part: &[Extent]| {
        let first = part.first()?;
        let end_ns = part.iter().map(|event| event.end_ns).max()?;
        Some(Extent { start_ns: first.start_ns, end_ns })
    };
    let starts = |part: &&[Extent]| {
        let (first, last) = (part.first().map(|event| event.start_ns), part.last().map(|event| event.start_ns));
        last.zip(first).map(|(last, first)| last.saturating_sub(first))
    };
    let dense = events.windows(DENSE).min_by_key(starts).and_then(span);
    let mut windows = Vec::new();
    if let Some(time) = dense {
        let shown = events.iter().filter(|event| time.shows(event.start_ns, event.end_ns)).count();
        let reason = format!(
            "its {} are the closest together of all {}; no unit of work repeats",
            counted(shown as f64, noun),
            counted(events.len() as f64, noun)
        );
        windows.push(chosen("typical", format!("densest part: {place}"), reason, time));
    }
    let gaps = gpu.map(|gpu| &gpu.longest).into_iter().flatten();
    let gap = gaps
        .filter(|(kind, _)| is_gap(records.kinds.id(**kind)))
        .filter_map(|(_, longest)| longest.whole)
        .max_by_key(|gap| (gap.length_ns(), Reverse(gap.start_ns)));
    if let Some(gap) = gap {
        let margin_ns = gap.length_ns() / 4;
        let around =
            Extent { start_ns: gap.start_ns.saturating_sub(margin_ns), end_ns: gap.end_ns.saturating_add(margin_ns) };
        let reason = format!("its {} are the longest idle interval", duration(gap.length_ns() as f64));
        windows.push(chosen("worst", format!("longest gap: {place}"), reason, around));
    }
    Ok(windows)
}

/// Times of kernels and copies of a GPU in order; without any, of calls.
fn events(tables: &ProcessTables, gpu: Option<i64>) -> Result<(Vec<Extent>, &'static str)> {
    for (name, noun) in [("kernels", "kernel"), ("memory_copies", "copy"), ("counter_dispatches", "dispatch")] {
        let frame = table(tables, name)?;
        if frame.height() == 0 {
            continue;
        }
        let gpus = integers(&frame, "gpu")?;
        let is_own = |row: usize| gpu.is_none() || gpus.get(row) == gpu;
        let mut found: Vec<Extent> =
            times(&frame)?.into_iter().filter(|(row, _)| is_own(*row)).map(|(_, time)| time).collect();
        if !found.is_empty() {
            found.sort_unstable();
            return Ok((found, noun));
        }
    }
    let mut found: Vec<Extent> = times(&table(tables, "regions")?)?.into_iter().map(|(_, time)| time).collect();
    found.sort_unstable();
    Ok((found, "call"))
}

/// Whether a window shows a part of the time of a GPU, or of any GPU of a process.
pub(super) fn covers(window: &Chosen, process: i64, gpu: Option<i64>, time: Extent) -> bool {
    window.process == process
        && (gpu.is_none() || gpu == window.gpu)
        && window.time.start_ns <= time.start_ns
        && time.end_ns <= window.time.end_ns
}

/// The processes of windows.
pub(super) fn processes(windows: &[Chosen]) -> BTreeSet<i64> {
    windows.iter().map(|window| window.process).collect()
}
