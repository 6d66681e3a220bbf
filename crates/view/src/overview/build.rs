//! Sums up all GPUs of a trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::bins::Bins;
use super::segments::{KINDS, MISSING, Piece, ProcessPieces, read_segments};
use crate::groups::shown_members;
use crate::lanes::{Part, Texts, integers, read};

/// Number of bins of all lanes together, and its bounds for one.
const ALL_BINS: usize = 600_000;
const MIN_BINS: usize = 240;
const MAX_BINS: usize = 2_000;
/// Kind of idle time with unknown cause.
const IDLE: &str = "idle:unknown";
/// Kind of intervals in which copies run: they are no idle time.
const COPY_ONLY: &str = "idle:copy_only";

/// How much of the picture is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The activity of GPUs.
    Activity,
    /// Also why they idled, and units of work.
    Causes,
}

/// Sums of a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuSums {
    /// Index of its process in the trace.
    pub member: usize,
    /// Its index in the process.
    pub gpu: i64,
    /// Shares by id of kind, as base64 of a byte per bin.
    pub shares: BTreeMap<String, String>,
}

/// Sums of all GPUs over the span of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// How much is known.
    pub stage: Stage,
    /// Start of the run on the clock of the picture.
    pub origin_ns: i64,
    /// Its length.
    pub span_ns: i64,
    /// Number of bins.
    pub bins: usize,
    /// GPUs in the order of processes.
    pub gpus: Vec<GpuSums>,
    /// Starts of units of work of the first process that has any.
    pub ticks: Vec<i64>,
    /// Name of the unit.
    pub unit: String,
}

/// A process with its index in the trace.
type Member<'a> = (usize, &'a TraceProcess);

/// Sums up the activities of the GPUs of a trace. `offsets_ns` brings the times of its processes onto one axis.
///
/// # Errors
/// When a table cannot be read.
pub fn activity(trace: &Trace, offsets_ns: &[i64]) -> Result<Sums> {
    let members = members(trace);
    let cost = |(_, member): &Member<'_>| member.memory_bytes / 4;
    let read = |(_, member): &Member<'_>| read_segments(trace, member);
    let pieces: Vec<ProcessPieces> = trace.each(&members, cost, read)?;
    let shifted = |(pieces, (at, _)): (&ProcessPieces, &Member<'_>)| {
        let offset_ns = offset(offsets_ns, *at);
        pieces.bounds_ns.map(|(start, end)| (start.saturating_add(offset_ns), end.saturating_add(offset_ns)))
    };
    let bounds: Vec<(i64, i64)> = pieces.iter().zip(&members).filter_map(shifted).collect();
    let origin_ns = bounds.iter().map(|(start_ns, _)| *start_ns).min().unwrap_or(0);
    let end_ns = bounds.iter().map(|(_, end_ns)| *end_ns).max().unwrap_or(0);
    let span_ns = end_ns.saturating_sub(origin_ns).max(1);
    let count: usize = pieces.iter().map(|pieces| pieces.gpus.len()).sum();
    let bins = (ALL_BINS / count.max(1)).clamp(MIN_BINS, MAX_BINS);
    let gpus = members.iter().zip(&pieces).flat_map(|((at, _), pieces)| {
        let shift_ns = offset(offsets_ns, *at).saturating_sub(origin_ns);
        let sums = move |(gpu, pieces): (&i64, &Vec<Piece>)| {
            let sums = filled(pieces, shift_ns, span_ns, bins);
            let id = |kind: u16| KINDS.get(usize::from(kind)).copied().unwrap_or_default().to_owned();
            GpuSums { member: *at, gpu: *gpu, shares: encoded(&sums, id) }
        };
        pieces.gpus.iter().map(sums)
    });
    let gpus = gpus.collect();
    Ok(Sums { stage: Stage::Activity, origin_ns, span_ns, bins, gpus, ticks: Vec::new(), unit: String::new() })
}

/// Added to a time of the process at this index, it brings it onto the axis.
fn offset(offsets_ns: &[i64], at: usize) -> i64 {
    offsets_ns.get(at).copied().unwrap_or(0)
}

/// The time of intervals in their order by bin. Time of the run outside of them is missing.
fn filled(pieces: &[Piece], shift_ns: i64, span_ns: i64, bins: usize) -> Bins {
    let mut sums = Bins::new(span_ns, bins);
    let mut reached_ns = 0;
    for piece in pieces {
        let (start_ns, end_ns) = (piece.start_ns.saturating_add(shift_ns), piece.end_ns.saturating_add(shift_ns));
        sums.add(reached_ns, start_ns, MISSING);
        sums.add(start_ns, end_ns, piece.kind);
        reached_ns = reached_ns.max(end_ns);
    }
    sums.add(reached_ns, span_ns, MISSING);
    sums
}

