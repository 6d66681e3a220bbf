//! Answers and tables as Arrow IPC files.

use std::io::Write;

use anyhow::Result;
use arrow::ipc::writer::FileWriter;
use polars::prelude::DataFrame;

use crate::columns::arrow_bridge::record_batch;

/// Writes an Arrow IPC file ("Feather version 2").
///
/// # Errors
/// When a column cannot be expressed in Arrow, or writing fails.
pub(crate) fn write_arrow(frame: &DataFrame, out: &mut dyn Write) -> Result<()> {
    let batch = record_batch(frame)?;
    let mut writer = FileWriter::try_new(out, &batch.schema())?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(())
}
