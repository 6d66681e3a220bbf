//! Units of work that enclose repetitions: steps that ranges mark, steps of LLM servers, and launches of graphs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use regex::Regex;
use serde::Deserialize;

use crate::columns::frames::{add_texts, rows_named};
use crate::columns::values::FrameValues;
use crate::derive::launching::kernel_order::KernelOrder;
use crate::derive::launching::launched_work::{LaunchedWork, Work};
use crate::derive::launching::launching_calls::LaunchingCalls;
use crate::derive::repeating::step_work::{StepFinder, graph_calls};
use crate::derive::{Frames, needed};
use wavesieve_model::analysis::inference::{KernelRoles, Role, StepFacts, StepKind, decide};
use wavesieve_model::analysis::ranges::tree::Extent;

const FACTS: &str = data!("share/units.toml");
const MARKER: &str = "marker";

/// Facts that distinguish units of work; `share/units.toml` documents each.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitsFile {
    least_within_pct: u32,
    least_layers: u32,
    least_replayed_pct: u32,
    step: Vec<StepText>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepText {
    regex: String,
    #[serde(default)]
    alone: bool,
    #[serde(rename = "source")]
    _source: String,
}

/// How units of work were found, the strongest evidence first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// Ranges of the program or its framework.
    Range,
    /// Ranges that an LLM server opens around its steps.
    Server,
    /// Kernels that choose the tokens of an LLM server.
    Tokens,
    /// Launches of graphs.
    Replay,
}

impl Evidence {
    /// Word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Server => "server_marker",
            Self::Tokens => "tokens",
            Self::Replay => "graph_replay",
        }
    }

    /// Word for a unit that is known by it.
    pub fn unit(self) -> &'static str {
        if self == Self::Replay { "replay" } else { "step" }
    }
}

/// Units of one kind of evidence.
pub(super) struct Enclosing {
    pub evidence: Evidence,
    /// First start and last end of the work of each, in order.
    pub times_ns: Vec<(i64, i64)>,
    /// Whether each is a prompt of an LLM server; none if the kinds are unknown or all the same.
    pub prompts: Vec<bool>,
}

/// Thresholds and texts of the binary.
pub(super) struct UnitFacts {
    file: UnitsFile,
    texts: Vec<(Regex, bool)>,
}

impl UnitFacts {
    /// Reads them.
    ///
    /// # Errors
    /// When the file is wrong, which the tests exclude.
    pub fn builtin() -> Result<Self> {
        let file: UnitsFile = toml::from_str(FACTS)?;
        let texts: Result<_> = file.step.iter().map(|step| Ok((Regex::new(&step.regex)?, step.alone))).collect();
        Ok(Self { texts: texts?, file })
    }

    /// Whether so many of some repetitions start in enclosing units.
    pub fn are_within(&self, within: usize, all: usize) -> bool {
        within as u64 * 100 >= all as u64 * u64::from(self.file.least_within_pct)
    }

    /// Whether so many repetitions in so many units are layers of these.
    pub fn are_layers(&self, within: usize, units: usize) -> bool {
        units > 0 && within as u64 >= units as u64 * u64::from(self.file.least_layers)
    }

    /// Units by all kinds of evidence, the strongest first.
    ///
    /// # Errors
    /// When a needed column is missing or has another type.
    pub fn enclosing(&self, tables: &Frames, order: &KernelOrder) -> Result<Vec<Enclosing>> {
        let found = [self.marked(tables)?, of_server(tables)?, self.replays(tables, order)?];
        Ok(found.into_iter().flatten().map(Enclosing::tidy).filter(|found| !found.times_ns.is_empty()).collect())
    }

    /// Steps that ranges mark.
    fn marked(&self, tables: &Frames) -> Result<Option<Enclosing>> {
        let matches = |text: &str| self.texts.iter().find(|(regex, _)| regex.is_match(text));
        let times_ns = marked_times(tables, &|text| matches(text).is_some())?;
        let is_alone = times_ns.len() == 1;
        // One range may be around the whole program.
        let times_ns = if is_alone {
            marked_times(tables, &|text| matches(text).is_some_and(|(_, alone)| *alone))?
        } else {
            times_ns
        };
        Ok(Some(Enclosing { evidence: Evidence::Range, times_ns, prompts: Vec::new() }))
    }

