//! `counters` and `counter_instances` from a frame with one row per recorded value.

use anyhow::Result;
use polars::prelude::*;

use super::table::TableBuilder;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::categorical;

/// The rows with a value; rows without are reported in a note.
pub(crate) fn with_values(builder: &mut TableBuilder<'_>, frame: DataFrame) -> Result<DataFrame> {
    let known = frame.column("value")?.as_materialized_series().is_not_null();
    let missing = frame.height() - known.sum().unwrap_or(0) as usize;
    if missing == 0 {
        return Ok(frame);
    }
    let detail = "counter values are missing or not finite (nan, inf); excluded";
    builder.note("missing_value", Severity::Warning, missing, None, detail);
    Ok(frame.filter(&known)?)
}

/// Assembles one row per hardware instance, numbered in recorded order.
pub(crate) fn put_counter_instances(builder: &mut TableBuilder<'_>, instances: DataFrame) -> Result<()> {
    let ordinal =
        int_range(lit(0), len(), 1, DataType::Int64).over([col("pass"), col("dispatch_id"), col("counter")])?;
    let numbered = instances.lazy().with_columns([ordinal.alias("instance")]).collect()?;
    builder.set_height(numbered.height());
    for name in ["pass", "dispatch_id", "counter", "instance", "xcc", "shader_engine", "channel", "value"] {
        builder.put(name, numbered.column(name)?.clone());
    }
    Ok(())
}

/// Assembles one row per counter of a dispatch.
pub(crate) fn put_counters(builder: &mut TableBuilder<'_>, instances: DataFrame) -> Result<()> {
    let grouped = instances
        .lazy()
        .group_by_stable([col("pass"), col("dispatch_id"), col("counter")])
        .agg([
            col("value").sum(),
            col("value").min().alias("min"),
            col("value").max().alias("max"),
            col("value").mean().alias("mean"),
            len().cast(DataType::Int64).alias("instances"),
        ])
        // Passes in the same input have dispatches with the same numbers.
        .sort_by_exprs(
            [col("dispatch_id"), col("counter").cast(DataType::String), col("pass")],
            SortMultipleOptions::default(),
        )
        .with_columns([col("counter").cast(categorical())])
        .collect()?;
    builder.set_height(grouped.height());
    for name in ["pass", "dispatch_id", "counter", "value", "min", "max", "mean", "instances"] {
        builder.put(name, grouped.column(name)?.clone());
    }
    Ok(())
}
