//! Answers and tables as Arrow: with the units and the documentation of their columns, and dictionaries where texts have codes.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use arrow::array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use arrow::ipc::writer::{FileWriter, StreamWriter};
use polars::prelude::{Column, DataFrame, DataType as PolarsType};

use crate::columns::arrow_bridge::{array_from_column, record_batch};
use crate::engine::{ColumnUnit, OutputColumn};

/// Rows of a batch: who reads a stream can begin with the first. More rows would be copied through buffers that are too large
/// to be used again, and fresh memory costs more than the copy.
const BATCH_ROWS: usize = 1 << 15;

/// Writes an Arrow IPC file ("Feather version 2").
///
/// # Errors
/// When a column cannot be expressed in Arrow, or writing fails.
pub(crate) fn write_arrow(frame: &DataFrame, out: &mut dyn Write) -> Result<()> {
    write_file(&record_batch(frame)?, out)
}

/// Writes an Arrow IPC file.
///
/// # Errors
/// When writing fails.
pub(crate) fn write_file(batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    let mut writer = FileWriter::try_new(out, &batch.schema())?;
    pieces(batch).try_for_each(|piece| writer.write(&piece))?;
    Ok(writer.finish()?)
}

/// Writes an Arrow IPC stream, which can be read before its end is there.
///
/// # Errors
/// When writing fails.
pub(crate) fn write_stream(batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
    let mut writer = StreamWriter::try_new(out, &batch.schema())?;
    pieces(batch).try_for_each(|piece| writer.write(&piece))?;
    Ok(writer.finish()?)
}

fn pieces(batch: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    let rows = batch.num_rows();
    (0..rows.max(1)).step_by(BATCH_ROWS).map(move |first| batch.slice(first, BATCH_ROWS.min(rows - first)))
}

/// How nanoseconds are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// As integers.
    Integers,
    /// As durations.
    Durations,
}

/// An answer with what its columns are: the field metadata `unit` and `doc`, and codes of 32 bits for texts that have codes.
///
/// # Errors
/// When a column cannot be expressed in Arrow.
pub(crate) fn described(frame: &DataFrame, columns: &[OutputColumn], times: Times) -> Result<RecordBatch> {
    let mut fields = Vec::with_capacity(frame.width());
    let mut arrays = Vec::with_capacity(frame.width());
    for (column, declared) in frame.columns().iter().zip(columns) {
        let is_time = matches!(declared.unit, ColumnUnit::Nanoseconds | ColumnUnit::Instant);
        let array = match column.dtype() {
            PolarsType::Categorical(_, _) => dictionary(column)?,
            PolarsType::Int64 if is_time && times == Times::Durations => {
                cast(&array_from_column(column)?, &DataType::Duration(TimeUnit::Nanosecond))?
            }
            // A name recurs, also where the engine gave it as text.
            PolarsType::String if declared.unit == ColumnUnit::Name => {
                let words = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                cast(&array_from_column(column)?, &words)?
            }
            _ => array_from_column(column)?,
        };
        let unit = Some(declared.unit).filter(|unit| !matches!(unit, ColumnUnit::Name | ColumnUnit::Text));
        let unit = unit.map(|unit| ("unit".to_owned(), unit.word().to_owned()));
        let doc = Some(&declared.doc).filter(|doc| !doc.is_empty()).map(|doc| ("doc".to_owned(), doc.clone()));
        let field = Field::new(column.name().as_str(), array.data_type().clone(), true);
        fields.push(field.with_metadata(unit.into_iter().chain(doc).collect()));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(frame.height()));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?)
}

/// A dictionary of the texts that occur, in the order in which they come first: the shared one has those of all columns.
fn dictionary(column: &Column) -> Result<ArrayRef> {
    let series = column.as_materialized_series();
    let texts = series.cat32().context("internal: a dictionary of another type")?;
    let mapping = texts.get_mapping();
    let codes = texts.physical();
    let most = codes.iter().flatten().max().map_or(0, |code| code as usize + 1);
    let mut places: Vec<Option<i32>> = vec![None; most];
    let mut values: Vec<&str> = Vec::new();
    let keys = codes.iter().map(|code| {
        let code = code?;
        let place = places.get_mut(code as usize)?;
        if place.is_none() {
            *place = i32::try_from(values.len()).ok();
            values.push(mapping.cat_to_str(code).unwrap_or_default());
        }
        *place
    });
    let keys: Int32Array = keys.collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(StringArray::from(values)))?))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array as _, AsArray as _};
    use arrow::ipc::reader::{FileReader, StreamReader};
    use polars::prelude::{IntoLazy as _, col, df};

    use super::*;
    use crate::columns::frames::categorical;

    fn answer() -> (DataFrame, Vec<OutputColumn>) {
        let names = [Some("b"), None, Some("a"), Some("b")];
        let frame = df!("name" => names, "total_ns" => [1_i64, 2, 3, 4]).unwrap();
        let frame = frame.lazy().with_column(col("name").cast(categorical())).collect().unwrap();
        let column = |name: &str, unit, doc: &str| OutputColumn { name: name.to_owned(), unit, doc: doc.to_owned() };
        let columns =
            vec![column("name", ColumnUnit::Name, ""), column("total_ns", ColumnUnit::Nanoseconds, "the sum")];
        (frame, columns)
    }

    #[test]
    fn units_and_dictionaries_are_kept() {
        let (frame, columns) = answer();
        let batch = described(&frame, &columns, Times::Integers).unwrap();
        let schema = batch.schema();
        assert_eq!(schema.field(1).metadata()["unit"], "ns");
        assert_eq!(schema.field(1).metadata()["doc"], "the sum");
        assert!(schema.field(0).metadata().is_empty());
        let names = batch.column(0).as_dictionary::<arrow::datatypes::Int32Type>();
        assert_eq!(names.values().as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(names.keys().iter().collect::<Vec<_>>(), [Some(0), None, Some(1), Some(0)]);
        let durations = described(&frame, &columns, Times::Durations).unwrap();
        assert_eq!(*durations.column(1).data_type(), DataType::Duration(TimeUnit::Nanosecond));
    }

    #[test]
    fn files_and_streams_hold_the_same() {
        let (frame, columns) = answer();
        let batch = described(&frame, &columns, Times::Integers).unwrap();
        let (mut file, mut stream) = (Vec::new(), Vec::new());
        write_file(&batch, &mut file).unwrap();
        write_stream(&batch, &mut stream).unwrap();
        let of_file: Vec<_> = FileReader::try_new(std::io::Cursor::new(file), None).unwrap().flatten().collect();
        let of_stream: Vec<_> = StreamReader::try_new(stream.as_slice(), None).unwrap().flatten().collect();
        assert_eq!((&of_file, of_file.len()), (&of_stream, 1));
        assert_eq!(of_file[0], batch);
    }

    #[test]
    fn missing_values_of_no_type_are_a_column() {
        let nothing = Column::full_null("x".into(), 2, &PolarsType::Null);
        let frame = DataFrame::new_infer_height(vec![nothing]).unwrap();
        let columns = [OutputColumn { name: "x".to_owned(), unit: ColumnUnit::Text, doc: String::new() }];
        let batch = described(&frame, &columns, Times::Integers).unwrap();
        assert_eq!((batch.num_rows(), batch.column(0).data_type()), (2, &DataType::Null));
    }
}
