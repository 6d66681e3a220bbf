//! Works out the groupings of a statement over a trace.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::{Column, DataFrame, LazyFrame, Scalar};

use super::few_rows::{self, FewRows};
use super::recognize::{Grouping, Recognized, recognize};
use super::shared::Passes;
use super::table_pass::TablePass;
use crate::parsed::ParsedStatement;
use crate::referenced_columns::referenced_columns;
use wavesieve_model::schema::Table;
use wavesieve_tables::columns::frames::{FEW_ROWS, collected, is_identity, selected};
use wavesieve_tables::columns::reading::Piece;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::derive;
use wavesieve_tables::trace::jobs::Jobs;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Rows of a table read as a whole that are added up at a time.
const ADDED_ROWS: usize = 1 << 20;

/// Tables that stand for the groupings of a statement.
type Grouped = Vec<(String, DataFrame)>;

/// The statement without the groupings that can be worked out here, and the tables that stand for them; `None` where
/// the engine had better run all of it.
pub(crate) fn without_groupings(
    trace: &Trace,
    statement: &ParsedStatement,
) -> Result<Option<(ParsedStatement, Grouped)>> {
    let Some(Recognized { groupings, rest: statement }) = recognize(statement) else { return Ok(None) };
    let mut rest = referenced_columns(&statement);
    for (table, columns) in rest.keys().flat_map(|derived| derive::needs(derived)).collect::<Vec<_>>() {
        rest.entry(table).or_default().extend(columns);
    }
    for grouping in groupings.iter().filter(|grouping| rest.contains_key(grouping.table.name)) {
        // A table that must be read as a whole is not read twice.
        let columns = columns_to_read(&TablePass::new(&[grouping]), grouping.table);
        for member in trace.members() {
            if trace.pieces(member, grouping.table, &columns)?.is_none() {
                return Ok(None);
            }
        }
    }
    let passes = Passes::of_tables(groupings.iter());
    passes.read(trace, &Request::new(), &[])?;
    let tables = passes.finish()?;
    let grouped = |grouping: &Grouping| Some((grouping.name.clone(), tables.get(grouping)?.clone()));
    Ok(groupings.iter().map(grouped).collect::<Option<Grouped>>().map(|grouped| (statement, grouped)))
}

/// The columns of a table that a skip it reads.
pub(crate) fn columns_to_read(pass: &TablePass<'_>, table: &'static Table) -> BTreeSet<&'static str> {
    let mut columns = pass.columns();
    if columns.iter().all(|name| is_identity(name)) {
        // These two are not read; a column of its own gives a frame its height.
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

/// Adds the rows of a table of a process, in parts that are each added to a pass of their own; few rows wait for others. The workers are not those of
/// the pool: one that waits for what is computed of its rows would start the next part, and so on, on the same stack.
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
    // Each pass keeps data of every row for as long as a frame is added up; slices keep it of fewer.
    let slices: Vec<i64> = (0..frame.height()).step_by(ADDED_ROWS).map(|first| first as i64).collect();
    let add = |first: &i64| {
        let mut pass = empty();
        pass.add(&identified(&frame.slice(*first, ADDED_ROWS), member, columns)?)?;
        absorb(pass);
        Ok::<_, anyhow::Error>(())
    };
    workers.run(&slices, |_| 0, add).map(drop)
}

/// Rows of a process with the columns that name it.
fn identified(frame: &DataFrame, member: &TraceProcess, columns: &BTreeSet<&'static str>) -> Result<DataFrame> {
    let mut frame = frame.clone();
    for (name, value) in [("process", member.process.process), ("rank", member.process.rank)] {
        if columns.contains(name) {
            frame.with_column(Column::new_scalar(name.into(), Scalar::from(value), frame.height()))?;
        }
    }
    Ok(frame)
}
