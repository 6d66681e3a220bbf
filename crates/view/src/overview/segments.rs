//! The activity of the GPUs of a process, as intervals.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use wavesieve_report::timeline::pieces::Piece;
use wavesieve_tables::columns::values::I64Values;
use wavesieve_tables::trace::{Trace, TraceProcess};

use crate::lanes::{flags, integers, read};

/// Kinds by index, in the order of colors.
pub const KINDS: [&str; 5] = ["compute", "exposed_communication", "exposed_copy", "idle:unknown", "missing"];
/// Idle time.
pub const IDLE: usize = 3;
/// Time of the run in which nothing of a GPU was recorded.
pub const MISSING: usize = 4;

/// The intervals of a process by GPU, and the bounds of its events.
#[derive(Debug, Default)]
pub struct ProcessPieces {
    /// Intervals that do not overlap, by GPU.
    pub gpus: BTreeMap<i64, Vec<Piece>>,
    /// First start and last end of anything that was recorded.
    pub bounds_ns: Option<(i64, i64)>,
}

/// Reads the segments of the GPUs of a process. Its bounds are its lifetime if that was recorded and holds them,
/// otherwise its first and last event.
pub fn read_segments(trace: &Trace, member: &TraceProcess) -> Result<ProcessPieces> {
    let columns = ["gpu", "start_ns", "end_ns", "compute", "comm", "copies"];
    let mut pieces = ProcessPieces::default();
    let mut bounds: Option<(i64, i64)> = None;
    if let Some(frame) = read(trace, member, "gpu_segments", &columns)? {
        let [gpus, starts, ends] =
            [integers(&frame, "gpu")?, integers(&frame, "start_ns")?, integers(&frame, "end_ns")?];
        let counts = [integers(&frame, "compute")?, integers(&frame, "comm")?, integers(&frame, "copies")?];
        for row in 0..frame.height() {
            let (Some(gpu), Some(start_ns), Some(end_ns)) = (gpus.get(row), starts.get(row), ends.get(row)) else {
                continue;
            };
            let runs = |count: &I64Values| count.get(row).unwrap_or(0) > 0;
            let kind = counts.iter().position(runs).unwrap_or(IDLE);
            bounds = wider(bounds, start_ns, end_ns);
            push(pieces.gpus.entry(gpu).or_default(), Piece { start_ns, end_ns, kind });
        }
    }
    if pieces.gpus.is_empty() {
        pieces.gpus = gpus_without_time(trace, member)?.into_iter().map(|gpu| (gpu, Vec::new())).collect();
    }
    pieces.bounds_ns = with_lifetime(trace, member, bounds)?;
    Ok(pieces)
}

fn with_lifetime(trace: &Trace, member: &TraceProcess, of_gpus: Option<(i64, i64)>) -> Result<Option<(i64, i64)>> {
    let facts = &member.process.facts;
    if let (Some(start_ns), Some(end_ns)) = (facts.start_ns, facts.end_ns)
        && start_ns > 0
        && of_gpus.is_some_and(|(first_ns, last_ns)| start_ns <= first_ns && last_ns <= end_ns)
        && !trace.choice().is_windowed()
    {
        return Ok(Some((start_ns, end_ns)));
    }
    let mut bounds = of_gpus;
    for (table, start, end) in OTHER_EVENTS {
        // Most traces have GPU time or calls, and need no other table.
        if bounds.is_some() && table != "regions" {
            break;
        }
        let columns = if start == end { vec![start] } else { vec![start, end, "valid"] };
        let Some(frame) = read(trace, member, table, &columns)? else { continue };
        let (starts, ends) = (integers(&frame, start)?, integers(&frame, end)?);
        let valid = if start == end { None } else { Some(flags(&frame, "valid")?.are_true()) };
        for row in 0..frame.height() {
            let is_valid = valid.as_ref().is_none_or(|valid| valid.get_bit(row));
            if let (Some(start_ns), Some(end_ns), true) = (starts.get(row), ends.get(row), is_valid) {
                bounds = wider(bounds, start_ns, end_ns);
            }
        }
    }
    Ok(bounds)
}

/// Tables with the bounds of a process without GPU time: their starts and ends.
const OTHER_EVENTS: [(&str, &str, &str); 5] = [
    ("regions", "start_ns", "end_ns"),
    ("kernels", "start_ns", "end_ns"),
    ("memory_copies", "start_ns", "end_ns"),
    ("memory_allocations", "start_ns", "end_ns"),
    ("samples", "time_ns", "time_ns"),
];

/// GPUs whose kernels and copies have no length.
fn gpus_without_time(trace: &Trace, member: &TraceProcess) -> Result<BTreeSet<i64>> {
    let mut found = BTreeSet::new();
    for table in ["kernels", "memory_copies"] {
        let Some(frame) = read(trace, member, table, &["gpu", "valid"])? else { continue };
        let (gpus, valid) = (integers(&frame, "gpu")?, flags(&frame, "valid")?.are_true());
        found.extend((0..frame.height()).filter(|row| valid.get_bit(*row)).filter_map(|row| gpus.get(row)));
    }
    Ok(found)
}

fn wider(bounds: Option<(i64, i64)>, start_ns: i64, end_ns: i64) -> Option<(i64, i64)> {
    let (first_ns, last_ns) = bounds.unwrap_or((start_ns, end_ns));
    Some((first_ns.min(start_ns), last_ns.max(end_ns)))
}

/// Adds an interval, and joins it with the one before if both are of one kind.
fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match pieces.last_mut() {
        Some(last) if last.kind == piece.kind && last.end_ns == piece.start_ns => last.end_ns = piece.end_ns,
        _ => pieces.push(piece),
    }
}
