//! Writes workloads, kernels, dispatches, metrics and rooflines. A rank is a workload.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

use super::rows::AnswerRows;
use crate::engine::{QueryOptions, Registry, run_query, run_sql};
use crate::export::rocpd::OutputDatabase;
use crate::trace::Trace;

/// The schema that is written.
const SCHEMA_VERSION: &str = "2.0.0";

/// Facts about the machine of a workload, called as in `sysinfo.csv`.
const SYSTEM_TEXTS: [&str; 4] = ["hostname", "command", "gpu_arch", "gpu_model"];
const SYSTEM_NUMBERS: [&str; 6] = ["cu_per_gpu", "simd_per_cu", "max_sclk", "max_mclk", "num_xcd", "wave_size"];

/// Columns of `metrics`, and what their values are called in tables of rocprofiler-compute.
const VALUES: [(&str, &str); 5] =
    [("value", "Avg"), ("min", "Min"), ("max", "Max"), ("peak", "Peak"), ("pct_of_peak", "Percent of Peak")];

/// How much was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    pub dispatches: usize,
    pub kernels: usize,
    pub values: usize,
}

/// Kernels by rank and name.
#[derive(Default)]
struct Kernels(BTreeMap<(i64, String), i64>);

/// Writes the database; without any dispatch, nothing is written.
///
/// # Errors
/// When a query fails or the database cannot be written.
pub(crate) fn write(trace: &Trace, registry: &Registry, output: &Path) -> Result<Written> {
    let dispatches = AnswerRows::new(run_sql(trace, include_str!("sql/dispatches.sql"))?);
    if dispatches.height() == 0 {
        return Ok(Written::default());
    }
    let database = OutputDatabase::create(output)?;
    let connection = database.connection();
    connection.execute_batch("BEGIN").context("cannot start writing")?;
    connection.execute_batch(include_str!("sql/schema.sql"))?;
    let version = env!("CARGO_PKG_VERSION");
    connection
        .execute(include_str!("sql/insert_metadata.sql"), params![format!("wavesieve {version}"), SCHEMA_VERSION])?;
    write_workloads(trace, connection)?;
    let mut kernels = Kernels::default();
    write_dispatches(&dispatches, connection, &mut kernels)?;
    let values = write_metrics(trace, registry, connection, &kernels)?;
    write_rooflines(trace, registry, connection, &kernels)?;
    connection.execute_batch("COMMIT").context("cannot finish writing")?;
    database.finish()?;
    Ok(Written { dispatches: dispatches.height(), kernels: kernels.0.len(), values })
}

fn write_workloads(trace: &Trace, connection: &Connection) -> Result<()> {
    let rows = AnswerRows::new(run_sql(trace, include_str!("sql/workloads.sql"))?);
    let mut facts: Vec<Map<String, Value>> = vec![Map::new(); rows.height()];
    for name in SYSTEM_TEXTS {
        for (facts, value) in facts.iter_mut().zip(rows.texts(name)?) {
            facts.insert(name.to_owned(), Value::from(value));
        }
    }
    for name in SYSTEM_NUMBERS {
        for (facts, value) in facts.iter_mut().zip(rows.integers(name)?) {
            facts.insert(name.to_owned(), Value::from(value));
        }
    }
    let mut insert = connection.prepare(include_str!("sql/insert_workload.sql"))?;
    for ((rank, source), facts) in rows.integers("rank")?.into_iter().zip(rows.texts("source")?).zip(facts) {
        let rank = rank.unwrap_or_default();
        insert.execute(params![rank, source, format!("rank {rank}"), Value::Object(facts).to_string()])?;
    }
    Ok(())
}

fn write_dispatches(rows: &AnswerRows, connection: &Connection, kernels: &mut Kernels) -> Result<()> {
    let mut insert_kernel = connection.prepare(include_str!("sql/insert_kernel.sql"))?;
    let mut insert = connection.prepare(include_str!("sql/insert_dispatch.sql"))?;
    let (ids, agents) = (rows.integers("dispatch_id")?, rows.integers("agent_id")?);
    let (starts, ends) = (rows.integers("start_ns")?, rows.integers("end_ns")?);
    let keys = rows.integers("rank")?.into_iter().zip(rows.texts("kernel_name")?);
    // Several processes of a rank may have the same ids.
    let mut taken: BTreeSet<(i64, i64)> = BTreeSet::new();
    let mut next = ids.iter().flatten().max().map_or(0, |highest| highest.saturating_add(1));
    for ((((rank, name), id), agent), (start, end)) in keys.zip(ids).zip(agents).zip(starts.into_iter().zip(ends)) {
        let (rank, name) = (rank.unwrap_or_default(), name.unwrap_or_default());
        let new = kernels.0.len() as i64 + 1;
        let kernel = match kernels.0.get(&(rank, name.clone())) {
            Some(known) => *known,
            None => {
                insert_kernel.execute(params![new, rank, name])?;
                kernels.0.insert((rank, name), new);
                new
            }
        };
        let mut id = id.unwrap_or(next);
        if !taken.insert((kernel, id)) {
            id = next;
        }
        next = next.max(id.saturating_add(1));
        taken.insert((kernel, id));
        insert.execute(params![kernel, id, agent, start, end])?;
    }
    Ok(())
}

