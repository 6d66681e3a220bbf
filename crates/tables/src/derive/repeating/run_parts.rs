//! The table `run_parts`: set-up, warm-up, steady part, pauses and end of the run of a process.

use std::ops::Range;

use anyhow::{Context as _, Result};
use polars::prelude::*;

use crate::columns::frames::{categories, integers};
use crate::columns::values::FrameValues;
use crate::derive::repeating::periods::Iteration;
use crate::derive::repeating::unit_choice::UnitChoice;
use crate::derive::repeating::unit_layers::UnitLayer;
use crate::derive::repeating::unit_passes::Direction;
use crate::derive::repeating::unit_search::UnitSearch;
use crate::derive::repeating::units::{self, Units};
use crate::derive::repeating::{iterations, layers, unit_offers};
use crate::derive::{Build, DerivedTable, Family, Frames, Needs, OnDemandTables, Rows, RowsWhen, column, needed};
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::analysis::iterations::dense_part::PartThresholds;
use wavesieve_model::analysis::iterations::{Phase, even_part};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows: Rows::RunParts,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    ..DerivedTable::new(&tables::ranging::RUN_PARTS, needs, Build::Family(&FAMILY))
};

/// The family of tables about units. Few of them read more than kernels.
pub static FAMILY: Family = Family { build, optional_needs: units::evidence_needs };

fn needs() -> Needs {
    units::merged([
        units::kernel_needs(),
        vec![("memory_copies", vec!["direction", "gpu", "start_ns", "end_ns", "valid"])],
    ])
}

