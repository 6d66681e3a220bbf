//! The kernels and copies of each step of an LLM server.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{rows_named, values_by_text};
use crate::columns::values::{FrameValues, I64Values};
use crate::derive::launching::launched_work::{Launched, LaunchedWork, Work};
use crate::derive::launching::launching_calls::LaunchingCalls;
use crate::derive::ranging::range_forest::RangeForest;
use crate::derive::{Frames, needed};
use wavesieve_model::analysis::inference::{KernelRoles, MarkedStep, Role, StepFacts, WorkOfStep, steps_by_tokens};
use wavesieve_model::analysis::intervals::{Interval, union};

const MARKER: &str = "marker";
/// Part of the names of calls that launch a graph, in lower case.
const GRAPH_LAUNCH: &str = "graphlaunch";

/// A step with its work.
pub struct WorkStep {
    pub range_id: Option<i64>,
    pub marker: Option<String>,
    pub marked: MarkedStep,
    pub start_ns: i64,
    pub end_ns: i64,
    pub work: Work,
    pub roles: WorkOfStep,
    pub gpus: i64,
    pub busy_ns: i64,
    pub graph_launches: i64,
    pub graph_kernels: i64,
}

/// Facts about kernels by their rows.
struct KernelFacts {
    roles: Vec<Option<Role>>,
    /// Workgroups in x, if each belongs to one token.
    grid_tokens: Vec<Option<i64>>,
    exec_ids: I64Values,
    correlation_ids: I64Values,
}

/// Whether each call launches a graph, by its number.
type GraphCalls = [Option<bool>];

/// Marks the calls that launch graphs, by their numbers.
///
/// # Errors
/// When the names are not texts.
pub(super) fn graph_calls(calls: &LaunchingCalls) -> Result<Vec<Option<bool>>> {
    Ok(values_by_text(calls.all_names(), |name| name.to_lowercase().contains(GRAPH_LAUNCH))?)
}

/// Finds the steps of a process.
pub(crate) struct StepFinder<'a> {
    facts: &'a StepFacts,
    tables: &'a Frames,
    kernels: KernelFacts,
}

impl<'a> StepFinder<'a> {
    /// Reads the facts about kernels.
    ///
    /// # Errors
    /// When a needed column is missing or has another type, or the built-in facts are wrong.
    pub fn new(facts: &'a StepFacts, tables: &'a Frames) -> Result<Self> {
        Ok(Self { facts, tables, kernels: KernelFacts::new(facts, needed(tables, "kernels")?)? })
    }

    /// The steps in the order of their work: steps of markers, otherwise steps that end with tokens.
    ///
    /// # Errors
    /// When a needed column is missing or has another type, or there are more rows than can be numbered.
    pub fn steps(&self) -> Result<Vec<WorkStep>> {
        let mut steps = self.of_markers()?;
        if steps.is_empty() {
            steps = self.of_tokens()?;
        }
        steps.sort_by_key(|step| (step.start_ns, step.end_ns, step.range_id));
        Ok(steps)
    }

    fn of_markers(&self) -> Result<Vec<WorkStep>> {
        let regions = needed(self.tables, "regions")?;
        let is_marker = rows_named(regions.column("domain")?, |domain| domain == MARKER)?;
        if !is_marker.any() {
            return Ok(Vec::new());
        }
        let is_step = rows_named(regions.column("message")?, |text| self.facts.marked_step(text).is_some())?;
        let chosen = &is_marker & &is_step;
        if !chosen.any() {
            return Ok(Vec::new());
        }
        let forest = RangeForest::of_regions(self.tables, &chosen)?;
        let graph_calls = graph_calls(&forest.work.calls)?;
        let mut by_step: BTreeMap<usize, Vec<&Launched>> = BTreeMap::new();
        for (launched, place) in forest.work.launched.iter().zip(forest.outermost_of()) {
            if let Some(place) = place {
                by_step.entry(place).or_default().push(launched);
            }
        }
        let step = |(place, launched): (usize, Vec<&Launched>)| {
            let range = forest.ranges.get(place)?;
            let text = forest.messages.get(range.message as usize).cloned().flatten()?;
            let marked = self.facts.marked_step(&text)?;
            let mut step = self.step(&forest.work, &graph_calls, &launched)?;
            (step.range_id, step.marker, step.marked) = (Some(range.region_id), Some(text), marked);
            Some(step)
        };
        Ok(by_step.into_iter().filter_map(step).collect())
    }