    /// Launches of graphs, if most kernels were launched so.
    fn replays(&self, tables: &Frames, order: &KernelOrder) -> Result<Option<Enclosing>> {
        let kernels = needed(tables, "kernels")?;
        let [ids, gpus, starts, ends] = kernels.integers(["correlation_id", "gpu", "start_ns", "end_ns"])?;
        let graph_execs = kernels.integer("graph_exec_id")?;
        let valid = kernels.truths("valid")?.are_true();
        let mut replays: BTreeMap<i64, (i64, i64, usize)> = BTreeMap::new();
        let mut graph_ids: BTreeSet<i64> = BTreeSet::new();
        // Id, start and end of the last kernel of each GPU.
        let mut before: BTreeMap<Option<i64>, (Option<i64>, i64, i64)> = BTreeMap::new();
        for row in order.rows().map(|row| row as usize).filter(|row| valid.get(*row) == Some(true)) {
            let (Some(start_ns), Some(end_ns)) = (starts.get(row), ends.get(row)) else { continue };
            let id = ids.get(row).filter(|id| *id != 0);
            let last = before.insert(gpus.get(row), (id, start_ns, end_ns));
            if let (Some(id), Some((Some(other), first_ns, last_ns))) = (id, last)
                && id == other
            {
                let known = replays.entry(id).or_insert((first_ns, last_ns, 1));
                *known = (known.0.min(start_ns), known.1.max(end_ns), known.2 + 1);
                if graph_execs.get(row).is_some_and(|graph| graph != 0) {
                    graph_ids.insert(id);
                }
            }
        }
        if replays.is_empty() {
            return Ok(None);
        }
        let launches = LaunchingCalls::from_frames(tables)?;
        let graphs = graph_calls(&launches)?;
        let is_graph = |id: &i64| {
            let call = launches.get(Some(*id)).and_then(|call| graphs.get(call.row as usize).copied().flatten());
            call == Some(true) || graph_ids.contains(id)
        };
        replays.retain(|id, _| is_graph(id));
        let replayed: usize = replays.values().map(|(.., kernels)| kernels).sum();
        let is_most = replayed as u64 * 100 >= valid.set_bits() as u64 * u64::from(self.file.least_replayed_pct);
        let mut times_ns: Vec<(i64, i64)> =
            replays.into_values().filter(|_| is_most).map(|(start_ns, end_ns, _)| (start_ns, end_ns)).collect();
        times_ns.sort_unstable();
        Ok(Some(Enclosing { evidence: Evidence::Replay, times_ns, prompts: Vec::new() }))
    }
}

impl Enclosing {
    /// Without units that are empty or start with the one before.
    fn tidy(mut self) -> Self {
        let mut last_ns = None;
        let is_own: Vec<bool> = self
            .times_ns
            .iter()
            .map(|(start_ns, end_ns)| {
                let is_own = start_ns < end_ns && last_ns.is_none_or(|last_ns| last_ns < *start_ns);
                last_ns = if is_own { Some(*start_ns) } else { last_ns };
                is_own
            })
            .collect();
        let mut kept = is_own.iter();
        self.prompts.retain(|_| kept.next() == Some(&true));
        let mut kept = is_own.iter();
        self.times_ns.retain(|_| kept.next() == Some(&true));
        self
    }
}

/// Whether a text is one of a range around a step, of a program, its framework or an LLM server.
///
/// # Errors
/// When the facts of the binary are wrong, which the tests exclude.
pub fn step_texts() -> Result<impl Fn(&str) -> bool> {
    let (units, steps) = (UnitFacts::builtin()?, StepFacts::builtin()?);
    Ok(move |text: &str| units.texts.iter().any(|(regex, _)| regex.is_match(text)) || steps.marked_step(text).is_some())
}

