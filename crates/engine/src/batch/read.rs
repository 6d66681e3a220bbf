//! Reads a trace for several statements.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::{DataFrame, Expr, IntoLazy, LazyFrame, PolarsResult, col};

use super::per_process::{PerProcessSteps, apart};
use super::steady::{Steady, ViewStatements, ViewTables};
use super::sums::Sums;
use crate::declarations::QueryDeclaration;
use crate::groups::{Grouping, recognize, recognize_all};
use crate::parsed::{ParsedStatement, PreparedStatement};
use crate::referenced_columns::referenced_columns;
use wavesieve_model::schema;
use wavesieve_tables::ablation::{Optimization, is_on};
use wavesieve_tables::columns::frames::collected;
use wavesieve_tables::columns::requests::{Request, columns_of, united};
use wavesieve_tables::derive::gpu_work::gpu_times::GPU_SEGMENTS;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::views::{SteadyParts, View};

/// Tables that replace steps of a statement, with the names of the steps.
pub(crate) type StepTables = Vec<(String, DataFrame)>;

/// A statement that is run after the trace was read, split into parts.
pub struct Statement {
    /// The part of the run that it is about.
    pub view: View,
    /// Whether sums of segments are enough for it.
    pub is_of_sums: bool,
    /// Steps that are computed for some processes at a time.
    pub local: Option<PerProcessSteps>,
    /// Its groupings.
    pub groupings: Vec<Grouping>,
    /// The rest of the statement.
    pub rest: PreparedStatement,
    /// Tables and columns that the rest reads.
    pub request: Request,
    /// The step with the intervals in which segments are merged for this statement, if only groupings read segments before it.
    pub grid: Option<String>,
    /// The table without whose rows its answer has none either.
    pub only_with: Option<String>,
    /// Tables that replace its steps, once they are read; `None` if it is better to run the statement alone.
    pub steps: Option<StepTables>,
}

impl Statement {
    /// A statement about a part of the run, with what its query declares about how it may run.
    pub fn new(sql: &str, query: &QueryDeclaration, view: View) -> Self {
        let is_of_sums = !query.sums.is_empty() && is_on(Optimization::Sums);
        let local = if is_on(Optimization::Local) { query.local.as_slice() } else { &[] };
        let whole = ParsedStatement::from(sql);
        let (local, rest) = apart(&whole, local).unzip();
        let statement = rest.unwrap_or(whole);
        // A statement that needs only sums of segments must not request the segments.
        let recognized = if is_of_sums { recognize(&statement) } else { recognize_all(&statement) };
        let recognized = recognized.filter(|_| is_on(Optimization::Groupings));
        let (groupings, without_groupings) = recognized.map(|found| (found.groupings, found.rest)).unzip();
        let statement = without_groupings.unwrap_or(statement);
        let mut request = referenced_columns(&statement);
        let grid = query.grid.clone().filter(|_| is_on(Optimization::Grid) && groupings.is_some());
        if grid.is_some() {
            request.remove(GPU_SEGMENTS);
        }
        let (groupings, rest) = (groupings.unwrap_or_default(), statement.prepare(&[]));
        let only_with = query.only_with.clone();
        Self { view, is_of_sums, local, groupings, rest, request, grid, only_with, steps: None }
    }
}

/// Statements and the tables that they read.
pub struct StatementBatch {
    pub statements: Vec<Statement>,
    /// Tables of the whole run.
    whole: ViewTables,
    /// The same of the steady part.
    steady: ViewTables,
    /// Whether the steady part of any process reveals more than its whole run.
    pub has_steady: bool,
}