    fn of_tokens(&self) -> Result<Vec<WorkStep>> {
        let work = self.tables.launched_work()?;
        let graph_calls = graph_calls(&work.calls)?;
        let mut kernels: Vec<&Launched> = work.launched.iter().filter(|launched| !launched.is_copy).collect();
        kernels.sort_by_key(|kernel| (kernel.start_ns, work.id(kernel)));
        let roles: Vec<Option<Role>> = kernels.iter().map(|kernel| self.kernels.role(kernel)).collect();
        let mut copies: Vec<&Launched> = work.launched.iter().filter(|launched| launched.is_copy).collect();
        copies.sort_by_key(|copy| (copy.start_ns, work.id(copy)));
        let step = |place: Range<usize>| {
            let own = kernels.get(place)?;
            let (start_ns, end_ns) = (own.first()?.start_ns, own.iter().map(|kernel| kernel.end_ns).max()?);
            let from = copies.partition_point(|copy| copy.start_ns < start_ns);
            let to = copies.partition_point(|copy| copy.start_ns < end_ns);
            let all: Vec<&Launched> = own.iter().chain(copies.get(from..to.max(from))?).copied().collect();
            self.step(&work, &graph_calls, &all)
        };
        Ok(steps_by_tokens(&roles).into_iter().filter_map(step).collect())
    }

    /// The step of some kernels and copies; there must be at least one.
    fn step(&self, work: &LaunchedWork, graph_calls: &GraphCalls, launched: &[&Launched]) -> Option<WorkStep> {
        let mut sum = Work::default();
        let mut roles = WorkOfStep::default();
        let mut intervals: BTreeMap<Option<i64>, Vec<Interval>> = BTreeMap::new();
        let mut graphs: BTreeSet<(bool, Option<i64>)> = BTreeSet::new();
        let mut graph_kernels = 0_i64;
        for one in launched {
            sum.add(one);
            intervals.entry(work.gpu(one)).or_default().push(Interval::new(one.start_ns, one.end_ns));
            if one.is_copy {
                continue;
            }
            if let Some(role) = self.kernels.role(one) {
                roles.add(role, one.end_ns.saturating_sub(one.start_ns));
            }
            roles.grid_tokens = roles.grid_tokens.max(self.kernels.grid_tokens.get(one.row()).copied().flatten());
            if let Some(graph) = self.graph_launch(graph_calls, one) {
                graphs.insert(graph);
                graph_kernels = graph_kernels.saturating_add(1);
            }
        }
        let (start_ns, end_ns) = sum.gpu?;
        let gpus = intervals.len() as i64;
        let covered = intervals.into_values().flat_map(union).map(Interval::length_ns);
        Some(WorkStep {
            range_id: None,
            marker: None,
            marked: MarkedStep::default(),
            start_ns,
            end_ns,
            work: sum,
            roles,
            gpus,
            busy_ns: covered.fold(0, i64::saturating_add),
            graph_launches: graphs.len() as i64,
            graph_kernels,
        })
    }

    /// The launch of the graph that started a kernel: the call, or the kernels that share a correlation id.
    fn graph_launch(&self, graph_calls: &GraphCalls, kernel: &Launched) -> Option<(bool, Option<i64>)> {
        let is_graph = |call: &u32| graph_calls.get(*call as usize).copied().flatten() == Some(true);
        if let Some(call) = kernel.call().filter(is_graph) {
            return Some((true, Some(i64::from(call))));
        }
        self.kernels.exec_ids.get(kernel.row()).filter(|id| *id != 0)?;
        Some((false, self.kernels.correlation_ids.get(kernel.row())))
    }
}

impl KernelFacts {
    fn new(facts: &StepFacts, kernels: &DataFrame) -> Result<Self> {
        let roles = KernelRoles::builtin()?;
        let names = kernels.column("kernel_name")?;
        let [grids, workgroups] = kernels.integers(["grid_x", "workgroup_x"])?;
        let by_token = values_by_text(names, |name| facts.grid_is_tokens(name))?;
        // Kernels of graphs may have no grid recorded.
        let tokens = by_token.into_iter().zip(grids.iter().zip(workgroups.iter())).map(|(by_token, sizes)| {
            let (grid, workgroup) = (sizes.0?, sizes.1.filter(|size| *size > 0)?);
            Some(grid.checked_div(workgroup)?).filter(|tokens| *tokens > 0 && by_token == Some(true))
        });
        Ok(Self {
            roles: values_by_text(names, |name| roles.role(name))?.into_iter().map(Option::flatten).collect(),
            grid_tokens: tokens.collect(),
            exec_ids: kernels.integer("graph_exec_id")?,
            correlation_ids: kernels.integer("correlation_id")?,
        })
    }

    fn role(&self, kernel: &Launched) -> Option<Role> {
        self.roles.get(kernel.row()).copied().flatten()
    }
}