/// Times of the work that any thread launched in the outermost ranges with such texts.
fn marked_times(tables: &Frames, is_step: &dyn Fn(&str) -> bool) -> Result<Vec<(i64, i64)>> {
    let Some(regions) = tables.get("regions") else { return Ok(Vec::new()) };
    let is_marker = rows_named(regions.column("domain")?, |domain| domain == MARKER)?;
    if !is_marker.any() {
        return Ok(Vec::new());
    }
    let chosen = is_marker & rows_named(regions.column("message")?, is_step)?;
    if !chosen.any() {
        return Ok(Vec::new());
    }
    let chosen = regions.filter(&chosen)?;
    let tids = chosen.integer("tid")?;
    let mut by_thread: BTreeMap<Option<i64>, Vec<Extent>> = BTreeMap::new();
    for (row, [_, start_ns, end_ns]) in chosen.valid_rows(["region_id", "start_ns", "end_ns"])? {
        by_thread.entry(tids.get(row as usize)).or_default().push(Extent { start_ns, end_ns });
    }
    let threads: Vec<Vec<Extent>> = by_thread.into_values().map(outermost).collect();
    let work = LaunchedWork::from_frames(tables)?;
    let together = outermost(threads.concat());
    let is_apart = together.iter().zip(together.iter().skip(1)).all(|(one, next)| one.end_ns <= next.start_ns);
    let extents = if is_apart {
        together
    } else {
        // Threads that work at the same time have steps of their own: those with most work are the steps of the process.
        let kernels = |extents: &Vec<Extent>| work_of(&work, extents).iter().map(|work| work.kernels).sum::<i64>();
        threads.into_iter().rev().max_by_key(kernels).unwrap_or_default()
    };
    let found = work_of(&work, &extents);
    let mut times_ns: Vec<(i64, i64)> =
        found.into_iter().filter(|work| work.kernels > 0).filter_map(|work| work.gpu).collect();
    times_ns.sort_unstable();
    Ok(times_ns)
}

/// The extents that lie in no other, in order.
fn outermost(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_by_key(|extent| (extent.start_ns, Reverse(extent.end_ns)));
    let mut reached_ns = i64::MIN;
    extents.retain(|extent| {
        let is_outside = extent.end_ns > reached_ns;
        reached_ns = reached_ns.max(extent.end_ns);
        is_outside
    });
    extents
}

/// Work launched within each extent; without any recorded call, work that started in it.
fn work_of(work: &LaunchedWork, extents: &[Extent]) -> Vec<Work> {
    if work.launched.iter().any(|launched| launched.call().is_some()) {
        return work.between_each(extents);
    }
    let mut sums = vec![Work::default(); extents.len()];
    for launched in &work.launched {
        let place = extents.partition_point(|extent| extent.start_ns <= launched.start_ns).checked_sub(1);
        let place = place.filter(|place| extents.get(*place).is_some_and(|one| launched.start_ns < one.end_ns));
        if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
            sum.add(launched);
        }
    }
    sums
}

/// Steps of an LLM server.
fn of_server(tables: &Frames) -> Result<Option<Enclosing>> {
    let facts = StepFacts::builtin()?;
    if tables.get("regions").is_none() || !may_serve(tables, &facts)? {
        return Ok(None);
    }
    let steps = StepFinder::new(&facts, tables)?.steps()?;
    let known: Vec<_> = steps.iter().map(|step| (step.marked.kind, step.roles)).collect();
    let decided = decide(&known, facts.least_prefill_ratio());
    // A step with prompts may have decodes too.
    let prompts: Vec<bool> =
        decided.iter().map(|one| matches!(one.kind, Some(StepKind::Prefill | StepKind::Mixed))).collect();
    let has_both = prompts.contains(&true) && decided.iter().any(|one| one.kind == Some(StepKind::Decode));
    let is_marked = steps.iter().any(|step| step.range_id.is_some());
    Ok(Some(Enclosing {
        evidence: if is_marked { Evidence::Server } else { Evidence::Tokens },
        times_ns: steps.iter().map(|step| (step.start_ns, step.end_ns)).collect(),
        prompts: if has_both { prompts } else { Vec::new() },
    }))
}

/// Whether ranges of a server or kernels that choose tokens exist at all, by their different texts.
fn may_serve(tables: &Frames, facts: &StepFacts) -> Result<bool> {
    let texts = |table: &str, column: &str| -> Result<BTreeSet<String>> {
        let mut texts = BTreeSet::new();
        add_texts(needed(tables, table)?.column(column)?, &mut texts)?;
        Ok(texts)
    };
    let roles = KernelRoles::builtin()?;
    if texts("kernels", "kernel_name")?.iter().any(|name| roles.role(name) == Some(Role::TokenChoice)) {
        return Ok(true);
    }
    let has_ranges = rows_named(needed(tables, "regions")?.column("domain")?, |domain| domain == MARKER)?.any();
    Ok(has_ranges && texts("regions", "message")?.iter().any(|text| facts.marked_step(text).is_some()))
}
