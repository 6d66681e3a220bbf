//! `kernels` and `counter_dispatches` from rocpd_kernel_dispatch.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;
use rayon::prelude::*;

use super::hint;
use crate::common::sqlite::{Columns, Condition, RowTest, Wanted, integer};
use crate::common::{count_first, count_rows, or, or_else};
use crate::rocpd::assembly::Assembly;
use crate::rocpd::database::{Database, KEY};
use crate::rocpd::events::Events;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_tables::columns::frames::{dictionary_column, dictionary_column_at};
use wavesieve_tables::columns::values::{I64Values, integers};

/// Canonical columns and the source column each needs.
const SOURCES: &[(&[&str], &str)] = &[
    (&["dispatch_id"], "dispatch_id"),
    (&["kernel_id", "kernel_name", "short_name", "category"], "kernel_id"),
    (&["agent_id", "gpu", "device"], "agent_id"),
    (&["queue_id"], "queue_id"),
    (&["stream_id"], "stream_id"),
    (&["tid"], "tid"),
    (&["correlation_id", "external_id"], "event_id"),
    (&["region_name"], "region_name_id"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "start"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "end"),
    (&["workgroup_x"], "workgroup_size_x"),
    (&["workgroup_y"], "workgroup_size_y"),
    (&["workgroup_z"], "workgroup_size_z"),
    (&["grid_x"], "grid_size_x"),
    (&["grid_y"], "grid_size_y"),
    (&["grid_z"], "grid_size_z"),
    (&["lds_bytes"], "group_segment_size"),
    (&["scratch_bytes"], "private_segment_size"),
    (&["graph_exec_id"], "graph_exec_id"),
    (&["graph_node_id"], "graph_node_id"),
];

/// Columns that are copied as they are; a missing value of a column that may not be null becomes 0.
const COPIED: &[(&str, &str, bool)] = &[
    ("agent_id", "agent_id", true),
    ("workgroup_x", "workgroup_size_x", false),
    ("workgroup_y", "workgroup_size_y", false),
    ("workgroup_z", "workgroup_size_z", false),
    ("grid_x", "grid_size_x", false),
    ("grid_y", "grid_size_y", false),
    ("grid_z", "grid_size_z", false),
    ("lds_bytes", "group_segment_size", true),
    ("scratch_bytes", "private_segment_size", true),
];

/// Condition for the rows of `kernels`: where dispatches are replayed to collect more counters, the first run of each that is there.
pub(crate) fn first_runs(database: &Database, facts: &ProcessFacts, threads: usize) -> Result<Condition> {
    if facts.replay_passes == 0 {
        return Ok(Condition::all());
    }
    let wanted = [integer("dispatch_id"), integer("replay_pass")];
    let columns = database.read("kernel_dispatch", &wanted, threads)?;
    let ids = columns.integers("id");
    let dispatches = or_else(&columns.integers("dispatch_id"), &ids);
    let passes = columns.integers("replay_pass");
    let rows = || dispatches.iter().zip(passes.iter().map(|pass| pass_of(0, pass)));
    let mut first: BTreeMap<Option<i64>, i64> = BTreeMap::new();
    for (dispatch, pass) in rows() {
        first.entry(dispatch).and_modify(|first| *first = pass.min(*first)).or_insert(pass);
    }
    let is_again = |(dispatch, pass): (Option<i64>, i64)| first.get(&dispatch).is_some_and(|first| pass > *first);
    let again = rows().zip(ids.iter()).filter_map(|(row, id)| id.filter(|_| is_again(row)));
    Ok(Condition::all().and(RowTest::NoneOf(KEY, again.collect())))
}

/// Assembles the dispatches; with the number of the first `pass` those of all passes, and the column of that name.
pub fn read(assembly: &mut Assembly<'_>, pass: Option<i64>) -> Result<()> {
    let mut wanted: Vec<Wanted> = assembly.sources(SOURCES).into_iter().map(integer).collect();
    if pass.is_some() {
        wanted.push(integer("replay_pass"));
    }
    let own = match pass {
        None => first_runs(assembly.database, &assembly.context.process.facts, assembly.context.threads)?,
        Some(_) => Condition::all(),
    };
    let condition = hint::condition(assembly, "kernel_dispatch", own);
    let columns = assembly.database.read_where("kernel_dispatch", &wanted, condition, assembly.context.threads)?;
    assembly.absorb("kernel_dispatch", &columns);
    assembly.set_height(columns.height);
    let ids = columns.integers("id");
    if let Some(pass) = pass {
        let replays = columns.integers("replay_pass");
        let passes = replays.iter().map(|replay| pass_of(pass, replay));
        assembly.put("pass", Int64Chunked::from_iter_values("pass".into(), passes).into_series());
    }
    assembly
        .put_with("dispatch_id", || Ok(or_else(&columns.integers("dispatch_id"), &ids).into_series().into_column()))?;
    put_names(assembly, &columns, &ids)?;
    assembly.put_gpu(&columns.integers("agent_id"), &ids);
    assembly.put_place(&columns)?;
    put_correlation(assembly, &columns.integers("event_id"), &ids)?;
    if assembly.wants(&["region_name"]) {
        let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
        let names = columns.integers("region_name_id");
        if names.null_count() < names.len() {
            let names = names.iter().map(|id| strings.position(id).filter(|_| strings.get(id) != Some("")));
            let column = dictionary_column("region_name", strings.values(), names)?;
            assembly.put("region_name", column);
        }
    }
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    for &(name, source, nullable) in COPIED {
        assembly.put_with(name, || {
            let values = columns.integers(source);
            let values = if nullable { values } else { or(&values, 0) };
            Ok(values.into_series().into_column())
        })?;
    }
    // 0 is how the source writes that a dispatch belongs to no graph.
    for name in ["graph_exec_id", "graph_node_id"] {
        if assembly.wants(&[name]) && columns.has(name) {
            let in_graph = I64Values::new(&columns.integers("graph_exec_id"));
            let values = I64Values::new(&columns.integers(name));
            let values = values.iter().zip(in_graph.iter()).map(|(value, graph)| value.filter(|_| graph != Some(0)));
            assembly.put(name, integers(name, values).into_series());
        }
    }
    Ok(())
}

