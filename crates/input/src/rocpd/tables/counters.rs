//! `counters` and `counter_instances` from rocpd_pmc_event.

use anyhow::Result;
use polars::prelude::*;

use super::dispatches::pass_of;
use crate::common::sqlite::{Columns, Condition, Wanted, integer, real, text};
use crate::common::{IdIndex, Texts, count_first, index_of, put_counter_instances, put_counters, with_values};
use crate::rocpd::assembly::Assembly;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::columns::frames::dictionary_column;

/// Rows of rocpd_pmc_event that belong to a dispatch, in recorded order, with the canonical columns of
/// `counter_instances`.
fn instances(assembly: &mut Assembly<'_>) -> Result<DataFrame> {
    let numbers = ["event_id", "pmc_id", "xcc", "shader_engine", "instance", "sample_id"].map(integer);
    let wanted: Vec<Wanted> = numbers.into_iter().chain([real("value")]).collect();
    let columns = assembly.read("pmc_event", &wanted, Condition::all())?;
    let wanted = ["event_id", "dispatch_id", "replay_pass"].map(integer);
    let dispatches = assembly.look_up("kernel_dispatch", &wanted, Condition::all())?;
    let runs = Runs::new(&dispatches, assembly.context.process.pass);
    let event_ids = columns.integers("event_id");
    let run = |event: Option<i64>| event.and_then(|event| runs.find(event));
    let dispatch_ids: Int64Chunked =
        event_ids.iter().map(|event| run(event).map(|(dispatch, _)| dispatch)).collect_ca("dispatch_id".into());
    let passes: Int64Chunked = event_ids.iter().map(|event| run(event).map(|(_, pass)| pass)).collect_ca("pass".into());

    let names = counter_names(assembly)?;
    let pmc_ids = columns.integers("pmc_id");
    let is_unnamed = |id: Option<i64>| names.get(id).is_none_or(str::is_empty);
    let unnamed: Vec<Option<String>> = names.values().iter().cloned().chain([Some("unknown".to_owned())]).collect();
    let codes = pmc_ids.iter().map(|id| names.position(id).or(Some(unnamed.len() - 1)));
    let counter = dictionary_column("counter", &unnamed, codes)?;

    let streaming = columns.integers("sample_id").is_not_null();
    let ids = columns.integers("id");
    let orphan = dispatch_ids.is_null() & !&streaming;
    if orphan.any() {
        note_orphans(assembly, &orphan, &event_ids, &ids)?;
    }
    let kept = dispatch_ids.is_not_null() & !&streaming;
    let unnamed = pmc_ids.iter().zip(kept.iter()).map(|(id, kept)| kept == Some(true) && is_unnamed(id));
    let (count, first) = count_first(unnamed, &ids);
    let detail = "values belong to an unnamed counter, shown as `unknown`";
    assembly.note("missing_string", Severity::Warning, count, first, detail);
    let height = columns.height;
    let frame = DataFrame::new(
        height,
        vec![
            passes.into_column(),
            dispatch_ids.into_column(),
            counter,
            columns.integers("xcc").into_column(),
            columns.integers("shader_engine").into_column(),
            columns.integers("instance").into_column().with_name("channel".into()),
            columns.reals("value").into_column(),
        ],
    )?;
    with_values(assembly, frame.filter(&kept)?)
}

/// Dispatch and pass by event.
struct Runs {
    by_event: IdIndex,
    runs: Vec<(i64, i64)>,
}

impl Runs {
    fn new(dispatches: &Columns, first_pass: i64) -> Self {
        let columns =
            (dispatches.integers("dispatch_id"), dispatches.integers("id"), dispatches.integers("replay_pass"));
        let rows = columns.0.iter().zip(columns.1.iter()).zip(columns.2.iter());
        let (events, runs): (Vec<i64>, Vec<(i64, i64)>) = dispatches
            .integers("event_id")
            .iter()
            .zip(rows)
            .filter_map(|(event, ((dispatch, id), replay))| {
                Some((event?, (dispatch.or(id)?, pass_of(first_pass, replay))))
            })
            .unzip();
        Self { by_event: IdIndex::new(&events), runs }
    }

    fn find(&self, event: i64) -> Option<(i64, i64)> {
        self.by_event.position(event).and_then(|at| self.runs.get(at).copied())
    }
}

/// Notes values whose event has no owner. Values of samples and page faults are not counters, and values of other processes of the
/// partition belong to their dispatches.
fn note_orphans(
    assembly: &mut Assembly<'_>,
    orphan: &BooleanChunked,
    event_ids: &Int64Chunked,
    ids: &Int64Chunked,
) -> Result<()> {
    let mut owned: Vec<IdIndex> = Vec::new();
    for base in ["kernel_dispatch", "sample", "region", "memory_copy", "memory_allocate"] {
        let columns = assembly.look_up_of_all(base, &[integer("event_id")])?;
        owned.push(index_of(&columns.integers("event_id")));
    }
    let is_owned = |event: Option<i64>| event.is_some_and(|id| owned.iter().any(|index| index.position(id).is_some()));
    let lost = orphan.iter().zip(event_ids.iter()).map(|(orphan, event)| orphan == Some(true) && !is_owned(event));
    let (count, first) = count_first(lost, ids);
    let detail = "counter values belong to no dispatch; excluded";
    assembly.note("counter_without_dispatch", Severity::Warning, count, first, detail);
    Ok(())
}

/// Notes counter values in a partition without counters of dispatches, for example because the dispatches were lost.
pub(crate) fn note_lost(assembly: &mut Assembly<'_>, values: &Columns) -> Result<()> {
    if assembly.context.process.facts.has_counters {
        return Ok(());
    }
    let orphan = values.integers("sample_id").is_null();
    if orphan.any() {
        note_orphans(assembly, &orphan, &values.integers("event_id"), &values.integers("id"))
    } else {
        Ok(())
    }
}

fn counter_names(assembly: &mut Assembly<'_>) -> Result<Texts> {
    let columns = assembly.read("info_pmc", &[text("name")], Condition::all())?;
    Ok(Texts::new(&columns.integers("id"), &columns.texts("name")))
}

/// Assembles one row per hardware instance, numbered in recorded order.
pub(crate) fn read_instances(assembly: &mut Assembly<'_>) -> Result<()> {
    let frame = instances(assembly)?;
    put_counter_instances(assembly, frame)
}

/// Assembles one row per counter of a dispatch.
pub(crate) fn read_counters(assembly: &mut Assembly<'_>) -> Result<()> {
    let frame = instances(assembly)?;
    put_counters(assembly, frame)
}
