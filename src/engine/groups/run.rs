//! Works out the groupings of a statement over a trace.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use polars::prelude::{Column, DataFrame, Scalar};
use rayon::prelude::*;

use super::accumulate::Pass;
use super::recognise::{Grouping, Recognised, recognise};
use crate::engine::mentions::mentioned;
use crate::trace::frames::is_identity;
use crate::trace::schema::Table;
use crate::trace::source::Piece;
use crate::trace::{Member, Request, Trace, derived};

/// Rows of a table read as a whole that are added up at a time.
const ADDED_ROWS: usize = 1 << 20;

/// Tables that stand for the groupings of a statement.
type Grouped = Vec<(String, DataFrame)>;

/// The statement without the groupings that can be worked out here, and the tables that stand for them; `None` where
/// the engine had better run all of it.
///
/// # Errors
/// When a table cannot be read.
pub fn without_groupings(trace: &Trace, sql: &str) -> Result<Option<(String, Grouped)>> {
    let Some(Recognised { groupings, sql }) = recognise(sql) else { return Ok(None) };
    let mut rest = mentioned(&sql);
    for (table, columns) in rest.keys().flat_map(|derived| derived::needs(derived)).collect::<Vec<_>>() {
        rest.entry(table).or_default().extend(columns);
    }
    let mut grouped = Grouped::new();
    let mut passes: BTreeMap<(&'static str, &BTreeSet<&'static str>), Vec<&Grouping>> = BTreeMap::new();
    for grouping in &groupings {
        passes.entry((grouping.table.name, &grouping.filters)).or_default().push(grouping);
    }
    for ((_, filters), groupings) in passes {
        let Some(frames) = in_one_pass(trace, filters, &groupings, &rest)? else { return Ok(None) };
        grouped.extend(groupings.iter().map(|grouping| grouping.name.clone()).zip(frames));
    }
    Ok(Some((sql, grouped)))
}

/// Rows of one process that one thread reads.
struct Work<'a> {
    member: &'a Member,
    /// A part of the table; all of it where there is none.
    piece: Option<Box<dyn Piece>>,
}

/// Groupings of the same rows of one table.
fn in_one_pass(
    trace: &Trace,
    filters: &BTreeSet<&'static str>,
    groupings: &[&Grouping],
    rest: &Request,
) -> Result<Option<Vec<DataFrame>>> {
    let empty = || Pass::new(filters, groupings);
    let Some(table) = groupings.first().map(|grouping| grouping.table) else { return Ok(None) };
    // Held until the end, and with it the dictionary that all parts share.
    let first = empty();
    let mut columns = first.columns();
    if columns.iter().all(|name| is_identity(name)) {
        // These two are not read; a column of its own gives a frame its height.
        columns.extend(table.column_names().nth(2));
    }
    let mut work = Vec::new();
    for member in trace.members() {
        match trace.pieces(member, table, &columns)? {
            Some(pieces) => work.extend(pieces.into_iter().map(|piece| Work { member, piece: Some(piece) })),
            // What must be read as a whole is not read twice.
            None if rest.contains_key(table.name) => return Ok(None),
            None => work.push(Work { member, piece: None }),
        }
    }
    let added = work
        .par_iter()
        .try_fold(empty, |mut pass, work| {
            work.read(trace, table, &columns, &mut |frame| pass.add(frame))?;
            Ok::<_, anyhow::Error>(pass)
        })
        .try_reduce(empty, |one, other| Ok(one.merge(other)))?;
    first.merge(added).finish()
}

impl Work<'_> {
    fn read(
        &self,
        trace: &Trace,
        table: &'static Table,
        columns: &BTreeSet<&'static str>,
        add: &mut dyn FnMut(&DataFrame) -> Result<()>,
    ) -> Result<()> {
        let process = &self.member.process;
        let mut identified = |frame: &DataFrame| {
            let mut frame = frame.clone();
            for (name, value) in [("process", process.process), ("rank", process.rank)] {
                if columns.contains(name) {
                    frame.with_column(Column::new_scalar(name.into(), Scalar::from(value), frame.height()))?;
                }
            }
            add(&frame)
        };
        match &self.piece {
            Some(piece) => piece.read(&mut identified),
            None => {
                let request = Request::from([(table.name, columns.clone())]);
                let mut tables = trace.process_frames(self.member, &request)?;
                let frame = tables.remove(table.name).context("internal: a table was not read")?;
                let frame = frame.collect()?;
                // What is kept of every row for as long as a frame is added up is kept of fewer.
                (0..frame.height())
                    .step_by(ADDED_ROWS)
                    .try_for_each(|first| identified(&frame.slice(first as i64, ADDED_ROWS)))
            }
        }
    }
}
