//! The table `kernel_clocks`: clock, power and temperature of the GPU while each dispatch ran.

use std::collections::BTreeMap;

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use crate::columns::frames::floats;
use crate::columns::values::FrameValues;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, needed};
use wavesieve_model::analysis::gpu_time::telemetry::{Quantity, StepSeries, quantity};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["kernels", "samples"]).if_found(),
    ..DerivedTable::new(&tables::telemetry::KERNEL_CLOCKS, needs, Build::Alone(build))
};

/// Columns of the dispatch.
const OF_DISPATCH: [&str; 10] = [
    "dispatch_id",
    "kernel_id",
    "kernel_name",
    "short_name",
    "category",
    "gpu",
    "device",
    "queue_id",
    "start_ns",
    "duration_ns",
];

/// The columns of samples that clocks are found by.
pub(crate) const SAMPLE_COLUMNS: [&str; 6] = ["track", "name", "unit", "device", "time_ns", "value"];

/// Samples of a GPU: one series for each track and name.
type Series = BTreeMap<Quantity, BTreeMap<(String, String), Vec<(i64, f64)>>>;

fn needs() -> Needs {
    let mut kernels = OF_DISPATCH.to_vec();
    kernels.extend(["end_ns", "valid"]);
    vec![("samples", SAMPLE_COLUMNS.to_vec()), ("kernels", kernels)]
}

/// Looks up the samples during each dispatch on a GPU that has samples.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let kernels = needed(tables, "kernels")?;
    let held: BTreeMap<i64, BTreeMap<Quantity, Vec<StepSeries>>> = sampled(needed(tables, "samples")?)?
        .into_iter()
        .map(|(device, series)| (device, sampled_values(series)))
        .collect();

    let mut found: Vec<(u32, [Option<f64>; 3])> = Vec::new();
    for (row, [device, start, end]) in kernels.valid_rows(["device", "start_ns", "end_ns"])? {
        let Some(held) = held.get(&device) else { continue };
        let means = |quantity| {
            let series: Option<&Vec<StepSeries>> = held.get(&quantity);
            series.into_iter().flatten().filter_map(|held| held.mean(start, end)).collect::<Vec<f64>>()
        };
        let clock = held.get(&Quantity::Clock).and_then(|tracks| mean_of_tracks(tracks, start, end));
        let most = |quantity| means(quantity).into_iter().max_by(f64::total_cmp);
        found.push((row, [clock, most(Quantity::Power), most(Quantity::Temperature)]));
    }
    let mut places = vec![0_u32; kernels.height()];
    for (place, row) in (0_u32..).zip(tables.kernel_order()?.rows()) {
        if let Some(slot) = places.get_mut(row as usize) {
            *slot = place;
        }
    }
    found.sort_unstable_by_key(|(row, _)| places.get(*row as usize).copied());

    let rows = IdxCa::from_vec("".into(), found.iter().map(|(row, _)| *row).collect());
    let mut frame = kernels.select(OF_DISPATCH)?.take(&rows)?;
    frame.rename("start_ns", "time_ns".into())?;
    frame.rename("duration_ns", "took_ns".into())?;
    let means = || found.iter().map(|(_, means)| *means);
    frame.hstack_mut(&[
        floats("clock_mhz", means().map(|[clock, ..]| clock)),
        floats("power_w", means().map(|[_, power, _]| power)),
        floats("temperature_c", means().map(|[.., temperature]| temperature)),
    ])?;
    Ok(frame)
}

/// Samples of clock, power and temperature by GPU.
fn sampled(samples: &DataFrame) -> Result<BTreeMap<i64, Series>> {
    let texts = |name: &str| -> Result<StringChunked> {
        Ok(samples.column(name)?.as_materialized_series().cast(&DataType::String)?.str()?.clone())
    };
    let (tracks, names, units) = (texts("track")?, texts("name")?, texts("unit")?);
    let [devices, times] = samples.integers(["device", "time_ns"])?;
    let values = samples.column("value")?.f64()?;
    let mut by_device: BTreeMap<i64, Series> = BTreeMap::new();
    for (track, name, unit, device, time, value) in
        izip!(tracks.iter(), names.iter(), units.iter(), devices.iter(), times.iter(), values.iter())
    {
        let (Some(device), Some(time), Some(value), Some(name)) = (device, time, value, name) else { continue };
        let Some((quantity, factor)) = quantity(name, unit) else { continue };
        let series = by_device.entry(device).or_default().entry(quantity).or_default();
        let key = (track.unwrap_or_default().to_owned(), name.to_owned());
        series.entry(key).or_default().push((time, value * factor));
    }
    Ok(by_device)
}

/// Sampled clocks of the compute units, by device and track.
pub(crate) fn clocks_by_device(samples: &DataFrame) -> Result<BTreeMap<i64, Vec<StepSeries>>> {
    let clocks = sampled(samples)?.into_iter().map(|(device, series)| (device, sampled_values(series)));
    Ok(clocks.filter_map(|(device, mut held)| Some((device, held.remove(&Quantity::Clock)?))).collect())
}

/// The mean over the tracks that have samples by then.
pub(crate) fn mean_of_tracks(tracks: &[StepSeries], start_ns: i64, end_ns: i64) -> Option<f64> {
    let means: Vec<f64> = tracks.iter().filter_map(|track| track.mean(start_ns, end_ns)).collect();
    (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
}

fn sampled_values(series: Series) -> BTreeMap<Quantity, Vec<StepSeries>> {
    let of = |(quantity, tracks): (Quantity, BTreeMap<_, Vec<(i64, f64)>>)| {
        (quantity, tracks.into_values().map(StepSeries::new).collect())
    };
    series.into_iter().map(of).collect()
}