/// Number of the pass of a dispatch among those of its rank.
pub fn pass_of(first: i64, replay: Option<i64>) -> i64 {
    first.saturating_add(replay.unwrap_or(0).max(0))
}

fn put_names(assembly: &mut Assembly<'_>, columns: &Columns, ids: &Int64Chunked) -> Result<()> {
    let kernel_ids = columns.integers("kernel_id");
    assembly.put_with("kernel_id", || Ok(or(&kernel_ids, -1).into_series().into_column()))?;
    if !assembly.wants(&["kernel_name", "short_name", "category"]) {
        return Ok(());
    }
    let categories = assembly.context.categories;
    let symbols = assembly.symbols.get(assembly.database)?;
    let resolved = symbols.names.resolve(&symbols.index, &kernel_ids, categories);
    for (name, dictionary) in resolved.names.dispatch_columns() {
        assembly.put_with(name, || Ok(dictionary_column_at(name, dictionary, &resolved.positions)?))?;
    }
    let (count, first) = count_rows(&resolved.missing, ids);
    assembly.note(
        "missing_symbol",
        Severity::Warning,
        count,
        first,
        "dispatches refer to an unknown kernel symbol, shown as kernel_<id>",
    );
    Ok(())
}

/// Adds the internal and the external correlation id of the events. Internal id 0 stands for none.
pub(crate) fn put_correlation(assembly: &mut Assembly<'_>, event_ids: &Int64Chunked, ids: &Int64Chunked) -> Result<()> {
    let needed = assembly.sources(&[
        (&["correlation_id"], "stack_id"),
        (&["parent_correlation_id"], "parent_stack_id"),
        (&["external_id"], "correlation_id"),
    ]);
    if needed.is_empty() {
        return Ok(());
    }
    let (cache, context) = (&assembly.lookups.events, assembly.context);
    let events = Events::read(cache, assembly.database, &needed, context.threads, context.rows.is_some())?;
    assembly.absorb("event", &events.notes());
    put_event_ids(assembly, &events, event_ids);
    note_missing_events(assembly, &events, event_ids, ids);
    Ok(())
}

/// Adds those of the three correlation columns that are wanted and not null in all rows.
pub(crate) fn put_event_ids(assembly: &mut Assembly<'_>, events: &Events, event_ids: &Int64Chunked) {
    let sources = [
        ("correlation_id", "stack_id"),
        ("parent_correlation_id", "parent_stack_id"),
        ("external_id", "correlation_id"),
    ];
    let is_made = |(name, source): &(&str, &str)| assembly.wants(&[name]) && !events.have_nothing(source);
    let wanted: Vec<_> = sources.into_iter().filter(is_made).collect();
    let of_events = |(name, source)| {
        let values = events.values(source, event_ids).map(|value| value.filter(|value| *value != 0));
        (name, integers(name, values))
    };
    let columns: Vec<(&'static str, Int64Chunked)> = wanted.into_par_iter().map(of_events).collect();
    for (name, column) in columns {
        assembly.put(name, column.into_series());
    }
}

/// Notes rows whose event is missing.
pub(crate) fn note_missing_events(
    assembly: &mut Assembly<'_>,
    events: &Events,
    event_ids: &Int64Chunked,
    ids: &Int64Chunked,
) {
    let event_ids = I64Values::new(event_ids);
    let orphans = event_ids.iter().map(|id| id.is_some_and(|id| !events.contain(id)));
    let (count, first) = count_first(orphans, ids);
    assembly.note(
        "missing_event",
        Severity::Warning,
        count,
        first,
        "rows refer to a missing event; they have no category and no correlation id",
    );
}
