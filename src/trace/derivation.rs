//! Reads the source tables of a process and builds its derived tables from them, several at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use polars::prelude::{DataFrame, Expr, IntoLazy, LazyFrame, PolarsResult, col};

use super::derived::{self, Needs};
use super::frames::is_identity;
use super::jobs::Jobs;
use super::requests::{ProcessTables, Request, only_requested};
use super::schema::{self, Table};

/// What is asked of a process, and the derived tables that are to be built for it.
pub struct Derivation<'a> {
    /// Tables and columns that are asked for.
    pub request: &'a Request,
    /// Those of them that are built from others.
    pub tables: &'a [&'static Table],
    /// The source tables that are read for it.
    pub read: &'a Request,
}

impl Derivation<'_> {
    /// What a table is built from: what it needs, and what it looks at where that is read anyway.
    fn sources_of(&self, table: &str) -> Needs {
        let asked = self.request.get(table).cloned().unwrap_or_default();
        let beside = derived::beside(table).into_iter().filter(|(name, _)| self.read.contains_key(name));
        derived::needs_of(table, &asked).into_iter().chain(beside).collect()
    }

    fn sources_of_all(&self, tables: &[&'static str]) -> Request {
        let mut sources = Request::new();
        for (name, columns) in tables.iter().flat_map(|table| self.sources_of(table)) {
            sources.entry(name).or_default().extend(columns);
        }
        sources
    }

    /// The columns that the request and tables yet to be built are made from.
    fn used_by(&self, built: &BTreeSet<&'static str>) -> Request {
        let mut used = self.request.clone();
        for table in self.tables.iter().filter(|table| !built.contains(table.name)) {
            for (name, columns) in self.sources_of(table.name) {
                used.entry(name).or_default().extend(columns);
            }
        }
        used
    }

    /// Reads the source tables one after the other by `read` and builds the others beside them, each as soon as all that it
    /// is built from is there; `tables` are there already. Lets go of what nobody needs any more. `prepared` changes a source
    /// table before derived ones are built from it by `derive`.
    ///
    /// # Errors
    /// When a table cannot be read or built.
    pub fn build(
        &self,
        tables: ProcessTables,
        workers: Jobs,
        read: impl FnMut(&'static Table) -> Result<SourceRows> + Send,
        prepared: impl Fn(&[&'static str], &str, LazyFrame) -> LazyFrame + Sync,
        derive: impl Fn(&[&'static str], &derived::Frames) -> Result<Vec<DataFrame>> + Sync,
    ) -> Result<ProcessTables> {
        // In the order in which they are declared: what one tells about another is known then.
        let sources = || schema::tables().iter().filter(|table| self.read.contains_key(table.name));
        let families = derived::families(self.tables.iter().map(|table| table.name));
        let mut steps = vec![Step::Read];
        steps.resize(families.len() + 1, Step::Build);
        let progress = Progress::new(tables, sources().map(|table| table.name).collect(), families);
        let shared = Arc::default();
        let wanted = Arc::new(self.request.clone());
        let build = |names: &[&'static str]| -> Result<()> {
            let needs = self.sources_of_all(names);
            let chosen: Vec<(&'static str, LazyFrame)> = {
                let state = progress.lock();
                let chosen = |(source, columns): (&&'static str, &BTreeSet<&'static str>)| {
                    let columns = columns.iter().filter(|column| !is_identity(column)).map(|column| col(*column));
                    let rows = state.tables.get(source)?.clone().select(columns.collect::<Vec<Expr>>());
                    Some((*source, prepared(names, source, rows)))
                };
                needs.iter().filter_map(chosen).collect()
            };
            // Once for all columns in turn: who builds from them would hold the pieces and a copy of each.
            let whole = |(name, frame): (&'static str, LazyFrame)| -> PolarsResult<(&'static str, DataFrame)> {
                Ok((name, std::mem::take(frame.collect()?.rechunk_mut())))
            };
            let needed = chosen.into_iter().map(whole).collect::<PolarsResult<derived::Frames>>()?.wanting(&wanted);
            // Calls that are cut are other calls than those of all others.
            let is_cut = names.iter().any(|name| derived::is_of_cut_calls(name));
            let needed = if is_cut { needed } else { needed.sharing(&shared) };
            let frames = derive(names, &needed)?;
            drop(needed);
            let mut state = progress.lock();
            for (name, frame) in names.iter().zip(frames) {
                state.tables.insert(name, only_requested(frame, self.request.get(name))?.lazy());
                state.built.insert(*name);
            }
            let used = self.used_by(&state.built);
            needs.keys().try_for_each(|name| keep_used(&mut state.tables, name, &used))
        };
        let read = Mutex::new(read);
        let read_all = || -> Result<()> {
            let reading = progress.reading();
            let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
            for table in sources() {
                let rows = read(table)?;
                let mut state = progress.lock();
                state.tables.insert(table.name, rows.frame);
                if rows.has_more {
                    let used = self.used_by(&state.built);
                    keep_used(&mut state.tables, table.name, &used)?;
                }
                drop(state);
                progress.has_read(table.name);
            }
            reading.end();
            Ok(())
        };
        workers.run(
            &steps,
            |_| 0,
            |step| match step {
                Step::Read => read_all(),
                Step::Build => progress.next(|names| self.sources_of_all(names)).map_or(Ok(()), |names| build(&names)),
            },
        )?;
        Ok(progress.into_tables())
    }
}

/// Rows of a source table.
pub struct SourceRows {
    /// At least the columns that were asked for.
    pub frame: LazyFrame,
    /// Whether there are more columns than others are built from.
    pub has_more: bool,
}

/// What a worker does next.
#[derive(Clone, Copy)]
enum Step {
    /// Reads all source tables.
    Read,
    /// Builds tables that belong together.
    Build,
}

struct State {
    tables: ProcessTables,
    built: BTreeSet<&'static str>,
    /// Source tables that are not read yet.
    missing: BTreeSet<&'static str>,
    /// Tables that nobody has begun to build.
    left: Vec<Vec<&'static str>>,
    /// Whether reading has ended before its end.
    has_failed: bool,
}

/// How far the tables of a process are.
struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

impl Progress {
    fn new(tables: ProcessTables, missing: BTreeSet<&'static str>, left: Vec<Vec<&'static str>>) -> Self {
        let state = State { tables, built: BTreeSet::new(), missing, left, has_failed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_read(&self, table: &'static str) {
        self.lock().missing.remove(table);
        self.changed.notify_all();
    }

    /// The first tables whose sources are all there, as soon as there are such; `None` if there never will be.
    fn next(&self, sources: impl Fn(&[&'static str]) -> Request) -> Option<Vec<&'static str>> {
        let mut state = self.lock();
        loop {
            if state.has_failed || state.left.is_empty() {
                return None;
            }
            let is_ready =
                |names: &Vec<&'static str>| sources(names).keys().all(|source| !state.missing.contains(source));
            if let Some(at) = state.left.iter().position(is_ready) {
                return Some(state.left.remove(at));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn reading(&self) -> Reading<'_> {
        Reading { progress: self, has_failed: true }
    }

    fn into_tables(self) -> ProcessTables {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).tables
    }
}

/// Lets those that wait for source tables go on when there will be no more, also after a panic.
struct Reading<'a> {
    progress: &'a Progress,
    has_failed: bool,
}

impl Reading<'_> {
    fn end(mut self) {
        self.has_failed = false;
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.progress.lock().has_failed |= self.has_failed;
        self.progress.changed.notify_all();
    }
}

fn keep_used(tables: &mut ProcessTables, name: &'static str, used: &Request) -> Result<()> {
    let Some(columns) = used.get(name) else {
        tables.remove(name);
        return Ok(());
    };
    if let Some(frame) = tables.get_mut(name) {
        let rows = std::mem::take(frame).collect()?;
        *frame = only_requested(rows, Some(columns))?.lazy();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use anyhow::bail;
    use polars::prelude::df;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn request(tables: &[&'static str]) -> Request {
        tables.iter().map(|table| (*table, BTreeSet::new())).collect()
    }

    fn rows() -> SourceRows {
        SourceRows { frame: df!("dispatch_id" => [1_i64]).unwrap().lazy(), has_more: false }
    }

    /// Builds `iterations`, which is made of kernels, where regions are asked for too.
    fn build(
        workers: usize,
        read: impl FnMut(&'static Table) -> Result<SourceRows> + Send,
        derive: impl Fn(&[&'static str], &derived::Frames) -> Result<Vec<DataFrame>> + Sync,
    ) -> Result<ProcessTables> {
        let tables = [schema::table("iterations").unwrap()];
        let derivation = Derivation {
            request: &request(&["iterations", "regions"]),
            tables: &tables,
            read: &request(&["kernels", "regions"]),
        };
        let workers = Jobs { count: workers, memory_bytes: u64::MAX };
        // No column is looked at here.
        derivation.build(ProcessTables::new(), workers, read, |_, _, _| DataFrame::empty().lazy(), derive)
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
        let derive = |names: &[&'static str], _: &derived::Frames| {
            assert_eq!(names, ["iterations"]);
            built.send(())?;
            Ok(vec![DataFrame::empty()])
        };
        let tables = build(2, read, derive).unwrap();
        assert_eq!(tables.keys().copied().collect::<Vec<_>>(), ["iterations", "regions"]);
    }

    #[test]
    fn nobody_waits_for_tables_that_cannot_be_read() {
        for workers in [1, 2, 3] {
            let derive = |_: &[&'static str], _: &derived::Frames| bail!("there are no kernels");
            let failed = build(workers, |table| bail!("no {}", table.name), derive);
            assert_eq!(failed.err().unwrap().to_string(), "no kernels");
        }
    }

    #[test]
    fn nobody_waits_for_who_panics() {
        let derive = |_: &[&'static str], _: &derived::Frames| Ok(vec![DataFrame::empty()]);
        let read = |_: &'static Table| -> Result<SourceRows> { panic!("a defect") };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| build(3, read, derive)));
        assert!(panicked.is_err());
    }
}
