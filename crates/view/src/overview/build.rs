//! Sums up all GPUs of a trace.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use wavesieve_report::timeline::pieces::{Piece, add_to_bins, bin_start, encoded_shares, filled, most_bins};
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::segments::{IDLE, KINDS, MISSING, ProcessPieces, read_segments};
use crate::groups::shown_members;
use crate::lanes::{Part, Texts, integers, read};

/// Number of bins of all lanes together, and its minimum for one.
const ALL_BINS: usize = 600_000;
const MIN_BINS: usize = 60;
/// Maximum number of bins of a lane if GPUs work all the time, and if they work in a small part of the run.
const MAX_BINS: (usize, usize) = (2_000, 32_000);
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
    /// Shares by id of kind, as texts of a byte per bin.
    pub shares: BTreeMap<String, String>,
    /// Time by index of [`KINDS`] and bin, until causes are known.
    #[serde(skip)]
    pub times_ns: TimesByBin,
}

/// Time in nanoseconds by kind and bin.
type TimesByBin = BTreeMap<usize, Vec<i64>>;

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
    let gpus: Vec<OnAxis<'_>> = members
        .iter()
        .zip(&pieces)
        .flat_map(|((at, _), pieces)| {
            let shift_ns = offset(offsets_ns, *at).saturating_sub(origin_ns);
            pieces.gpus.iter().map(move |(gpu, pieces)| OnAxis { member: *at, gpu: *gpu, shift_ns, pieces })
        })
        .collect();
    let most = (ALL_BINS / gpus.len().max(1)).clamp(MIN_BINS, MAX_BINS.1);
    let wanted = most_bins(span_ns, working_ns(&gpus, span_ns), MAX_BINS);
    let bins = wanted.min(most).min(usize::try_from(span_ns).unwrap_or(usize::MAX)).max(1);
    let Ok(gpus) = trace.jobs().run(&gpus, |_| 0, |gpu| Ok::<_, Infallible>(gpu.sums((span_ns, bins))));
    Ok(Sums { stage: Stage::Activity, origin_ns, span_ns, bins, gpus, ticks: Vec::new(), unit: String::new() })
}

/// The intervals of a GPU, which are moved onto the axis of the picture.
struct OnAxis<'a> {
    member: usize,
    gpu: i64,
    shift_ns: i64,
    pieces: &'a [Piece],
}

impl OnAxis<'_> {
    fn pieces(&self) -> impl DoubleEndedIterator<Item = Piece> {
        self.pieces.iter().map(|piece| Piece {
            start_ns: piece.start_ns.saturating_add(self.shift_ns),
            end_ns: piece.end_ns.saturating_add(self.shift_ns),
            kind: piece.kind,
        })
    }

    /// Its time by kind and bin. Time of the run outside of its intervals is missing.
    fn sums(&self, grid: (i64, usize)) -> GpuSums {
        let mut times_ns = BTreeMap::new();
        add_to_bins(filled(self.pieces(), grid.0, MISSING), grid, &mut times_ns);
        let id = |kind: usize| KINDS.get(kind).copied().unwrap_or_default().to_owned();
        GpuSums { member: self.member, gpu: self.gpu, shares: encoded(&times_ns, grid, id), times_ns }
    }
}

/// Added to a time of the process at this index, it brings it onto the axis.
fn offset(offsets_ns: &[i64], at: usize) -> i64 {
    offsets_ns.get(at).copied().unwrap_or(0)
}

