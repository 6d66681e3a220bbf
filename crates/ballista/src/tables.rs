//! The tables of a statement: views over Parquet files, with texts in place of dictionaries.

use anyhow::{Context, Result};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::Column;
use datafusion::logical_expr::{Expr, cast, col};
use datafusion::prelude::{DataFrame, ParquetReadOptions, SessionContext};

use crate::request::Table;

/// Registers a table in a session.
pub(crate) async fn register(context: &SessionContext, name: &str, table: &Table) -> Result<()> {
    let rows = match table {
        Table::Statement(statement) => context.sql(statement).await?,
        Table::Files { files, condition } => {
            let first = files.first().with_context(|| format!("internal: no files of {name} are given"))?;
            let rows = context.read_parquet(files.clone(), ParquetReadOptions::default()).await;
            filtered(rows.with_context(|| format!("cannot read {first}"))?, condition.as_deref())?
        }
    };
    let view = with_plain_types(rows, |data_type| is_text(data_type).then_some(DataType::Utf8))?.into_view();
    context.register_table(name, view)?;
    Ok(())
}

fn filtered(rows: DataFrame, condition: Option<&str>) -> Result<DataFrame> {
    let Some(condition) = condition else { return Ok(rows) };
    let condition = rows.parse_sql_expr(condition)?;
    Ok(rows.filter(condition)?)
}

/// Rows with the types that the client knows: texts, and numbers of 64 bits.
pub(crate) fn with_client_types(rows: DataFrame) -> Result<DataFrame> {
    with_plain_types(rows, |data_type| match data_type {
        text if is_text(text) => Some(DataType::Utf8),
        integer if integer.is_integer() => Some(DataType::Int64),
        number if number.is_floating() || number.is_decimal() => Some(DataType::Float64),
        _ => None,
    })
}

fn with_plain_types(rows: DataFrame, wanted: impl Fn(&DataType) -> Option<DataType>) -> Result<DataFrame> {
    let plain = |field: &std::sync::Arc<Field>| -> Expr {
        let column = col(Column::from_name(field.name()));
        match wanted(field.data_type()) {
            Some(data_type) if data_type != *field.data_type() => cast(column, data_type).alias(field.name()),
            _ => column,
        }
    };
    let columns: Vec<Expr> = rows.schema().fields().iter().map(plain).collect();
    Ok(rows.select(columns)?)
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        other => other.is_string(),
    }
}
