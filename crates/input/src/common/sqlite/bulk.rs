//! Reads whole tables through connectorx: narrow columns, partitioned by row id over threads.

use anyhow::{Context, Result, bail};
use arrow::array::{Array, Int64Array};
use arrow::record_batch::RecordBatch;
use connectorx::prelude::{ArrowDestination, CXQuery, Dispatcher, SQLiteArrowTransport, SQLiteSource};
use polars::prelude::{DataType, Series};

use super::column::{ColumnKind, Columns, Values, Wanted};
use wavesieve_tables::columns::arrow_bridge::series_from_array;

/// Runs the queries, each over its own range of row ids and with the row id first, and joins their rows in the order
/// of the row ids.
///
/// # Errors
/// When a value is not of the declared type, or a page is damaged. Then use the careful reader.
pub fn read(uri: &str, queries: &[String], wanted: &[Wanted]) -> Result<Columns> {
    // connectorx decodes the address once before SQLite does.
    let source = SQLiteSource::new(&uri.replace('%', "%25"), queries.len()).context("cannot open the database")?;
    let queries: Vec<CXQuery<String>> = queries.iter().map(CXQuery::naked).collect();
    let mut destination = ArrowDestination::new();
    Dispatcher::<_, _, SQLiteArrowTransport>::new(source, &mut destination, &queries, None)
        .run()
        .context("cannot read in bulk")?;
    let mut batches: Vec<(i64, RecordBatch)> = Vec::new();
    for batch in destination.arrow().context("cannot take over the rows")? {
        if let Some(first) = first_id(&batch)? {
            batches.push((first, batch));
        }
    }
    batches.sort_by_key(|(first, _)| *first);
    let mut columns = Columns { height: batches.iter().map(|(_, batch)| batch.num_rows()).sum(), ..Columns::default() };
    let names =
        std::iter::once(("id", ColumnKind::Integer)).chain(wanted.iter().map(|wanted| (wanted.name, wanted.kind)));
    for (index, (name, kind)) in names.enumerate() {
        let parts = batches.iter().map(|(_, batch)| series_from_array(name, batch.column(index)));
        columns.values.push((name, values(name, kind, parts)?));
    }
    Ok(columns)
}

fn first_id(batch: &RecordBatch) -> Result<Option<i64>> {
    let ids = batch.columns().first().context("internal: a batch without columns")?;
    let ids = ids.as_any().downcast_ref::<Int64Array>().context("row ids are not integers")?;
    Ok(ids.iter().next().flatten())
}

fn values(name: &str, kind: ColumnKind, parts: impl Iterator<Item = Result<Series>>) -> Result<Values> {
    let data_type = match kind {
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Real => DataType::Float64,
        ColumnKind::Text => DataType::String,
    };
    let mut joined = Series::new_empty(name.into(), &data_type);
    for part in parts {
        let part = part?;
        if *part.dtype() != data_type {
            bail!("column {name} is declared as {} instead of {data_type}", part.dtype());
        }
        joined.append_owned(part)?;
    }
    let joined = joined.rechunk();
    Ok(match kind {
        ColumnKind::Integer => Values::Integer(joined.i64()?.clone()),
        ColumnKind::Real => Values::Real(joined.f64()?.clone()),
        ColumnKind::Text => Values::Text(joined.str()?.clone()),
    })
}
