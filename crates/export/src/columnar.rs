//! Answers and tables as Arrow: with the units and the documentation of their columns, and dictionaries where texts have codes.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use arrow::array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::writer::{FileWriter, StreamWriter};
use polars::prelude::{Column, DataFrame, DataType as PolarsType};

use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_tables::columns::arrow_bridge::{array_from_column, record_batch};

/// Rows of a batch. A reader of a stream can start with the first batch. Larger batches would be copied through buffers
/// that are too large to be reused, and fresh memory costs more than the copy.
const BATCH_ROWS: usize = 1 << 15;

/// Writes an Arrow IPC file ("Feather version 2").
pub(crate) fn write_arrow(frame: &DataFrame, out: &mut dyn Write) -> Result<()> {
    write_file(&record_batch(frame)?.into(), out)
}

/// Writes an Arrow IPC file.
///
/// # Errors
/// When writing fails.
pub fn write_file(rows: &ArrowRows, out: &mut dyn Write) -> Result<()> {
    let mut writer = FileWriter::try_new(out, &rows.schema)?;
    rows.batches().try_for_each(|batch| writer.write(&batch?))?;
    Ok(writer.finish()?)
}

/// Writes an Arrow IPC stream, which can be read before it is complete.
///
/// # Errors
/// When writing fails.
pub fn write_stream(rows: &ArrowRows, out: &mut dyn Write) -> Result<()> {
    let mut writer = StreamWriter::try_new(out, &rows.schema)?;
    rows.batches().try_for_each(|batch| writer.write(&batch?))?;
    Ok(writer.finish()?)
}

/// Rows in Arrow.
pub struct ArrowRows {
    schema: SchemaRef,
    /// Columns with all rows, or with the rows of one batch if all rows are equal.
    columns: Vec<ArrayRef>,
    height: usize,
    batch_rows: usize,
}

impl ArrowRows {
    fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> {
        let firsts = (0..self.height.max(1)).step_by(self.batch_rows.max(1));
        firsts.map(|first| self.batch(first, self.batch_rows.min(self.height - first)))
    }

    fn batch(&self, first: usize, rows: usize) -> Result<RecordBatch, ArrowError> {
        let part = |column: &ArrayRef| column.slice(if column.len() == self.height { first } else { 0 }, rows);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let columns = self.columns.iter().map(part).collect();
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
    }
}

impl From<RecordBatch> for ArrowRows {
    fn from(batch: RecordBatch) -> Self {
        let height = batch.num_rows();
        let (schema, columns, _) = batch.into_parts();
        Self { schema, columns, height, batch_rows: BATCH_ROWS }
    }
}

/// How nanoseconds are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// As integers.
    Integers,
    /// As durations.
    Durations,
}

/// Returns an answer with the field metadata `unit` and `doc`, and with 32-bit codes for texts that have codes.
///
/// # Errors
/// When a column cannot be expressed in Arrow.
pub fn described(frame: &DataFrame, columns: &[OutputColumn], times: Times) -> Result<RecordBatch> {
    Ok(described_in(frame.height(), frame, columns, times)?.batch(0, frame.height())?)
}

/// Returns the same as [`described`], for writing in batches.
///
/// # Errors
/// Those of [`described`].
pub fn described_rows(frame: &DataFrame, columns: &[OutputColumn], times: Times) -> Result<ArrowRows> {
    described_in(BATCH_ROWS, frame, columns, times)
}

fn described_in(batch_rows: usize, frame: &DataFrame, columns: &[OutputColumn], times: Times) -> Result<ArrowRows> {
    let mut fields = Vec::with_capacity(frame.width());
    let mut arrays = Vec::with_capacity(frame.width());
    for (column, declared) in frame.columns().iter().zip(columns) {
        // A column with one value in all rows needs memory for only one batch.
        let alike = column.as_scalar_column().map(|_| column.slice(0, batch_rows));
        let column = alike.as_ref().unwrap_or(column);
        let is_time = matches!(declared.unit, ColumnUnit::Nanoseconds | ColumnUnit::Instant);
        let array = match column.dtype() {
            PolarsType::Categorical(_, _) => dictionary(column)?,
            PolarsType::Int64 if is_time && times == Times::Durations => {
                cast(&array_from_column(column)?, &DataType::Duration(TimeUnit::Nanosecond))?
            }
            // Names recur, even if the engine returned them as text.
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
    Ok(ArrowRows { schema: Arc::new(Schema::new(fields)), columns: arrays, height: frame.height(), batch_rows })
}

/// A dictionary of the texts that occur, in order of first occurrence. The shared dictionary has the texts of all
/// columns.
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
    use polars::prelude::{IntoLazy as _, PlSmallStr, Scalar, col, df};

    use super::*;
    use wavesieve_tables::columns::frames::categorical;

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
        let rows = described_rows(&frame, &columns, Times::Integers).unwrap();
        let (mut file, mut stream) = (Vec::new(), Vec::new());
        write_file(&rows, &mut file).unwrap();
        write_stream(&rows, &mut stream).unwrap();
        let of_file: Vec<_> = FileReader::try_new(std::io::Cursor::new(file), None).unwrap().flatten().collect();
        let of_stream: Vec<_> = StreamReader::try_new(stream.as_slice(), None).unwrap().flatten().collect();
        assert_eq!((&of_file, of_file.len()), (&of_stream, 1));
        assert_eq!(of_file[0], batch);
    }

    #[test]
    fn columns_of_one_value_are_the_same_in_every_batch() {
        let rows = BATCH_ROWS + 3;
        let number = |name: &str, value: Option<i64>| {
            let value = value.map_or(Scalar::null(PolarsType::Int64), Scalar::from);
            Column::new_scalar(name.into(), value, rows)
        };
        let text = Column::new_scalar("text".into(), Scalar::from(PlSmallStr::from("a")), rows);
        let counted = Column::new("counted".into(), (0..rows as i64).collect::<Vec<_>>());
        let codes = text.cast(&categorical()).unwrap().with_name("codes".into());
        let all = vec![number("rank", Some(7)), number("none", None), text, codes, counted];
        let frame = DataFrame::new_infer_height(all).unwrap();
        assert!(frame.columns().iter().filter(|column| column.as_scalar_column().is_some()).count() >= 3);
        let units = [ColumnUnit::Text, ColumnUnit::Nanoseconds, ColumnUnit::Name, ColumnUnit::Name, ColumnUnit::Text];
        let described_as = |(column, unit): (&Column, ColumnUnit)| OutputColumn {
            name: column.name().to_string(),
            unit,
            doc: String::new(),
        };
        let columns: Vec<OutputColumn> = frame.columns().iter().zip(units).map(described_as).collect();
        for times in [Times::Integers, Times::Durations] {
            let whole = described(&frame, &columns, times).unwrap();
            let written = described_rows(&frame, &columns, times).unwrap();
            let (mut file, mut stream) = (Vec::new(), Vec::new());
            write_file(&written, &mut file).unwrap();
            write_stream(&written, &mut stream).unwrap();
            let file: Vec<_> = FileReader::try_new(std::io::Cursor::new(file), None).unwrap().flatten().collect();
            let stream: Vec<_> = StreamReader::try_new(stream.as_slice(), None).unwrap().flatten().collect();
            assert_eq!(file, [whole.slice(0, BATCH_ROWS), whole.slice(BATCH_ROWS, 3)]);
            assert_eq!(file, stream);
        }
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
