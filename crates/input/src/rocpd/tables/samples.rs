//! `samples` from the values of rocpd_pmc_event that belong to a row of rocpd_sample: telemetry and streamed counters.

use anyhow::Result;
use polars::prelude::*;

use super::counters;
use crate::common::sqlite::{Columns, Condition, integer, real, text};
use crate::common::{IdIndex, Texts, Words, count_first, index_of, or, or_else};
use crate::rocpd::assembly::Assembly;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::dictionary_column;

/// Columns that distinguish hardware instances of a streamed counter, and the name of each.
const PLACES: &[(&str, &str)] =
    &[("xcc", "XCC"), ("shader_engine", "SE"), ("shader_array", "SA"), ("wgp", "WGP"), ("instance", "Instance")];
const STREAMED: &str = "spm";
const UNKNOWN: &str = "unknown";

/// Whether each row of rocpd_sample carries values.
pub fn measured(assembly: &mut Assembly<'_>, samples: &Columns) -> Result<Vec<bool>> {
    if samples.height == 0 {
        return Ok(Vec::new());
    }
    let values = assembly.read("pmc_event", &["event_id", "sample_id"].map(integer), Condition::all())?;
    if values.height == 0 {
        return Ok(vec![false; samples.height]);
    }
    let counted = counted_events(assembly)?;
    let of_sample = values.integers("sample_id");
    let of_events = values.integers("event_id");
    let of_events =
        of_events.iter().zip(of_sample.iter()).filter_map(|(event, sample)| event.filter(|_| sample.is_none()));
    let events = IdIndex::new(&of_events.filter(|event| counted.position(*event).is_none()).collect::<Vec<i64>>());
    let sampled = index_of(&of_sample);
    let has = |index: &IdIndex, id: Option<i64>| id.is_some_and(|id| index.position(id).is_some());
    let (ids, event_ids) = (samples.integers("id"), samples.integers("event_id"));
    Ok(ids.iter().zip(event_ids.iter()).map(|(id, event)| has(&sampled, id) || has(&events, event)).collect())
}

/// Events of dispatches: their values are counters unless they name a sample.
fn counted_events(assembly: &Assembly<'_>) -> Result<IdIndex> {
    let columns = assembly.look_up("kernel_dispatch", &[integer("event_id")], Condition::all())?;
    Ok(index_of(&columns.integers("event_id")))
}

/// Assembles the samples, one for every value.
pub fn read(assembly: &mut Assembly<'_>) -> Result<()> {
    let mut wanted = vec![integer("event_id"), integer("sample_id"), integer("pmc_id"), real("value")];
    wanted.extend(PLACES.iter().map(|(column, _)| integer(column)));
    let values = assembly.read("pmc_event", &wanted, Condition::all())?;
    if values.height == 0 {
        return Ok(());
    }
    counters::note_lost(assembly, &values)?;
    let wanted = ["track_id", "timestamp", "event_id", "agent_id"].map(integer);
    let samples = assembly.read("sample", &wanted, Condition::all())?;
    let wanted = [text("name"), text("units"), integer("agent_id")];
    let counters = assembly.read("info_pmc", &wanted, Condition::all())?;

    let counter_ids = counters.integers("id");
    let names = Texts::new(&counter_ids, &counters.texts("name"));
    let tracks = track_names(assembly, &samples)?;
    let counted = if samples.height == 0 { IdIndex::new(&[]) } else { counted_events(assembly)? };
    let pairs = pairs(&values, &samples, &names, &tracks, &counted);
    note_lost(assembly, &values)?;
    assembly.set_height(pairs.len());

    let of_values = |name: &str| pick(&values.integers(name), pairs.iter().map(|(value, _)| *value));
    let of_samples = |name: &str| pick(&samples.integers(name), pairs.iter().map(|(_, sample)| *sample));
    let pmc_ids = of_values("pmc_id");
    assembly.put("time_ns", or(&of_samples("timestamp"), 0));
    let numbers = values.reals("value");
    let numbers = pairs.iter().map(|(value, _)| numbers.get(*value).unwrap_or(0.0));
    assembly.put("value", Float64Chunked::from_iter_values("".into(), numbers));
    let known: Vec<Option<String>> = names.values().iter().cloned().chain([Some(UNKNOWN.to_owned())]).collect();
    let codes = pmc_ids.iter().map(|id| names.position(id).or(Some(known.len() - 1)));
    assembly.put("name", dictionary_column("name", &known, codes)?);
    let units = Texts::new(&counter_ids, &counters.texts("units"));
    let words: Vec<Option<String>> = units.values().iter().map(|unit| unit.clone().filter(|u| !u.is_empty())).collect();
    assembly.put("unit", dictionary_column("unit", &words, pmc_ids.iter().map(|id| units.position(id)))?);
    let places = Places::new(&values);
    let streamed = values.integers("sample_id");
    let mut labels = Words::default();
    for (value, sample) in &pairs {
        let unnamed = if streamed.get(*value).is_some() { STREAMED } else { UNKNOWN };
        let track = tracks.get(*sample).and_then(Option::as_deref).unwrap_or(unnamed);
        labels.push(Some(format!("{track}{}", places.at(*value)).into()));
    }
    assembly.put("track", labels.categories("track")?);

    let index = index_of(&counter_ids);
    let agent_ids = counters.integers("agent_id");
    let of_counter = |id: Option<i64>| id.and_then(|id| index.position(id)).and_then(|at| agent_ids.get(at));
    let agents: Int64Chunked = pmc_ids.iter().map(of_counter).collect_ca("agent_id".into());
    let agents = or_else(&agents, &of_samples("agent_id"));
    assembly.put("agent_id", agents.clone());
    assembly.put_gpu(&agents, &of_values("id"));
    Ok(())
}

