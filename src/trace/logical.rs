//! The logical trace: all processes of all inputs, as lazy tables over all ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use polars::prelude::{DataFrame, Expr, IntoLazy, LazyFrame, PolarsResult, UnionArgs, col, concat, lit};

use super::categories::Categories as CategoryRules;
use super::clocks::Clock;
use super::derived;
use super::frames::{empty_frame, is_identity, own_columns};
use super::gpu_activities;
use super::gpu_times::{GpuTime, gpu_times, summed_segments};
use super::health;
use super::identity::Process;
use super::info_tables;
use super::jobs::Jobs;
use super::joint_tables::JointTables;
use super::schema::{self, Column as Declaration, Origin, Table};
use super::selection::{self, Choice, Resolved};
use super::source::{Anomaly, Damage, Piece, ReadContext, Rows, ScanHint, Source};

/// The derived table of what ran on the GPUs.
const GPU_SEGMENTS: &str = "gpu_segments";

/// Columns wanted of each table.
pub type Request = BTreeMap<&'static str, BTreeSet<&'static str>>;

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

/// All processes of all inputs.
pub struct Trace {
    members: Vec<Member>,
    categories: CategoryRules,
    threads: usize,
    jobs: Jobs,
    damage: Mutex<BTreeSet<Damage>>,
    notes: Vec<Anomaly>,
    choice: Choice,
    resolved: BTreeMap<i64, Resolved>,
    all_ranks: BTreeSet<i64>,
    joint: JointTables,
}

/// The columns of source tables that the tables of a request are made from.
pub fn source_request(request: &Request) -> Request {
    let mut sources = Request::new();
    for (&name, columns) in request {
        match schema::table(name) {
            Some(table) if table.origin.is_derived() => {
                for (name, columns) in derived::needs(table.name) {
                    sources.entry(name).or_default().extend(columns);
                }
            }
            _ => sources.entry(name).or_default().extend(columns),
        }
    }
    sources
}

