//! The logical trace: all processes of all inputs, as lazy tables over all ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use polars::prelude::{DataFrame, IntoLazy, LazyFrame, UnionArgs, concat};

use super::derivation::{Derivation, SourceRows, Steps};
use super::info_tables;
use super::jobs::{Jobs, READING_BYTES};
use super::joint_tables::JointTables;
use super::left_out::Counted;
use super::looks::{Look, with_looks};
use super::observer::{Observer, watched};
use super::selection::{self, Choice, Resolved};
use super::source::{ReadContext, Rows, Source};
pub use super::whole_tables::WholeTables;
use crate::analysis::categories::Categories as CategoryRules;
use crate::analysis::hardware::metrics::Definitions;
use crate::columns::frames::{collected, empty_frame, own_columns, with_few_stacked};
use crate::columns::reading::{Piece, ScanHint};
pub use crate::columns::requests::{ProcessTables, Request, all_columns, columns_of};
use crate::columns::requests::{known_table, only_requested, wanted, with_identity};
use crate::derive;
use crate::derive::health;
pub use crate::derive::source_request;
use crate::schema::anomaly::{Anomaly, Damage};
use crate::schema::process::Clock;
use crate::schema::process::Process;
use crate::schema::{Column as Declaration, Origin, Table};
use crate::text::causes::with_causes;

/// The derived table that needs to see all others as they are read.
const ANOMALIES: &str = "anomalies";

/// A process and where its rows come from.
pub struct Member {
    /// Place in the logical trace.
    pub process: Process,
    /// Adapter that reads its tables.
    pub source: Arc<dyn Source>,
    /// The files it is read from.
    pub files: Arc<[PathBuf]>,
    /// Estimate of the memory that all of its tables need while they are read.
    pub memory_bytes: u64,
}

impl Member {
    /// Estimate of the memory that columns of tables need, with what derived ones are built from.
    pub fn memory_bytes_of(&self, request: &Request) -> u64 {
        self.source.memory_bytes_of(&source_request(request)).unwrap_or(self.memory_bytes)
    }

    /// As [`Member::memory_bytes_of`], without what any reading takes, however few rows there are.
    pub fn row_bytes_of(&self, request: &Request) -> u64 {
        let known = self.source.memory_bytes_of(&source_request(request)).or_else(|| self.source.memory_bytes());
        known.unwrap_or_else(|| self.memory_bytes.saturating_sub(READING_BYTES))
    }
}

/// All processes of all inputs.
pub struct Trace {
    members: Vec<Member>,
    categories: CategoryRules,
    metrics: Arc<Definitions>,
    threads: usize,
    jobs: Jobs,
    damage: Mutex<BTreeSet<Damage>>,
    /// What was damaged before anything was read.
    opened_with: BTreeSet<Damage>,
    notes: Vec<Anomaly>,
    choice: Choice,
    resolved: BTreeMap<i64, Resolved>,
    all_ranks: BTreeSet<i64>,
    joint: JointTables,
    observer: Option<Arc<dyn Observer>>,
    counted: Counted,
}

impl Trace {
    /// A trace over `members`, which must be in the order of their process numbers. `notes` are anomalies of the
    /// inputs as a whole.
    pub fn new(
        members: Vec<Member>,
        categories: CategoryRules,
        threads: usize,
        jobs: Jobs,
        notes: Vec<Anomaly>,
    ) -> Self {
        let all_ranks = members.iter().map(|member| member.process.rank).collect();
        Self {
            members,
            categories,
            metrics: Definitions::builtin(),
            threads: threads.max(1),
            jobs,
            damage: Mutex::default(),
            opened_with: BTreeSet::new(),
            notes,
            choice: Choice::default(),
            resolved: BTreeMap::new(),
            all_ranks,
            joint: JointTables::default(),
            observer: None,
            counted: Counted::default(),
        }
    }

    /// The same trace, of whose reading someone is told.
    #[must_use]
    pub fn with_observer(mut self, observer: Option<Arc<dyn Observer>>) -> Self {
        self.observer = observer;
        self
    }