/// The same sums with idle time by cause, which `part` has, and with units of work.
///
/// # Errors
/// When a table cannot be read.
pub fn with_causes(
    trace: &Trace,
    offsets_ns: &[i64],
    sums: &Sums,
    part: impl Fn(usize) -> Result<Arc<Part>> + Sync,
) -> Result<Sums> {
    let members = members(trace);
    let cost = |(_, member): &Member<'_>| member.memory_bytes;
    let explain = |(at, _): &Member<'_>| -> Result<Vec<GpuSums>> {
        let own: Vec<&GpuSums> = sums.gpus.iter().filter(|gpu| gpu.member == *at).collect();
        if own.is_empty() {
            return Ok(Vec::new());
        }
        let part = part(*at)?;
        Ok(own.into_iter().map(|gpu| explained(gpu, &part, sums)).collect())
    };
    let gpus = trace.each(&members, cost, explain)?.into_iter().flatten().collect();
    let (unit, ticks) = units(trace, &members, offsets_ns, sums.origin_ns)?;
    Ok(Sums { stage: Stage::Causes, gpus, ticks, unit, ..sums.clone() })
}

fn members(trace: &Trace) -> Vec<Member<'_>> {
    shown_members(trace).into_iter().filter_map(|at| Some((at, trace.members().get(at)?))).collect()
}

/// The sums of a GPU with idle time by cause.
fn explained(gpu: &GpuSums, part: &Part, sums: &Sums) -> GpuSums {
    let mut bins = Bins::new(sums.span_ns, sums.bins);
    let id = |kind: u16| part.kinds.get(usize::from(kind)).map(String::as_str).unwrap_or_default();
    let lanes = part.lanes.iter().filter(|lane| lane.kind == "gaps" && lane.gpu == Some(gpu.gpu));
    for event in lanes.flat_map(|lane| &lane.rows).flat_map(|row| row.all()) {
        if id(event.kind) != COPY_ONLY {
            bins.add(event.start_ns, event.end_ns(), event.kind);
        }
    }
    let mut shares = encoded(&bins, |kind| id(kind).to_owned());
    shares.extend(gpu.shares.iter().filter(|(id, _)| *id != IDLE).map(|(id, bytes)| (id.clone(), bytes.clone())));
    GpuSums { shares, ..gpu.clone() }
}

fn encoded(bins: &Bins, id: impl Fn(u16) -> String) -> BTreeMap<String, String> {
    bins.times_ns.keys().map(|kind| (id(*kind), STANDARD.encode(bins.shares(*kind)))).collect()
}

/// Starts of the units of work of the first process that has any, with their name.
fn units(trace: &Trace, members: &[Member<'_>], offsets_ns: &[i64], origin_ns: i64) -> Result<(String, Vec<i64>)> {
    for (at, member) in members {
        let Some(frame) = read(trace, member, "iterations", &["unit", "start_ns"])? else { continue };
        let mut names = Texts::default();
        let units = names.of_column(&frame, "unit", str::to_owned)?;
        let shift_ns = offset(offsets_ns, *at).saturating_sub(origin_ns);
        let starts = integers(&frame, "start_ns")?;
        let mut ticks: Vec<i64> = starts.iter().flatten().map(|start_ns| start_ns.saturating_add(shift_ns)).collect();
        ticks.sort_unstable();
        let first = units.into_iter().flatten().next();
        if let Some(unit) = first.and_then(|unit| names.into_list().into_iter().nth(unit as usize)) {
            return Ok((unit, ticks));
        }
    }
    Ok((String::new(), Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_outside_of_the_intervals_of_a_gpu_is_missing() {
        let piece = |start_ns, end_ns, kind| Piece { start_ns, end_ns, kind };
        let sums = filled(&[piece(120, 130, 0), piece(130, 150, 3), piece(160, 170, 0)], -100, 100, 10);
        let shares = |kind: u16| -> Vec<i64> { sums.times_ns[&kind].clone() };
        assert_eq!(shares(0), [0, 0, 10, 0, 0, 0, 10, 0, 0, 0]);
        assert_eq!(shares(3), [0, 0, 0, 10, 10, 0, 0, 0, 0, 0]);
        assert_eq!(shares(MISSING), [10, 10, 0, 0, 0, 10, 0, 10, 10, 10]);
        assert_eq!(filled(&[], 0, 100, 2).times_ns[&MISSING], [50, 50]);
    }
}