/// Tables of one process: canonical columns without `process` and `rank`.
pub type ProcessTables = BTreeMap<&'static str, LazyFrame>;

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
            threads: threads.max(1),
            jobs,
            damage: Mutex::default(),
            notes,
            choice: Choice::default(),
            resolved: BTreeMap::new(),
            all_ranks,
            joint: JointTables::default(),
        }
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
            let resolved: Result<Vec<_>> = self.jobs.run(&self.members, |member| member.memory_bytes, resolve);
            self.resolved = resolved?.into_iter().collect();
        }
        self.choice = choice;
        Ok(self)
    }

    /// What was chosen.
    pub fn choice(&self) -> &Choice {
        &self.choice
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
        let mut frames = self.frames_of(&request, |member| self.whole_frames(member, &request, None))?;
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

    /// The requested columns of the requested tables over all processes, with `process` and `rank` first.
    ///
    /// # Errors
    /// When a name is unknown, or a table cannot be built from what was read.
    pub fn frames(&self, request: &Request) -> Result<BTreeMap<&'static str, LazyFrame>> {
        self.frames_of(request, |member| self.process_frames(member, request))
    }

    /// As [`Trace::frames`], but `gpu_segments` may be summed up: segments of a GPU that agree in which of their counts are
    /// zero may be one row with the first start, the last end, the sum of the lengths, and 1 for what is not zero. For
    /// statements that take no more than sums of lengths, least starts and greatest ends from them, and of the counts
    /// only whether they are zero.
    ///
    /// # Errors
    /// As [`Trace::frames`].
    pub fn frames_with_sums(&self, request: &Request) -> Result<BTreeMap<&'static str, LazyFrame>> {
        self.frames_of(request, |member| {
            let mut others = request.clone();
            if others.remove(GPU_SEGMENTS).is_none() {
                return self.process_frames(member, request);
            }
            let (times, mut tables) = match self.gpu_times(member)? {
                Some(times) => (times, self.process_frames(member, &others)?),
                None => self.frames_and_gpu_times(member, request, others)?,
            };
            tables.insert(GPU_SEGMENTS, summed_segments(&times, &member.process)?.lazy());
            Ok(tables)
        })
    }

    /// Sums of the segments of a process whose rows are all chosen, where no table need be read as a whole for them.
    fn gpu_times(&self, member: &Member) -> Result<Option<Vec<GpuTime>>> {
        if self.resolved.contains_key(&member.process.process) {
            return Ok(None);
        }
        if let Some(times) = member.source.gpu_times() {
            return Ok(Some(times.to_vec()));
        }
        let needs: BTreeMap<_, BTreeSet<_>> = derived::needs(GPU_SEGMENTS)
            .into_iter()
            .map(|(name, columns)| (name, columns.into_iter().collect()))
            .collect();
        let columns = |name| needs.get(name).cloned().unwrap_or_default();
        let (kernels, copies) = (known_table("kernels")?, known_table("memory_copies")?);
        if self.ready(member, known_table(GPU_SEGMENTS)?)?.is_some() {
            return Ok(None);
        }
        let Some(kernels) = self.pieces(member, kernels, &columns("kernels"))? else { return Ok(None) };
        let copies = self.read(member, copies, &columns("memory_copies"), None)?.frame.collect()?;
        gpu_activities::summed_in_pieces(&kernels, &copies)
    }

    /// The requested tables of a process but `gpu_segments`, and their sums, with what both are made from read once.
    fn frames_and_gpu_times(
        &self,
        member: &Member,
        request: &Request,
        others: Request,
    ) -> Result<(Vec<GpuTime>, ProcessTables)> {
        let chosen = self.resolved.contains_key(&member.process.process);
        if chosen || self.ready(member, known_table(GPU_SEGMENTS)?)?.is_some() {
            // A window cuts segments.
            let mut tables = self.process_frames(member, request)?;
            let segments = tables.remove(GPU_SEGMENTS).unwrap_or_default().collect()?;
            return Ok((gpu_times(&segments)?, tables));
        }
        let mut wider = others.clone();
        for (name, columns) in derived::needs(GPU_SEGMENTS) {
            wider.entry(name).or_default().extend(columns);
        }
        let mut tables = self.process_frames(member, &wider)?;
        let whole = |name| -> Result<DataFrame> { Ok(tables.get(name).cloned().unwrap_or_default().collect()?) };
        let times = gpu_activities::summed(&whole("kernels")?, &whole("memory_copies")?)?;
        tables.retain(|name, _| others.contains_key(name));
        Ok((times, tables))
    }

    fn frames_of(
        &self,
        request: &Request,
        read: impl Fn(&Member) -> Result<ProcessTables> + Sync + Send,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let per_process: Vec<ProcessTables> = self.jobs.run(&self.members, |member| member.memory_bytes, read)?;
        let mut parts: BTreeMap<&'static str, Vec<LazyFrame>> = BTreeMap::new();
        for (member, tables) in self.members.iter().zip(per_process) {
            for (name, frame) in tables {
                let columns = request.get(name).cloned().unwrap_or_default();
                parts.entry(name).or_default().push(with_identity(frame, &member.process, name, &columns));
            }
        }
        let mut frames = BTreeMap::new();
        for (&name, columns) in request {
            let table = known_table(name)?;
            let frame = match parts.remove(name) {
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
        let Some(resolved) = self.resolved.get(&member.process.process) else {
            return self.whole_frames(member, request, None);
        };
        let extended = selection::extend_request(&self.choice, request);
        let mut tables = self.whole_frames(member, &extended, Some(resolved))?;
        selection::apply(&self.choice, resolved, &member.process, request, &mut tables)?;
        Ok(tables)
    }

    /// The requested tables of one process with all rows; of a source table those that `chosen` rules out may be missing
    /// where nothing is derived from it.
    fn whole_frames(&self, member: &Member, request: &Request, chosen: Option<&Resolved>) -> Result<ProcessTables> {
        let clipped = chosen.filter(|_| self.choice.clips());
        let mut tables = ProcessTables::new();
        let mut base: Request = Request::new();
        let mut derived = Vec::new();
        for (&name, columns) in request {
            let table = known_table(name)?;
            match table.origin {
                Origin::Source => base.entry(table.name).or_default().extend(columns.iter().copied()),
                // Self times within a window are those of the cut calls, which nobody can have stored.
                Origin::Derived | Origin::OnDemand if clipped.is_some() && derived::is_of_cut_calls(table.name) => {
                    derived.push(table)
                }
                Origin::Derived | Origin::OnDemand => match self.ready(member, table)? {
                    Some(frame) => {
                        tables.insert(table.name, frame);
                    }
                    None => derived.push(table),
                },
            }
        }
        let asked = |table: &Table| request.get(table.name).cloned().unwrap_or_default();
        for table in &derived {
            for (name, columns) in derived::needs_of(table.name, &asked(table)) {
                base.entry(name).or_default().extend(columns);
            }
        }
        let mut whole: BTreeSet<&'static str> = BTreeSet::new();
        for table in &derived {
            whole.extend(derived::needs(table.name).into_iter().map(|(name, _)| name));
        }
        let mut checks = health::Checks::new(&member.process);
        for (name, columns) in &base {
            let table = known_table(name)?;
            // A source may make descriptions, such as queues and symbols, from events: those need all of them.
            let of_events = table.column("duration_ns").is_some() && !whole.contains(name);
            let hint = chosen.filter(|_| of_events).map(|resolved| resolved.hint(&self.choice));
            let rows = self.read(member, table, columns, hint.as_ref())?;
            checks.absorb(rows.anomalies);
            checks.absorb_damage(rows.damage);
            tables.insert(name, rows.frame);
        }
        for table in derived {
            let needed: BTreeMap<&'static str, DataFrame> = derived::needs_of(table.name, &asked(table))
                .into_iter()
                .filter_map(|(name, columns)| {
                    let columns: Vec<Expr> =
                        columns.into_iter().filter(|column| !is_identity(column)).map(col).collect();
                    Some((name, tables.get(name)?.clone().select(columns)))
                })
                .map(|(name, frame)| match clipped {
                    Some(resolved) if name == "regions" && derived::is_of_cut_calls(table.name) => {
                        Ok((name, selection::clipped_regions(resolved, frame).collect()?))
                    }
                    _ => Ok((name, frame.collect()?)),
                })
                .map(|named: PolarsResult<(&'static str, DataFrame)>| {
                    // Once for all columns in turn: who builds from them would hold the pieces and a copy of each.
                    named.map(|(name, mut frame)| (name, std::mem::take(frame.rechunk_mut())))
                })
                .collect::<PolarsResult<_>>()?;
            let frame = if table.name == "anomalies" {
                let mut checks = std::mem::replace(&mut checks, health::Checks::new(&member.process));
                for (name, frame) in &needed {
                    checks.table(name, frame)?;
                }
                checks.finish(&self.notes)?
            } else {
                derived::derive(table.name, &member.process, &needed)?
            };
            tables.insert(table.name, only_requested(frame, request.get(table.name))?.lazy());
        }
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
        let is_built = info_tables::is_from_facts(table.name) || derived::is_joint(table.name);
        if is_built || self.resolved.contains_key(&member.process.process) {
            return Ok(None);
        }
        let declared: Vec<&'static Declaration> =
            own_columns(table).into_iter().filter(|column| columns.contains(column.name)).collect();
        member.source.pieces(&self.context(member), table, &declared)
    }

    /// All columns of a source table of one process, without `process` and `rank`.
    ///
    /// # Errors
    /// When the identity tables cannot be built.
    pub fn read_all(&self, member: &Member, table: &'static Table) -> Result<Rows> {
        self.read(member, table, &all_columns(table), None)
    }

    /// The rows of a derived table that need not be built from tables of the process: those that came with the input, if
    /// they can be used, and those that depend on what is known about all processes.
    ///
    /// # Errors
    /// When the stored table cannot be opened, or a table over all processes cannot be built.
    pub fn ready(&self, member: &Member, table: &'static Table) -> Result<Option<LazyFrame>> {
        if let Some(frame) = info_tables::from_facts(table.name, &member.process)? {
            return Ok(Some(frame.lazy()));
        }
        if derived::is_joint(table.name) {
            let rows = self.joint.rows(table.name, member.process.process, || self.build_joint(table.name))?;
            return Ok(rows.map(IntoLazy::lazy));
        }
        member.source.read_derived(&self.context(member), table)
    }

    /// The rows of a table over all processes, which are read one after the other: this may be asked for by a worker.
    fn build_joint(&self, name: &'static str) -> Result<BTreeMap<i64, DataFrame>> {
        let needs = derived::needs(name);
        let request: Request =
            needs.iter().map(|(table, columns)| (*table, columns.iter().copied().collect())).collect();
        let mut parts = Vec::new();
        for member in &self.members {
            let tables = self.whole_frames(member, &request, None)?;
            let collected: PolarsResult<BTreeMap<&'static str, DataFrame>> =
                tables.into_iter().map(|(name, frame)| Ok((name, frame.collect()?))).collect();
            parts.push((&member.process, derived::extract(name, &member.process, &collected?, &self.whole(member))?));
        }
        let rows = derived::relate(name, &parts)?;
        Ok(parts.iter().map(|(process, _)| process.process).zip(rows).collect())
    }

    /// Anomalies of the inputs as a whole.
    pub fn notes(&self) -> &[Anomaly] {
        &self.notes
    }

    /// Number of rows of every source table of a process.
    ///
    /// # Errors
    /// Never for a damaged table: it counts as far as it can be read.
    pub fn count_rows(&self, member: &Member, table: &'static Table) -> Result<u64> {
        if self.choice.row_filters().any(|filter| selection::is_touched(&self.choice, filter, table)) {
            let key = table.column_names().nth(2).into_iter().collect();
            let mut tables = self.process_frames(member, &Request::from([(table.name, key)]))?;
            // Not by asking for their number: of a join whose rows are not wanted, polars cannot give it.
            let rows = tables.remove(table.name).unwrap_or_default().collect()?;
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
        ReadContext { process: &member.process, categories: &self.categories, threads: self.threads, hint: None }
    }

    fn read(
        &self,
        member: &Member,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
        hint: Option<&ScanHint>,
    ) -> Result<Rows> {
        if let Some(frame) = info_tables::from_facts(table.name, &member.process)? {
            return Ok(Rows::clean(frame.lazy()));
        }
        let declared: Vec<&'static Declaration> =
            own_columns(table).into_iter().filter(|column| wanted(column.name, columns)).collect();
        match member.source.read(&ReadContext { hint, ..self.context(member) }, table, &declared) {
            Ok(rows) => {
                self.report_damage(rows.damage.iter().cloned());
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

/// The tables of one process with all their rows, whatever was chosen.
pub struct WholeTables<'a> {
    trace: &'a Trace,
    member: &'a Member,
}

impl WholeTables<'_> {
    /// Columns of tables.
    ///
    /// # Errors
    /// As [`Trace::frames`].
    pub fn read(&self, request: &[(&'static str, &[&'static str])]) -> Result<ProcessTables> {
        let request = request.iter().map(|(table, columns)| (*table, columns.iter().copied().collect())).collect();
        self.trace.whole_frames(self.member, &request, None)
    }

    /// Columns of a source table, of which rows that `hint` rules out may be missing.
    ///
    /// # Errors
    /// When the table is unknown, or cannot be built from what was read.
    pub fn rows(&self, table: &str, columns: &[&'static str], hint: Option<&ScanHint>) -> Result<LazyFrame> {
        let columns = columns.iter().copied().collect();
        Ok(self.trace.read(self.member, known_table(table)?, &columns, hint)?.frame)
    }

    /// The category rules in force.
    pub fn categories(&self) -> &CategoryRules {
        &self.trace.categories
    }
}

/// A request for all columns of a table.
pub fn all_columns(table: &'static Table) -> BTreeSet<&'static str> {
    table.column_names().collect()
}

/// Names of the columns of a table that a request for `columns` gives, in canonical order.
pub fn columns_of(table: &'static Table, columns: &BTreeSet<&'static str>) -> impl Iterator<Item = &'static str> {
    table.column_names().filter(move |name| wanted(name, columns))
}

/// A built table without the columns that nobody asked for, which may take more memory than all others.
fn only_requested(frame: DataFrame, columns: Option<&BTreeSet<&'static str>>) -> PolarsResult<DataFrame> {
    let names = frame.get_column_names();
    let kept: Vec<_> = names
        .into_iter()
        .filter(|name| columns.is_some_and(|columns| columns.contains(name.as_str())))
        .cloned()
        .collect();
    // Without any column the number of rows would be lost.
    if kept.is_empty() { Ok(frame) } else { frame.select(kept) }
}

fn damage_of(member: &Member, part: &str, error: &anyhow::Error) -> Damage {
    Damage { path: member.process.facts.path.clone(), part: part.to_owned(), cause: format!("{error:#}") }
}

fn known_table(name: &str) -> Result<&'static Table> {
    match schema::table(name) {
        Some(table) => Ok(table),
        None => bail!("internal: no canonical table is named {name}"),
    }
}

fn wanted(name: &str, columns: &BTreeSet<&'static str>) -> bool {
    is_identity(name) || columns.contains(name)
}

fn with_identity(frame: LazyFrame, process: &Process, name: &str, columns: &BTreeSet<&'static str>) -> LazyFrame {
    let Some(table) = schema::table(name) else { return frame };
    let selection: Vec<Expr> = table
        .columns
        .iter()
        .filter(|column| wanted(column.name, columns))
        .map(|column| match column.name {
            "process" => lit(process.process).alias("process"),
            "rank" => lit(process.rank).alias("rank"),
            name => col(name),
        })
        .collect();
    // A frame of literals alone would have one row: a column of the frame keeps its height.
    if selection.len() > 2 { frame.select(selection) } else { frame.with_columns(selection) }
}
