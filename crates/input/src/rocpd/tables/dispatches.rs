//! `kernels` and `counter_dispatches` from rocpd_kernel_dispatch.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::event_columns::put_correlation;
use crate::common::sqlite::{Columns, Condition, RowTest, integer};
use crate::common::{Rule, Source, or, or_else};
use crate::rocpd::assembly::Assembly;
use crate::rocpd::database::{Database, KEY};
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_tables::columns::frames::dictionary_column;
use wavesieve_tables::columns::values::{I64Values, integers};

const LAYOUT: &[Source<&'static str>] = &[
    ("dispatch_id", &["dispatch_id"], Rule::OrKey),
    ("replay_pass", &["pass"], Rule::Used),
    ("kernel_id", &["kernel_id", "kernel_name", "short_name", "category"], Rule::Used),
    ("agent_id", &["agent_id", "gpu", "device"], Rule::Copied),
    ("region_name_id", &["region_name"], Rule::Used),
    ("workgroup_size_x", &["workgroup_x"], Rule::Copied),
    ("workgroup_size_y", &["workgroup_y"], Rule::Copied),
    ("workgroup_size_z", &["workgroup_z"], Rule::Copied),
    ("grid_size_x", &["grid_x"], Rule::Copied),
    ("grid_size_y", &["grid_y"], Rule::Copied),
    ("grid_size_z", &["grid_z"], Rule::Copied),
    ("group_segment_size", &["lds_bytes"], Rule::Copied),
    ("private_segment_size", &["scratch_bytes"], Rule::Copied),
    // The source writes 0 for a dispatch without a graph.
    ("graph_exec_id", &["graph_exec_id", "graph_node_id"], Rule::NotZero),
    ("graph_node_id", &["graph_node_id"], Rule::Used),
];

/// Condition for the rows of `kernels`: if dispatches are replayed to collect more counters, the first recorded run of each.
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

/// Assembles the first run of each dispatch.
pub(crate) fn read_kernels(assembly: &mut Assembly<'_>) -> Result<()> {
    let own = first_runs(assembly.database, &assembly.context.process.facts, assembly.context.threads)?;
    read(assembly, own).map(drop)
}

/// Assembles the dispatches of all passes.
pub(crate) fn read_counter_dispatches(assembly: &mut Assembly<'_>) -> Result<()> {
    let columns = read(assembly, Condition::all())?;
    let (first, replays) = (assembly.context.process.pass, columns.integers("replay_pass"));
    assembly.put_integers("pass", replays.iter().map(|replay| Some(pass_of(first, replay))));
    Ok(())
}

fn read(assembly: &mut Assembly<'_>, own: Condition) -> Result<Columns> {
    let columns = assembly.activity("kernel_dispatch", LAYOUT, own)?;
    let ids = columns.integers("id");
    put_names(assembly, &columns, &ids)?;
    assembly.put_gpu(&columns.integers("agent_id"), &ids);
    put_correlation(assembly, &columns, &ids)?;
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
    if assembly.wants(&["graph_node_id"]) && columns.has("graph_node_id") {
        let in_graph = I64Values::new(&columns.integers("graph_exec_id"));
        let values = I64Values::new(&columns.integers("graph_node_id"));
        let values = values.iter().zip(in_graph.iter()).map(|(value, graph)| value.filter(|_| graph != Some(0)));
        assembly.put("graph_node_id", integers("graph_node_id", values));
    }
    Ok(columns)
}

/// Number of the pass of a dispatch among the passes of its rank.
pub fn pass_of(first: i64, replay: Option<i64>) -> i64 {
    first.saturating_add(replay.unwrap_or(0).max(0))
}

fn put_names(assembly: &mut Assembly<'_>, columns: &Columns, ids: &Int64Chunked) -> Result<()> {
    let kernel_ids = columns.integers("kernel_id");
    assembly.put_with("kernel_id", || Ok(or(&kernel_ids, -1).into_column()))?;
    if !assembly.wants(&["kernel_name", "short_name", "category"]) {
        return Ok(());
    }
    let symbols = assembly.lookups.symbols(assembly.database)?;
    let unknown = "dispatches refer to an unknown kernel symbol, shown as kernel_<id>";
    assembly.put_kernel_names_by_id(&symbols.names, &symbols.index, (&kernel_ids, ids), unknown)
}