fn pick(values: &Int64Chunked, positions: impl Iterator<Item = usize>) -> Int64Chunked {
    positions.map(|at| values.get(at)).collect_ca(values.name().clone())
}

/// The name of the track of each sample.
fn track_names(assembly: &Assembly<'_>, samples: &Columns) -> Result<Vec<Option<String>>> {
    let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
    let names = assembly.database.tracks()?.join("name_id", &samples.integers("track_id"));
    Ok(names.iter().map(|id| strings.get(id).filter(|name| !name.is_empty()).map(str::to_owned)).collect())
}

/// The hardware instances of values.
struct Places(Vec<(&'static str, Int64Chunked)>);

impl Places {
    fn new(values: &Columns) -> Self {
        let columns = PLACES.iter().map(|(column, word)| (*word, values.integers(column)));
        Self(columns.filter(|(_, numbers)| numbers.null_count() < numbers.len()).collect())
    }

    /// The hardware instance of a value, as rocprofiler writes it behind the name of a counter.
    fn at(&self, value: usize) -> String {
        let places: Vec<String> = self
            .0
            .iter()
            .filter_map(|(word, numbers)| numbers.get(value).map(|number| format!("{word}: {number}")))
            .collect();
        if places.is_empty() { String::new() } else { format!(" [{}]", places.join(", ")) }
    }
}

/// Positions of each value and of its sample: the sample that it names, otherwise the sample of its event. If an event has several samples,
/// for example because many values of a device were requested at once, the sample is on the track with the name of the value.
fn pairs(
    values: &Columns,
    samples: &Columns,
    names: &Texts,
    tracks: &[Option<String>],
    counted: &IdIndex,
) -> Vec<(usize, usize)> {
    let by_id = index_of(&samples.integers("id"));
    let mut by_event: Vec<(i64, usize)> =
        samples.integers("event_id").iter().enumerate().filter_map(|(at, event)| Some((event?, at))).collect();
    by_event.sort_unstable();
    let (sample_ids, pmc_ids) = (values.integers("sample_id"), values.integers("pmc_id"));
    let sample_of = |(value, event): (usize, Option<i64>)| {
        if let Some(sample) = sample_ids.get(value) {
            return Some((value, by_id.position(sample)?));
        }
        let event = event.filter(|event| counted.position(*event).is_none())?;
        let from = by_event.partition_point(|(other, _)| *other < event);
        let of_event = || by_event.iter().skip(from).take_while(|(other, _)| *other == event).map(|(_, at)| *at);
        let mut several = of_event().skip(1).peekable();
        let own = several.peek().and_then(|_| {
            let name = names.get(pmc_ids.get(value))?;
            of_event().find(|at| tracks.get(*at).and_then(Option::as_deref).is_some_and(|track| is_of(track, name)))
        });
        Some((value, own.or_else(|| of_event().next())?))
    };
    values.integers("event_id").iter().enumerate().filter_map(sample_of).collect()
}

/// Whether a track has the name of a value, with or without a device number behind it.
fn is_of(track: &str, name: &str) -> bool {
    track.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ["))
}

fn note_lost(assembly: &mut Assembly<'_>, values: &Columns) -> Result<()> {
    let named = values.integers("sample_id");
    if named.null_count() == values.height {
        return Ok(());
    }
    let all = assembly.look_up_of_all("sample", &[])?;
    let known = index_of(&all.integers("id"));
    let lost = named.iter().map(|sample| sample.is_some_and(|sample| known.position(sample).is_none()));
    let (count, first) = count_first(lost, &values.integers("id"));
    let detail = "values refer to a missing sample; excluded";
    assembly.note("missing_sample", Severity::Warning, count, first, detail);
    Ok(())
}
