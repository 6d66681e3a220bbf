//! Builds the derived tables of a process from its source tables, several at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use polars::prelude::{DataFrame, Expr, IntoLazy, LazyFrame, PolarsResult, col};

use super::derived::{self, Needs};
use super::frames::is_identity;
use super::jobs::Jobs;
use super::requests::{ProcessTables, Request, only_requested};
use super::schema::Table;

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

    /// Lets go of a source table that is read no more, or of columns that are not.
    ///
    /// # Errors
    /// When polars cannot select its columns.
    pub fn keep_used(&self, tables: &mut ProcessTables, name: &'static str) -> Result<()> {
        keep_used(tables, name, &self.used_by(&BTreeSet::new()))
    }

    /// Builds the tables beside the source tables, and lets go of what nobody needs any more. `prepared` changes a source
    /// table before derived ones are built from it by `derive`.
    ///
    /// # Errors
    /// When a table cannot be built.
    pub fn build(
        &self,
        tables: ProcessTables,
        workers: Jobs,
        prepared: impl Fn(&[&'static str], &str, LazyFrame) -> LazyFrame + Sync,
        derive: impl Fn(&[&'static str], &derived::Frames) -> Result<Vec<DataFrame>> + Sync,
    ) -> Result<ProcessTables> {
        let state = Mutex::new((tables, BTreeSet::new()));
        let shared = Arc::default();
        let wanted = Arc::new(self.request.clone());
        let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
        let build = |names: &Vec<&'static str>| -> Result<()> {
            let mut needs = Request::new();
            for name in names {
                for (source, columns) in self.sources_of(name) {
                    needs.entry(source).or_default().extend(columns);
                }
            }
            let chosen: Vec<(&'static str, LazyFrame)> = {
                let state = lock();
                let chosen = |(source, columns): (&&'static str, &BTreeSet<&'static str>)| {
                    let columns = columns.iter().filter(|column| !is_identity(column)).map(|column| col(*column));
                    let rows = state.0.get(source)?.clone().select(columns.collect::<Vec<Expr>>());
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
            let mut state = lock();
            let (tables, built) = &mut *state;
            for (name, frame) in names.iter().zip(frames) {
                tables.insert(name, only_requested(frame, self.request.get(name))?.lazy());
                built.insert(*name);
            }
            let used = self.used_by(built);
            needs.keys().try_for_each(|name| keep_used(tables, name, &used))
        };
        let families = derived::families(self.tables.iter().map(|table| table.name));
        workers.run(&families, |_| 0, build)?;
        Ok(state.into_inner().unwrap_or_else(PoisonError::into_inner).0)
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
