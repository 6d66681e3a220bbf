//! `samples` from rocpd_monitor: values that held from a start to an end, each as one sample at its start.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::kinds::unit;
use super::reading::Reading;
use crate::common::sqlite::{Condition, integer, text};
use crate::common::{count_first, or};
use wavesieve_model::schema::anomaly::Severity;

/// Assembles the samples. They belong to the node, so the first process of a file has them.
pub fn read(reading: &mut Reading<'_>) -> Result<()> {
    if !reading.owner.is_main {
        return Ok(());
    }
    let wanted = [text("deviceType"), integer("deviceId"), text("monitorType"), integer("start"), text("value")];
    let rows = reading.read("monitor", &wanted, &Condition::all())?;
    reading.set_height(rows.height);
    let ids = rows.integers("id");
    let (types, devices) = (rows.texts("deviceType"), rows.integers("deviceId"));
    let tracks: Vec<String> = types
        .iter()
        .zip(devices.iter())
        .map(|(device_type, device)| {
            let device_type = device_type.unwrap_or("device");
            device.map_or_else(|| device_type.to_owned(), |device| format!("{device_type} {device}"))
        })
        .collect();
    reading.put_texts("track", tracks.iter().map(|track| Some(track.as_str())))?;
    let names = rows.texts("monitorType");
    reading.put_texts("name", names.iter().map(|name| Some(name.unwrap_or("unknown"))))?;
    reading.put_texts("unit", names.iter().map(|name| name.and_then(unit)))?;
    let agents: Int64Chunked = types
        .iter()
        .zip(devices.iter())
        .map(|(device_type, device)| device.filter(|_| device_type.is_some_and(|t| t.eq_ignore_ascii_case("gpu"))))
        .collect_ca("".into());
    let numbered_alike = !numbered_otherwise(reading, &agents, &names, &rows.texts("value"))?;
    let agents = if numbered_alike { agents } else { Int64Chunked::full_null("".into(), rows.height) };
    let (unknown, first) = count_first(std::iter::repeat_n(!numbered_alike, rows.height), &ids);
    let detail = "busy GPUs have less than half the clock of an idle one: the monitor numbers devices differently from GPUs, as recorders that count processors do; its values belong to no GPU";
    reading.note("monitor_numbering", Severity::Warning, unknown, first, detail);
    reading.put("agent_id", agents.clone().into_series());
    reading.put_gpu(&agents, &ids);
    reading.put("time_ns", or(&rows.integers("start"), 0).into_series());
    let values: Vec<Option<f64>> =
        rows.texts("value").iter().map(|value| value.and_then(|value| value.trim().parse().ok())).collect();
    let (count, first) = count_first(values.iter().map(Option::is_none), &ids);
    let numbers = values.iter().map(|value| value.unwrap_or(f64::NAN));
    reading.put("value", Float64Chunked::from_iter_values("".into(), numbers).into_series());
    let detail = "non-numeric monitored values; they are NaN";
    reading.note("unexpected_type", Severity::Info, count, first, detail);
    Ok(())
}

/// The monitored clock of the shader engines.
const CLOCK: &str = "sclk";

/// Whether clocks prove that devices are numbered differently from GPUs. This is so if a GPU without work has more than twice the maximum
/// clock of the GPUs with work.
fn numbered_otherwise(
    reading: &mut Reading<'_>,
    devices: &Int64Chunked,
    names: &StringChunked,
    values: &StringChunked,
) -> Result<bool> {
    let operations = reading.read("op", &[integer("gpuId")], &Condition::all())?;
    let used: BTreeSet<i64> = operations.integers("gpuId").iter().flatten().collect();
    let (mut of_used, mut of_others): (Option<f64>, Option<f64>) = (None, None);
    for ((device, name), value) in devices.iter().zip(names.iter()).zip(values.iter()) {
        let clock = value.and_then(|value| value.trim().parse::<f64>().ok()).filter(|_| name == Some(CLOCK));
        if let (Some(device), Some(clock)) = (device, clock) {
            let most = if used.contains(&device) { &mut of_used } else { &mut of_others };
            *most = Some(most.map_or(clock, |known| known.max(clock)));
        }
    }
    Ok(of_used.zip(of_others).is_some_and(|(used, others)| used * 2.0 < others))
}
