//! Views of a run: the whole run, and the part that repeats evenly.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::{DataFrame, IntoLazy, LazyFrame, PolarsResult};

use super::consumer::TableConsumer;
use super::selection::{self, Filters, PARTS, Resolved, Window, steady_part_of};
use super::{Trace, TraceProcess};
use crate::ablation::{Optimization, is_on};
use crate::columns::frames::rows_in_memory;
use crate::columns::requests::{ProcessTables, Request, only_requested};

/// The part of a run to analyze.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    #[default]
    WholeRun,
    /// The part that repeats evenly, or works densely if nothing repeats, as with `--window steady`.
    Steady,
}

/// The steady part of every process, inferred while its tables are read.
pub struct SteadyParts {
    choice: Filters,
    /// Whether there is only one process.
    is_alone: bool,
    parts: Mutex<BTreeMap<i64, SteadyPart>>,
    /// Processes with few rows whose steady part is their whole run; `None` after [`Self::take_deferred`].
    deferred: Mutex<Option<BTreeSet<i64>>>,
}

/// The steady part of a process.
#[derive(Clone)]
struct SteadyPart {
    resolved: Resolved,
    /// Whether it is the whole run, without iterations that reveal more.
    is_all: bool,
}

impl SteadyParts {
    pub fn new(trace: &Trace) -> Self {
        let choice = Filters { window: Some(Window::steady()), ..Filters::default() };
        let deferred = Mutex::new(Some(BTreeSet::new()));
        Self { choice, is_alone: trace.members().len() == 1, parts: Mutex::default(), deferred }
    }

    /// Whether the steady part of any process reveals more than its whole run.
    pub fn has_more(&self) -> bool {
        let parts = self.parts.lock();
        parts.values().any(|part| !part.is_all)
    }

    /// The processes withheld from consumers because their steady part is their whole run. If this is true of every
    /// process, the results are not needed. Otherwise the consumers need these processes now.
    pub fn take_deferred(&self) -> BTreeSet<i64> {
        let deferred = self.deferred.lock().take().unwrap_or_default();
        if self.has_more() { deferred } else { BTreeSet::new() }
    }

    /// Whether a process can wait: reading its few rows again costs less than consumers that may work in vain.
    fn is_deferred(&self, member: &TraceProcess) -> bool {
        let mut deferred = self.deferred.lock();
        let Some(deferred) = deferred.as_mut() else { return !self.has_more() };
        let has_few_rows = is_on(Optimization::Deferred) && member.has_few_rows();
        if has_few_rows {
            deferred.insert(member.process.process);
        }
        has_few_rows
    }

    /// The same consumer for rows of the steady part. The tables that determine that part are read too, unless it is
    /// known for every process.
    pub fn consumer<'a>(&'a self, look: TableConsumer<'a>, are_known: bool) -> TableConsumer<'a> {
        let mut request = selection::extend_request(&self.choice, &look.request);
        if !are_known {
            request.entry(PARTS.0).or_default().extend(PARTS.1);
        }
        let read = request.clone();
        TableConsumer::new(request, move |member, tables| {
            let SteadyPart { resolved, is_all } = self.part(member, tables)?;
            if is_all && (self.is_alone || self.is_deferred(member)) {
                return Ok(());
            }
            let mut tables = narrowed(tables, &read)?;
            selection::apply(&self.choice, &resolved, &member.process, &look.request, &mut tables)?;
            look.take(member, &tables)
        })
    }

    fn part(&self, member: &TraceProcess, tables: &ProcessTables) -> Result<SteadyPart> {
        let process = member.process.process;
        if let Some(known) = self.parts.lock().get(&process) {
            return Ok(known.clone());
        }
        let parts = tables.get(PARTS.0).cloned().map_or_else(|| Ok(DataFrame::default()), |parts| parts.collect())?;
        let time = if parts.height() > 0 { steady_part_of(&parts)? } else { None };
        let resolved = match time {
            Some(time) => Resolved { window: (Some(time.start_ns), Some(time.end_ns)), ..Resolved::default() },
            None => Resolved { nothing: true, ..Resolved::default() },
        };
        let has_iterations =
            || -> Result<bool> { Ok(parts.column("iterations")?.i64()?.iter().any(|count| count > Some(0))) };
        let is_all = parts.height() == 0 || parts.height() == 1 && !has_iterations()?;
        let part = SteadyPart { resolved, is_all };
        self.parts.lock().insert(process, part.clone());
        Ok(part)
    }
}

/// The tables of a request. Those in memory have only its columns, so that no others are filtered.
fn narrowed(tables: &ProcessTables, request: &Request) -> PolarsResult<ProcessTables> {
    let narrow = |(name, frame): (&&'static str, &LazyFrame)| {
        let columns = request.get(name)?;
        let narrowed = rows_in_memory(frame).map(|rows| only_requested(rows.clone(), Some(columns)));
        Some(narrowed.map_or_else(|| Ok(frame.clone()), |rows| Ok(rows?.lazy())).map(|frame| (*name, frame)))
    };
    tables.iter().filter_map(narrow).collect()
}
