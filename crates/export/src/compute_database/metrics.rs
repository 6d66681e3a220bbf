//! Metrics and rooflines, of kernels and of whole workloads.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::{Connection, Statement, params};

use super::kernels::Kernels;
use super::rows::AnswerRows;
use wavesieve_engine::{QueryOptions, Registry, run_query};
use wavesieve_tables::trace::Trace;

/// Columns of `metrics`, and the names of their values in tables of rocprofiler-compute.
const VALUES: [(&str, &str); 5] =
    [("value", "Avg"), ("min", "Min"), ("max", "Max"), ("peak", "Peak"), ("pct_of_peak", "Percent of Peak")];

/// Grouping columns of queries, for kernels and for workloads.
const BY_KERNEL: &[&str] = &["rank", "kernel_name"];
const BY_WORKLOAD: &[&str] = &["rank"];

/// Runs a query grouped by these columns.
fn answer(
    trace: &Trace,
    registry: &Registry,
    query: &str,
    by: &[&str],
    parameters: &[(&str, &str)],
) -> Result<AnswerRows> {
    let texts = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let options = QueryOptions {
        by: Some(by.iter().map(|column| (*column).to_owned()).collect()),
        parameters: parameters.iter().map(texts).collect(),
        ..QueryOptions::default()
    };
    Ok(AnswerRows::new(run_query(trace, registry.get(query)?, &options)?))
}

/// The rank of each row as the id of its workload.
fn workloads(rows: &AnswerRows) -> Result<Vec<(i64, Option<i64>)>> {
    Ok(rows
        .integers("rank")?
        .into_iter()
        .map(|rank| (rank.unwrap_or_default(), Some(rank.unwrap_or_default())))
        .collect())
}

/// Writes the metrics of kernels and of workloads, averaged over dispatches as rocprofiler-compute does; returns the number of values.
pub(super) fn write_metrics(
    trace: &Trace,
    registry: &Registry,
    connection: &Connection,
    kernels: &Kernels,
) -> Result<usize> {
    let mut definitions =
        Definitions { known: BTreeMap::new(), insert: connection.prepare(include_str!("sql/insert_metric.sql"))? };
    let rows = answer(trace, registry, "metrics", BY_KERNEL, &[("agg", "mean")])?;
    let mut insert = connection.prepare(include_str!("sql/insert_value.sql"))?;
    let of_kernels = definitions.write(&rows, &kernels.of_rows(&rows)?, &mut insert)?;
    let rows = answer(trace, registry, "metrics", BY_WORKLOAD, &[("agg", "mean")])?;
    let mut insert = connection.prepare(include_str!("sql/insert_workload_value.sql"))?;
    Ok(of_kernels + definitions.write(&rows, &workloads(&rows)?, &mut insert)?)
}

/// Metrics by rank and name.
struct Definitions<'c> {
    known: BTreeMap<(i64, String), i64>,
    insert: Statement<'c>,
}

impl Definitions<'_> {
    /// Writes the values of an answer for the kernels or workloads of its rows, and definitions that are new.
    fn write(
        &mut self,
        rows: &AnswerRows,
        owners: &[(i64, Option<i64>)],
        insert_value: &mut Statement<'_>,
    ) -> Result<usize> {
        let (metrics, titles, units) = (rows.texts("metric")?, rows.texts("title")?, rows.texts("unit")?);
        let panels = rows.integers("panel")?;
        let mut columns = Vec::new();
        for (column, name) in VALUES {
            columns.push((name, rows.floats(column)?));
        }
        let mut written = 0;
        let texts = metrics.into_iter().zip(titles).zip(units.into_iter().zip(panels));
        for (row, ((rank, owner), ((metric, title), (unit, panel)))) in owners.iter().zip(texts).enumerate() {
            let (Some(owner), Some(metric)) = (owner, metric) else { continue };
            let new = self.known.len() as i64 + 1;
            let id = *self.known.entry((*rank, metric.clone())).or_insert(new);
            if id == new {
                let panel = panel.map(|panel| panel.to_string());
                self.insert.execute(params![id, rank, title, metric, panel, unit])?;
            }
            for (name, values) in &columns {
                if let Some(value) = values.get(row).copied().flatten() {
                    insert_value.execute(params![id, owner, name, value])?;
                    written += 1;
                }
            }
        }
        Ok(written)
    }
}

/// Writes GFLOP/s and FLOPs per byte of each level of memory: the vector cache is level 1, as MI GPUs have no other.
pub(super) fn write_rooflines(
    trace: &Trace,
    registry: &Registry,
    connection: &Connection,
    kernels: &Kernels,
) -> Result<()> {
    let rows = answer(trace, registry, "roofline", BY_KERNEL, &[])?;
    write_points(&rows, &kernels.of_rows(&rows)?, connection.prepare(include_str!("sql/insert_roofline.sql"))?)?;
    let rows = answer(trace, registry, "roofline", BY_WORKLOAD, &[])?;
    write_points(&rows, &workloads(&rows)?, connection.prepare(include_str!("sql/insert_workload_roofline.sql"))?)
}

fn write_points(rows: &AnswerRows, owners: &[(i64, Option<i64>)], mut insert: Statement<'_>) -> Result<()> {
    let (speeds, flops, lds) = (rows.floats("gflops")?, rows.floats("flops")?, rows.floats("bytes_lds")?);
    let levels = [rows.floats("intensity_l1")?, rows.floats("intensity_l2")?, rows.floats("intensity_hbm")?];
    let figures = speeds.into_iter().zip(flops.into_iter().zip(lds));
    for (row, ((_, owner), (speed, (flops, lds)))) in owners.iter().zip(figures).enumerate() {
        let Some(owner) = owner else { continue };
        let [l1, l2, hbm] = levels.each_ref().map(|values| values.get(row).copied().flatten());
        let of_lds = flops.zip(lds.filter(|bytes| *bytes > 0.0)).map(|(flops, bytes)| flops / bytes);
        insert.execute(params![owner, speed, l1, l2, hbm, of_lds])?;
    }
    Ok(())
}
