//! `counters`, `counter_instances` and `samples` from the records of counter collection.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::common::{DispatchRun, DispatchRuns, Replays, put_counter_instances, put_counters, with_values};
use crate::rocprofv3_json::capture::{Capture, FromRecord, SectionAnomalies};
use crate::rocprofv3_json::parsing::records::{CountedRun, Counter, CounterRecord};
use crate::rocprofv3_json::parts::Sink;
use crate::rocprofv3_json::reading::Reading;
use crate::rocprofv3_json::structure::roles::{COUNTERS, STREAMED_COUNTERS};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::{constant_cat, dictionary_column};

/// The runs of the dispatches with counters.
#[derive(Default)]
struct Runs(DispatchRuns);

impl Sink for Runs {
    type Output = DispatchRuns;
    type Record<'de> = CountedRun;

    fn push(&mut self, record: CountedRun) {
        let (dispatch, run) = record.run();
        self.0.add(dispatch, run);
    }

    fn finish(self) -> DispatchRuns {
        self.0
    }
}

/// The passes of dispatches that were run again for more counters. Whatever is odd about their records is reported when they
/// are read.
pub fn replays(capture: &Capture) -> Result<Replays> {
    let mut all = DispatchRuns::default();
    for section in capture.process.named(COUNTERS) {
        for runs in capture.records(section, &mut SectionAnomalies::default(), Runs::default)? {
            all.absorb(runs);
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

    fn read(capture: &Capture, name: &str, findings: &mut SectionAnomalies) -> Result<Self> {
        let mut all = Self::default();
        let sink = || Collecting { values: Self::default(), replays: &capture.replays };
        for section in capture.process.named(name) {
            for part in capture.records(section, findings, sink)? {
                all.append(part);
            }
        }
        Ok(all)
    }
}

/// Values being collected.
struct Collecting<'a> {
    values: Values,
    replays: &'a Replays,
}

impl Sink for Collecting<'_> {
    type Output = Values;
    type Record<'de> = CounterRecord;

    fn push(&mut self, record: CounterRecord) {
        let (data, values) = (record.dispatch_data, &mut self.values);
        let info = data.dispatch_info;
        let replay = match info.dispatch_id.0 {
            Some(dispatch) if self.replays.has(dispatch) => {
                let replay = record.replay_pass.0.or(data.replay_pass.0);
                let run = DispatchRun { replay, start: data.start_timestamp.0, end: data.end_timestamp.0 };
                self.replays.pass(dispatch, run)
            }
            _ => 0,
        };
        for value in record.records {
            values.replays.push(replay);
            values.dispatches.push(info.dispatch_id.0);
            values.agents.push(info.agent_id.0);
            values.counters.push(value.counter_id.0);
            values.instances.push(value.instance_id.0);
            values.times.push(value.timestamp.0);
            values.values.push(value.value.0);
        }
    }

    fn finish(self) -> Values {
        self.values
    }
}

/// A counter of the file's list.
struct Known {
    handle: i64,
    name: String,
    /// Places (xcc, shader engine, channel) by instance id.
    places: Vec<(i64, Place)>,
}

type Place = [Option<i64>; 3];

impl FromRecord for Known {
    type Record<'de> = Counter<'de>;

    fn from_record(record: Counter<'_>) -> Self {
        let place = |instance: &crate::rocprofv3_json::parsing::records::CounterInstance<'_>| {
            let index = |wanted: &str| {
                let named = |name: &str| name.trim_start_matches("DIMENSION_") == wanted;
                let mut dimensions = instance.dimensions.iter();
                dimensions.find(|dimension| dimension.dimension_name.filled().is_some_and(named))?.index.0
            };
            Some((instance.instance_id.0?, [index("XCC"), index("SHADER_ENGINE"), index("INSTANCE")]))
        };
        Self {
            handle: record.id.0.unwrap_or(0),
            name: record.name.filled().unwrap_or_default().to_owned(),
            places: record.instances.iter().filter_map(place).collect(),
        }
    }
}

/// The counters of the file by handle.
struct Registry {
    names: BTreeMap<i64, String>,
    places: BTreeMap<i64, Place>,
}

impl Registry {
    fn read(capture: &Capture, findings: &mut SectionAnomalies) -> Result<Self> {
        let known: Vec<Known> = capture.gather("counters", findings)?;
        let places = known.iter().flat_map(|counter| counter.places.iter().copied()).collect();
        Ok(Self { places, names: known.into_iter().map(|counter| (counter.handle, counter.name)).collect() })
    }

    /// The column of names for handles; a counter without name is called by its handle.
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