/// Runs a query by rank and kernel.
fn by_kernel(trace: &Trace, registry: &Registry, query: &str, parameters: &[(&str, &str)]) -> Result<AnswerRows> {
    let texts = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let options = QueryOptions {
        by: Some(vec!["rank".to_owned(), "kernel_name".to_owned()]),
        parameters: parameters.iter().map(texts).collect(),
        ..QueryOptions::default()
    };
    Ok(AnswerRows::new(run_query(trace, registry.get(query)?, &options)?))
}

/// The kernel of each row, if it has dispatches.
fn kernels_of(rows: &AnswerRows, kernels: &Kernels) -> Result<Vec<(i64, Option<i64>)>> {
    let keys = rows.integers("rank")?.into_iter().zip(rows.texts("kernel_name")?);
    let of_key = |(rank, name): (Option<i64>, Option<String>)| {
        let rank = rank.unwrap_or_default();
        (rank, kernels.0.get(&(rank, name.unwrap_or_default())).copied())
    };
    Ok(keys.map(of_key).collect())
}

/// Writes the metrics of kernels, averaged over dispatches as rocprofiler-compute does; returns the number of values.
fn write_metrics(trace: &Trace, registry: &Registry, connection: &Connection, kernels: &Kernels) -> Result<usize> {
    let rows = by_kernel(trace, registry, "metrics", &[("agg", "mean")])?;
    let (metrics, titles, units) = (rows.texts("metric")?, rows.texts("title")?, rows.texts("unit")?);
    let panels = rows.integers("panel")?;
    let mut columns = Vec::new();
    for (column, name) in VALUES {
        columns.push((name, rows.floats(column)?));
    }
    let mut insert_metric = connection.prepare(include_str!("sql/insert_metric.sql"))?;
    let mut insert = connection.prepare(include_str!("sql/insert_value.sql"))?;
    let mut known: BTreeMap<(i64, String), i64> = BTreeMap::new();
    let mut written = 0;
    let texts = metrics.into_iter().zip(titles).zip(units.into_iter().zip(panels));
    for (row, ((rank, kernel), ((metric, title), (unit, panel)))) in
        kernels_of(&rows, kernels)?.into_iter().zip(texts).enumerate()
    {
        let (Some(kernel), Some(metric)) = (kernel, metric) else { continue };
        let new = known.len() as i64 + 1;
        let id = *known.entry((rank, metric.clone())).or_insert(new);
        if id == new {
            insert_metric.execute(params![id, rank, title, metric, panel.map(|panel| panel.to_string()), unit])?;
        }
        for (name, values) in &columns {
            if let Some(value) = values.get(row).copied().flatten() {
                insert.execute(params![id, kernel, name, value])?;
                written += 1;
            }
        }
    }
    Ok(written)
}

/// Writes GFLOP/s and FLOPs per byte of each level of memory: the vector cache is level 1, as MI GPUs have no other.
fn write_rooflines(trace: &Trace, registry: &Registry, connection: &Connection, kernels: &Kernels) -> Result<()> {
    let rows = by_kernel(trace, registry, "roofline", &[])?;
    let (speeds, flops, lds) = (rows.floats("gflops")?, rows.floats("flops")?, rows.floats("bytes_lds")?);
    let levels = [rows.floats("intensity_l1")?, rows.floats("intensity_l2")?, rows.floats("intensity_hbm")?];
    let mut insert = connection.prepare(include_str!("sql/insert_roofline.sql"))?;
    let figures = speeds.into_iter().zip(flops.into_iter().zip(lds));
    for (row, ((_, kernel), (speed, (flops, lds)))) in kernels_of(&rows, kernels)?.into_iter().zip(figures).enumerate()
    {
        let Some(kernel) = kernel else { continue };
        let [l1, l2, hbm] = levels.each_ref().map(|values| values.get(row).copied().flatten());
        let of_lds = flops.zip(lds.filter(|bytes| *bytes > 0.0)).map(|(flops, bytes)| flops / bytes);
        insert.execute(params![kernel, speed, l1, l2, hbm, of_lds])?;
    }
    Ok(())
}
