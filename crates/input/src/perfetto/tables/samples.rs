//! `samples`: values of counter tracks that were measured.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::column;
use crate::common::{Dictionary, TableBuilder, or};
use crate::perfetto::processes::{Assembled, Process, UsedTrack, track_at};
use crate::perfetto::rows::{Field, Rows};
use wavesieve_tables::columns::values::integers;

pub(crate) fn read_samples(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let rows = &process.values;
    builder.set_height(rows.height());
    let track = |number| track_at(&file.tracks, number);
    let put_text = |builder: &mut TableBuilder<'_>, name: &'static str, text: &dyn Fn(&UsedTrack) -> Option<String>| {
        builder.put_dictionary(name, || Dictionary::of(rows.column(Field::Track), |number| text(track(number)?)))
    };
    let name = |track: &UsedTrack| Some(if track.name.is_empty() { "unknown" } else { &track.name }.to_owned());
    put_text(builder, "track", &name)?;
    put_text(builder, "name", &name)?;
    put_text(builder, "unit", &|track| Some(track.counter.unit.clone()).filter(|unit| !unit.is_empty()))?;
    if builder.wants(&["agent_id", "device"]) {
        let of_track = |number: Option<i64>| process.agents.of_track(track(number)?);
        let agents: Int64Chunked = integers("", rows.column(Field::Track).map(of_track));
        let gpus = &builder.context.process.gpus;
        let devices: Vec<Option<i64>> = agents.iter().map(|agent| Some(gpus.get(&agent?)?.device)).collect();
        builder.put_integers("device", devices);
        builder.put("agent_id", agents.into_series());
    }
    builder.put("time_ns", or(&column(rows, Field::Start), 0).into_series());
    builder.put("value", Float64Chunked::from_vec("".into(), values(rows, track)).into_series());
    Ok(())
}

/// The values in the units of their tracks. Incremental values are added up.
fn values<'a>(rows: &Rows, track: impl Fn(Option<i64>) -> Option<&'a UsedTrack>) -> Vec<f64> {
    let mut sums: BTreeMap<Option<i64>, f64> = BTreeMap::new();
    let value = |(number, bits): (Option<i64>, Option<i64>)| {
        let value = f64::from_bits(bits.unwrap_or(0) as u64);
        let Some(counter) = track(number).map(|track| &track.counter) else { return value };
        let value = value * counter.multiplier as f64;
        if !counter.is_incremental {
            return value;
        }
        let sum = sums.entry(number).or_default();
        *sum += value;
        *sum
    };
    rows.column(Field::Track).zip(rows.column(Field::Value)).map(value).collect()
}