/// Time from the first to the last work of any GPU.
fn working_ns(gpus: &[OnAxis<'_>], span_ns: i64) -> i64 {
    let is_work = |piece: &Piece| piece.kind < IDLE;
    let first = gpus.iter().filter_map(|gpu| gpu.pieces().find(is_work)).map(|piece| piece.start_ns).min();
    let last = gpus.iter().filter_map(|gpu| gpu.pieces().rfind(is_work)).map(|piece| piece.end_ns).max();
    first.zip(last).map_or(span_ns, |(first_ns, last_ns)| last_ns.saturating_sub(first_ns))
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

/// The sums of a GPU with idle time by cause: from the times of its activities, so that the shares of a bin fit each other.
fn explained(gpu: &GpuSums, part: &Part, sums: &Sums) -> GpuSums {
    let grid = (sums.span_ns, sums.bins);
    let mut times_ns = gpu.times_ns.clone();
    times_ns.remove(&IDLE);
    let unseen_ns = times_ns.remove(&MISSING).unwrap_or_default();
    let cause = |kind: usize| part.kinds.get(kind).map(String::as_str).unwrap_or_default();
    let unknown = KINDS.get(IDLE).copied();
    let kind_of = |kind: usize| if unknown == Some(cause(kind)) { IDLE } else { KINDS.len() + kind };
    let lanes = part.lanes.iter().filter(|lane| lane.kind == "gaps" && lane.gpu == Some(gpu.gpu));
    let gaps = lanes.flat_map(|lane| &lane.rows).flat_map(|row| row.all());
    let idle = gaps.filter(|gap| cause(usize::from(gap.kind)) != COPY_ONLY).map(|gap| Piece {
        start_ns: gap.start_ns,
        end_ns: gap.end_ns(),
        kind: kind_of(usize::from(gap.kind)),
    });
    add_to_bins(idle, grid, &mut times_ns);
    add_rest(&unseen_ns, grid, &mut times_ns);
    let id = |kind: usize| KINDS.get(kind).copied().unwrap_or_else(|| cause(kind - KINDS.len())).to_owned();
    GpuSums { shares: encoded(&times_ns, grid, id), times_ns: BTreeMap::new(), ..*gpu }
}

/// Adds the rest of each bin: the time in `unseen_ns`, in which the GPU did not appear, as missing, and other time as idle
/// without a known cause. Time before its first and after its last work has a cause, and so is not missing.
fn add_rest(unseen_ns: &[i64], (span_ns, bins): (i64, usize), times_ns: &mut TimesByBin) {
    let (mut missing, mut idle) = (vec![0; bins], times_ns.remove(&IDLE).unwrap_or_else(|| vec![0; bins]));
    for (bin, (missing_ns, idle_ns)) in missing.iter_mut().zip(&mut idle).enumerate() {
        let width_ns = bin_start(bin + 1, span_ns, bins).saturating_sub(bin_start(bin, span_ns, bins));
        let known_ns: i64 = times_ns.values().map(|row| row.get(bin).copied().unwrap_or(0)).sum();
        let left_ns = width_ns.saturating_sub(known_ns).saturating_sub(*idle_ns).max(0);
        *missing_ns = left_ns.min(unseen_ns.get(bin).copied().unwrap_or(0));
        *idle_ns += left_ns - *missing_ns;
    }
    times_ns.extend([(IDLE, idle), (MISSING, missing)]);
}

fn encoded(times_ns: &TimesByBin, grid: (i64, usize), id: impl Fn(usize) -> String) -> BTreeMap<String, String> {
    encoded_shares(times_ns, 1, grid).into_iter().map(|(kind, bytes)| (id(kind), bytes)).collect()
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
    fn bins_get_finer_if_gpus_work_in_a_small_part_of_the_run() {
        let piece = |start_ns, end_ns, kind| Piece { start_ns, end_ns, kind };
        let late = [piece(0, 900, IDLE), piece(900, 950, 0), piece(950, 990, IDLE)];
        let other = [piece(980, 1_000, 1)];
        let idle = [piece(0, 900, IDLE)];
        let gpu = |pieces, shift_ns| OnAxis { member: 0, gpu: 0, shift_ns, pieces };
        assert_eq!(working_ns(&[gpu(&late, 0), gpu(&other, 0)], 1_000), 100);
        assert_eq!(working_ns(&[gpu(&late, 10)], 1_000), 50);
        assert_eq!(working_ns(&[gpu(&idle, 0)], 1_000), 1_000);
    }

    #[test]
    fn time_with_a_cause_is_not_missing() {
        // A bin without work, one with work and a gap, one that is partly known.
        let mut times_ns = BTreeMap::from([(0, vec![0, 4, 2]), (KINDS.len(), vec![10, 6, 3])]);
        add_rest(&[10, 0, 4], (30, 3), &mut times_ns);
        assert_eq!(times_ns[&IDLE], [0, 0, 1]);
        assert_eq!(times_ns[&MISSING], [0, 0, 4]);
        assert!((0..3).all(|bin| times_ns.values().map(|row| row[bin]).sum::<i64>() == 10));
    }

    #[test]
    fn time_outside_of_the_intervals_of_a_gpu_is_missing() {
        let piece = |start_ns, end_ns, kind| Piece { start_ns, end_ns, kind };
        let pieces = [piece(120, 130, 0), piece(130, 150, IDLE), piece(160, 170, 0)];
        let sums = OnAxis { member: 0, gpu: 0, shift_ns: -100, pieces: &pieces }.sums((100, 10));
        assert_eq!(sums.times_ns[&0], [0, 0, 10, 0, 0, 0, 10, 0, 0, 0]);
        assert_eq!(sums.times_ns[&IDLE], [0, 0, 0, 10, 10, 0, 0, 0, 0, 0]);
        assert_eq!(sums.times_ns[&MISSING], [10, 10, 0, 0, 0, 10, 0, 10, 10, 10]);
        let none = OnAxis { member: 0, gpu: 0, shift_ns: 0, pieces: &[] };
        assert_eq!(none.sums((100, 2)).times_ns[&MISSING], [50, 50]);
    }
}
