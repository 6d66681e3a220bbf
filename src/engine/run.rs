//! Runs statements on polars.

use anyhow::Context as _;
use polars::prelude::{ChunkApply, DataFrame, DataType, IntoColumn, IntoSeries, PlSmallStr, PolarsError};
use polars::sql::SQLContext;

use super::error::QueryError;
use super::front_matter::{ColumnUnit, OutputColumn};
use super::mentions::{mentioned, mentions};
use super::numbers::{NUMBERS, numbers};
use super::registry::Query;
use super::render::{QueryOptions, grouping, render};
use super::rounding::round_significant;
use crate::trace::Trace;

/// Rows of an answer and what its columns are.
pub struct Answer {
    /// The rows; floats are rounded to 12 significant digits, dictionary columns are plain text.
    pub frame: DataFrame,
    /// Name, unit and documentation of every column in order.
    pub columns: Vec<OutputColumn>,
}

/// Runs a named query.
///
/// # Errors
/// When the options do not fit the query, or the statement cannot be run.
pub fn run_query(trace: &Trace, query: &Query, options: &QueryOptions) -> Result<Answer, QueryError> {
    let mut answer = run_sql(trace, &render(query, options)?)?;
    let by = grouping(query, options)?;
    for column in &mut answer.columns {
        if let Some(declared) = query.declaration.columns.iter().find(|declared| declared.name == column.name) {
            column.clone_from(declared);
        } else if by.contains(&column.name) {
            "the group".clone_into(&mut column.doc);
        }
    }
    Ok(answer)
}

/// Runs any statement over the canonical tables.
///
/// # Errors
/// When the statement cannot be run.
pub fn run_sql(trace: &Trace, sql: &str) -> Result<Answer, QueryError> {
    let frames = trace.frames(&mentioned(sql))?;
    let mut context = SQLContext::new();
    for (name, frame) in frames {
        context.register(name, frame);
    }
    if mentions(sql, NUMBERS) {
        context.register(NUMBERS, numbers().context("cannot build the table of numbers")?);
    }
    let failed = |error: PolarsError| QueryError::Sql { reason: reason_of(&error.to_string()) };
    let plan = context.execute(sql).map_err(failed)?;
    // polars counts the rows of a union in a type that only a wider build has; without this optimisation it does not.
    let frame = match plan.clone().collect() {
        Err(error) if error.to_string().contains("UInt128") => plan.with_projection_pushdown(false).collect(),
        collected => collected,
    };
    let frame = frame.map_err(failed)?;
    let frame = presentable(frame)?;
    let columns = frame
        .columns()
        .iter()
        .map(|column| {
            let name = column.name().to_string();
            let unit = ColumnUnit::of_name(&name).unwrap_or(ColumnUnit::Text);
            OutputColumn { name, unit, doc: String::new() }
        })
        .collect();
    Ok(Answer { frame, columns })
}

/// The reason without the query plan that the engine adds below it, and what helps.
fn reason_of(message: &str) -> String {
    let reason = message.lines().next().unwrap_or_default().trim_end_matches('.');
    if reason.contains("got `cat`") || reason.contains("got: cat") {
        return format!("{reason}; text functions and LIKE take a column of type cat as CAST(column AS VARCHAR)");
    }
    reason.to_owned()
}

/// Rounds floats and turns dictionary columns into text, so that every way out sees the same values.
fn presentable(mut frame: DataFrame) -> Result<DataFrame, QueryError> {
    let names: Vec<PlSmallStr> = frame.get_column_names_owned();
    for name in names {
        let column = frame.column(&name).context("internal: a column vanished")?;
        let replaced = match column.dtype() {
            DataType::Float64 => {
                let values = column.f64().context("internal: a float column of another type")?;
                Some(values.apply_values(round_significant).into_series())
            }
            DataType::Float32 => {
                let values = column.cast(&DataType::Float64).context("cannot widen a float column")?;
                let values = values.f64().context("internal: a float column of another type")?;
                Some(values.apply_values(round_significant).into_series())
            }
            DataType::Categorical(_, _) | DataType::Enum(_, _) => {
                let text = column.cast(&DataType::String).context("cannot expand a dictionary column")?;
                Some(text.take_materialized_series())
            }
            other if other.is_integer() && *other != DataType::Int64 => {
                let wide = column.cast(&DataType::Int64).context("cannot widen an integer column")?;
                Some(wide.take_materialized_series())
            }
            _ => None,
        };
        if let Some(series) = replaced {
            frame.with_column(series.with_name(name).into_column()).context("cannot replace a column")?;
        }
    }
    Ok(frame)
}