impl StatementBatch {
    /// Reads the trace once for all statements and other consumers; once more if what is read turns out to be damaged.
    pub fn read(trace: &Trace, statements: Vec<Statement>, extra: &[&TableConsumer<'_>]) -> Result<Self> {
        let mut batch =
            Self { statements, whole: ViewTables::default(), steady: ViewTables::default(), has_steady: false };
        let steps = match batch.read_once(trace, extra) {
            Err(_) if trace.finds_damaged_content() => batch.read_once(trace, extra)?,
            steps => steps?,
        };
        for (statement, steps) in batch.statements.iter_mut().zip(steps) {
            statement.steps = steps;
        }
        Ok(batch)
    }

    /// Computes equal groupings once, and groupings of the same rows in one pass. Tables that only groupings and local steps need are
    /// dropped process by process. Returns the tables that replace steps of each statement.
    fn read_once(&mut self, trace: &Trace, extra: &[&TableConsumer<'_>]) -> Result<Vec<Option<StepTables>>> {
        let of_view = |view: View| self.statements.iter().filter(move |statement| statement.view == view);
        let whole = ViewStatements::new(trace, of_view(View::WholeRun));
        let parts = SteadyParts::new(trace);
        let steady = Steady::new(trace, of_view(View::Steady));
        let ([passes, late_passes], [request, late]) = (&whole.passes, &whole.requests);
        trace.request_joint(&united([&whole.late_request(), &steady.late_request()]));
        let extra = extra.iter().map(|consumer| {
            TableConsumer::new(consumer.request.clone(), |member, tables| consumer.take(member, tables))
        });
        let others = whole.consumers(trace).chain(steady.consumers(trace, &parts)).chain(extra);
        let others: Vec<TableConsumer<'_>> = others.collect();
        let grouped = passes.request();
        let read = |consumers: &[TableConsumer<'_>]| {
            united([request, &grouped].into_iter().chain(consumers.iter().map(|consumer| &consumer.request)))
        };
        let sums = Sums::new(trace, whole.summed.clone(), &read(&others))?;
        let consumers: Vec<TableConsumer<'_>> = others.into_iter().chain(sums.consumer()).collect();
        let mut frames = passes.read(trace, request, &consumers)?;
        let read = read(&consumers);
        drop(consumers);
        trace.consume_again(&parts.take_deferred(), &read, &steady.consumers(trace, &parts))?;
        frames.extend(late_passes.read(trace, late, &steady.late_consumers(trace, &parts))?);
        let (whole, mut whole_steps) = whole.finish(frames, sums.finish(trace)?)?;
        let (steady, mut steady_steps) = steady.finish(trace)?;
        let steps = |statement: &Statement| match statement.view {
            View::WholeRun => whole_steps.next(statement),
            View::Steady => steady_steps.next(statement),
        };
        let steps = self.statements.iter().map(steps).collect();
        (self.whole, self.steady, self.has_steady) = (whole, steady, parts.has_more());
        Ok(steps)
    }

    fn tables(&self, view: View) -> &ViewTables {
        match view {
            View::WholeRun => &self.whole,
            View::Steady => &self.steady,
        }
    }

    /// The tables of a statement; all are empty if its answer is.
    ///
    /// # Errors
    /// When the table that decides it cannot be read.
    pub fn frames_of(&self, statement: &Statement) -> PolarsResult<BTreeMap<String, LazyFrame>> {
        let ViewTables { sums, frames, .. } = self.tables(statement.view);
        let narrow = |(name, columns): (&&'static str, &BTreeSet<&'static str>)| {
            let summed = sums.as_ref().filter(|_| statement.is_of_sums && *name == GPU_SEGMENTS);
            let frame = summed.or_else(|| frames.get(name))?;
            let wanted = columns_of(schema::table(name)?, columns).map(col);
            Some(((*name).to_owned(), frame.clone().select(wanted.collect::<Vec<Expr>>())))
        };
        let mut frames: BTreeMap<String, LazyFrame> = statement.request.iter().filter_map(narrow).collect();
        frames.extend(statement.steps.iter().flatten().map(|(name, frame)| (name.clone(), frame.clone().lazy())));
        let deciding = statement.only_with.as_ref().and_then(|table| frames.get(table));
        if deciding.map(collected).transpose()?.is_some_and(|rows| rows.height() == 0) {
            frames.values_mut().for_each(|frame| *frame = std::mem::take(frame).limit(0));
        }
        Ok(frames)
    }

    /// The table that a statement reads once one of its steps is computed: segments merged within the intervals of the step.
    ///
    /// # Errors
    /// When the step does not have the expected columns.
    pub(crate) fn after_step(
        &self,
        statement: &Statement,
        step: &str,
        rows: &DataFrame,
    ) -> Result<Option<(String, LazyFrame)>> {
        if statement.grid.as_deref() != Some(step) {
            return Ok(None);
        }
        let merged = &self.tables(statement.view).merged;
        Ok(Some((GPU_SEGMENTS.to_owned(), merged.by_grid(rows)?.lazy())))
    }
}
