//! Computes the groupings of a statement over a trace.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use anyhow::{Context as _, Result};
use parking_lot::Mutex;
use polars::prelude::{Column, DataFrame, LazyFrame, Scalar};

use super::few_rows::{self, FewRows};
use super::recognize::{Grouping, Recognized, recognize};
use super::table_pass::TablePass;
use crate::parsed::ParsedStatement;
use crate::referenced_columns::referenced_columns;
use wavesieve_model::schema::Table;
use wavesieve_tables::columns::frames::{FEW_ROWS, collected, is_identity, part, pieces, selected};
use wavesieve_tables::columns::reading::Piece;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::derive;
use wavesieve_tables::trace::jobs::Jobs;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Number of rows that are added up at a time, from a table that is read as a whole.
const ADDED_ROWS: usize = 1 << 20;

/// Tables that replace the groupings of a statement.
type Grouped = Vec<(String, DataFrame)>;

/// The statement without the groupings that can be computed here, and their tables; `None` if the engine should run all of it.
pub(crate) fn without_groupings(
    trace: &Trace,
    statement: &ParsedStatement,
) -> Result<Option<(ParsedStatement, Grouped)>> {
    let Some(Recognized { groupings, rest: statement }) = recognize(statement) else { return Ok(None) };
    let mut rest = referenced_columns(&statement);
    for (table, columns) in rest.keys().flat_map(|derived| derive::needs(derived)).collect::<Vec<_>>() {
        rest.entry(table).or_default().extend(columns);
    }
    let mut grouped = Grouped::new();
    let mut passes: BTreeMap<&'static str, Vec<&Grouping>> = BTreeMap::new();
    for grouping in &groupings {
        passes.entry(grouping.table.name).or_default().push(grouping);
    }
    for groupings in passes.into_values() {
        let Some(frames) = in_one_pass(trace, &groupings, &rest)? else { return Ok(None) };
        grouped.extend(groupings.iter().map(|grouping| grouping.name.clone()).zip(frames));
    }
    Ok(Some((statement, grouped)))
}

/// Groupings of one table, which is read only once, and built only once if it is derived.
fn in_one_pass(trace: &Trace, groupings: &[&Grouping], rest: &Request) -> Result<Option<Vec<DataFrame>>> {
    let empty = || TablePass::new(groupings);
    let Some(table) = groupings.first().map(|grouping| grouping.table) else { return Ok(None) };
    let first = empty();
    let columns = columns_to_read(&first, table);
    let mut pieces: Vec<(&TraceProcess, Box<dyn Piece>)> = Vec::new();
    let mut whole: Vec<&TraceProcess> = Vec::new();
    for member in trace.members() {
        match trace.pieces(member, table, &columns)? {
            Some(of_member) => pieces.extend(of_member.into_iter().map(|piece| (member, piece))),
            // A table that must be read as a whole is not read twice.
            None if rest.contains_key(table.name) => return Ok(None),
            None => whole.push(member),
        }
    }
    let all = Mutex::new(first);
    let absorb = |pass| all.lock().absorb(pass);
    let add_piece = |(member, piece): &(&TraceProcess, Box<dyn Piece>)| {
        let mut pass = empty();
        add_pieces(&mut pass, member, piece.as_ref(), &columns)?;
        absorb(pass);
        Ok::<_, anyhow::Error>(())
    };
    trace.jobs().run(&pieces, |_| 0, add_piece)?;
    let request = Request::from([(table.name, columns.clone())]);
    let few = FewRows::default();
    let add_whole = |member: &&TraceProcess| {
        let mut tables = trace.process_frames(member, &request)?;
        let frame = tables.remove(table.name).context("internal: a table was not read")?;
        add_rows(&frame, member, &columns, trace.jobs().shared_by(whole.len()), &few, empty, absorb)
    };
    trace.each(&whole, |member| member.memory_bytes_of(&request), add_whole)?;
    let mut all = all.into_inner();
    few.finish(&mut all)?;
    all.finish()
}

/// The columns that a pass reads from a table.
pub(crate) fn columns_to_read(pass: &TablePass<'_>, table: &'static Table) -> BTreeSet<&'static str> {
    let mut columns = pass.columns();
    if columns.iter().all(|name| is_identity(name)) {
        // The identity columns are not read; another column gives a frame its height.
        columns.extend(table.column_names().nth(2));
    }
    columns
}

/// Adds the rows of a piece of a table to a pass.
pub(crate) fn add_pieces(
    pass: &mut TablePass<'_>,
    member: &TraceProcess,
    piece: &dyn Piece,
    columns: &BTreeSet<&'static str>,
) -> Result<()> {
    piece.read(&mut |frame| pass.add(&identified(frame, member, columns)?))
}

/// Adds the rows of a table of a process in parts, each to its own pass. Few rows wait for others. The workers are not pool threads: a pool
/// thread that waits for computed rows would start the next part on the same stack, and so on.
pub(crate) fn add_rows<'a>(
    frame: &LazyFrame,
    member: &TraceProcess,
    columns: &BTreeSet<&'static str>,
    workers: Jobs,
    few: &FewRows,
    empty: impl Fn() -> TablePass<'a> + Sync,
    absorb: impl Fn(TablePass<'a>) + Sync,
) -> Result<()> {
    let frame = collected(&selected(frame, columns.iter().copied().filter(|name| !is_identity(name)))?)?;
    if frame.height() <= FEW_ROWS {
        let together = few.put(identified(&frame, member, columns)?);
        if !together.is_empty() {
            let mut pass = empty();
            few_rows::add(&mut pass, together)?;
            absorb(pass);
        }
        return Ok(());
    }
    let add = |slice: &Range<usize>| {
        let mut pass = empty();
        pass.add(&identified(&part(&frame, slice), member, columns)?)?;
        absorb(pass);
        Ok::<_, anyhow::Error>(())
    };
    workers.run(&slices(&frame), |_| 0, add).map(drop)
}

/// Rows of a frame that are added up at a time. Each pass keeps data for every row meanwhile, so there are not too many.
fn slices(frame: &DataFrame) -> Vec<Range<usize>> {
    let slices = |piece: Range<usize>| {
        let firsts = piece.clone().step_by(ADDED_ROWS);
        firsts.map(move |first| first..piece.end.min(first + ADDED_ROWS))
    };
    pieces(frame).into_iter().flat_map(slices).collect()
}

/// Rows of a process with the columns that identify it.
fn identified(frame: &DataFrame, member: &TraceProcess, columns: &BTreeSet<&'static str>) -> Result<DataFrame> {
    let mut frame = frame.clone();
    for (name, value) in [("process", member.process.process), ("rank", member.process.rank)] {
        if columns.contains(name) {
            frame.with_column(Column::new_scalar(name.into(), Scalar::from(value), frame.height()))?;
        }
    }
    Ok(frame)
}
