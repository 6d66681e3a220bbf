//! Reads a trace for several statements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use polars::prelude::{DataFrame, Expr, IntoLazy, LazyFrame, col};
use rayon::prelude::*;

use super::coalesced::{CoalescedSegments, GPU_SEGMENTS};
use super::per_process::{Locals, PerProcessSteps, apart};
use super::steady::{Steady, SteadyTables};
use super::sums::Sums;
use crate::declarations::QueryDeclaration;
use crate::groups::{Grouping, Passes, recognize, recognize_all};
use crate::parsed::{ParsedStatement, PreparedStatement};
use crate::referenced_columns::referenced_columns;
use wavesieve_model::schema;
use wavesieve_tables::ablation::{Optimization, is_on};
use wavesieve_tables::columns::requests::{Request, columns_of, united};
use wavesieve_tables::derive;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::views::{SteadyParts, View};

/// A statement, and what its query declares about how it may run.
pub(crate) struct StatementHints<'a> {
    pub sql: &'a str,
    /// The part of the run that it is about.
    pub view: View,
    /// Whether sums of segments are enough for it.
    pub is_of_sums: bool,
    /// Steps that may be computed for some processes at a time.
    pub local: &'a [String],
    /// The step with the intervals within which segments may be put together.
    pub grid: Option<&'a str>,
}

impl<'a> StatementHints<'a> {
    pub fn new(sql: &'a str, query: &'a QueryDeclaration, view: View) -> Self {
        let is_of_sums = !query.sums.is_empty() && is_on(Optimization::Sums);
        let local = if is_on(Optimization::Local) { query.local.as_slice() } else { &[] };
        let grid = query.grid.as_deref().filter(|_| is_on(Optimization::Grid));
        Self { sql, view, is_of_sums, local, grid }
    }
}

/// A statement that is run after the trace was read.
pub struct Statement {
    /// The rest of the statement.
    pub rest: Arc<PreparedStatement>,
    /// The tables and columns that it reads.
    pub request: Request,
    /// Tables that stand for steps of it.
    pub steps: Vec<(String, DataFrame)>,
    /// Whether sums of segments are enough for it.
    pub is_of_sums: bool,
    /// The step with the intervals within which it is given segments put together.
    pub grid: Option<String>,
    view: View,
}

/// Statements with what they are run over.
pub struct StatementBatch {
    /// The statements in their order; `None` where one had better be run alone.
    pub statements: Vec<Option<Statement>>,
    /// The tables that any of them reads.
    frames: BTreeMap<&'static str, LazyFrame>,
    /// Segments summed up, for those to which these are enough.
    sums: Option<LazyFrame>,
    /// Segments to be put together.
    merged: CoalescedSegments,
    /// The same of the steady part.
    steady: SteadyTables,
    /// Whether the steady part of any process reveals more than its whole run.
    pub has_steady: bool,
}

/// A statement split into parts.
pub(crate) struct SplitStatement {
    /// Steps that are computed for some processes at a time.
    pub local: Option<PerProcessSteps>,
    /// Its groupings.
    pub groupings: Vec<Grouping>,
    /// The rest of the statement.
    pub rest: Arc<PreparedStatement>,
    /// Tables and columns that the rest reads.
    pub request: Request,
    /// The step with the intervals within which it is given segments put together, if all that reads segments before is a grouping.
    pub grid: Option<String>,
}

impl SplitStatement {
    fn from_hints(hints: &StatementHints<'_>) -> Self {
        let whole = ParsedStatement::from(hints.sql);
        let (local, rest) = apart(&whole, hints.local).unzip();
        let statement = rest.unwrap_or(whole);
        // Whoever needs sums of segments only must not ask for the segments.
        let recognized = if hints.is_of_sums { recognize(&statement) } else { recognize_all(&statement) };
        let recognized = recognized.filter(|_| is_on(Optimization::Groupings));
        let (groupings, without_groupings) = recognized.map(|found| (found.groupings, found.rest)).unzip();
        let statement = without_groupings.unwrap_or(statement);
        let mut request = referenced_columns(&statement);
        let grid = hints.grid.filter(|_| groupings.is_some()).map(ToOwned::to_owned);
        if grid.is_some() {
            request.remove(GPU_SEGMENTS);
        }
        let rest = Arc::new(statement.prepare(&[]));
        Self { local, groupings: groupings.unwrap_or_default(), request, rest, grid }
    }
}

