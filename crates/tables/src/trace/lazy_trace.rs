//! The logical trace: all processes of all inputs, as lazy tables over all ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use parking_lot::Mutex;

use super::jobs::{Jobs, READING_BYTES};
use super::joint_tables::JointTables;
use super::left_out::Counted;
use super::observer::{Observer, watched};
use super::runner::StatementRunner;
use super::selection::{self, Filters, Resolved};
use super::source::ProcessReader;
pub use super::unfiltered_tables::UnfilteredTables;
use crate::ablation::{Optimization, is_on};
pub use crate::columns::requests::Request;
use crate::derive::health;
pub use crate::derive::source_request;
use wavesieve_model::analysis::categories::Categories as CategoryRules;
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;
use wavesieve_model::schema::anomaly::{Anomaly, Damage};
use wavesieve_model::schema::process::{Clock, Process};

/// A process and the source of its rows.
pub struct TraceProcess {
    /// Place in the logical trace.
    pub process: Process,
    /// Adapter that reads its tables.
    pub source: Arc<dyn ProcessReader>,
    /// The files that it is read from.
    pub files: Arc<[PathBuf]>,
    /// Estimate of the memory that all of its tables need while they are read.
    pub memory_bytes: u64,
}

/// Limit of a small number of rows: reading them again costs almost nothing.
const FEW_BYTES: u64 = 8 << 20;

/// Number of processes that keep all workers busy until the end, one process per worker.
const MANY: usize = 32;

impl TraceProcess {
    /// Estimate of the memory that columns of tables need, including the sources of derived tables.
    pub fn memory_bytes_of(&self, request: &Request) -> u64 {
        self.source.memory_bytes_of(&source_request(request)).unwrap_or(self.memory_bytes)
    }

    /// Whether all rows together are few, by the memory estimate.
    pub(crate) fn has_few_rows(&self) -> bool {
        self.memory_bytes.saturating_sub(READING_BYTES) <= FEW_BYTES
    }

    /// Like [`TraceProcess::memory_bytes_of`], without the fixed cost of reading.
    pub fn row_bytes_of(&self, request: &Request) -> u64 {
        let known = self.source.memory_bytes_of(&source_request(request)).or_else(|| self.source.memory_bytes());
        known.unwrap_or_else(|| self.memory_bytes.saturating_sub(READING_BYTES))
    }
}

/// All processes of all inputs.
pub struct Trace {
    members: Vec<TraceProcess>,
    categories: CategoryRules,
    metrics: EffectiveDefinitions,
    pub(super) threads: usize,
    jobs: Jobs,
    damage: Mutex<BTreeSet<Damage>>,
    /// Damage that was known before anything was read.
    opened_with: BTreeSet<Damage>,
    /// Differences in files next to the tables, if those were inspected.
    beside_tables: OnceLock<BTreeSet<Damage>>,
    notes: Vec<Anomaly>,
    /// Words that name the inputs in another command.
    inputs: Vec<String>,
    pub(super) choice: Filters,
    pub(super) resolved: BTreeMap<i64, Resolved>,
    all_ranks: BTreeSet<i64>,
    /// The numbers of the processes that this program works on, if other programs work on the rest.
    share: Option<BTreeSet<i64>>,
    pub(super) joint: JointTables,
    observer: Option<Arc<dyn Observer>>,
    counted: Counted,
    /// The runner of statements, if it is not this program.
    runner: Option<Arc<dyn StatementRunner>>,
}

impl Trace {
    /// A trace over `members`, which must be in the order of their process numbers. `notes` are anomalies of the
    /// inputs as a whole.
    pub fn new(
        members: Vec<TraceProcess>,
        categories: CategoryRules,
        threads: usize,
        jobs: Jobs,
        notes: Vec<Anomaly>,
    ) -> Self {
        let all_ranks = members.iter().map(|member| member.process.rank).collect();
        Self {
            members,
            categories,
            metrics: EffectiveDefinitions::default(),
            threads: threads.max(1),
            jobs,
            damage: Mutex::default(),
            opened_with: BTreeSet::new(),
            beside_tables: OnceLock::new(),
            notes,
            inputs: Vec::new(),
            choice: Filters::default(),
            resolved: BTreeMap::new(),
            all_ranks,
            share: None,
            joint: JointTables::default(),
            observer: None,
            counted: Counted::default(),
            runner: None,
        }
    }

    /// The same trace, with an observer of its reading.
    #[must_use]
    pub fn with_observer(mut self, observer: Option<Arc<dyn Observer>>) -> Self {
        self.observer = observer;
        self
    }

    /// The same trace, with another runner of statements.
    #[must_use]
    pub fn with_runner(mut self, runner: Arc<dyn StatementRunner>) -> Self {
        self.runner = Some(runner);
        self
    }

