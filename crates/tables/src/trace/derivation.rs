//! Reads the source tables of a process, builds its derived tables from them and runs consumers of both, in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Result, ensure};
use parking_lot::Mutex;
use polars::prelude::{DataFrame, IntoLazy, LazyFrame, PolarsResult};

use super::consumer::TableConsumer;
use super::jobs::Jobs;
use super::table_scheduler::{State, TableScheduler, Task};
use crate::columns::frames::{collected, is_identity, selected};
use crate::columns::requests::{ProcessTables, Request, only_requested};
use crate::derive;
use crate::derive::repeating::UnitChoice;
use wavesieve_model::schema;
use wavesieve_model::schema::Table;

/// The request for a process, and the derived tables to build for it.
pub(crate) struct Derivation<'a> {
    /// Tables and columns that are requested.
    pub request: &'a Request,
    /// Requested tables and columns that are kept, not only consumed.
    pub kept: &'a Request,
    /// Requested tables that are derived.
    pub tables: &'a [&'static Table],
    /// The source tables that are read for it.
    pub read: &'a Request,
    /// The consumers of the tables.
    pub consumers: &'a [&'a TableConsumer<'a>],
    /// The chosen unit of work.
    pub unit: &'a UnitChoice,
    /// Whether tables are dropped after their last consumer. For few rows, it costs more than it frees.
    pub evicts: bool,
}

/// Functions that read source tables and process them.
pub struct Steps<R, P, D, L> {
    /// Reads a source table.
    pub read: R,
    /// Changes a source table before derived ones are built from it.
    pub prepared: P,
    /// Builds derived tables that belong together.
    pub derive: D,
    /// Runs a consumer of tables.
    pub look: L,
}

