//! Reads and builds the tables of each process, and joins them over all processes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use polars::prelude::{DataFrame, IntoLazy, LazyFrame, UnionArgs, concat};
use rayon::prelude::*;

use super::consumer::{TableConsumer, with_consumers};
use super::derivation::{Derivation, SourceRows, Steps};
use super::lazy_trace::{Trace, TraceProcess};
use super::selection::{self, Resolved};
use crate::ablation::{Optimization, is_on};
use crate::columns::frames::{collected, empty_frame, with_few_stacked};
use crate::columns::requests::{ProcessTables, Request, known_table, only_requested, wanted, with_identity};
use crate::derive;
use crate::derive::health;
use crate::derive::health::ANOMALIES;
use wavesieve_model::schema::{Origin, Table};

impl Trace {
    /// Columns of a table over all chosen ranks, with all rows.
    pub fn unfiltered(&self, table: &'static str, columns: &[&'static str]) -> Result<LazyFrame> {
        let request = Request::from([(table, columns.iter().copied().collect())]);
        let mut frames = self.frames_of(&request, |member| self.whole_frames(member, &request, &[], None))?;
        Ok(frames.remove(table).unwrap_or_default())
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
        read: impl Fn(&TraceProcess) -> Result<ProcessTables> + Sync + Send,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let per_process = self.each(
            self.members(),
            |member| member.memory_bytes_of(request),
            |member| Ok::<_, anyhow::Error>(self.identified(member, request, read(member)?)),
        )?;
        self.united(request, per_process)
    }

    /// The tables of a process with `process` and `rank` first.
    pub(super) fn identified(&self, member: &TraceProcess, request: &Request, tables: ProcessTables) -> ProcessTables {
        let of_process = |(name, frame): (&'static str, LazyFrame)| {
            let columns = request.get(name).cloned().unwrap_or_default();
            (name, with_identity(frame, &member.process, name, &columns))
        };
        tables.into_iter().map(of_process).collect()
    }

    /// The tables of all processes, process after process.
    pub fn united(
        &self,
        request: &Request,
        per_process: Vec<ProcessTables>,
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let mut parts: BTreeMap<&'static str, Vec<LazyFrame>> = BTreeMap::new();
        for (name, frame) in per_process.into_iter().flatten() {
            parts.entry(name).or_default().push(frame);
        }
        let parts: Vec<_> = request.iter().map(|(name, columns)| (*name, columns, parts.remove(name))).collect();
        let unite = |(name, columns, parts): (&'static str, &BTreeSet<&'static str>, Option<Vec<LazyFrame>>)| {
            let table = known_table(name)?;
            let frame = match parts.map(with_few_stacked) {
                Some(mut parts) if parts.len() == 1 => parts.pop().unwrap_or_default(),
                Some(parts) => concat(parts, UnionArgs { rechunk: false, ..UnionArgs::default() })
                    .with_context(|| format!("cannot join the rows of {name} over the processes"))?,
                None => {
                    let declared: Vec<_> = table.columns.iter().filter(|column| wanted(column.name, columns)).collect();
                    empty_frame(&declared).lazy()
                }
            };
            Ok((name, frame))
        };
        parts.into_par_iter().map(unite).collect()
    }

    /// The requested tables of one process, with the chosen rows. Source tables that a derived table also needs are read only once. A
    /// derived table is built from all rows and filtered afterwards.
    pub fn process_frames(&self, member: &TraceProcess, request: &Request) -> Result<ProcessTables> {
        self.process_frames_with_consumers(member, request, &[])
    }

    /// Like [`Trace::process_frames`], with consumers of tables that need not be requested.
    pub(super) fn process_frames_with_consumers(
        &self,
        member: &TraceProcess,
        request: &Request,
        consumers: &[&TableConsumer<'_>],
    ) -> Result<ProcessTables> {
        let Some(resolved) = self.resolved.get(&member.process.process) else {
            return self.whole_frames(member, request, consumers, None);
        };
        // Rows are filtered when all tables are ready, so consumers run only afterwards.
        let wider = with_consumers(request, consumers);
        let extended = selection::extend_request(&self.choice, &wider);
        let mut tables = self.whole_frames(member, &extended, &[], Some(resolved))?;
        selection::apply(&self.choice, resolved, &member.process, &wider, &mut tables)?;
        let workers = self.jobs().shared_by(self.members().len());
        workers.run(consumers, |_| 0, |look| look.take(member, &tables))?;
        Ok(tables)
    }

    /// The requested tables of one process with all rows, and consumers of others. Rows of a source table that `chosen` rules out may be
    /// missing if nothing is derived from it.
    pub(super) fn whole_frames(
        &self,
        member: &TraceProcess,
        request: &Request,
        consumers: &[&TableConsumer<'_>],
        chosen: Option<&Resolved>,
    ) -> Result<ProcessTables> {
        let FramePlan { asked, ready, read: base, mut derived, whole } =
            self.plan(member, request, consumers, chosen)?;
        let is_checked = derived.iter().any(|table| table.name == ANOMALIES);
        let checked: BTreeSet<&'static str> =
            if is_checked { health::needs().into_iter().map(|(name, _)| name).collect() } else { BTreeSet::new() };
        derived.retain(|table| table.name != ANOMALIES);
        let evicts = is_on(Optimization::Evict) && !member.has_few_rows();
        let unit = &self.choice.unit;
        let derivation =
            Derivation { request: &asked, kept: request, tables: &derived, read: &base, consumers, unit, evicts };
        let mut checks = self.checks(member);
        let read = |table: &'static Table| -> Result<SourceRows> {
            let name = table.name;
            let columns = base.get(name).cloned().unwrap_or_default();
            // A source may build descriptions, such as queues and symbols, from events; it then needs all of them.
            let of_events = table.column("duration_ns").is_some() && !whole.contains(name);
            let hint = chosen.filter(|_| of_events).map(|resolved| resolved.hint(&self.choice));
            let is_checked = checked.contains(name);
            let rows = self.read(member, table, &columns, hint.as_ref(), whole.contains(name) || is_checked)?;
            checks.absorb_notes(name, rows.anomalies);
            checks.absorb_damage(rows.damage);
            // One table after the other, because all columns of all tables would take too much memory.
            if is_checked {
                checks.table(name, collected(&rows.frame)?.rechunk_mut())?;
            }
            Ok(SourceRows { frame: rows.frame, has_more: is_checked })
        };
        let is_of_cut_calls = |names: &[&'static str]| names.iter().any(|name| derive::is_of_cut_calls(name));
        let clipped = chosen.filter(|_| self.choice.clips());
        let prepared = |names: &[&'static str], source: &str, frame| match clipped {
            Some(resolved) if source == "regions" && is_of_cut_calls(names) => {
                selection::clipped_regions(resolved, frame)
            }
            _ => frame,
        };
        let is_asked =
            |name: &str| request.contains_key(name) || consumers.iter().any(|look| look.request.contains_key(name));
        let derive = |names: &[&'static str], needed: &derive::Frames| {
            let joint = if let [name] = names { derive::joint(name).map(|joint| (*name, joint)) } else { None };
            let Some((name, joint)) = joint else {
                return derive::derive_all(names, &member.process, needed, &self.whole(member));
            };
            let wanted = asked.get(name).cloned().unwrap_or_default();
            let part = (joint.extract)(&member.process, needed, &self.whole(member), &wanted)?;
            if is_asked(name) {
                return (joint.relate)(&[(&member.process, part)], self.metrics());
            }
            self.joint.keep(name, &wanted, member.process.process, part);
            Ok(vec![DataFrame::empty()])
        };
        let workers = self.jobs().shared_by(self.members().len());
        let look = |look: &TableConsumer<'_>, tables: &ProcessTables| look.take(member, tables);
        let (mut tables, late) = derivation.build(ready, workers, Steps { read, prepared, derive, look })?;
        if is_checked {
            let frame = checks.finish(self.anomalies_of_inputs(member))?;
            tables.insert(ANOMALIES, only_requested(frame, asked.get(ANOMALIES))?.lazy());
        }
        let late: Vec<&TableConsumer<'_>> = late.into_iter().filter_map(|at| consumers.get(at).copied()).collect();
        workers.run(&late, |_| 0, |look| look.take(member, &tables))?;
        tables.retain(|name, _| request.contains_key(name));
        Ok(tables)
    }

    /// Plans the frames to read and build for the requested tables of one process, and for consumers of others.
    fn plan(
        &self,
        member: &TraceProcess,
        request: &Request,
        consumers: &[&TableConsumer<'_>],
        chosen: Option<&Resolved>,
    ) -> Result<FramePlan> {
        let clips = chosen.is_some() && self.choice.clips();
        let is_only = self.members().len() == 1;
        let asked = with_consumers(request, consumers);
        let mut plan = FramePlan { asked: asked.clone(), ..FramePlan::default() };
        let mut joint = Vec::new();
        for (&name, columns) in &asked {
            let table = known_table(name)?;
            match table.origin {
                Origin::Source => plan.read.entry(table.name).or_default().extend(columns),
                // Self times within a window come from the cut calls, which no dataset can store.
                _ if clips && derive::is_of_cut_calls(table.name) => plan.build(table),
                _ if derive::is_joint(table.name) => joint.push((table, columns)),
                _ => match self.ready(member, table, columns)? {
                    Some(frame) => {
                        plan.ready.insert(table.name, frame);
                    }
                    None => plan.build(table),
                },
            }
        }
        for (table, columns) in joint {
            // If the process is the only one, tables that are read anyway are not read again for this one.
            if is_only && plan.reads_all_for(table.name) {
                plan.build(table);
            } else if let Some(frame) = self.ready(member, table, columns)? {
                plan.ready.insert(table.name, frame);
            }
        }
        // The same holds for parts of tables over all processes that are requested later. They need all rows, and a filter may have most
        // rows skipped; with only one process, its rows are read completely.
        if chosen.is_none() || is_only {
            for (name, columns) in self.joint.expected(member.process.process) {
                if !asked.contains_key(name) && plan.reads_all_for(name) {
                    plan.asked.insert(name, columns);
                    plan.build(known_table(name)?);
                }
            }
        }
        plan.read_whole();
        Ok(plan)
    }
}

/// The frames to read and build for tables of a process.
#[derive(Default)]
struct FramePlan {
    /// Tables and columns that are requested now, or over all processes later.
    asked: Request,
    ready: ProcessTables,
    /// The source tables that are read, with their columns.
    read: Request,
    /// The derived tables that are built.
    derived: Vec<&'static Table>,
    /// The source tables that must be read with all rows.
    whole: BTreeSet<&'static str>,
}

impl FramePlan {
    /// Adds a derived table and its needs to the plan.
    fn build(&mut self, table: &'static Table) {
        let asked = self.asked.get(table.name).cloned().unwrap_or_default();
        for (name, columns) in derive::needs_of(table.name, &asked) {
            self.read.entry(name).or_default().extend(columns);
        }
        self.derived.push(table);
    }

    /// Whether all tables that a derived table needs are read.
    fn reads_all_for(&self, derived: &str) -> bool {
        derive::needs(derived).iter().all(|(name, _)| self.read.contains_key(name))
    }

    /// Reads all rows of the sources of derived tables, and for tables that are read anyway also the columns that rows may call for.
    fn read_whole(&mut self) {
        for table in &self.derived {
            self.whole.extend(derive::needs(table.name).into_iter().map(|(name, _)| name));
            for (name, columns) in derive::optional_needs(table.name) {
                self.whole.insert(name);
                if let Some(read) = self.read.get_mut(name) {
                    read.extend(columns);
                }
            }
        }
    }
}
