//! `counters`, `counter_instances` and `samples` from the records of counter collection.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::common::{DispatchRun, DispatchRuns, Replays, put_counter_instances, put_counters, with_values};
use crate::rocprofv3_json::capture::{Capture, SectionAnomalies};
use crate::rocprofv3_json::integers::Integers;
use crate::rocprofv3_json::layout::Selected;
use crate::rocprofv3_json::layouts::{CountedDispatch, OF_RUNS, TIMES};
use crate::rocprofv3_json::parsing::records::{Counter, CounterInstance, CounterRecord};
use crate::rocprofv3_json::reading::Reading;
use crate::rocprofv3_json::structure::gathered::Keep;
use crate::rocprofv3_json::structure::roles::{COUNTERS, STREAMED_COUNTERS};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::{constant_cat, dictionary_column};

/// The passes of dispatches that were run again to collect more counters. Anomalies of the records are reported when they are read.
pub fn replays(capture: &Capture) -> Result<Replays> {
    let mut all = DispatchRuns::default();
    let selected = Selected::new::<CountedDispatch>(Keep::Every, |columns| [TIMES, OF_RUNS].contains(&columns));
    for section in capture.process.named(COUNTERS) {
        let rows = Integers::read::<CountedDispatch>(capture, section, &selected, &mut SectionAnomalies::default())?;
        let runs = rows.rows("replay_pass").zip(rows.rows("start").zip(rows.rows("end")));
        for (dispatch, (replay, (start, end))) in rows.rows("dispatch_id").zip(runs) {
            all.add(dispatch, DispatchRun { replay, start, end });
        }
    }
    Ok(all.replays())
}

/// Values in recorded order.
#[derive(Default)]
struct Values {
    /// The pass among the runs of its dispatch.
    replays: Vec<i64>,
    dispatches: Vec<Option<i64>>,
    agents: Vec<Option<i64>>,
    counters: Vec<Option<i64>>,
    instances: Vec<Option<i64>>,
    times: Vec<Option<i64>>,
    values: Vec<Option<f64>>,
}

impl Values {
    fn append(&mut self, other: Self) {
        self.replays.extend(other.replays);
        self.dispatches.extend(other.dispatches);
        self.agents.extend(other.agents);
        self.counters.extend(other.counters);
        self.instances.extend(other.instances);
        self.times.extend(other.times);
        self.values.extend(other.values);
    }

    fn push(&mut self, record: CounterRecord, replays: &Replays) {
        let info = record.dispatch_data.dispatch_info;
        let replay = match info.dispatch_id.0 {
            Some(dispatch) if replays.has(dispatch) => replays.pass(dispatch, record.run()),
            _ => 0,
        };
        for value in record.records {
            self.replays.push(replay);
            self.dispatches.push(info.dispatch_id.0);
            self.agents.push(info.agent_id.0);
            self.counters.push(value.counter_id.0);
            self.instances.push(value.instance_id.0);
            self.times.push(value.timestamp.0);
            self.values.push(value.value.0);
        }
    }

    fn read(capture: &Capture, name: &str, findings: &mut SectionAnomalies) -> Result<Self> {
        let mut all = Self::default();
        let push = |values: &mut Self, record| values.push(record, &capture.replays);
        for section in capture.process.named(name) {
            for part in capture.records(section, findings, Self::default, push)? {
                all.append(part);
            }
        }
        Ok(all)
    }
}

/// Position (xcc, shader engine, channel) of an instance.
type Place = [Option<i64>; 3];

fn place(instance: &CounterInstance) -> Option<(i64, Place)> {
    let index = |wanted: &str| {
        let named = |name: &str| name.trim_start_matches("DIMENSION_") == wanted;
        let mut dimensions = instance.dimensions.iter();
        dimensions.find(|dimension| dimension.dimension_name.filled().is_some_and(named))?.index.0
    };
    Some((instance.instance_id.0?, [index("XCC"), index("SHADER_ENGINE"), index("INSTANCE")]))
}

/// The counters of the file by handle, and positions by instance id.
#[derive(Default)]
struct Registry {
    names: BTreeMap<i64, String>,
    places: BTreeMap<i64, Place>,
}

impl Registry {
    fn read(capture: &Capture, findings: &mut SectionAnomalies) -> Result<Self> {
        let mut all = Self::default();
        let push = |registry: &mut Self, counter: Counter| {
            registry.names.insert(counter.id.0.unwrap_or(0), counter.name.0.unwrap_or_default());
            registry.places.extend(counter.instances.iter().filter_map(place));
        };
        for section in capture.process.named("counters") {
            for part in capture.records(section, findings, Self::default, push)? {
                all.names.extend(part.names);
                all.places.extend(part.places);
            }
        }
        Ok(all)
    }