impl StatementBatch {
    /// Reads the trace once for all statements: equal groupings are worked out once, those of the same rows in one pass, and what
    /// only groupings and local steps need is dropped process by process.
    pub fn read(trace: &Trace, hints: &[StatementHints<'_>]) -> Result<Self> {
        let statements: Vec<SplitStatement> = hints.par_iter().map(SplitStatement::from_hints).collect();
        let of_view = |view: View| {
            let both = statements.iter().zip(hints);
            both.filter(move |(_, hints)| hints.view == view)
        };
        let whole = || of_view(View::WholeRun);
        let groupings = || whole().flat_map(|(one, _)| &one.groupings);
        let is_late = |table: &str| derive::is_joint(table);
        let passes = Passes::new(groupings().filter(|grouping| !is_late(grouping.table.name)));
        let late_passes = Passes::new(groupings().filter(|grouping| is_late(grouping.table.name)));
        let locals = Locals::new(trace, &whole().filter_map(|(one, _)| one.local.as_ref()).collect::<Vec<_>>());
        let merged = CoalescedSegments::default();
        let of_sums = |are: bool| {
            let requests = whole().filter(move |(_, hints)| hints.is_of_sums == are);
            requests.map(|(statement, _)| &statement.request)
        };
        let parts = SteadyParts::new(trace);
        let steady = Steady::new(trace, of_view(View::Steady).collect());
        let mut request = united(of_sums(true));
        request.remove(GPU_SEGMENTS);
        let mut request = united([&request].into_iter().chain(of_sums(false)));
        // Tables that depend on all processes come after those that are read of each, out of which they can be taken.
        let late = request.extract_if(.., |table, _| is_late(table)).collect();
        trace.request_joint(&united([&late, &late_passes.request(), &steady.late_request()]));
        let coalesced_consumer = whole().any(|(one, _)| one.grid.is_some()).then(|| merged.consumer());
        let others = locals.consumers(trace).chain(coalesced_consumer);
        let others: Vec<TableConsumer<'_>> = others.chain(steady.consumers(trace, &parts)).collect();
        let grouped = passes.request();
        let read = [&request, &grouped].into_iter().chain(others.iter().map(|consumer| &consumer.request));
        let sums = Sums::new(trace, of_sums(true), &united(read))?;
        let consumers: Vec<TableConsumer<'_>> = others.into_iter().chain(sums.consumer()).collect();
        let mut frames = passes.read(trace, &request, &consumers)?;
        let read = united([&request, &grouped].into_iter().chain(consumers.iter().map(|consumer| &consumer.request)));
        drop(consumers);
        trace.consume_again(&parts.take_deferred(), &read, &steady.consumers(trace, &parts))?;
        frames.extend(late_passes.read(trace, &late, &steady.late_consumers(trace, &parts))?);
        let (tables, late_tables) = (passes.finish()?, late_passes.finish()?);
        let (steady, steady_steps) = steady.finish(trace)?;
        let has_steady = parts.has_more();
        let (mut local, mut steady_local) = (locals.finish().into_iter(), steady_steps.local.into_iter());
        let with_tables = |(one, hints): (&SplitStatement, &StatementHints<'_>)| {
            let is_whole = hints.view == View::WholeRun;
            let (tables, late_tables) =
                if is_whole { (&tables, &late_tables) } else { (&steady_steps.tables, &steady_steps.late_tables) };
            let grouped = one.groupings.iter().map(|grouping| {
                let rows = tables.get(grouping).or_else(|| late_tables.get(grouping))?;
                Some((grouping.name.clone(), rows.clone()))
            });
            let local = if is_whole { &mut local } else { &mut steady_local };
            let local = one.local.as_ref().map(|_| local.next().flatten());
            let mut steps = grouped.collect::<Option<Vec<_>>>();
            if let Some(local) = local {
                steps = steps.zip(local).map(|(steps, local)| steps.into_iter().chain(local).collect());
            }
            let steps = steps?;
            let (rest, request, grid) = (one.rest.clone(), one.request.clone(), one.grid.clone());
            Some(Statement { rest, request, steps, is_of_sums: hints.is_of_sums, grid, view: hints.view })
        };
        let statements = statements.iter().zip(hints).map(with_tables).collect();
        Ok(Self { statements, frames, sums: sums.finish(trace)?, merged, steady, has_steady })
    }

    /// The tables of a statement.
    pub fn frames_of(&self, statement: &Statement) -> BTreeMap<String, LazyFrame> {
        let (sums, frames) = match statement.view {
            View::WholeRun => (&self.sums, &self.frames),
            View::Steady => (&self.steady.sums, &self.steady.frames),
        };
        let narrow = |(name, columns): (&&'static str, &BTreeSet<&'static str>)| {
            let summed = sums.as_ref().filter(|_| statement.is_of_sums && *name == GPU_SEGMENTS);
            let frame = summed.or_else(|| frames.get(name))?;
            let wanted = columns_of(schema::table(name)?, columns).map(col);
            Some(((*name).to_owned(), frame.clone().select(wanted.collect::<Vec<Expr>>())))
        };
        let mut frames: BTreeMap<String, LazyFrame> = statement.request.iter().filter_map(narrow).collect();
        frames.extend(statement.steps.iter().map(|(name, frame)| (name.clone(), frame.clone().lazy())));
        frames
    }

    /// The table that a statement reads after one of its steps is there: segments put together within the intervals of it.
    ///
    /// # Errors
    /// When the step has other columns than it should.
    pub(crate) fn after_step(
        &self,
        statement: &Statement,
        step: &str,
        rows: &DataFrame,
    ) -> Result<Option<(String, LazyFrame)>> {
        if statement.grid.as_deref() != Some(step) {
            return Ok(None);
        }
        let merged = match statement.view {
            View::WholeRun => &self.merged,
            View::Steady => &self.steady.merged,
        };
        Ok(Some((GPU_SEGMENTS.to_owned(), merged.by_grid(rows)?.lazy())))
    }
}
