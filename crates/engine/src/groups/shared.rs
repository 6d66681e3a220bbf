//! Computes the groupings of several statements while the tables of a trace are read for all of them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use parking_lot::Mutex;
use polars::prelude::{DataFrame, LazyFrame};
use rayon::prelude::*;

use super::few_rows::FewRows;
use super::recognize::{Grouping, Output};
use super::run::{add_pieces, add_rows, columns_to_read};
use super::table_pass::TablePass;
use super::value::Value;
use wavesieve_model::schema::Table;
use wavesieve_tables::columns::reading::Piece;
use wavesieve_tables::columns::requests::{Request, united};
use wavesieve_tables::derive;
use wavesieve_tables::derive::source_request;
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::jobs::Jobs;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Key of a grouping: groupings with equal keys have equal tables.
type GroupingKey<'a> = (&'static str, &'a BTreeSet<Value>, &'a [(String, Output)]);

fn kind(grouping: &Grouping) -> GroupingKey<'_> {
    (grouping.table.name, &grouping.filters, &grouping.outputs)
}

/// Groupings of the same rows of one table.
struct RowGroupings<'a> {
    table: &'static Table,
    groupings: Vec<&'a Grouping>,
    columns: BTreeSet<&'static str>,
    all: Mutex<TablePass<'a>>,
    few: FewRows,
}

impl<'a> RowGroupings<'a> {
    fn empty(&self) -> TablePass<'a> {
        TablePass::new(&self.groupings)
    }

    fn absorb(&self, pass: TablePass<'a>) {
        self.all.lock().absorb(pass);
    }

    /// Adds the rows of a process whose table is read as a whole.
    fn look(&self, workers: Jobs) -> TableConsumer<'_> {
        let request = Request::from([(self.table.name, self.columns.clone())]);
        TableConsumer::new(request, move |member, tables| {
            let frame = tables.get(self.table.name).context("internal: a table was not read")?;
            add_rows(frame, member, &self.columns, workers, &self.few, || self.empty(), |pass| self.absorb(pass))
        })
    }
}

/// All groupings of some statements.
pub struct Passes<'a>(Vec<RowGroupings<'a>>);

impl<'a> Passes<'a> {
    /// Joins groupings of the same rows, and keeps one of equal groupings.
    pub fn new(groupings: impl Iterator<Item = &'a Grouping>) -> Self {
        let kinds: BTreeMap<GroupingKey<'a>, &'a Grouping> =
            groupings.map(|grouping| (kind(grouping), grouping)).collect();
        let mut passes: Vec<RowGroupings<'a>> = Vec::new();
        let mut rows: BTreeMap<(&'static str, &'a BTreeSet<Value>), Vec<&'a Grouping>> = BTreeMap::new();
        for grouping in kinds.into_values() {
            rows.entry((grouping.table.name, &grouping.filters)).or_default().push(grouping);
        }
        for groupings in rows.into_values() {
            let Some(table) = groupings.first().map(|grouping| grouping.table) else { continue };
            let pass = TablePass::new(&groupings);
            let columns = columns_to_read(&pass, table);
            passes.push(RowGroupings { table, groupings, columns, all: Mutex::new(pass), few: FewRows::default() });
        }
        Self(passes)
    }

    /// The tables and columns that the groupings read.
    pub fn request(&self) -> Request {
        let mut request = Request::new();
        for rows in &self.0 {
            request.entry(rows.table.name).or_default().extend(&rows.columns);
        }
        request
    }

    /// Consumers that add the rows of each process, for tables that are read as a whole.
    pub fn consumers<'b>(&'b self, trace: &Trace) -> impl Iterator<Item = TableConsumer<'b>> {
        let workers = trace.jobs().shared_by(trace.members().len());
        self.0.iter().map(move |rows| rows.look(workers))
    }

    /// Reads the tables of a request, and the tables that the groupings and other consumers need.
    ///
    /// # Errors
    /// When a table cannot be read, or a consumer fails.
    pub fn read(
        &self,
        trace: &Trace,
        request: &Request,
        others: &[TableConsumer<'_>],
    ) -> Result<BTreeMap<&'static str, LazyFrame>> {
        let mut in_pieces: Vec<(&RowGroupings<'a>, &TraceProcess, Box<dyn Piece>)> = Vec::new();
        let mut whole: BTreeMap<i64, BTreeSet<usize>> = BTreeMap::new();
        let of_derived = self.request().into_iter().filter(|(name, _)| !derive::needs(name).is_empty()).collect();
        let read_for_all = [request, &of_derived].into_iter().chain(others.iter().map(|look| &look.request));
        let is_read_anyway = source_request(&united(read_for_all));
        for (at, rows) in self.0.iter().enumerate() {
            for member in trace.members() {
                // A table that other consumers read as a whole is not read again in pieces.
                let pieces = match is_read_anyway.contains_key(rows.table.name) {
                    true => None,
                    false => trace.pieces(member, rows.table, &rows.columns)?,
                };
                match pieces {
                    Some(pieces) => in_pieces.extend(pieces.into_iter().map(|piece| (rows, member, piece))),
                    None => _ = whole.entry(member.process.process).or_default().insert(at),
                }
            }
        }
        let add_piece = |(rows, member, piece): &(&RowGroupings<'a>, &TraceProcess, Box<dyn Piece>)| {
            let mut pass = rows.empty();
            add_pieces(&mut pass, member, piece.as_ref(), &rows.columns)?;
            rows.absorb(pass);
            Ok::<_, anyhow::Error>(())
        };
        trace.jobs().run(&in_pieces, |_| 0, add_piece)?;
        drop(in_pieces);
        let workers = trace.jobs().shared_by(trace.members().len());
        let groupings: Vec<TableConsumer<'_>> = self.0.iter().map(|rows| rows.look(workers)).collect();
        let looks_at = |member: &TraceProcess| {
            let of_member = whole.get(&member.process.process).into_iter().flatten();
            // The other consumers take longest.
            others.iter().chain(of_member.filter_map(|at| groupings.get(*at))).collect()
        };
        trace.frames_with_consumers(request, looks_at)
    }

    /// The tables of the groupings; groupings with sums out of range have none.
    pub fn finish(self) -> Result<Tables<'a>> {
        let finish = |rows: RowGroupings<'a>| {
            let mut all = rows.all.into_inner();
            rows.few.finish(&mut all)?;
            let frames = all.finish()?;
            let kinds = rows.groupings.into_iter().map(kind);
            Ok(frames.map(|frames| kinds.zip(frames).collect::<Vec<_>>()).unwrap_or_default())
        };
        let tables: Vec<_> = self.0.into_par_iter().map(finish).collect::<Result<_>>()?;
        Ok(Tables(tables.into_iter().flatten().collect()))
    }
}

/// Tables of groupings.
pub struct Tables<'a>(BTreeMap<GroupingKey<'a>, DataFrame>);

impl Tables<'_> {
    pub fn get(&self, grouping: &Grouping) -> Option<&DataFrame> {
        self.0.iter().find(|(known, _)| **known == kind(grouping)).map(|(_, frame)| frame)
    }
}
