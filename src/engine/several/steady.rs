//! What statements about the steady part of a run are run over, made of the tables that are read for those about all of it.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::{DataFrame, LazyFrame};

use super::kept::Kept;
use super::local::Locals;
use super::merged::{GPU_SEGMENTS, Merged};
use super::read::{Apart, Told};
use super::sums::Sums;
use crate::columns::requests::Request;
use crate::derive;
use crate::engine::groups::{Passes, Tables};
use crate::engine::run::united;
use crate::trace::Trace;
use crate::trace::looks::Look;
use crate::trace::views::SteadyParts;

/// Statements about the steady part while the trace is read.
pub struct Steady<'a> {
    /// Groupings, and those of tables that depend on all processes.
    passes: [Passes<'a>; 2],
    /// Tables that statements read, and those that depend on all processes.
    requests: [Request; 2],
    kept: [Kept; 2],
    locals: Locals<'a>,
    sums: Sums,
    merged: Merged,
    has_grid: bool,
}

/// Tables of the steady part.
pub struct SteadyTables {
    /// The tables that any statement reads.
    pub frames: BTreeMap<&'static str, LazyFrame>,
    /// Segments summed up.
    pub sums: Option<LazyFrame>,
    /// Segments to be put together.
    pub merged: Merged,
}

/// Steps of statements that are worked out already.
pub struct SteadySteps<'a> {
    /// Groupings.
    pub tables: Tables<'a>,
    /// Groupings of tables that depend on all processes.
    pub late_tables: Tables<'a>,
    /// Steps of each statement in turn that has some.
    pub local: Vec<Option<BTreeMap<String, DataFrame>>>,
}

impl<'a> Steady<'a> {
    /// The statements with what is told of them.
    pub fn of(trace: &Trace, statements: Vec<(&'a Apart, &Told<'_>)>) -> Self {
        let groupings =
            || statements.iter().filter_map(|(one, _)| one.recognised.as_ref()).flat_map(|one| &one.groupings);
        let is_late = |table: &str| derive::is_joint(table);
        let of_sums = |are: bool| {
            let of_kind = statements.iter().filter(move |(_, told)| told.is_of_sums == are);
            of_kind.map(|(one, _)| &one.request)
        };
        let mut request = united(of_sums(true));
        request.remove(GPU_SEGMENTS);
        let mut request = united([&request].into_iter().chain(of_sums(false)));
        let late = request.extract_if(.., |table, _| is_late(table)).collect();
        let locals: Vec<_> = statements.iter().filter_map(|(one, _)| one.local.as_ref()).collect();
        Self {
            passes: [
                Passes::of(groupings().filter(|grouping| !is_late(grouping.table.name))),
                Passes::of(groupings().filter(|grouping| is_late(grouping.table.name))),
            ],
            requests: [request, late],
            kept: Default::default(),
            locals: Locals::of(trace, &locals),
            sums: Sums::of_segments(of_sums(true)),
            merged: Merged::default(),
            has_grid: statements.iter().any(|(_, told)| told.grid.is_some()),
        }
    }

    /// What is read after all other tables.
    pub fn late_request(&self) -> Request {
        let [_, passes] = &self.passes;
        let [_, request] = &self.requests;
        united([request, &passes.request()])
    }

    /// What is made of the tables of each process.
    pub fn looks<'b>(&'b self, trace: &'b Trace, parts: &'b SteadyParts) -> Vec<Look<'b>> {
        let ([passes, _], [kept, _], [request, _]) = (&self.passes, &self.kept, &self.requests);
        let merged = self.has_grid.then(|| self.merged.look());
        let looks = passes.looks(trace).chain(kept.looks(trace, request)).chain(self.locals.looks(trace));
        looks.chain(merged).chain(self.sums.look()).map(|look| parts.look(look, false)).collect()
    }

    /// The same of tables that depend on all processes, when the parts are known.
    pub fn late_looks<'b>(&'b self, trace: &'b Trace, parts: &'b SteadyParts) -> Vec<Look<'b>> {
        let ([_, passes], [_, kept], [_, request]) = (&self.passes, &self.kept, &self.requests);
        let looks = passes.looks(trace).chain(kept.looks(trace, request));
        looks.map(|look| parts.look(look, true)).collect()
    }

    /// What was made of all tables.
    ///
    /// # Errors
    /// When polars cannot build a table.
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
