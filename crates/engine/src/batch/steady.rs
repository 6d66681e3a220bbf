//! Tables for statements about a part of the run, made while the trace is read. Tables of the steady part are made from the tables of the
//! whole run.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::LazyFrame;

use super::coalesced::CoalescedSegments;
use super::per_process::{Locals, PerProcessSteps, Rows};
use super::read::{Statement, StepTables};
use super::steady_rows::SteadyRows;
use super::sums::Sums;
use crate::groups::{Passes, Tables};
use wavesieve_tables::columns::requests::{Request, united};
use wavesieve_tables::derive;
use wavesieve_tables::derive::gpu_work::gpu_times::GPU_SEGMENTS;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::views::SteadyParts;

/// Statements about a part of the run. The second of each pair is for tables that depend on all processes. They come after the tables of
/// each process.
pub(crate) struct ViewStatements<'a> {
    /// Groupings.
    pub passes: [Passes<'a>; 2],
    /// Tables that statements read.
    pub requests: [Request; 2],
    /// Columns of segments of which statements need only sums.
    pub summed: BTreeSet<&'static str>,
    pub locals: Locals<'a>,
    merged: CoalescedSegments,
    has_grid: bool,
}

/// Tables of a part of the run.
#[derive(Default)]
pub(crate) struct ViewTables {
    /// The tables that any statement reads.
    pub frames: BTreeMap<&'static str, LazyFrame>,
    /// Segments summed up.
    pub sums: Option<LazyFrame>,
    /// Segments to be merged.
    pub merged: CoalescedSegments,
}

/// Steps of statements that are already computed.
pub(crate) struct ViewSteps<'a> {
    tables: [Tables<'a>; 2],
    /// Local steps of each statement that has some, in order.
    local: std::vec::IntoIter<Option<Rows>>,
}

impl ViewSteps<'_> {
    /// The tables that replace steps of the next statement; `None` if a step could not be computed.
    pub fn next(&mut self, statement: &Statement) -> Option<StepTables> {
        let local = statement.local.as_ref().map(|_| self.local.next().flatten());
        let grouped = statement.groupings.iter().map(|grouping| {
            let rows = self.tables.iter().find_map(|tables| tables.get(grouping))?;
            Some((grouping.name.clone(), rows.clone()))
        });
        let mut steps = grouped.collect::<Option<Vec<_>>>()?;
        if let Some(local) = local {
            steps.extend(local?);
        }
        Some(steps)
    }
}

impl<'a> ViewStatements<'a> {
    pub fn new(trace: &Trace, statements: impl Iterator<Item = &'a Statement> + Clone) -> Self {
        let groupings = || statements.clone().flat_map(|one| &one.groupings);
        let is_late = |table: &str| derive::is_joint(table);
        let of_sums = |are: bool| {
            let of_kind = statements.clone().filter(move |one| one.is_of_sums == are);
            of_kind.map(|one| &one.request)
        };
        let mut request = united(of_sums(true));
        let summed = request.remove(GPU_SEGMENTS).unwrap_or_default();
        let mut request = united([&request].into_iter().chain(of_sums(false)));
        let late = request.extract_if(.., |table, _| is_late(table)).collect();
        let locals: Vec<&PerProcessSteps> = statements.clone().filter_map(|one| one.local.as_ref()).collect();
        Self {
            passes: [
                Passes::new(groupings().filter(|grouping| !is_late(grouping.table.name))),
                Passes::new(groupings().filter(|grouping| is_late(grouping.table.name))),
            ],
            requests: [request, late],
            summed,
            locals: Locals::new(trace, &locals),
            merged: CoalescedSegments::default(),
            has_grid: { statements }.any(|one| one.grid.is_some()),
        }
    }

    /// Tables that are read after all others.
    pub(crate) fn late_request(&self) -> Request {
        let ([_, request], [_, passes]) = (&self.requests, &self.passes);
        united([request, &passes.request()])
    }

    /// Consumers for local steps, and for segments to be merged.
    pub fn consumers<'b>(&'b self, trace: &'b Trace) -> impl Iterator<Item = TableConsumer<'b>> {
        self.locals.consumers(trace).chain(self.has_grid.then(|| self.merged.consumer()))
    }

    /// The results, with the tables that were read.
    pub fn finish(
        self,
        frames: BTreeMap<&'static str, LazyFrame>,
        sums: Option<LazyFrame>,
    ) -> Result<(ViewTables, ViewSteps<'a>)> {
        let [passes, late_passes] = self.passes;
        let steps =
            ViewSteps { tables: [passes.finish()?, late_passes.finish()?], local: self.locals.finish().into_iter() };
        Ok((ViewTables { frames, sums, merged: self.merged }, steps))
    }
}

/// Statements about the steady part.
pub struct Steady<'a> {
    statements: ViewStatements<'a>,
    kept: [SteadyRows; 2],
    sums: Sums,
}

impl<'a> Steady<'a> {
    /// Prepares to collect the rows that the statements need.
    pub fn new(trace: &Trace, statements: impl Iterator<Item = &'a Statement> + Clone) -> Self {
        let statements = ViewStatements::new(trace, statements);
        let sums = Sums::of_segments(statements.summed.clone());
        Self { statements, kept: Default::default(), sums }
    }

    /// Tables that are read after all others.
    pub(crate) fn late_request(&self) -> Request {
        self.statements.late_request()
    }

    /// Consumers of the tables of each process.
    pub fn consumers<'b>(&'b self, trace: &'b Trace, parts: &'b SteadyParts) -> Vec<TableConsumer<'b>> {
        let ([passes, _], [kept, _], [request, _]) = (&self.statements.passes, &self.kept, &self.statements.requests);
        let rows = passes.consumers(trace).chain(kept.consumers(trace, request));
        let consumers = rows.chain(self.statements.consumers(trace)).chain(self.sums.consumer());
        consumers.map(|consumer| parts.consumer(consumer, false)).collect()
    }

    /// Consumers of the tables that depend on all processes, once the steady parts are known.
    pub(crate) fn late_consumers<'b>(&'b self, trace: &'b Trace, parts: &'b SteadyParts) -> Vec<TableConsumer<'b>> {
        let ([_, passes], [_, kept], [_, request]) = (&self.statements.passes, &self.kept, &self.statements.requests);
        let consumers = passes.consumers(trace).chain(kept.consumers(trace, request));
        consumers.map(|consumer| parts.consumer(consumer, true)).collect()
    }

    /// The results from all tables.
    pub fn finish(self, trace: &Trace) -> Result<(ViewTables, ViewSteps<'a>)> {
        let [request, late] = &self.statements.requests;
        let [kept, late_kept] = self.kept;
        let mut frames = kept.finish(trace, request)?;
        frames.extend(late_kept.finish(trace, late)?);
        self.statements.finish(frames, self.sums.finish(trace)?)
    }
}
