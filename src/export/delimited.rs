//! Answers as comma- or tab-separated values.

use std::io::Write;

use anyhow::Result;
use polars::prelude::DataFrame;

use super::cell::Cell;

/// Writes a header line and one line per row; missing values are empty.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, delimiter: u8, out: &mut dyn Write) -> Result<()> {
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
    writer.write_record(frame.get_column_names().iter().map(|name| name.as_str()))?;
    for row in 0..frame.height() {
        writer.write_record(frame.columns().iter().map(|column| Cell::of(column, row).plain()))?;
    }
    writer.flush()?;
    Ok(())
}
