//! Metrics and their values, by kernel and for the whole workload.

use anyhow::Result;
use polars::prelude::*;

use super::owner::OwnedBy;
use super::reading::Reading;
use super::recorded::{Metric, Recorded};
use crate::common::sqlite::{Columns, integer, real, text};
use crate::common::{IdIndex, index_of};
use wavesieve_model::schema::anomaly::Severity;

/// Adds all metrics, then the values of kernels, then the values of the workload, each in the order of the file.
pub fn read(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    let texts = ["metric_id", "name", "table_name", "sub_table_name", "description", "unit"];
    let rows = reading.read_own("metric_definition", OwnedBy::Workload, &texts.map(text))?;
    let columns = texts.map(|name| rows.texts(name));
    for row in 0..rows.height {
        let [id, name, table, sub_table, description, unit] =
            columns.each_ref().map(|column| column.get(row).map(str::to_owned));
        recorded.add_metric(Metric { id, name, table, sub_table, description, unit });
    }
    let index = index_of(&rows.integers("id"));

    let wanted = [integer("metric_uuid"), text("value_name"), real("value")];
    let rows = reading.read_own("kernel_metric_value", OwnedBy::Kernel, &wanted)?;
    let mut unknown = add(recorded, &index, &rows, &rows.integers("kernel_uuid"));
    let rows = reading.read_own("workload_metric_value", OwnedBy::Workload, &wanted)?;
    unknown += add(recorded, &index, &rows, &Int64Chunked::full_null("".into(), rows.height));
    let detail = "values refer to a missing metric, so they have neither id nor name";
    reading.note("missing_metric", Severity::Warning, unknown, None, detail);
    Ok(())
}

/// Adds values. Returns how many refer to a missing metric.
fn add(recorded: &mut Recorded, index: &IdIndex, rows: &Columns, kernels: &Int64Chunked) -> usize {
    let (metrics, names, values) = (rows.integers("metric_uuid"), rows.texts("value_name"), rows.reals("value"));
    let mut unknown = 0;
    for ((kernel, metric), (name, value)) in kernels.iter().zip(metrics.iter()).zip(names.iter().zip(values.iter())) {
        let metric = metric.and_then(|metric| index.position(metric));
        unknown += usize::from(metric.is_none());
        recorded.add(kernel, metric, name, value);
    }
    unknown
}
