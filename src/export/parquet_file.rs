//! Parquet files of canonical tables, with units and provenance in their metadata.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::schema::types::ColumnPath;
use polars::prelude::DataFrame;

use crate::trace::arrow_bridge::record_batch;
use crate::trace::facts::ProcessFacts;
use crate::trace::schema::{Table, Unit};

/// Rows of a row group: small enough to be read in parallel, large enough to compress.
const ROW_GROUP_ROWS: usize = 1_048_576;
/// Rows handed to the writer at a time.
const BATCH_ROWS: usize = 131_072;

/// Writes the rows of a canonical table of one process.
///
/// # Errors
/// When a column cannot be expressed in Parquet, or writing fails.
pub fn write_table(
    frame: &DataFrame,
    table: &'static Table,
    facts: &ProcessFacts,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let first = with_metadata(&record_batch(&frame.head(Some(0)))?, table)?;
    let properties = properties(table, facts)?;
    let mut writer = ArrowWriter::try_new(out, first.schema(), Some(properties))?;
    let mut offset = 0;
    while offset < frame.height() {
        let part = frame.slice(offset as i64, BATCH_ROWS);
        writer.write(&with_metadata(&record_batch(&part)?, table)?)?;
        offset += BATCH_ROWS;
    }
    writer.close()?;
    Ok(())
}

/// Writes any frame, without metadata of its own.
///
/// # Errors
/// When a column cannot be expressed in Parquet, or writing fails.
pub fn write_frame(frame: &DataFrame, out: &mut (dyn Write + Send)) -> Result<()> {
    let batch = record_batch(frame)?;
    let properties = base_properties()?.build();
    let mut writer = ArrowWriter::try_new(out, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

/// The same batch with unit and documentation at every field. Nullability is that of the declaration.
fn with_metadata(batch: &RecordBatch, table: &'static Table) -> Result<RecordBatch> {
    let fields: Vec<Field> = batch
        .schema()
        .fields()
        .iter()
        .map(|field| {
            let Some(column) = table.column(field.name()) else { return field.as_ref().clone() };
            let doc = [("doc".to_owned(), column.doc.to_owned())];
            let unit = Some(column.unit).filter(|unit| *unit != Unit::None);
            let unit = unit.map(|unit| ("unit".to_owned(), unit.name().to_owned()));
            let metadata = doc.into_iter().chain(unit).collect();
            Field::new(field.name(), field.data_type().clone(), true).with_metadata(metadata)
        })
        .collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), batch.columns().to_vec())?)
}

fn base_properties() -> Result<WriterPropertiesBuilder> {
    Ok(WriterProperties::builder()
        .set_created_by(concat!("wavesieve ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_max_row_group_size(ROW_GROUP_ROWS))
}

fn properties(table: &'static Table, facts: &ProcessFacts) -> Result<WriterProperties> {
    let mut properties = base_properties()?.set_key_value_metadata(Some(provenance(table, facts)?));
    for column in table.columns {
        if column.unit == Unit::Nanoseconds {
            // Times hardly repeat but differ little from one row to the next.
            let path = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(properties.build())
}

fn provenance(table: &'static Table, facts: &ProcessFacts) -> Result<Vec<KeyValue>> {
    let units: BTreeMap<&str, &str> = table
        .columns
        .iter()
        .filter(|column| column.unit != Unit::None)
        .map(|column| (column.name, column.unit.name()))
        .collect();
    let optional = |value: &Option<String>| value.clone().unwrap_or_default();
    Ok([
        ("wavesieve.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("wavesieve.table", table.name.to_owned()),
        ("wavesieve.about", table.about.to_owned()),
        ("wavesieve.key", table.key.join(",")),
        ("wavesieve.sorted_by", table.sort.join(",")),
        ("wavesieve.units", serde_json::to_string(&units)?),
        ("wavesieve.clock", "boot time of the node".to_owned()),
        ("wavesieve.source", facts.source.clone()),
        ("wavesieve.source_format", facts.format.clone()),
        ("wavesieve.source_schema_version", optional(&facts.schema_version)),
        ("wavesieve.guid", optional(&facts.guid)),
    ]
    .into_iter()
    .map(|(key, value)| KeyValue::new(key.to_owned(), value))
    .collect())
}
