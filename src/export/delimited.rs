//! Answers as comma- or tab-separated values.

use std::io::Write;

use anyhow::Result;
use polars::prelude::{Column, DataFrame, DataType};

use super::cell::Cell;

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes a header line and one line per row; missing values are empty.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, delimiter: u8, out: &mut dyn Write) -> Result<()> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).buffer_capacity(BUFFER_BYTES).from_writer(out);
    writer.write_record(frame.get_column_names().iter().map(|name| name.as_str()))?;
    let mut columns = frame.columns().iter().map(fields).collect::<Result<Vec<Fields<'_>>>>()?;
    let mut field = Vec::new();
    for _ in 0..frame.height() {
        for next in &mut columns {
            field.clear();
            next(&mut field)?;
            writer.write_field(&field)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()?;
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
