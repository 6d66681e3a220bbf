//! Rooflines of schema 3: measured ceilings of each GPU, and points, limits and metrics of kernels for each envelope: the data type whose
//! peak bounds them.

use std::collections::BTreeSet;

use anyhow::Result;

use super::owner::OwnedBy;
use super::reading::Reading;
use super::recorded::{Metric, Recorded};
use super::rooflines::metric;
use crate::common::sqlite::{integer, real, text};

/// Columns of a point, with their units.
const POINT: [(&str, &str); 4] = [
    ("arithmetic_intensity", "FLOP/byte"),
    ("performance", "GFLOP/s"),
    ("roof_performance", "GFLOP/s"),
    ("percent_of_roof", "percent"),
];
/// Columns of a metric, and the names of their values.
const METRIC: [(&str, &str); 3] = [("value", "Value"), ("peak", "Peak"), ("percent_of_peak", "Percent of Peak")];

/// Adds measured ceilings. Returns the ceiling names of the first GPU, which the workload also states as JSON.
pub(super) fn read_ceilings(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for (table, value, unit) in
        [("roofline_bandwidth_ceiling", "bandwidth", Some("GB/s")), ("roofline_compute_ceiling", "peak", None)]
    {
        let wanted = [integer("device_id"), text("benchmark_column"), text("unit"), real(value)];
        let rows = reading.read_own(table, OwnedBy::Workload, &wanted)?;
        let (devices, columns) = (rows.integers("device_id"), rows.texts("benchmark_column"));
        let (units, values) = (rows.texts("unit"), rows.reals(value));
        for row in 0..rows.height {
            let name = columns.get(row).unwrap_or("unknown");
            let value_name = match devices.get(row).filter(|device| *device != 0) {
                Some(device) => format!("Peak of GPU {device}"),
                None => {
                    names.insert(name.to_owned());
                    "Peak".to_owned()
                }
            };
            let metric =
                recorded.add_metric(metric("roofline_ceiling", name, "Measured ceilings", units.get(row).or(unit)));
            recorded.add(None, Some(metric), Some(&value_name), values.get(row));
        }
    }
    Ok(names)
}

/// Adds the points, limits and metrics of kernels.
pub(super) fn read(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    read_points(reading, recorded)?;
    read_limiters(reading, recorded)?;
    read_metrics(reading, recorded)
}

fn read_points(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    let wanted: Vec<_> =
        ["envelope", "mem_level"].map(text).into_iter().chain(POINT.map(|(name, _)| real(name))).collect();
    let rows = reading.read_own("kernel_roofline_point", OwnedBy::Kernel, &wanted)?;
    let kernels = rows.integers("kernel_uuid");
    let (envelopes, levels) = (rows.texts("envelope"), rows.texts("mem_level"));
    for (column, unit) in POINT {
        let values = rows.reals(column);
        for row in 0..rows.height {
            let place = format!("{}.{}", word(envelopes.get(row)), word(levels.get(row)));
            let metric = recorded.add_metric(metric("roofline", &format!("{place}.{column}"), "Points", Some(unit)));
            recorded.add(kernels.get(row), Some(metric), Some("Value"), values.get(row));
        }
    }
    Ok(())
}

fn read_limiters(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    let texts = ["envelope", "limiter", "compute_ceiling_label"];
    let wanted: Vec<_> = texts.map(text).into_iter().chain([real("compute_ceiling")]).collect();
    let rows = reading.read_own("kernel_roofline_limiter", OwnedBy::Kernel, &wanted)?;
    let (kernels, values) = (rows.integers("kernel_uuid"), rows.reals("compute_ceiling"));
    let columns = texts.map(|name| rows.texts(name));
    for row in 0..rows.height {
        let [envelope, limiter, label] = columns.each_ref().map(|column| column.get(row));
        let stated =
            [limiter.map(|limiter| format!("Limited by {limiter}")), label.map(|label| format!("ceiling: {label}"))];
        let description: Vec<String> = stated.into_iter().flatten().collect();
        let metric = recorded.add_metric(Metric {
            description: (!description.is_empty()).then(|| description.join(", ")),
            ..metric("roofline", &format!("{}.compute_ceiling", word(envelope)), "Limits", Some("GFLOP/s"))
        });
        recorded.add(kernels.get(row), Some(metric), Some("Value"), values.get(row));
    }
    Ok(())
}

fn read_metrics(reading: &mut Reading<'_>, recorded: &mut Recorded) -> Result<()> {
    let texts = ["metric_id", "metric", "unit"];
    let wanted: Vec<_> = texts.map(text).into_iter().chain(METRIC.map(|(name, _)| real(name))).collect();
    let rows = reading.read_own("kernel_roofline_metric", OwnedBy::Kernel, &wanted)?;
    let kernels = rows.integers("kernel_uuid");
    let columns = texts.map(|name| rows.texts(name));
    let values = METRIC.map(|(column, name)| (rows.reals(column), name));
    for row in 0..rows.height {
        let [id, name, unit] = columns.each_ref().map(|column| column.get(row));
        let metric = recorded.add_metric(Metric {
            name: name.map(str::to_owned),
            ..metric("roofline_metric", word(id), "Metrics", unit)
        });
        for (values, name) in &values {
            recorded.add(kernels.get(row), Some(metric), Some(name), values.get(row));
        }
    }
    Ok(())
}

fn word(text: Option<&str>) -> &str {
    text.unwrap_or("unknown")
}
