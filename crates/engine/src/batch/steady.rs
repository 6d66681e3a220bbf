//! Tables for statements about the steady part of a run, made of the tables that are read for those about all of it.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::{DataFrame, LazyFrame};

use super::coalesced::{CoalescedSegments, GPU_SEGMENTS};
use super::per_process::Locals;
use super::read::{SplitStatement, StatementHints};
use super::steady_rows::SteadyRows;
use super::sums::Sums;
use crate::groups::{Passes, Tables};
use wavesieve_tables::columns::requests::{Request, united};
use wavesieve_tables::derive;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::views::SteadyParts;

/// Statements about the steady part while the trace is read.
pub struct Steady<'a> {
    /// Groupings, and those of tables that depend on all processes.
    passes: [Passes<'a>; 2],
    /// Tables that statements read, and those that depend on all processes.
    requests: [Request; 2],
    kept: [SteadyRows; 2],
    locals: Locals<'a>,
    sums: Sums,
    merged: CoalescedSegments,
    has_grid: bool,
}

/// Tables of the steady part.
pub(crate) struct SteadyTables {
    /// The tables that any statement reads.
    pub frames: BTreeMap<&'static str, LazyFrame>,
    /// Segments summed up.
    pub sums: Option<LazyFrame>,
    /// Segments to be put together.
    pub merged: CoalescedSegments,
}

/// Steps of statements that are worked out already.
pub(crate) struct SteadySteps<'a> {
    /// Groupings.
    pub tables: Tables<'a>,
    /// Groupings of tables that depend on all processes.
    pub late_tables: Tables<'a>,
    /// Steps of each statement in turn that has some.
    pub local: Vec<Option<BTreeMap<String, DataFrame>>>,
}

impl<'a> Steady<'a> {
    /// The statements with what is known of them.
    pub fn new(trace: &Trace, statements: Vec<(&'a SplitStatement, &StatementHints<'_>)>) -> Self {
        let groupings = || statements.iter().flat_map(|(one, _)| &one.groupings);
        let is_late = |table: &str| derive::is_joint(table);
        let of_sums = |are: bool| {
            let of_kind = statements.iter().filter(move |(_, hints)| hints.is_of_sums == are);
            of_kind.map(|(one, _)| &one.request)
        };
        let mut request = united(of_sums(true));
        request.remove(GPU_SEGMENTS);
        let mut request = united([&request].into_iter().chain(of_sums(false)));
        let late = request.extract_if(.., |table, _| is_late(table)).collect();
        let locals: Vec<_> = statements.iter().filter_map(|(one, _)| one.local.as_ref()).collect();
        Self {
            passes: [
                Passes::new(groupings().filter(|grouping| !is_late(grouping.table.name))),
                Passes::new(groupings().filter(|grouping| is_late(grouping.table.name))),
            ],
            requests: [request, late],
            kept: Default::default(),
            locals: Locals::new(trace, &locals),
            sums: Sums::of_segments(of_sums(true)),
            merged: CoalescedSegments::default(),
            has_grid: statements.iter().any(|(one, _)| one.grid.is_some()),
        }
    }

    /// Tables that are read after all others.
    pub(crate) fn late_request(&self) -> Request {
        let [_, passes] = &self.passes;
        let [_, request] = &self.requests;
        united([request, &passes.request()])
    }

    /// Consumers of the tables of each process.
    pub fn consumers<'b>(&'b self, trace: &'b Trace, parts: &'b SteadyParts) -> Vec<TableConsumer<'b>> {
        let ([passes, _], [kept, _], [request, _]) = (&self.passes, &self.kept, &self.requests);
        let merged = self.has_grid.then(|| self.merged.consumer());
        let consumers =
            passes.consumers(trace).chain(kept.consumers(trace, request)).chain(self.locals.consumers(trace));
        consumers.chain(merged).chain(self.sums.consumer()).map(|consumer| parts.consumer(consumer, false)).collect()
    }

    /// The same of tables that depend on all processes, when the parts are known.
    pub(crate) fn late_consumers<'b>(&'b self, trace: &'b Trace, parts: &'b SteadyParts) -> Vec<TableConsumer<'b>> {
        let ([_, passes], [_, kept], [_, request]) = (&self.passes, &self.kept, &self.requests);
        let consumers = passes.consumers(trace).chain(kept.consumers(trace, request));
        consumers.map(|consumer| parts.consumer(consumer, true)).collect()
    }

    /// The results from all tables.
    pub fn finish(self, trace: &Trace) -> Result<(SteadyTables, SteadySteps<'a>)> {
        let ([passes, late_passes], [kept, late_kept]) = (self.passes, self.kept);
        let [request, late] = &self.requests;
        let mut frames = kept.finish(trace, request)?;
        frames.extend(late_kept.finish(trace, late)?);
        let steps =
            SteadySteps { tables: passes.finish()?, late_tables: late_passes.finish()?, local: self.locals.finish() };
        Ok((SteadyTables { frames, sums: self.sums.finish(trace)?, merged: self.merged }, steps))
    }
}