    /// The runner of statements, if it is not this program.
    pub fn runner(&self) -> Option<&dyn StatementRunner> {
        self.runner.as_deref()
    }

    /// The same trace, parts of which were already found damaged when it was opened.
    #[must_use]
    pub fn opened_with(mut self, damage: Vec<Damage>) -> Self {
        self.report_damage(damage.iter().cloned());
        self.opened_with = damage.into_iter().collect();
        self
    }

    /// The same trace, with the words that name its inputs in another command.
    #[must_use]
    pub fn named(mut self, inputs: Vec<String>) -> Self {
        self.inputs = inputs;
        self
    }

    /// Words that name the inputs in another command; none if nobody named them.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// Damage to a process that was known when it was opened or looked through, in a fixed order.
    pub(super) fn known_damage(&self, member: &TraceProcess) -> BTreeSet<Damage> {
        let is_own = |damage: &&Damage| damage.path == member.process.facts.path;
        self.opened_with.iter().filter(is_own).cloned().chain(member.source.damage()).collect()
    }

    /// Damage found when the inputs were opened that affects no read process, and damage next to the tables.
    pub(crate) fn damage_elsewhere(&self) -> BTreeSet<Damage> {
        let known: BTreeSet<Damage> = self.members.iter().flat_map(|member| self.known_damage(member)).collect();
        let beside = self.beside_tables.get().into_iter().flatten();
        self.opened_with.difference(&known).chain(beside).cloned().collect()
    }

    /// Runs work on some processes in parallel, within the limits, and notifies the observer.
    ///
    /// # Errors
    /// The failure of the first that failed.
    pub fn each<T: Sync, R: Send, E: Send>(
        &self,
        members: &[T],
        cost: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let are_many = members.len() >= MANY && is_on(Optimization::Alone);
        let are_small = are_many && self.members.iter().all(TraceProcess::has_few_rows);
        watched(self.observer.as_deref(), "processes", self.jobs, are_small, members, cost, work)
    }

    /// Invalid rows that were counted while tables were read.
    pub(super) fn counted(&self) -> &Counted {
        &self.counted
    }