    /// The same trace, of which some was damaged already when it was opened.
    #[must_use]
    pub fn opened_with(mut self, damage: Vec<Damage>) -> Self {
        self.report_damage(damage.iter().cloned());
        self.opened_with = damage.into_iter().collect();
        self
    }

    /// What was known to be damaged of a process when it was opened or looked through, in a fixed order.
    fn known_damage(&self, member: &Member) -> BTreeSet<Damage> {
        let is_own = |damage: &&Damage| damage.path == member.process.facts.path;
        self.opened_with.iter().filter(is_own).cloned().chain(member.source.damage()).collect()
    }

    /// What was damaged when the inputs were opened, and is of no process that is read.
    pub fn damage_elsewhere(&self) -> BTreeSet<Damage> {
        let known: BTreeSet<Damage> = self.members.iter().flat_map(|member| self.known_damage(member)).collect();
        self.opened_with.difference(&known).cloned().collect()
    }

    /// Works on some processes, as many at a time as may be, and tells whoever wants to know.
    ///
    /// # Errors
    /// The failure of the first that failed.
    pub fn each<T: Sync, R: Send, E: Send>(
        &self,
        members: &[T],
        cost: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        watched(self.observer.as_deref(), "processes", self.jobs, members, cost, work)
    }

    /// Invalid rows that were counted while tables were read.
    pub(super) fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Nothing checked yet of a process of this trace, of which some may be known to be damaged.
    pub fn checks<'a>(&self, member: &'a Member) -> health::Checks<'a> {
        let any = |has: fn(&Process) -> bool| self.members.iter().any(|member| has(&member.process));
        let others = health::Others {
            counters: any(|process| process.facts.has_counters),
            thread_traces: any(|process| process.facts.is_thread_trace),
        };
        let mut checks = health::Checks::new(&member.process, others);
        checks.absorb_damage(self.known_damage(member));
        checks
    }

    /// Anomalies that belong to no process: they are among those of the first.
    pub fn anomalies_of_inputs(&self, member: &Member) -> Vec<Anomaly> {
        if member.process.process != 0 {
            return Vec::new();
        }
        let damage = self.damage_elsewhere().into_iter().map(health::anomaly_of);
        self.notes.iter().cloned().chain(damage).collect()
    }

    /// The same trace with only what was chosen: ranks are left out at once, rows when their tables are asked for.
    ///
    /// # Errors
    /// When a table that a filter is resolved with cannot be built.
    pub fn select(mut self, choice: Choice) -> Result<Self> {
        if let Some(ranks) = &choice.ranks {
            self.members.retain(|member| ranks.contains(member.process.rank));
        }
        if choice.chooses_rows() {
            let resolve =
                |member: &Member| Ok((member.process.process, selection::resolve(&choice, &self.whole(member))?));
            let resolved: Result<Vec<_>> = self.each(&self.members, |member| member.memory_bytes, resolve);
            self.resolved = resolved?.into_iter().collect();
        }
        self.choice = choice;
        Ok(self)
    }

    /// The same trace with other definitions of metrics.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Arc<Definitions>) -> Self {
        self.metrics = metrics;
        self
    }

    /// The definitions of metrics in force.
    pub fn metrics(&self) -> &Definitions {
        &self.metrics
    }

    /// What was chosen.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Whether rows of a process were chosen.
    pub(super) fn chooses_in(&self, member: &Member) -> bool {
        self.resolved.contains_key(&member.process.process)
    }

    /// What was chosen in every process, in the order of their numbers; empty where all rows are.
    pub fn resolved(&self) -> Vec<&Resolved> {
        self.resolved.values().collect()
    }

    /// The ranks of the inputs, chosen or not.
    pub fn all_ranks(&self) -> &BTreeSet<i64> {
        &self.all_ranks
    }

    /// Columns of a table over all chosen ranks, with no row left out.
    ///
    /// # Errors
    /// As [`Trace::frames`].
    pub fn unfiltered(&self, table: &'static str, columns: &[&'static str]) -> Result<LazyFrame> {
        let request = Request::from([(table, columns.iter().copied().collect())]);
        let mut frames = self.frames_of(&request, |member| self.whole_frames(member, &request, &[], None))?;
        Ok(frames.remove(table).unwrap_or_default())
    }

    /// The tables of one process with no row left out.
    pub fn whole<'a>(&'a self, member: &'a Member) -> WholeTables<'a> {
        WholeTables { trace: self, member }
    }

    /// The processes in the order of their numbers.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The same trace with the processes that `change` makes of its own.
    pub fn with_members(mut self, change: impl FnOnce(Vec<Member>) -> Vec<Member>) -> Self {
        self.members = change(std::mem::take(&mut self.members));
        self
    }

    /// The same trace with other clocks, in the order of its processes.
    pub fn with_clocks(mut self, clocks: &[Clock]) -> Self {
        for (member, clock) in self.members.iter_mut().zip(clocks) {
            member.process.clock = *clock;
        }
        self
    }

    /// How many processes are worked on at the same time.
    pub fn jobs(&self) -> Jobs {
        self.jobs
    }

    /// The category rules in force.
    pub fn categories(&self) -> &CategoryRules {
        &self.categories
    }

    /// What could not be read so far, in a fixed order.
    pub fn damage(&self) -> Vec<Damage> {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Adds a part that could not be read.
    pub fn report_damage(&self, damage: impl IntoIterator<Item = Damage>) {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).extend(damage);
    }

    /// Looks through all that is stored for content that cannot be read, reports it and tells whether there is any; it is left out
    /// from then on. For when something failed while it was read.
    pub fn finds_damaged_content(&self) -> bool {
        let look = |member: &Member| Ok::<_, Infallible>(member.source.damage_of_content().to_vec());
        let Ok(damage) = self.jobs.run(&self.members, |_| 0, look);
        let damage: Vec<Damage> = damage.into_iter().flatten().collect();
        let is_any = !damage.is_empty();
        self.report_damage(damage);
        is_any
    }

    /// Looks at how all inputs are laid out, and reports what cannot be read of them: for who reads little of them.
    pub fn look_at_structure(&self) {
        let look = |member: &Member| Ok::<_, Infallible>(member.source.damage_of_structure());
        let Ok(damage) = self.jobs.run(&self.members, |_| 0, look);
        self.report_damage(damage.into_iter().flatten());
    }

    /// The requested columns of the requested tables over all processes, with `process` and `rank` first.
    ///
    /// # Errors
    /// When a name is unknown, or a table cannot be built from what was read.
    pub fn frames(&self, request: &Request) -> Result<BTreeMap<&'static str, LazyFrame>> {
        self.frames_of(request, |member| self.process_frames(member, request))
    }

    pub(super) fn frames_of(
        &self,
        request: &Request,
        read: impl Fn(&Member) -> Result<ProcessTables> + Sync + Send,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let per_process = self.each(
            &self.members,
            |member| member.memory_bytes_of(request),
            |member| Ok::<_, anyhow::Error>(self.identified(member, request, read(member)?)),
        )?;
        self.united(request, per_process)
    }

    /// The tables of a process with `process` and `rank` first.
    pub(super) fn identified(&self, member: &Member, request: &Request, tables: ProcessTables) -> ProcessTables {
        let of_process = |(name, frame): (&'static str, LazyFrame)| {
            let columns = request.get(name).cloned().unwrap_or_default();
            (name, with_identity(frame, &member.process, name, &columns))
        };
        tables.into_iter().map(of_process).collect()
    }

    /// The tables of all processes, each of one after the other.
    ///
    /// # Errors
    /// When polars cannot put them together.
    pub fn united(
        &self,
        request: &Request,
        per_process: Vec<ProcessTables>,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let mut parts: BTreeMap<&'static str, Vec<LazyFrame>> = BTreeMap::new();
        for (name, frame) in per_process.into_iter().flatten() {
            parts.entry(name).or_default().push(frame);
        }
        let mut frames = BTreeMap::new();
        for (&name, columns) in request {
            let table = known_table(name)?;
            let frame = match parts.remove(name).map(with_few_stacked) {
                Some(mut parts) if parts.len() == 1 => parts.pop().unwrap_or_default(),
                Some(parts) => concat(parts, UnionArgs { rechunk: false, ..UnionArgs::default() })
                    .with_context(|| format!("cannot join the rows of {name} over the processes"))?,
                None => {
                    let declared: Vec<_> = table.columns.iter().filter(|column| wanted(column.name, columns)).collect();
                    empty_frame(&declared).lazy()
                }
            };
            frames.insert(name, frame);
        }
        Ok(frames)
    }

    /// The requested tables of one process, with the rows that were chosen. Source tables that a derived table needs are
    /// read once for both; a derived table is built from all rows, and chosen from after.
    ///
    /// # Errors
    /// As [`Trace::frames`].
    pub fn process_frames(&self, member: &Member, request: &Request) -> Result<ProcessTables> {
        self.process_frames_seen(member, request, &[])
    }

    /// As [`Trace::process_frames`], with looks at tables that need not be among those.
    pub(super) fn process_frames_seen(
        &self,
        member: &Member,
        request: &Request,
        looks: &[&Look<'_>],
    ) -> Result<ProcessTables> {
        let Some(resolved) = self.resolved.get(&member.process.process) else {
            return self.whole_frames(member, request, looks, None);
        };
        // Rows are chosen when all tables are there, and not looked at before.
        let wider = with_looks(request, looks);
        let extended = selection::extend_request(&self.choice, &wider);
        let mut tables = self.whole_frames(member, &extended, &[], Some(resolved))?;
        selection::apply(&self.choice, resolved, &member.process, &wider, &mut tables)?;
        let workers = self.jobs.shared_by(self.members.len());
        workers.run(looks, |_| 0, |look| look.take(member, &tables, &derive::Shared::default()))?;
        Ok(tables)
    }

    /// The requested tables of one process with all rows, and looks at others; of a source table those that `chosen` rules out
    /// may be missing where nothing is derived from it.
    pub(super) fn whole_frames(
        &self,
        member: &Member,
        request: &Request,
        looks: &[&Look<'_>],
        chosen: Option<&Resolved>,
    ) -> Result<ProcessTables> {
        let clipped = chosen.filter(|_| self.choice.clips());
        let mut tables = ProcessTables::new();
        let mut base: Request = Request::new();
        let (mut derived, mut joint) = (Vec::new(), Vec::new());
        let mut asked = with_looks(request, looks);
        for (&name, columns) in &asked {
            let table = known_table(name)?;
            match table.origin {
                Origin::Source => base.entry(table.name).or_default().extend(columns.iter().copied()),
                // Self times within a window are those of the cut calls, which nobody can have stored.
                Origin::Derived | Origin::OnDemand if clipped.is_some() && derive::is_of_cut_calls(table.name) => {
                    derived.push(table)
                }
                Origin::Derived | Origin::OnDemand if derive::is_joint(table.name) => joint.push(table),
                Origin::Derived | Origin::OnDemand => match self.ready(member, table, columns)? {
                    Some(frame) => {
                        tables.insert(table.name, frame);
                    }
                    None => derived.push(table),
                },
            }
        }
        let add = |base: &mut Request, needs: derive::Needs| {
            for (name, columns) in needs {
                base.entry(name).or_default().extend(columns);
            }
        };
        let needs_of =
            |table: &str, asked: &Request| derive::needs_of(table, &asked.get(table).cloned().unwrap_or_default());
        derived.iter().for_each(|table| add(&mut base, needs_of(table.name, &asked)));
        let is_read =
            |base: &Request, table: &str| derive::needs(table).iter().all(|(name, _)| base.contains_key(name));
        for table in joint {
            // Of the only process, a table that is read anyway is not read for this one too.
            if self.members.len() == 1 && is_read(&base, table.name) {
                add(&mut base, needs_of(table.name, &asked));
                derived.push(table);
            } else if let Some(frame) =
                self.ready(member, table, &asked.get(table.name).cloned().unwrap_or_default())?
            {
                tables.insert(table.name, frame);
            }
        }
        // Nor is what counts for a table over all processes that is asked for later. It is of all rows, of which a filter may leave
        // few to be read: of the only process they are.
        if chosen.is_none() || self.members.len() == 1 {
            for (name, columns) in self.joint.expected(member.process.process) {
                if !asked.contains_key(name) && is_read(&base, name) {
                    asked.insert(name, columns);
                    add(&mut base, needs_of(name, &asked));
                    derived.push(known_table(name)?);
                }
            }
        }
        let mut whole: BTreeSet<&'static str> = BTreeSet::new();
        for table in &derived {
            let beside = derive::beside(table.name).into_iter().filter(|(name, _)| base.contains_key(name)).collect();
            add(&mut base, beside);
            whole.extend(derive::needs(table.name).into_iter().map(|(name, _)| name));
            whole.extend(derive::beside(table.name).into_iter().map(|(name, _)| name));
        }
        let is_checked = derived.iter().any(|table| table.name == ANOMALIES);
        let checked: BTreeSet<&'static str> =
            if is_checked { health::needs().into_iter().map(|(name, _)| name).collect() } else { BTreeSet::new() };
        derived.retain(|table| table.name != ANOMALIES);
        let derivation = Derivation { request: &asked, kept: request, tables: &derived, read: &base, looks };
        let mut checks = self.checks(member);
        let read = |table: &'static Table| -> Result<SourceRows> {
            let name = table.name;
            let columns = base.get(name).cloned().unwrap_or_default();
            // A source may make descriptions, such as queues and symbols, from events: those need all of them.
            let of_events = table.column("duration_ns").is_some() && !whole.contains(name);
            let hint = chosen.filter(|_| of_events).map(|resolved| resolved.hint(&self.choice));
            let is_checked = checked.contains(name);
            let rows = self.read(member, table, &columns, hint.as_ref(), whole.contains(name) || is_checked)?;
            checks.absorb(rows.anomalies);
            checks.absorb_damage(rows.damage);
            // One table after the other: all columns of all of them take more memory than anything else.
            if is_checked {
                checks.table(name, collected(&rows.frame)?.rechunk_mut())?;
            }
            Ok(SourceRows { frame: rows.frame, has_more: is_checked })
        };
        let is_of_cut_calls = |names: &[&'static str]| names.iter().any(|name| derive::is_of_cut_calls(name));
        let prepared = |names: &[&'static str], source: &str, frame| match clipped {
            Some(resolved) if source == "regions" && is_of_cut_calls(names) => {
                selection::clipped_regions(resolved, frame)
            }
            _ => frame,
        };
        let is_asked =
            |name: &str| request.contains_key(name) || looks.iter().any(|look| look.request.contains_key(name));
        let derive = |names: &[&'static str], needed: &derive::Frames| match names {
            [name] if derive::is_joint(name) => {
                let wanted = asked.get(name).cloned().unwrap_or_default();
                let part = derive::extract(name, &member.process, needed, &self.whole(member), &wanted)?;
                if is_asked(name) {
                    return derive::relate(name, &[(&member.process, part)], &self.metrics);
                }
                self.joint.keep(name, &wanted, member.process.process, part);
                Ok(vec![DataFrame::empty()])
            }
            _ => derive::derive_all(names, &member.process, needed),
        };
        let workers = self.jobs.shared_by(self.members.len());
        let look = |look: &Look<'_>, tables: &ProcessTables, shared: &derive::Shared| look.take(member, tables, shared);
        let (mut tables, late) = derivation.build(tables, workers, Steps { read, prepared, derive, look })?;
        if is_checked {
            let frame = checks.finish(self.anomalies_of_inputs(member))?;
            tables.insert(ANOMALIES, only_requested(frame, asked.get(ANOMALIES))?.lazy());
        }
        let late: Vec<&Look<'_>> = late.into_iter().filter_map(|at| looks.get(at).copied()).collect();
        workers.run(&late, |_| 0, |look| look.take(member, &tables, &derive::Shared::default()))?;
        tables.retain(|name, _| request.contains_key(name));
        Ok(tables)
    }

    /// Columns of a source table of one process in pieces, if all its rows are chosen and it has pieces.
    ///
    /// # Errors
    /// When the table cannot be opened.
    pub fn pieces(
        &self,
        member: &Member,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
    ) -> Result<Option<Vec<Box<dyn Piece>>>> {
        let is_built = info_tables::is_from_facts(table.name) || derive::is_joint(table.name);
        if is_built || self.resolved.contains_key(&member.process.process) {
            return Ok(None);
        }
        let declared: Vec<&'static Declaration> =
            own_columns(table).into_iter().filter(|column| columns.contains(column.name)).collect();
        // What cannot be opened is reported when it is read.
        Ok(member.source.pieces(&self.context(member), table, &declared).unwrap_or_default())
    }

    /// All columns of a source table of one process, without `process` and `rank`.
    ///
    /// # Errors
    /// When the identity tables cannot be built.
    pub fn read_all(&self, member: &Member, table: &'static Table) -> Result<Rows> {
        self.read(member, table, &all_columns(table), None, true)
    }

    /// The rows of a derived table that need not be built from tables of the process: those that came with the input, if
    /// they can be used, and those that depend on what is known about all processes. At least the `wanted` columns.
    ///
    /// # Errors
    /// When the stored table cannot be opened, or a table over all processes cannot be built.
    pub fn ready(
        &self,
        member: &Member,
        table: &'static Table,
        wanted: &BTreeSet<&'static str>,
    ) -> Result<Option<LazyFrame>> {
        if let Some(frame) = info_tables::from_facts(table.name, &member.process)? {
            return Ok(Some(frame.lazy()));
        }
        if derive::is_joint(table.name) {
            let build = |wanted: &BTreeSet<&'static str>| self.build_joint(table.name, wanted);
            let rows = self.joint.rows(table.name, wanted, member.process.process, build)?;
            let rows = rows.map(|rows| only_requested(rows, Some(wanted))).transpose()?;
            return Ok(rows.map(IntoLazy::lazy));
        }
        let stored = member.source.read_derived(&self.context(member), table, wanted)?;
        self.report_damage(stored.damage);
        match stored.frame {
            // What is stored was found when it was written.
            Some(frame) if table.name == ANOMALIES => {
                let damage = self.known_damage(member).into_iter().map(health::anomaly_of);
                let later = damage.chain(self.anomalies_of_inputs(member)).collect();
                Ok(Some(health::with_later(frame, later)?))
            }
            frame => Ok(frame),
        }
    }

    /// Columns of tables over all processes will be asked for after other tables: what counts of each process is taken out of those
    /// as they are read, where they hold it.
    pub fn expect(&self, request: &Request) {
        for (name, columns) in request.iter().filter(|(name, _)| derive::is_joint(name)) {
            self.joint.expect(name, columns);
        }
    }

    /// The rows of a table over all processes. Workers may ask for it: all but the first wait until it is there.
    fn build_joint(&self, name: &'static str, wanted: &BTreeSet<&'static str>) -> Result<BTreeMap<i64, DataFrame>> {
        let needs = derive::needs_of(name, wanted);
        let request: Request =
            needs.iter().map(|(table, columns)| (*table, columns.iter().copied().collect())).collect();
        let keep = derive::kept_rows(name, wanted);
        let extract = |member: &Member| -> Result<DataFrame> {
            if let Some(part) = self.joint.take(name, wanted, member.process.process) {
                return Ok(part);
            }
            let context = ReadContext { at_once: true, keep, ..self.context(member) };
            let tables = request.iter().map(|(table, columns)| {
                let rows = self.read_in(&context, member, known_table(table)?, columns)?;
                Ok((*table, collected(&rows.frame)?))
            });
            derive::extract(name, &member.process, &tables.collect::<Result<_>>()?, &self.whole(member), wanted)
        };
        let extracted = self.each(&self.members, |member| member.memory_bytes_of(&request), extract)?;
        let parts: Vec<derive::Part<'_>> = self.members.iter().map(|member| &member.process).zip(extracted).collect();
        let rows = derive::relate(name, &parts, &self.metrics)?;
        Ok(parts.iter().map(|(process, _)| process.process).zip(rows).collect())
    }

    /// Anomalies of the inputs as a whole.
    pub fn notes(&self) -> &[Anomaly] {
        &self.notes
    }

    fn chooses_of(&self, table: &Table) -> bool {
        self.choice.row_filters().any(|filter| selection::is_touched(&self.choice, filter, table))
    }

    /// Whether a source table of a process has rows.
    ///
    /// # Errors
    /// As [`Trace::count_rows`].
    pub fn has_rows(&self, member: &Member, table: &'static Table) -> Result<bool> {
        let is_told = !self.chooses_of(table) && member.source.has_rows(&self.context(member), table);
        Ok(is_told || self.count_rows(member, table)? > 0)
    }

    /// Number of rows of every source table of a process.
    ///
    /// # Errors
    /// Never for a damaged table: it counts as far as it can be read.
    pub fn count_rows(&self, member: &Member, table: &'static Table) -> Result<u64> {
        if self.chooses_of(table) {
            let key = table.column_names().nth(2).into_iter().collect();
            let mut tables = self.process_frames(member, &Request::from([(table.name, key)]))?;
            // Not by asking for their number: of a join whose rows are not wanted, polars cannot give it.
            let rows = collected(&tables.remove(table.name).unwrap_or_default())?;
            return Ok(rows.height() as u64);
        }
        match table.name {
            "processes" => Ok(1),
            "agents" => Ok(member.process.facts.agents.len() as u64),
            _ => match member.source.count_rows(&self.context(member), table) {
                Ok(count) => {
                    self.report_damage(count.damage);
                    Ok(count.rows)
                }
                Err(error) => {
                    self.report_damage([damage_of(member, table.name, &error)]);
                    Ok(0)
                }
            },
        }
    }

    fn context<'a>(&'a self, member: &'a Member) -> ReadContext<'a> {
        ReadContext {
            process: &member.process,
            categories: &self.categories,
            threads: self.threads,
            hint: None,
            at_once: false,
            keep: None,
        }
    }

    pub(super) fn read(
        &self,
        member: &Member,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
        hint: Option<&ScanHint>,
        at_once: bool,
    ) -> Result<Rows> {
        self.read_in(&ReadContext { hint, at_once, ..self.context(member) }, member, table, columns)
    }

    fn read_in(
        &self,
        context: &ReadContext<'_>,
        member: &Member,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
    ) -> Result<Rows> {
        if let Some(frame) = info_tables::from_facts(table.name, &member.process)? {
            return Ok(Rows::clean(frame.lazy()));
        }
        let declared: Vec<&'static Declaration> =
            own_columns(table).into_iter().filter(|column| wanted(column.name, columns)).collect();
        match member.source.read(context, table, &declared) {
            Ok(rows) => {
                self.report_damage(rows.damage.iter().cloned());
                if context.hint.is_none() && context.keep.is_none() {
                    self.counted.see(member, table, &rows.frame);
                }
                Ok(rows)
            }
            Err(error) => {
                let damage = damage_of(member, table.name, &error);
                self.report_damage([damage.clone()]);
                Ok(Rows { damage: vec![damage], ..Rows::clean(empty_frame(&declared).lazy()) })
            }
        }
    }
}

fn damage_of(member: &Member, part: &str, error: &anyhow::Error) -> Damage {
    Damage { path: member.process.facts.path.clone(), part: part.to_owned(), cause: with_causes(error) }
}
