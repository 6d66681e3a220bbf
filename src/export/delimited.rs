//! Answers as comma- or tab-separated values.

use std::io::Write;

use anyhow::Result;
use polars::prelude::{Column, DataFrame, DataType};
use rayon::prelude::*;

use super::cell::Cell;

/// Rows that are made lines of at a time.
const PIECE_ROWS: usize = 1 << 10;
/// Pieces that are made, on all threads, before they are written.
const MOST_PIECES: usize = 16;

/// Writes a header line and one line per row; missing values are empty.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, delimiter: u8, out: &mut dyn Write) -> Result<()> {
    let writer = |target| csv::WriterBuilder::new().delimiter(delimiter).from_writer(target);
    let mut head = writer(Vec::new());
    head.write_record(frame.get_column_names().iter().map(|name| name.as_str()))?;
    out.write_all(&head.into_inner()?)?;
    let starts: Vec<usize> = (0..frame.height()).step_by(PIECE_ROWS).collect();
    for starts in starts.chunks(MOST_PIECES) {
        let pieces = starts.par_iter().map(|start| {
            let mut lines = writer(Vec::new());
            write_lines(&frame.slice(*start as i64, PIECE_ROWS), &mut lines)?;
            Ok(lines.into_inner()?)
        });
        for piece in pieces.collect::<Result<Vec<Vec<u8>>>>()? {
            out.write_all(&piece)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn write_lines(frame: &DataFrame, lines: &mut csv::Writer<Vec<u8>>) -> Result<()> {
    let mut columns = frame.columns().iter().map(fields).collect::<Result<Vec<Fields<'_>>>>()?;
    let mut field = Vec::new();
    for _ in 0..frame.height() {
        for next in &mut columns {
            field.clear();
            next(&mut field)?;
            lines.write_field(&field)?;
        }
        lines.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// Adds the plain text of a column's next value, nothing for one that is missing.
type Fields<'a> = Box<dyn FnMut(&mut Vec<u8>) -> std::io::Result<()> + 'a>;

fn fields(column: &Column) -> Result<Fields<'_>> {
    let series = column.as_materialized_series();
    Ok(match series.dtype() {
        DataType::Int64 => {
            let mut values = series.i64()?.iter();
            Box::new(move |field| values.next().flatten().map_or(Ok(()), |value| write!(field, "{value}")))
        }
        DataType::Float64 => {
            let mut values = series.f64()?.iter();
            Box::new(move |field| values.next().flatten().map_or(Ok(()), |value| write!(field, "{value}")))
        }
        DataType::String => {
            let mut values = series.str()?.iter();
            Box::new(move |field| field.write_all(values.next().flatten().unwrap_or_default().as_bytes()))
        }
        _ => {
            let mut rows = 0..column.len();
            Box::new(move |field| {
                rows.next().map_or(Ok(()), |row| field.write_all(Cell::of(column, row).plain().as_bytes()))
            })
        }
    })
}