/// Builds the requested tables.
fn build(
    _process: &Process,
    tables: &Frames,
    more: &dyn OnDemandTables,
    names: &[&'static str],
) -> Result<Vec<DataFrame>> {
    let is_listed = names.contains(&"units");
    let is_none = *tables.unit() == UnitChoice::None && !is_listed;
    let with_evidence = if is_none { None } else { units::with_evidence(tables, more)? };
    let all = with_evidence.as_ref().unwrap_or(tables);
    let search = if is_none { None } else { Some(UnitSearch::new(all, Some(more))?) };
    let mut units = Units::default();
    if let Some(search) = &search {
        let found = search.find_chosen(tables.unit())?;
        let layers = if names == ["iterations"] { Vec::new() } else { search.layers(&found)? };
        units = Units { layers, ..found.units };
    }
    let mut built = Vec::with_capacity(names.len());
    for name in names.iter().filter(|name| **name != "units") {
        built.push((
            *name,
            match *name {
                "iterations" => iterations::table(&units)?,
                "layers" => layers::table(&units)?,
                _ => table(&parts(&units, tables)?, &units)?,
            },
        ));
    }
    if let Some(search) = search.filter(|_| is_listed) {
        built.push(("units", unit_offers::table(all, &search, units)?));
    }
    let table = |name: &&'static str| {
        let frame = built.iter().find(|(built, _)| built == name).map(|(_, frame)| frame.clone());
        frame.with_context(|| format!("internal: {name} is not a table of units"))
    };
    names.iter().map(table).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunPartKind {
    SetUp,
    WarmUp,
    Prefill,
    Decode,
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
            Self::Prefill => "prefill",
            Self::Decode => "decode",
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
fn parts(units: &Units, tables: &Frames) -> Result<Vec<RunPart>> {
    let thresholds = PartThresholds::builtin()?;
    let mut work = work_of(needed(tables, "kernels")?)?;
    work.extend(work_of(needed(tables, "memory_copies")?)?);
    let (Some(first_ns), Some(last_ns)) = (work.iter().map(|time| time.0).min(), work.iter().map(|time| time.1).max())
    else {
        return Ok(Vec::new());
    };
    let mut parts = Parts { at_ns: first_ns, parts: Vec::new() };
    if units.all.is_empty() {
        if let Some((start_ns, end_ns)) = thresholds.dense_part(&work) {
            parts.pass(RunPartKind::SetUp, start_ns);
            parts.pass(RunPartKind::Dense, end_ns);
        }
    } else {
        for (kind, range) in kinds_of_ranges(units, thresholds.most_excess_pct)? {
            parts.take(kind, &units.all, range);
        }
    }
    parts.pass(RunPartKind::Tail, last_ns);
    Ok(parts.parts)
}

/// Consecutive iterations of one kind, in order. The steady part is the even part of the longest interval in which neither prompts nor a jump of
/// durations interrupt the steady iterations.
fn kinds_of_ranges(units: &Units, most_excess_pct: u32) -> Result<Vec<(RunPartKind, Range<usize>)>> {
    let phases = units.phases();
    let levels = units.levels(&phases)?;
    let kinds: Vec<(Phase, i64)> = phases
        .into_iter()
        .zip(levels)
        .map(|(phase, level)| (phase, if phase == Phase::Steady { level } else { 0 }))
        .collect();
    let mut end = 0;
    let runs: Vec<(Phase, Range<usize>)> = kinds
        .chunk_by(|one, next| one == next)
        .filter_map(|run| {
            let start = end;
            end += run.len();
            Some((run.first()?.0, start..end))
        })
        .collect();
    let own = |range: &Range<usize>| units.all.get(range.clone()).unwrap_or_default();
    let time_ns =
        |range: &Range<usize>| own(range).iter().fold(0_i64, |sum, one| sum.saturating_add(one.duration_ns()));
    let steady = runs.iter().filter(|(phase, _)| *phase == Phase::Steady).map(|(_, range)| range);
    let longest = steady.max_by_key(|range| (time_ns(range), std::cmp::Reverse(range.start))).cloned();
    let other = if units.prompts.is_empty() { RunPartKind::Uneven } else { RunPartKind::Decode };
    let mut kinds = Vec::with_capacity(runs.len() + 2);
    for (phase, range) in runs {
        match phase {
            Phase::WarmUp => kinds.push((RunPartKind::WarmUp, range)),
            Phase::CoolDown => kinds.push((RunPartKind::CoolDown, range)),
            Phase::Prefill => kinds.push((RunPartKind::Prefill, range)),
            Phase::Steady if longest.as_ref() == Some(&range) => {
                let times: Vec<(i64, i64)> = own(&range).iter().map(|one| (one.start_ns, one.end_ns)).collect();
                let even = even_part(&times, most_excess_pct).unwrap_or(0..0);
                let even = range.start + even.start..range.start + even.end;
                kinds.push((other, range.start..even.start));
                kinds.push((RunPartKind::Steady, even.clone()));
                kinds.push((other, even.end..range.end));
            }
            Phase::Steady => kinds.push((other, range)),
        }
    }
    kinds.retain(|(_, range)| !range.is_empty());
    Ok(kinds)
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
        let end_ns = own.iter().map(|one| one.end_ns).max().unwrap_or(last.end_ns);
        if end_ns <= self.at_ns {
            return;
        }
        let time = Interval::new(self.at_ns, end_ns);
        let within = own.iter().fold(0_i64, |sum, one| sum.saturating_add(one.duration_ns()));
        let pause_ns = time.length_ns().saturating_sub(within).max(0);
        self.parts.push(RunPart { kind, time, iterations: range, pause_ns });
        self.at_ns = end_ns;
    }
}

/// Start and end of the valid kernels or copies of known GPUs.
fn work_of(frame: &DataFrame) -> Result<Vec<(i64, i64)>> {
    Ok(frame.valid_rows(["gpu", "start_ns", "end_ns"])?.map(|(_, [_, start_ns, end_ns])| (start_ns, end_ns)).collect())
}

fn table(parts: &[RunPart], units: &Units) -> Result<DataFrame> {
    let is_backward = |layer: &UnitLayer| layer.pass.is_some_and(|pass| pass.direction == Direction::Backward);
    let placed = units.places_of_layers().into_iter().zip(&units.layers);
    // The backward part of a layer is not another one.
    let places: Vec<i64> = placed.filter(|(_, layer)| !is_backward(layer)).map(|(place, _)| place.unit).collect();
    // Layers come in the order of their units.
    let before = |unit: usize| places.partition_point(|own| *own < unit as i64);
    let layers = |range: &Range<usize>| before(range.end).saturating_sub(before(range.start));
    let word = |word: &'static str| move |part: &RunPart| Some(word).filter(|_| !part.iterations.is_empty());
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
        categories("unit", parts.iter().map(word(units.unit)))?,
        categories("found_by", parts.iter().map(word(units.found_by)))?,
        whole("iterations", &|part| part.iterations.len() as i64),
        number("first_iteration", &|range| range.start),
        number("last_iteration", &|range| range.end.saturating_sub(1)),
        whole("pause_ns", &|part| part.pause_ns),
        whole("layers", &|part| layers(&part.iterations) as i64),
    ])?)
}