impl Derivation<'_> {
    /// The sources of a table: its needs, and optional needs that are read anyway.
    fn sources_of(&self, table: &str) -> Request {
        let asked = self.request.get(table).cloned().unwrap_or_default();
        let optional = derive::optional_needs(table).into_iter().filter(|(name, _)| self.read.contains_key(name));
        let mut sources = Request::new();
        for (name, columns) in derive::needs_of(table, &asked).into_iter().chain(optional) {
            sources.entry(name).or_default().extend(columns);
        }
        sources
    }

    /// Reads the source tables one after the other. Meanwhile builds each derived table as soon as its sources are ready; `tables` are
    /// ready from the start. Runs consumers as soon as their tables are ready, and drops tables that no step needs any more. Returns the
    /// tables that are kept or that remaining consumers need, and the numbers of consumers that did not run because tables were missing.
    ///
    /// # Errors
    /// When a table cannot be read or built, or when a consumer fails.
    pub fn build<R, P, D, L>(
        &self,
        tables: ProcessTables,
        workers: Jobs,
        steps: Steps<R, P, D, L>,
    ) -> Result<(ProcessTables, Vec<usize>)>
    where
        R: FnMut(&'static Table) -> Result<SourceRows> + Send,
        P: Fn(&[&'static str], &str, LazyFrame) -> LazyFrame + Sync,
        D: Fn(&[&'static str], &derive::Frames) -> Result<Vec<DataFrame>> + Sync,
        L: Fn(&TableConsumer<'_>, &ProcessTables) -> Result<()> + Sync,
    {
        let Steps { read, prepared, derive, look } = steps;
        let mut missing: BTreeSet<&'static str> = self.sources().map(|table| table.name).collect();
        missing.extend(self.tables.iter().map(|table| table.name));
        let will_be = |name: &&'static str| missing.contains(name) || tables.contains_key(name);
        let (early, late): (Vec<usize>, Vec<usize>) = (0..self.consumers.len())
            .partition(|at| self.consumers.get(*at).is_some_and(|look| look.request.keys().all(&will_be)));
        let families = derive::families(self.tables.iter().map(|table| table.name));
        // Consumers come first: the sooner one runs, the sooner its tables can be dropped.
        let early = early.into_iter().map(Task::Consume);
        let tasks: Vec<Task> = early.chain(families.into_iter().map(Task::Build)).collect();
        let mut kinds = vec![WorkerStep::Read];
        kinds.resize(tasks.len() + 1, WorkerStep::Do);
        let read = Mutex::new(read);
        let work = Work {
            plan: self,
            needs: self.tables.iter().map(|table| (table.name, self.sources_of(table.name))).collect(),
            progress: TableScheduler::new(tables, missing, tasks),
            wanted: Arc::new(self.request.clone()),
            found: Arc::default(),
            prepared,
            derive,
            look,
        };
        workers.run(
            &kinds,
            |_| 0,
            |step| match step {
                WorkerStep::Read => work.read_all(&mut *read.lock()),
                WorkerStep::Do => work.next().map_or(Ok(()), |task| work.carry_out(task)),
            },
        )?;
        if !self.evicts {
            let mut state = work.progress.lock();
            let names: Vec<&'static str> = state.tables.keys().copied().collect();
            work.evict(&mut state, &names)?;
        }
        Ok((work.progress.into_tables(), late))
    }

    /// The source tables in order of declaration, so that facts that one table reveals about another are known in time.
    fn sources(&self) -> impl Iterator<Item = &'static Table> {
        schema::tables().iter().copied().filter(|table| self.read.contains_key(table.name))
    }
}

/// Data that the workers of a derivation share.
struct Work<'a, P, D, L> {
    plan: &'a Derivation<'a>,
    /// The sources of each derived table.
    needs: BTreeMap<&'static str, Request>,
    progress: TableScheduler,
    wanted: Arc<Request>,
    /// Facts found in the rows of the source tables.
    found: Arc<derive::Found>,
    prepared: P,
    derive: D,
    look: L,
}

impl<P, D, L> Work<'_, P, D, L>
where
    P: Fn(&[&'static str], &str, LazyFrame) -> LazyFrame,
    D: Fn(&[&'static str], &derive::Frames) -> Result<Vec<DataFrame>>,
    L: Fn(&TableConsumer<'_>, &ProcessTables) -> Result<()>,
{
    fn next(&self) -> Option<Task> {
        self.progress.next(|task| self.requests_of(task).iter().flat_map(|request| request.keys().copied()).collect())
    }

    fn requests_of(&self, task: &Task) -> Vec<&Request> {
        match task {
            Task::Build(names) => names.iter().filter_map(|name| self.needs.get(name)).collect(),
            Task::Consume(at) => self.plan.consumers.get(*at).map(|look| &look.request).into_iter().collect(),
        }
    }

    /// The columns of some tables that are kept, and the columns that pending tasks need.
    fn used_after(&self, done: &[Task], tables: &[&'static str]) -> Request {
        let is_built = |name| done.iter().any(|task| matches!(task, Task::Build(names) if names.contains(&name)));
        let builds = self.needs.iter().filter(|(name, _)| !is_built(**name)).map(|(_, request)| request);
        let consumers = self.plan.consumers.iter().enumerate().filter(|(at, _)| !done.contains(&Task::Consume(*at)));
        let requests: Vec<&Request> = builds.chain(consumers.map(|(_, look)| &look.request)).collect();
        let mut used = Request::new();
        for name in tables {
            for columns in requests.iter().filter_map(|request| request.get(name)).chain(self.plan.kept.get(name)) {
                used.entry(*name).or_default().extend(columns);
            }
        }
        used
    }

    /// Drops columns of read or built tables that no step needs any more.
    fn evict(&self, state: &mut State, names: &[&'static str]) -> Result<()> {
        let used = self.used_after(&state.done, names);
        let plan = self.plan;
        let is_own = |name: &str| plan.read.contains_key(name) || plan.tables.iter().any(|table| table.name == name);
        names.iter().filter(|name| is_own(name)).try_for_each(|name| keep_used(&mut state.tables, name, &used))
    }

    fn read_all(&self, mut read: impl FnMut(&'static Table) -> Result<SourceRows>) -> Result<()> {
        let begun = self.progress.begin();
        for table in self.plan.sources() {
            let rows = read(table)?;
            let mut state = self.progress.lock();
            state.tables.insert(table.name, rows.frame);
            if rows.has_more && self.plan.evicts {
                self.evict(&mut state, &[table.name])?;
            }
            drop(state);
            self.progress.has(table.name);
        }
        begun.end();
        Ok(())
    }

    fn carry_out(&self, task: Task) -> Result<()> {
        let begun = self.progress.begin();
        let mut sources = Request::new();
        for (name, columns) in self.requests_of(&task).into_iter().flatten() {
            sources.entry(*name).or_default().extend(columns);
        }
        let built = match &task {
            Task::Build(names) => self.built(names, &sources)?,
            Task::Consume(at) => {
                if let Some(look) = self.plan.consumers.get(*at) {
                    (self.look)(look, &self.tables_of(&sources))?;
                }
                Vec::new()
            }
        };
        let names: Vec<&'static str> = built.iter().map(|(name, _)| *name).collect();
        {
            let mut state = self.progress.lock();
            state.tables.extend(built);
            state.done.push(task);
            if self.plan.evicts {
                self.evict(&mut state, &sources.keys().copied().collect::<Vec<_>>())?;
            }
        }
        names.into_iter().for_each(|name| self.progress.has(name));
        begun.end();
        Ok(())
    }

    fn tables_of(&self, sources: &Request) -> ProcessTables {
        let state = self.progress.lock();
        sources.keys().filter_map(|name| Some((*name, state.tables.get(name)?.clone()))).collect()
    }

    /// Tables that belong together, built from their sources.
    fn built(&self, names: &[&'static str], sources: &Request) -> Result<Vec<(&'static str, LazyFrame)>> {
        let tables = self.tables_of(sources);
        let chosen = sources.iter().filter_map(|(source, columns)| {
            let rows = selected(tables.get(source)?, columns.iter().copied().filter(|column| !is_identity(column)));
            Some(rows.map(|rows| (*source, (self.prepared)(names, source, rows))))
        });
        // Rechunks once for all columns: otherwise a table built from them would hold both the pieces and a copy of each.
        let whole = |chosen: PolarsResult<(&'static str, LazyFrame)>| -> PolarsResult<(&'static str, DataFrame)> {
            let (name, frame) = chosen?;
            Ok((name, std::mem::take(collected(&frame)?.rechunk_mut())))
        };
        let needed = chosen.map(whole).collect::<PolarsResult<derive::Frames>>()?.wanting(&self.wanted);
        // Calls may be cut for these.
        let is_of_own_rows = names.iter().any(|name| derive::is_of_cut_calls(name));
        let needed = if is_of_own_rows { needed } else { needed.sharing(&self.found) };
        let needed = needed.choosing(self.plan.unit);
        drop(tables);
        let frames = (self.derive)(names, &needed)?;
        // Other tasks would wait forever for a table that does not come.
        ensure!(frames.len() == names.len(), "{} tables came of {}", frames.len(), names.join(", "));
        let asked = |(name, frame): (&&'static str, DataFrame)| {
            Ok((*name, only_requested(frame, self.plan.request.get(name))?.lazy()))
        };
        names.iter().zip(frames).map(asked).collect()
    }
}

/// Rows of a source table.
pub(crate) struct SourceRows {
    /// At least the columns that were requested.
    pub frame: LazyFrame,
    /// Whether there are more columns than other tables need.
    pub has_more: bool,
}

/// The next step of a worker.
#[derive(Clone, Copy)]
enum WorkerStep {
    /// Reads all source tables.
    Read,
    /// Builds tables, or runs consumers.
    Do,
}

fn keep_used(tables: &mut ProcessTables, name: &'static str, used: &Request) -> Result<()> {
    let Some(columns) = used.get(name) else {
        tables.remove(name);
        return Ok(());
    };
    if let Some(frame) = tables.get_mut(name) {
        let rows = collected(frame)?;
        *frame = only_requested(rows, Some(columns))?.lazy();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use anyhow::bail;

    use super::*;
    use crate::columns::frames::{empty_frame, own_columns};
    use crate::trace::consumer::with_consumers;

    const LONG: Duration = Duration::from_secs(60);

    fn request(tables: &[&'static str]) -> Request {
        tables.iter().map(|table| (*table, BTreeSet::new())).collect()
    }

    fn rows() -> SourceRows {
        let columns = own_columns(schema::table("kernels").unwrap());
        SourceRows { frame: empty_frame(&columns).lazy(), has_more: false }
    }

    /// Reads kernels and regions, builds `kernel_overlaps` from kernels, and runs consumers; `kept` tables remain.
    fn build_and_look(
        workers: usize,
        kept: &[&'static str],
        consumers: &[TableConsumer<'_>],
        read: impl FnMut(&'static Table) -> Result<SourceRows> + Send,
        derive: impl Fn(&[&'static str], &derive::Frames) -> Result<Vec<DataFrame>> + Sync,
        look: impl Fn(&TableConsumer<'_>, &ProcessTables) -> Result<()> + Sync,
    ) -> Result<(ProcessTables, Vec<usize>)> {
        let consumers: Vec<&TableConsumer<'_>> = consumers.iter().collect();
        let derivation = Derivation {
            request: &with_consumers(&request(kept), &consumers),
            kept: &request(kept),
            tables: &[schema::table("kernel_overlaps").unwrap()],
            read: &request(&["kernels", "regions"]),
            consumers: &consumers,
            unit: &UnitChoice::Auto,
            evicts: true,
        };
        let workers = Jobs { count: workers, memory_bytes: u64::MAX };
        // No column is read here.
        let prepared = |_: &[&'static str], _: &str, _| DataFrame::empty().lazy();
        derivation.build(ProcessTables::new(), workers, Steps { read, prepared, derive, look })
    }

    fn build(
        workers: usize,
        read: impl FnMut(&'static Table) -> Result<SourceRows> + Send,
        derive: impl Fn(&[&'static str], &derive::Frames) -> Result<Vec<DataFrame>> + Sync,
    ) -> Result<ProcessTables> {
        Ok(build_and_look(workers, &["kernel_overlaps", "regions"], &[], read, derive, |_, _| Ok(()))?.0)
    }

    fn inspect(tables: &[&'static str]) -> TableConsumer<'static> {
        TableConsumer::new(request(tables), |_, _| Ok(()))
    }

    #[test]
    fn tables_are_let_go_of_after_the_last_look() {
        let derive = |_: &[&'static str], _: &derive::Frames| Ok(vec![DataFrame::empty()]);
        for workers in [1, 2, 3] {
            let consumers =
                [inspect(&["kernel_overlaps", "kernels"]), inspect(&["regions"]), inspect(&["anomalies", "kernels"])];
            let seen = Mutex::new(Vec::new());
            let look = |look: &TableConsumer<'_>, tables: &ProcessTables| {
                assert!(look.request.keys().eq(tables.keys()));
                seen.lock().push(tables.len());
                Ok(())
            };
            let (tables, late) = build_and_look(workers, &[], &consumers, |_| Ok(rows()), derive, look).unwrap();
            // The last consumer waits for a table that is not built here, so the kernels remain.
            assert_eq!((tables.keys().copied().collect::<Vec<_>>(), late), (vec!["kernels"], vec![2]));
            let mut seen = seen.into_inner();
            seen.sort_unstable();
            assert_eq!(seen, [1, 2]);
            let kept = ["kernel_overlaps", "regions"];
            let (tables, _) =
                build_and_look(workers, &kept, &consumers[..2], |_| Ok(rows()), derive, |_, _| Ok(())).unwrap();
            assert!(tables.keys().eq(&kept));
        }
    }

    #[test]
    fn no_look_waits_for_tables_that_cannot_be_built() {
        for workers in [1, 2, 3] {
            let derive = |_: &[&'static str], _: &derive::Frames| bail!("no overlaps");
            let consumers = [inspect(&["kernel_overlaps"]), inspect(&["kernel_overlaps", "regions"])];
            let failed = build_and_look(workers, &[], &consumers, |_| Ok(rows()), derive, |_, _| Ok(()));
            assert_eq!(failed.err().unwrap().to_string(), "no overlaps");
            let derive = |_: &[&'static str], _: &derive::Frames| Ok(vec![DataFrame::empty()]);
            let failed =
                build_and_look(workers, &[], &consumers, |_| Ok(rows()), derive, |_, _| bail!("not to be seen"));
            assert_eq!(failed.err().unwrap().to_string(), "not to be seen");
        }
    }

    #[test]
    fn no_look_waits_for_tables_that_did_not_come() {
        for workers in [1, 2, 3] {
            let consumers = [inspect(&["kernel_overlaps"])];
            let failed = build_and_look(workers, &[], &consumers, |_| Ok(rows()), |_, _| Ok(Vec::new()), |_, _| Ok(()));
            assert_eq!(failed.err().unwrap().to_string(), "0 tables came of kernel_overlaps");
        }
    }

    #[test]
    fn tables_are_built_while_others_are_read() {
        let (built, is_built) = channel();
        let read = move |table: &'static Table| {
            if table.name == "regions" {
                is_built.recv_timeout(LONG)?;
            }
            Ok(rows())
        };
        let derive = |names: &[&'static str], _: &derive::Frames| {
            assert_eq!(names, ["kernel_overlaps"]);
            built.send(())?;
            Ok(vec![DataFrame::empty()])
        };
        let tables = build(2, read, derive).unwrap();
        assert_eq!(tables.keys().copied().collect::<Vec<_>>(), ["kernel_overlaps", "regions"]);
    }

    #[test]
    fn nobody_waits_for_tables_that_cannot_be_read() {
        for workers in [1, 2, 3] {
            let derive = |_: &[&'static str], _: &derive::Frames| bail!("there are no kernels");
            let failed = build(workers, |table| bail!("no {}", table.name), derive);
            assert_eq!(failed.err().unwrap().to_string(), "no kernels");
        }
    }

    #[test]
    fn nobody_waits_for_who_panics() {
        let derive = |_: &[&'static str], _: &derive::Frames| Ok(vec![DataFrame::empty()]);
        let read = |_: &'static Table| -> Result<SourceRows> { panic!("a defect") };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| build(3, read, derive)));
        assert!(panicked.is_err());
    }
}
