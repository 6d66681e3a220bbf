//! Parquet files of canonical tables, with units and provenance in their metadata.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;
use parquet::format::SortingColumn;
use parquet::schema::types::{ColumnDescPtr, ColumnPath};
use polars::prelude::{Column, DataFrame, IdxCa};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::dictionary;
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::{Column as Declaration, ColumnType, Table, Unit};
use wavesieve_tables::columns::arrow_bridge::{array_from_column, record_batch};
use wavesieve_tables::columns::frames::{empty_frame, is_identity};

/// Rows of a row group: small enough to be read in parallel, large enough to compress.
pub(crate) const ROW_GROUP_ROWS: usize = 1_048_576;
/// Maximum number of rows sampled to decide whether the values of a column repeat.
const SAMPLE_ROWS: usize = 4_096;

/// Writes the rows of a canonical table of one process, in the given order or as they are. Columns are encoded in
/// parallel, a row group at a time.
///
/// # Errors
/// When a column cannot be expressed in Parquet, or writing fails.
pub fn write_table(
    frame: &DataFrame,
    order: Option<&IdxCa>,
    table: &'static Table,
    facts: &ProcessFacts,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let schema = schema(table)?;
    let frame = &frame.select(table.column_names())?;
    let hardly_repeating = hardly_repeating(frame, table)?;
    let properties = properties(&hardly_repeating, table)?.set_key_value_metadata(Some(provenance(table, facts)?));
    let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties.build()))?;
    let (mut writer, columns) = writer.into_serialized_writer()?;
    let descriptors = writer.schema_descr().columns().to_vec();
    for (group, first) in (0..frame.height()).step_by(ROW_GROUP_ROWS).enumerate() {
        let rows = ROW_GROUP_ROWS.min(frame.height() - first);
        let parts: Vec<(&Column, &FieldRef, &ColumnDescPtr, ArrowColumnWriter)> = frame
            .columns()
            .iter()
            .zip(schema.fields())
            .zip(&descriptors)
            .zip(columns.create_column_writers(group)?)
            .map(|(((column, field), descriptor), writer)| (column, field, descriptor, writer))
            .collect();
        let chunks: Vec<Encoded> = parts
            .into_par_iter()
            .map(|(column, field, descriptor, mut writer)| {
                let part = match order {
                    Some(order) => column.take(&order.slice(first as i64, rows))?,
                    None => column.slice(first as i64, rows),
                };
                if !hardly_repeating.contains(column.name().as_str())
                    && let Some(chunk) = dictionary::encode(&part, descriptor)?
                {
                    return Ok(Encoded::Numbered(chunk));
                }
                for leaf in compute_leaves(field, &array_from_column(&part)?)? {
                    writer.write(&leaf)?;
                }
                Ok(Encoded::Ordinary(writer.close()?))
            })
            .collect::<Result<_>>()?;
        let mut row_group = writer.next_row_group()?;
        for chunk in chunks {
            match chunk {
                Encoded::Numbered(chunk) => row_group.append_column(&chunk.bytes, chunk.close)?,
                Encoded::Ordinary(chunk) => chunk.append_to_row_group(&mut row_group)?,
            }
        }
        row_group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// A column chunk from either encoder.
enum Encoded {
    Numbered(dictionary::Chunk),
    Ordinary(ArrowColumnChunk),
}

/// Writes any frame, without metadata of its own.
///
/// # Errors
/// When a column cannot be expressed in Parquet, or writing fails.
pub fn write_frame(frame: &DataFrame, out: &mut (dyn Write + Send)) -> Result<()> {
    write_batch(&record_batch(frame)?, out)
}

/// Writes a batch with the metadata of its fields.
///
/// # Errors
/// When a column cannot be expressed in Parquet, or writing fails.
pub fn write_batch(batch: &RecordBatch, out: &mut (dyn Write + Send)) -> Result<()> {
    let properties = base_properties()?.build();
    let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.close()?;
    Ok(())
}

/// A writer of row groups that are encoded already.
pub(crate) fn part_writer<W: Write + Send>(table: &'static Table, out: W) -> Result<SerializedFileWriter<W>> {
    let properties = properties(&BTreeSet::new(), table)?.set_key_value_metadata(Some(about(table)?));
    let writer = ArrowWriter::try_new(out, schema(table)?, Some(properties.build()))?;
    Ok(writer.into_serialized_writer()?.0)
}

/// Writes a frame with one column of rising integers, which differ little from one row to the next.
pub(crate) fn write_rising(frame: &DataFrame, out: &mut (dyn Write + Send)) -> Result<()> {
    let batch = record_batch(frame)?;
    let properties = base_properties()?.set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BINARY_PACKED);
    let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties.build()))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