    /// New checks of a process of this trace, with its known damage.
    pub fn checks<'a>(&self, member: &'a TraceProcess) -> health::Checks<'a> {
        let any = |has: fn(&Process) -> bool| self.members.iter().any(|member| has(&member.process));
        let others = health::Others {
            counters: any(|process| process.facts.has_counters),
            thread_traces: any(|process| process.facts.is_thread_trace),
        };
        let mut checks = health::Checks::new(&member.process, others);
        checks.absorb_damage(self.known_damage(member));
        checks
    }

    /// Anomalies that do not belong to a process: the first process reports them.
    pub fn anomalies_of_inputs(&self, member: &TraceProcess) -> Vec<Anomaly> {
        if member.process.process != 0 {
            return Vec::new();
        }
        let damage = self.damage_elsewhere().into_iter().map(health::anomaly_of);
        self.notes.iter().cloned().chain(damage).collect()
    }

    /// The same trace with only the chosen rows: ranks are removed at once, rows when their tables are requested.
    ///
    /// # Errors
    /// When a table that a filter is resolved with cannot be built, and [`super::MissingUnit`].
    pub fn select(self, choice: Filters) -> Result<Self> {
        self.select_share(choice, |_| None)
    }

    /// Like [`Trace::select`], for a program that works on a share of the chosen processes while others work on the rest. The rest stays
    /// known but is not read.
    ///
    /// # Errors
    /// As for [`Trace::select`].
    pub fn select_share(
        mut self,
        choice: Filters,
        share: impl FnOnce(&[TraceProcess]) -> Option<BTreeSet<i64>>,
    ) -> Result<Self> {
        if let Some(ranks) = &choice.ranks {
            self.members.retain(|member| ranks.contains(member.process.rank));
        }
        self.share = share(&self.members);
        self.choice.unit.clone_from(&choice.unit);
        self.check_unit()?;
        if choice.chooses_rows() {
            let own: Vec<&TraceProcess> = self.own_members().collect();
            let resolve = |member: &&TraceProcess| {
                Ok((member.process.process, selection::resolve(&choice, &self.whole(member))?))
            };
            let resolved: Result<Vec<_>> = self.each(&own, |member| member.memory_bytes, resolve);
            self.resolved = resolved?.into_iter().collect();
        }
        self.choice = choice;
        Ok(self)
    }

    /// The same trace with other definitions of metrics.
    #[must_use]
    pub fn with_metrics(mut self, metrics: EffectiveDefinitions) -> Self {
        self.metrics = metrics;
        self
    }

    /// The effective definitions of metrics.
    pub fn metrics(&self) -> &EffectiveDefinitions {
        &self.metrics
    }

    /// The chosen filters.
    pub fn choice(&self) -> &Filters {
        &self.choice
    }

    /// The bounds at which times of a process are cut, in raw nanoseconds.
    pub fn cut_at(&self, member: &TraceProcess) -> (Option<i64>, Option<i64>) {
        let resolved = self.resolved.get(&member.process.process).filter(|_| self.choice.clips());
        resolved.map_or((None, None), |resolved| resolved.window)
    }

    /// Whether rows of a process are filtered.
    pub(super) fn chooses_in(&self, member: &TraceProcess) -> bool {
        self.resolved.contains_key(&member.process.process)
    }

    /// The choices for every process, in the order of their numbers; empty if all rows are chosen.
    pub fn resolved(&self) -> Vec<&Resolved> {
        self.resolved.values().collect()
    }

    /// The choice for a process; `None` if all its rows are chosen.
    pub fn resolved_of(&self, member: &TraceProcess) -> Option<&Resolved> {
        self.resolved.get(&member.process.process)
    }

    /// Start and end of the window in a process; `None` if it is open.
    pub fn window_of(&self, member: &TraceProcess) -> (Option<i64>, Option<i64>) {
        self.resolved.get(&member.process.process).map_or((None, None), |resolved| resolved.window)
    }

    /// The ranks of the inputs, chosen or not.
    pub fn all_ranks(&self) -> &BTreeSet<i64> {
        &self.all_ranks
    }

    /// The tables of one process with all rows.
    pub fn whole<'a>(&'a self, member: &'a TraceProcess) -> UnfilteredTables<'a> {
        UnfilteredTables { trace: self, member }
    }

    /// The processes in the order of their numbers.
    pub fn members(&self) -> &[TraceProcess] {
        &self.members
    }

    /// The processes that this program works on: all, unless other programs work on the rest.
    pub fn own_members(&self) -> impl Iterator<Item = &TraceProcess> {
        let is_own =
            |member: &&TraceProcess| self.share.as_ref().is_none_or(|share| share.contains(&member.process.process));
        self.members.iter().filter(is_own)
    }

    /// The same trace with its processes replaced by the result of `change`.
    pub fn with_members(mut self, change: impl FnOnce(Vec<TraceProcess>) -> Vec<TraceProcess>) -> Self {
        self.members = change(std::mem::take(&mut self.members));
        self
    }

    /// The same trace with other clocks, in the order of its processes.
    pub(crate) fn with_clocks(mut self, clocks: &[Clock]) -> Self {
        for (member, clock) in self.members.iter_mut().zip(clocks) {
            member.process.clock = *clock;
        }
        self
    }

    /// The same trace, with this release of ROCm instead of the recorded one; unchanged without one.
    #[must_use]
    pub fn with_rocm_version(mut self, version: Option<String>) -> Self {
        if version.is_some() {
            self.members.iter_mut().for_each(|member| member.process.facts.rocm_version.clone_from(&version));
        }
        self
    }

    /// Limits for parallel work on processes.
    pub fn jobs(&self) -> Jobs {
        self.jobs
    }

    /// The effective category rules.
    pub fn categories(&self) -> &CategoryRules {
        &self.categories
    }

    /// Damage found so far, in a fixed order.
    pub fn damage(&self) -> Vec<Damage> {
        self.damage.lock().iter().cloned().collect()
    }

    /// Adds a part that could not be read.
    pub fn report_damage(&self, damage: impl IntoIterator<Item = Damage>) {
        self.damage.lock().extend(damage);
    }

    /// Searches everything stored for content that cannot be read, and reports it. Returns whether there is any; it is skipped from then
    /// on. Call it when reading has failed.
    pub fn finds_damaged_content(&self) -> bool {
        let look = |member: &TraceProcess| Ok::<_, Infallible>(member.source.damage_of_content().to_vec());
        let Ok(damage) = self.jobs.run(&self.members, |_| 0, look);
        let damage: Vec<Damage> = damage.into_iter().flatten().collect();
        let is_any = !damage.is_empty();
        self.report_damage(damage);
        is_any
    }

    /// Compares the files next to the tables of all inputs with their recorded state, and reports files that differ.
    pub fn inspect_beside_tables(&self) {
        let look = || self.members.iter().flat_map(|member| member.source.damage_beside_tables()).collect();
        self.report_damage(self.beside_tables.get_or_init(look).iter().cloned());
    }

    /// Inspects the layout of all inputs, and reports unreadable parts: for commands that read little.
    pub fn inspect_structure(&self) {
        let look = |member: &TraceProcess| Ok::<_, Infallible>(member.source.damage_of_structure());
        let Ok(damage) = self.jobs.run(&self.members, |_| 0, look);
        self.report_damage(damage.into_iter().flatten());
    }

    /// Anomalies of the inputs as a whole.
    pub fn notes(&self) -> &[Anomaly] {
        &self.notes
    }
}
