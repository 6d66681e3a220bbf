//! Rows that a cluster returns.

use std::io::Read;

use anyhow::{Context, Result};
use arrow::array::{RecordBatch, new_empty_array};
use arrow::ipc::reader::StreamReader;
use polars::prelude::{Column, DataFrame, IntoColumn};

use wavesieve_tables::columns::arrow_bridge::series_from_array;

/// The rows of an Arrow stream.
///
/// # Errors
/// When it is not an Arrow stream, or holds columns of a type that polars does not know.
pub(super) fn rows_of_stream(stream: impl Read) -> Result<DataFrame> {
    let reader = StreamReader::try_new(stream, None)?;
    let schema = reader.schema();
    let empty = schema.fields().iter().map(|field| new_empty_array(field.data_type())).collect();
    let mut rows = frame(&RecordBatch::try_new(schema, empty)?)?;
    for batch in reader {
        rows.vstack_mut_owned(frame(&batch?)?)?;
    }
    Ok(rows)
}

fn frame(batch: &RecordBatch) -> Result<DataFrame> {
    let columns = batch.schema_ref().fields().iter().zip(batch.columns());
    let columns: Result<Vec<Column>> = columns
        .map(|(field, array)| {
            let series = series_from_array(field.name(), array);
            Ok(series.with_context(|| format!("cannot take column {}", field.name()))?.into_column())
        })
        .collect();
    Ok(DataFrame::new(batch.num_rows(), columns?)?)
}
