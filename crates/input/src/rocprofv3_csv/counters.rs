//! `counters`, `counter_instances` and `samples` from the files of counters.

use anyhow::Result;
use polars::prelude::*;

use super::columns::Col;
use super::dispatches::{counted_id, needed_for_runs};
use super::fields::{Fields, Plan};
use super::kinds::RecordKind;
use super::reading::Reading;
use crate::common::{Rule, Source, Words, ordinals, put_counter_instances, put_counters, with_values};
use wavesieve_tables::columns::frames::{constant_cat, dictionary_column};

const LAYOUT: &[Source<Col>] = &[
    (Col::Dispatch, &[], Rule::Used),
    (Col::Correlation, &[], Rule::Used),
    (Col::ReplayPass, OF_RUNS, Rule::Used),
    (Col::Start, OF_RUNS, Rule::Used),
    (Col::End, OF_RUNS, Rule::Used),
    (Col::CounterName, &[], Rule::UsedText),
];
/// Columns that only distinguish the runs of a dispatch.
const OF_RUNS: &[&str] = &[""];
const SAMPLES: &[Source<Col>] = &[
    (Col::Time, &["time_ns"], Rule::Copied),
    (Col::Agent, &["agent_id", "gpu", "device"], Rule::Used),
    (Col::CounterName, &[], Rule::UsedText),
];

/// Position of a value in the hardware: xcc, shader engine, instance.
type CounterPlace = [Option<i64>; 3];

/// A counter and the position after its name: `SQ_WAVES [XCC: 0, SE: 1, Instance: 2]`.
fn place(name: &str) -> (&str, CounterPlace) {
    let Some((counter, rest)) = name.split_once('[') else { return (name, CounterPlace::default()) };
    let of = |wanted: &str| {
        rest.trim_end_matches(']').split(',').find_map(|part| {
            let (key, value) = part.split_once(':')?;
            if key.trim().eq_ignore_ascii_case(wanted) { value.trim().parse().ok() } else { None }
        })
    };
    (counter.trim_end(), [of("XCC"), of("SE"), of("Instance")])
}

/// The counters of rows, and the position of each.
fn counters(words: &Words, name: &'static str) -> Result<(Column, Vec<CounterPlace>)> {
    let list = words.list();
    let unnamed = list.len();
    let parsed: Vec<(Option<String>, CounterPlace)> = list
        .iter()
        .map(|word| {
            let (counter, place) = place(word.as_deref().unwrap_or_default());
            (Some(counter.to_owned()), place)
        })
        .chain([(Some("unknown".to_owned()), CounterPlace::default())])
        .collect();
    let codes: Vec<usize> = words.codes.iter().map(|code| code.unwrap_or(unnamed)).collect();
    let dictionary: Vec<Option<String>> = parsed.iter().map(|(counter, _)| counter.clone()).collect();
    let places =
        codes.iter().map(|code| parsed.get(*code).map_or_else(CounterPlace::default, |(_, place)| *place)).collect();
    Ok((dictionary_column(name, &dictionary, codes.into_iter().map(Some))?, places))
}

/// One row per value of a dispatch, with the canonical columns of `counter_instances`.
fn instances(reading: &mut Reading<'_>) -> Result<DataFrame> {
    let plan = Plan::new(RecordKind::Counters, LAYOUT, needed_for_runs(reading));
    let rows = Fields::read(reading, &plan)?;
    let (counter, places) = counters(&rows.words(Col::CounterName), "counter")?;
    let column = |at: usize, name: &str| {
        let values = places.iter().map(|place| place.get(at).copied().flatten());
        Int64Chunked::from_iter_options(name.into(), values).into_column()
    };
    let (dispatches, calls) = (rows.get(Col::Dispatch), rows.get(Col::Correlation));
    let ids: Vec<i64> =
        dispatches.iter().zip(calls.iter()).map(|(dispatch, call)| counted_id(dispatch, call)).collect();
    let (capture, first_pass) = (reading.capture, reading.builder.context.process.pass);
    let replays = &capture.replays;
    let passes = ids.iter().enumerate().map(|(row, id)| {
        let replay = if replays.has(*id) { replays.pass(*id, rows.run(row)) } else { 0 };
        first_pass.saturating_add(replay)
    });
    let pass = Int64Chunked::from_iter_values("pass".into(), passes);
    let frame = DataFrame::new(
        rows.height,
        vec![
            pass.into_column(),
            Int64Chunked::from_iter_values("dispatch_id".into(), ids.iter().copied()).into_column(),
            counter,
            column(0, "xcc"),
            column(1, "shader_engine"),
            column(2, "channel"),
            Float64Chunked::from_iter_options("value".into(), rows.values.iter().copied()).into_column(),
        ],
    )?;
    with_values(&mut reading.builder, frame)
}

/// Assembles one row per value, numbered in recorded order.
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
    let rows = reading.rows(&Plan::new(RecordKind::StreamedCounters, SAMPLES, &[]))?;
    let (names, _) = counters(&rows.words(Col::CounterName), "name")?;
    reading.builder.put("name", names);
    reading.builder.put("track", constant_cat("track", Some("spm"), rows.height)?);
    let numbers = rows.values.iter().map(|value| value.unwrap_or(f64::NAN));
    reading.builder.put("value", Float64Chunked::from_iter_values("".into(), numbers));
    reading.put_agent(&rows.get(Col::Agent), &ordinals(rows.height));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places() {
        assert_eq!(place("SQ_WAVES"), ("SQ_WAVES", [None; 3]));
        assert_eq!(place("SQ_WAVES [XCC: 0, SE: 1, Instance: 22]"), ("SQ_WAVES", [Some(0), Some(1), Some(22)]));
        assert_eq!(place("odd [what"), ("odd", [None; 3]));
    }
}
