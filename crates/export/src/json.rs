//! Answers as JSON: an array of records, or one record per line.

use std::io::Write;

use anyhow::Result;
use polars::prelude::DataFrame;

use super::cell::Cell;

/// Writes an array with one record per row, one row per line.
///
/// # Errors
/// When writing fails.
pub fn write_array(frame: &DataFrame, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "[")?;
    for row in 0..frame.height() {
        let end = if row + 1 == frame.height() { "" } else { "," };
        writeln!(out, "{}{end}", record(frame, row)?)?;
    }
    writeln!(out, "]")?;
    Ok(())
}

/// Writes one record per line.
///
/// # Errors
/// When writing fails.
pub fn write_lines(frame: &DataFrame, out: &mut dyn Write) -> Result<()> {
    for row in 0..frame.height() {
        writeln!(out, "{}", record(frame, row)?)?;
    }
    Ok(())
}

fn record(frame: &DataFrame, row: usize) -> Result<String> {
    let mut record = String::from("{");
    for (index, column) in frame.columns().iter().enumerate() {
        if index > 0 {
            record.push_str(", ");
        }
        record.push_str(&serde_json::to_string(column.name().as_str())?);
        record.push_str(": ");
        record.push_str(&serde_json::to_string(&Cell::new(column, row))?);
    }
    record.push('}');
    Ok(record)
}