/// The Arrow schema of a table, with units and documentation. It depends only on the declaration, because processes
/// share files. So only columns that are the same in all rows are never null.
fn schema(table: &'static Table) -> Result<Arc<Schema>> {
    let all: Vec<&'static Declaration> = table.columns.iter().collect();
    let natural = record_batch(&empty_frame(&all))?.schema();
    let fields = natural.fields().iter().zip(table.columns).map(|(field, column)| {
        let doc = [("doc".to_owned(), column.doc.to_owned())];
        let unit = Some(column.unit).filter(|unit| *unit != Unit::None);
        let unit = unit.map(|unit| ("unit".to_owned(), unit.name().to_owned()));
        let data_type = match field.data_type() {
            // Not every library supports unsigned codes.
            DataType::Dictionary(_, _) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            other => other.clone(),
        };
        let metadata = doc.into_iter().chain(unit).collect();
        Field::new(column.name, data_type, !is_identity(column.name)).with_metadata(metadata)
    });
    Ok(Arc::new(Schema::new(fields.collect::<Vec<Field>>())))
}

fn base_properties() -> Result<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder()
        .set_created_by(concat!("wavesieve ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(dictionary::ZSTD_LEVEL)?))
        .set_data_page_row_count_limit(dictionary::PAGE_ROWS)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_size(ROW_GROUP_ROWS))
}

fn properties(hardly_repeating: &BTreeSet<&'static str>, table: &'static Table) -> Result<WriterPropertiesBuilder> {
    let place = |name: &&str| table.column_names().position(|column| column == *name);
    let sorted = table.sort.iter().filter_map(place).map(|place| SortingColumn::new(place as i32, false, true));
    let mut properties =
        base_properties()?.set_statistics_enabled(EnabledStatistics::Page).set_sorting_columns(Some(sorted.collect()));
    for name in hardly_repeating {
        // Such values differ little from one row to the next, and a dictionary of them would be as long as they are.
        let path = ColumnPath::from(*name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(properties)
}

fn hardly_repeating(frame: &DataFrame, table: &'static Table) -> Result<BTreeSet<&'static str>> {
    let mut names = BTreeSet::new();
    for column in table.columns.iter().filter(|column| column.column_type == ColumnType::I64) {
        if column.unit == Unit::Nanoseconds || hardly_repeats(frame.column(column.name)?)? {
            names.insert(column.name);
        }
    }
    Ok(names)
}

/// Whether most values in a sample of an integer column are distinct.
fn hardly_repeats(column: &Column) -> Result<bool> {
    let step = column.len().div_ceil(SAMPLE_ROWS).max(1);
    let values = column.i64()?;
    let sample: Vec<i64> = (0..column.len()).step_by(step).filter_map(|row| values.get(row)).collect();
    let different: BTreeSet<i64> = sample.iter().copied().collect();
    Ok(different.len() > sample.len() / 2 && sample.len() > 1)
}

/// Metadata of a file about its table.
fn about(table: &'static Table) -> Result<Vec<KeyValue>> {
    let units: BTreeMap<&str, &str> = table
        .columns
        .iter()
        .filter(|column| column.unit != Unit::None)
        .map(|column| (column.name, column.unit.name()))
        .collect();
    Ok(pairs([
        ("wavesieve.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("wavesieve.table", table.name.to_owned()),
        ("wavesieve.about", table.about.to_owned()),
        ("wavesieve.key", table.key.join(",")),
        ("wavesieve.sorted_by", table.sort.join(",")),
        ("wavesieve.units", serde_json::to_string(&units)?),
        ("wavesieve.columns", serde_json::to_string(&described_columns(table))?),
        ("wavesieve.clock", "boot time of the node".to_owned()),
    ]))
}

/// Metadata of a file of one process.
fn provenance(table: &'static Table, facts: &ProcessFacts) -> Result<Vec<KeyValue>> {
    let optional = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut all = about(table)?;
    all.extend(pairs([
        ("wavesieve.source", facts.source.clone()),
        ("wavesieve.source_format", facts.format.clone()),
        ("wavesieve.source_schema_version", optional(&facts.schema_version)),
        ("wavesieve.guid", optional(&facts.guid)),
    ]));
    Ok(all)
}

fn pairs(pairs: impl IntoIterator<Item = (&'static str, String)>) -> Vec<KeyValue> {
    pairs.into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect()
}

/// The columns of a table as JSON: name, type, unit, whether values may be missing, documentation.
pub(crate) fn described_columns(table: &'static Table) -> Vec<Value> {
    let describe = |column: &Declaration| {
        let (name, kind, unit) = (column.name, column.column_type.name(), column.unit.name());
        json!({"name": name, "type": kind, "unit": unit, "nullable": column.nullable, "doc": column.doc})
    };
    table.columns.iter().map(describe).collect()
}
