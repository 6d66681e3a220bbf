//! The table `run_parts`: set-up, warm-up, steady part, pauses and end of the run of a process.

use std::ops::Range;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categories, integers};
use crate::columns::values::FrameValues;
use crate::derive::repeating::iterations;
use crate::derive::repeating::iterations::Iteration;
use crate::derive::{Build, DerivedTable, Family, Frames, Needs, Rows, RowsWhen, column, needed};
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::iterations::dense_part::PartThresholds;
use wavesieve_model::analysis::iterations::{Phase, even_part, phases};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::RunParts,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    ..DerivedTable::new(&tables::ranging::RUN_PARTS, needs, Build::Family(&FAMILY))
};

/// The family of both tables: run parts are derived from the iterations.
pub static FAMILY: Family = Family { build };

fn needs() -> Needs {
    let mut needs = iterations::needs();
    needs.push(("memory_copies", vec!["gpu", "start_ns", "end_ns", "valid"]));
    needs
}

/// Builds the requested tables of the two.
fn build(_process: &Process, tables: &Frames, names: &[&'static str]) -> Result<Vec<DataFrame>> {
    let iterations = iterations::find(tables)?;
    let table = |name: &&'static str| match *name {
        "iterations" => iterations::table(&iterations),
        _ => table(&parts(&iterations, tables)?),
    };
    names.iter().map(table).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunPartKind {
    SetUp,
    WarmUp,
    Steady,
    Dense,
    Uneven,
    Pause,
    CoolDown,
    Tail,
}

impl RunPartKind {
    fn word(self) -> &'static str {
        match self {
            Self::SetUp => "set_up",
            Self::WarmUp => "warmup",
            Self::Steady => "steady",
            Self::Dense => "dense",
            Self::Uneven => "uneven",
            Self::Pause => "pause",
            Self::CoolDown => "cooldown",
            Self::Tail => "tail",
        }
    }
}

struct RunPart {
    kind: RunPartKind,
    time: Interval,
    /// Numbers of its iterations.
    iterations: Range<usize>,
    /// Part of its time outside its iterations.
    pause_ns: i64,
}

/// The parts of the time from the first to the last work of the GPUs, in order and without gaps.
fn parts(iterations: &[Iteration], tables: &Frames) -> Result<Vec<RunPart>> {
    let thresholds = PartThresholds::builtin()?;
    let mut work = work_of(needed(tables, "kernels")?)?;
    work.extend(work_of(needed(tables, "memory_copies")?)?);
    let (Some(first_ns), Some(last_ns)) = (work.iter().map(|time| time.0).min(), work.iter().map(|time| time.1).max())
    else {
        return Ok(Vec::new());
    };
    let mut parts = Parts { at_ns: first_ns, parts: Vec::new() };
    if iterations.is_empty() {
        if let Some((start_ns, end_ns)) = thresholds.dense_part(&work) {
            parts.pass(RunPartKind::SetUp, start_ns);
            parts.pass(RunPartKind::Dense, end_ns);
        }
    } else {
        let phases = phases(&iterations::durations(iterations));
        for (kind, range) in kinds_of_ranges(iterations, &phases, thresholds.most_excess_pct) {
            parts.take(kind, iterations, range);
        }
    }
    parts.pass(RunPartKind::Tail, last_ns);
    Ok(parts.parts)
}

/// Consecutive iterations of one kind, in order.
fn kinds_of_ranges(
    iterations: &[Iteration],
    phases: &[Phase],
    most_excess_pct: u32,
) -> Vec<(RunPartKind, Range<usize>)> {
    let count = |phase: Phase| phases.iter().filter(|known| **known == phase).count();
    let steady = count(Phase::WarmUp)..iterations.len() - count(Phase::CoolDown).min(iterations.len());
    let times: Vec<(i64, i64)> =
        iterations.get(steady.clone()).unwrap_or_default().iter().map(|one| (one.start_ns, one.end_ns)).collect();
    let even = even_part(&times, most_excess_pct)
        .map_or(steady.start..steady.start, |even| steady.start + even.start..steady.start + even.end);
    let all = [
        (RunPartKind::WarmUp, 0..steady.start),
        (RunPartKind::Uneven, steady.start..even.start),
        (RunPartKind::Steady, even.clone()),
        (RunPartKind::Uneven, even.end..steady.end),
        (RunPartKind::CoolDown, steady.end..iterations.len()),
    ];
    all.into_iter().filter(|(_, range)| !range.is_empty()).collect()
}

/// The parts so far.
struct Parts {
    /// End of the last part.
    at_ns: i64,
    parts: Vec<RunPart>,
}

impl Parts {
    /// Adds a part up to a time, if that is later.
    fn pass(&mut self, kind: RunPartKind, until_ns: i64) {
        if until_ns > self.at_ns {
            self.parts.push(RunPart { kind, time: Interval::new(self.at_ns, until_ns), iterations: 0..0, pause_ns: 0 });
            self.at_ns = until_ns;
        }
    }

    /// Adds consecutive iterations, after the part before them.
    fn take(&mut self, kind: RunPartKind, iterations: &[Iteration], range: Range<usize>) {
        let own = iterations.get(range.clone()).unwrap_or_default();
        let (Some(first), Some(last)) = (own.first(), own.last()) else { return };
        self.pass(
            if self.parts.iter().any(|part| !part.iterations.is_empty()) {
                RunPartKind::Pause
            } else {
                RunPartKind::SetUp
            },
            first.start_ns,
        );
        if last.end_ns <= self.at_ns {
            return;
        }
        let time = Interval::new(self.at_ns, last.end_ns);
        let within = iterations::durations(own).iter().fold(0_i64, |sum, ns| sum.saturating_add(*ns));
        let pause_ns = time.length_ns().saturating_sub(within).max(0);
        self.parts.push(RunPart { kind, time, iterations: range, pause_ns });
        self.at_ns = last.end_ns;
    }
}

/// Start and end of the valid kernels or copies of known GPUs.
fn work_of(frame: &DataFrame) -> Result<Vec<(i64, i64)>> {
    Ok(frame.valid_rows(["gpu", "start_ns", "end_ns"])?.map(|(_, [_, start_ns, end_ns])| (start_ns, end_ns)).collect())
}

fn table(parts: &[RunPart]) -> Result<DataFrame> {
    let whole = |name, value: &dyn Fn(&RunPart) -> i64| column(name, parts.iter().map(value).collect());
    let number = |name, value: &dyn Fn(&Range<usize>) -> usize| {
        let of = |part: &RunPart| Some(value(&part.iterations) as i64).filter(|_| !part.iterations.is_empty());
        integers(name, parts.iter().map(of))
    };
    Ok(DataFrame::new_infer_height(vec![
        column("part", (0..parts.len() as i64).collect()),
        categories("kind", parts.iter().map(|part| Some(part.kind.word())))?,
        whole("start_ns", &|part| part.time.start_ns),
        whole("end_ns", &|part| part.time.end_ns),
        whole("duration_ns", &|part| part.time.length_ns()),
        whole("iterations", &|part| part.iterations.len() as i64),
        number("first_iteration", &|range| range.start),
        number("last_iteration", &|range| range.end.saturating_sub(1)),
        whole("pause_ns", &|part| part.pause_ns),
    ])?)
}
