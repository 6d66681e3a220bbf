//! `counters` and `counter_instances` from rocpd_pmc_event.

use anyhow::Result;
use polars::prelude::*;

use super::assembly::Assembly;
use crate::input::common::Texts;
use crate::input::common::sqlite::{integer, real, text};
use crate::input::common::{IdIndex, count_first};
use crate::trace::frames::{categorical, dictionary_column};
use crate::trace::source::Severity;

/// Rows of rocpd_pmc_event that belong to a dispatch, in recorded order, with the canonical columns of
/// `counter_instances`.
fn instances(assembly: &mut Assembly<'_>) -> Result<DataFrame> {
    let threads = assembly.context.threads;
    let wanted = [
        integer("event_id"),
        integer("pmc_id"),
        real("value"),
        integer("xcc"),
        integer("shader_engine"),
        integer("instance"),
        integer("sample_id"),
    ];
    let columns = assembly.database.read("pmc_event", &wanted, threads)?;
    assembly.absorb("pmc_event", &columns);
    let dispatches =
        assembly.database.read("kernel_dispatch", &[integer("event_id"), integer("dispatch_id")], threads)?;
    let with_event = dispatches.integers("event_id");
    let pairs: Vec<(i64, Option<i64>)> = with_event
        .iter()
        .zip(dispatches.integers("dispatch_id").iter().zip(dispatches.integers("id").iter()))
        .filter_map(|(event, (dispatch, id))| event.map(|event| (event, dispatch.or(id))))
        .collect();
    let by_event = IdIndex::new(&pairs.iter().map(|(event, _)| *event).collect::<Vec<i64>>());
    let dispatch_ids: Int64Chunked = columns
        .integers("event_id")
        .iter()
        .map(|event| event.and_then(|event| by_event.position(event)).and_then(|at| pairs.get(at)?.1))
        .collect_ca("dispatch_id".into());

    let names = counter_names(assembly)?;
    let pmc_ids = columns.integers("pmc_id");
    let unnamed: Vec<Option<String>> = names.values().iter().cloned().chain([Some("unknown".to_owned())]).collect();
    let codes = pmc_ids.iter().map(|id| names.position(id).or(Some(unnamed.len() - 1)));
    let counter = dictionary_column("counter", &unnamed, codes)?;

    let streaming = columns.integers("sample_id").is_not_null();
    let ids = columns.integers("id");
    let orphan = dispatch_ids.is_null() & !&streaming;
    let (count, first) = count_first(orphan.iter().map(|orphan| orphan == Some(true)), &ids);
    assembly.note(
        "counter_without_dispatch",
        Severity::Warning,
        count,
        first,
        "counter values belong to no dispatch; they are left out",
    );
    let kept = dispatch_ids.is_not_null() & !&streaming;
    let height = columns.height;
    let frame = DataFrame::new(
        height,
        vec![
            Int64Chunked::full("pass".into(), assembly.context.process.pass, height).into_series().into_column(),
            dispatch_ids.into_series().into_column(),
            counter,
            columns.integers("xcc").into_series().into_column(),
            columns.integers("shader_engine").into_series().into_column(),
            columns.integers("instance").into_series().with_name("channel".into()).into_column(),
            columns.reals("value").into_series().into_column().fill_null(FillNullStrategy::Zero)?,
        ],
    )?;
    Ok(frame.filter(&kept)?)
}

fn counter_names(assembly: &Assembly<'_>) -> Result<Texts> {
    let columns = assembly.database.read("info_pmc", &[text("name")], 1)?;
    Ok(Texts::of(&columns.integers("id"), &columns.texts("name")))
}

/// Assembles one row per hardware instance, numbered in recorded order.
///
/// # Errors
/// When the file cannot be opened.
pub fn read_instances(assembly: &mut Assembly<'_>) -> Result<()> {
    let frame = instances(assembly)?;
    let numbered = frame
        .lazy()
        .with_columns([int_range(lit(0), len(), 1, DataType::Int64)
            .over([col("dispatch_id"), col("counter")])?
            .alias("instance")])
        .collect()?;
    assembly.set_height(numbered.height());
    for name in ["pass", "dispatch_id", "counter", "instance", "xcc", "shader_engine", "channel", "value"] {
        assembly.put(name, numbered.column(name)?.clone());
    }
    Ok(())
}

/// Assembles one row per counter of a dispatch.
///
/// # Errors
/// When the file cannot be opened.
pub fn read_counters(assembly: &mut Assembly<'_>) -> Result<()> {
    let frame = instances(assembly)?;
    let name_order = SortMultipleOptions::default();
    let grouped = frame
        .lazy()
        .group_by_stable([col("pass"), col("dispatch_id"), col("counter")])
        .agg([
            col("value").sum(),
            col("value").min().alias("min"),
            col("value").max().alias("max"),
            col("value").mean().alias("mean"),
            len().cast(DataType::Int64).alias("instances"),
        ])
        .sort_by_exprs([col("dispatch_id"), col("counter").cast(DataType::String)], name_order)
        .with_columns([col("counter").cast(categorical())])
        .collect()?;
    assembly.set_height(grouped.height());
    for name in ["pass", "dispatch_id", "counter", "value", "min", "max", "mean", "instances"] {
        assembly.put(name, grouped.column(name)?.clone());
    }
    Ok(())
}
