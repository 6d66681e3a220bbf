//! The activity of the GPUs of a process, as intervals.

use std::collections::BTreeMap;

use anyhow::Result;
use wavesieve_tables::columns::values::I64Values;
use wavesieve_tables::trace::{Trace, TraceProcess};

use crate::lanes::{flags, integers, read};

/// Kinds by index, in the order of colors.
pub const KINDS: [&str; 5] = ["compute", "exposed_communication", "exposed_copy", "idle:unknown", "missing"];
const IDLE: u16 = 3;
/// Time of the run in which nothing of a GPU was recorded.
pub const MISSING: u16 = 4;

/// An interval of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Start on the recorded clock.
    pub start_ns: i64,
    /// End.
    pub end_ns: i64,
    /// Index of its kind.
    pub kind: u16,
}

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
            let kind = counts.iter().position(runs).and_then(|kind| u16::try_from(kind).ok()).unwrap_or(IDLE);
            bounds = wider(bounds, start_ns, end_ns);
            push(pieces.gpus.entry(gpu).or_default(), Piece { start_ns, end_ns, kind });
        }
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
    if let Some(frame) = read(trace, member, "regions", &["start_ns", "end_ns", "valid"])? {
        let (starts, ends) = (integers(&frame, "start_ns")?, integers(&frame, "end_ns")?);
        let valid = flags(&frame, "valid")?;
        for (row, valid) in valid.iter().enumerate().filter(|(_, valid)| *valid == Some(true)) {
            if let (Some(start_ns), Some(end_ns), Some(true)) = (starts.get(row), ends.get(row), valid) {
                bounds = wider(bounds, start_ns, end_ns);
            }
        }
    }
    Ok(bounds)
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