    /// The column of names for handles. A counter without a name is named after its handle.
    fn column(&self, name: &'static str, handles: &[Option<i64>]) -> Result<(Column, usize)> {
        let mut dictionary: Vec<Option<String>> = Vec::new();
        let mut codes: BTreeMap<i64, usize> = BTreeMap::new();
        let mut unknown = 0;
        let column: Vec<Option<usize>> = handles
            .iter()
            .map(|handle| {
                let handle = handle.unwrap_or(0);
                let known = self.names.get(&handle).filter(|name| !name.is_empty());
                unknown += usize::from(known.is_none());
                Some(*codes.entry(handle).or_insert_with(|| {
                    dictionary.push(Some(known.cloned().unwrap_or_else(|| format!("counter_{handle}"))));
                    dictionary.len() - 1
                }))
            })
            .collect();
        Ok((dictionary_column(name, &dictionary, column.into_iter())?, unknown))
    }
}

/// One row per value of a dispatch, with the canonical columns of `counter_instances`.
fn instances(reading: &mut Reading<'_>) -> Result<DataFrame> {
    let capture = reading.capture;
    let values = Values::read(capture, COUNTERS, &mut reading.findings)?;
    let registry = Registry::read(capture, &mut reading.findings)?;
    let (counter, unknown) = registry.column("counter", &values.counters)?;
    note_unknown(reading, unknown);
    let height = values.values.len();
    let place = |at: usize, name: &str| {
        let places = values.instances.iter().map(|id| registry.places.get(&id.as_ref().copied()?)?.get(at).copied()?);
        Int64Chunked::from_iter_options(name.into(), places).into_series().into_column()
    };
    let dispatches = values.dispatches.iter().map(|id| id.unwrap_or(0));
    let first_pass = reading.builder.context.process.pass;
    let passes = values.replays.iter().map(|replay| first_pass.saturating_add(*replay));
    let frame = DataFrame::new(
        height,
        vec![
            Int64Chunked::from_iter_values("pass".into(), passes).into_series().into_column(),
            Int64Chunked::from_iter_values("dispatch_id".into(), dispatches).into_series().into_column(),
            counter,
            place(0, "xcc"),
            place(1, "shader_engine"),
            place(2, "channel"),
            Float64Chunked::from_iter_options("value".into(), values.values.iter().copied())
                .into_series()
                .into_column(),
        ],
    )?;
    with_values(&mut reading.builder, frame)
}

fn note_unknown(reading: &mut Reading<'_>, unknown: usize) {
    let detail = "values belong to an unnamed counter, shown as counter_<handle>";
    reading.builder.note("missing_string", Severity::Warning, unknown, None, detail);
}

/// Assembles one row per hardware instance, numbered in recorded order.
pub(crate) fn read_instances(reading: &mut Reading<'_>) -> Result<()> {
    let frame = instances(reading)?;
    put_counter_instances(&mut reading.builder, frame)
}

/// Assembles one row per counter of a dispatch.
pub(crate) fn read_counters(reading: &mut Reading<'_>) -> Result<()> {
    let frame = instances(reading)?;
    put_counters(&mut reading.builder, frame)
}

/// Assembles the samples of streamed counters.
pub(crate) fn read_samples(reading: &mut Reading<'_>) -> Result<()> {
    let capture = reading.capture;
    let values = Values::read(capture, STREAMED_COUNTERS, &mut reading.findings)?;
    let registry = Registry::read(capture, &mut reading.findings)?;
    let height = values.values.len();
    reading.builder.set_height(height);
    let (names, unknown) = registry.column("name", &values.counters)?;
    note_unknown(reading, unknown);
    reading.builder.put("name", names);
    reading.builder.put("track", constant_cat("track", Some("spm"), height)?);
    let times = values.times.iter().map(|time| time.unwrap_or(0));
    reading.put("time_ns", Int64Chunked::from_iter_values("".into(), times));
    let numbers = values.values.iter().map(|value| value.unwrap_or(f64::NAN));
    reading.builder.put("value", Float64Chunked::from_iter_values("".into(), numbers).into_series());
    let handles = Int64Chunked::from_iter_options("".into(), values.agents.iter().copied());
    let ids = crate::rocprofv3_json::reading::ordinals(height);
    reading.put_agent(&handles, &ids);
    Ok(())
}
