//! `kernels` and `counter_dispatches`. A dispatch is listed in a kernel trace, next to its counters, or both.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::columns::Col;
use super::fields::{Fields, Plan};
use super::kinds::RecordKind;
use super::reading::Reading;
use crate::common::{Rule, Source, SymbolNames, or, or_else, zero_as_null};
use wavesieve_tables::columns::frames::dictionary_column;

const TIMES: &[&str] = &["start_ns", "end_ns", "duration_ns", "valid"];
const GROUP_SIZES: &[&str] = &["workgroup_x", "workgroup_y", "workgroup_z"];
const GRID_SIZES: &[&str] = &["grid_x", "grid_y", "grid_z"];

const NAMES: &[&str] = &["kernel_id", "kernel_name", "short_name", "category"];

const LAYOUT: &[Source<Col>] = &[
    (Col::Dispatch, &[], Rule::Used),
    (Col::KernelId, NAMES, Rule::Used),
    (Col::KernelName, NAMES, Rule::UsedText),
    (Col::Agent, &["agent_id", "gpu", "device"], Rule::Used),
    (Col::Queue, &["queue_id"], Rule::Copied),
    (Col::Stream, &["stream_id"], Rule::Copied),
    (Col::ThreadId, &["tid"], Rule::Copied),
    (Col::Correlation, &[], Rule::Used),
    (Col::ReplayPass, &[""], Rule::Used),
    (Col::Start, TIMES, Rule::Used),
    (Col::End, TIMES, Rule::Used),
    (Col::Lds, &["lds_bytes"], Rule::Copied),
    (Col::Scratch, &["scratch_bytes"], Rule::Copied),
    (Col::WorkgroupX, &["workgroup_x"], Rule::Used),
    (Col::WorkgroupY, &["workgroup_y"], Rule::Used),
    (Col::WorkgroupZ, &["workgroup_z"], Rule::Used),
    (Col::GridX, &["grid_x"], Rule::Used),
    (Col::GridY, &["grid_y"], Rule::Used),
    (Col::GridZ, &["grid_z"], Rule::Used),
    (Col::Workgroup, GROUP_SIZES, Rule::Used),
    (Col::Grid, GRID_SIZES, Rule::Used),
    (Col::GraphExec, &["graph_exec_id", "graph_node_id"], Rule::NotZero),
    (Col::GraphNode, &["graph_node_id"], Rule::Used),
];

/// The values that distinguish the runs of a dispatch.
const RUNS: &[Col] = &[Col::ReplayPass, Col::Start, Col::End];

/// The columns that distinguish the runs of dispatches; empty if every dispatch ran once.
pub(super) fn needed_for_runs(reading: &Reading<'_>) -> &'static [Col] {
    if reading.capture.replays.is_empty() { &[] } else { RUNS }
}

/// The id that counters use for their dispatch: early versions do not write a dispatch id.
pub(crate) fn counted_id(dispatch: Option<i64>, correlation: Option<i64>) -> i64 {
    dispatch.or(correlation).unwrap_or(0)
}

/// Dispatches in the order of the files with their ids and passes, followed by dispatches that only have counters. A dispatch that was run
/// again has its first run, or one run for each pass.
struct Dispatches {
    rows: Fields,
    ids: Int64Chunked,
    passes: Vec<i64>,
}

fn dispatches(reading: &mut Reading<'_>, of_passes: bool) -> Result<Dispatches> {
    let always = needed_for_runs(reading);
    let plan = |kind| Plan::new(kind, LAYOUT, always);
    let mut all = Fields::read(reading, &plan(RecordKind::Kernels))?;
    let capture = reading.capture;
    let replays = &capture.replays;
    let mut seen: BTreeSet<(i64, i64)> = BTreeSet::new();
    let mut is_wanted = |id: i64, pass: i64| (of_passes || pass == replays.first(id)) && seen.insert((id, pass));
    let pass_of = |id: i64, rows: &Fields, row: usize| {
        if replays.has(id) { replays.pass(id, rows.run(row)) } else { 0 }
    };
    let mut ids: Vec<Option<i64>> = all.slice(Col::Dispatch).unwrap_or_default().to_vec();
    ids.resize(all.height, None);
    let mut passes = vec![0; all.height];
    let has_counters = capture.census.rows(RecordKind::Counters) > 0;
    if has_counters {
        let mut marks = vec![true; all.height];
        let rows = ids.iter().zip(&mut passes).zip(&mut marks).enumerate();
        for (row, ((id, pass), mark)) in
            rows.filter_map(|(row, ((id, pass), mark))| Some((row, (((*id)?, pass), mark))))
        {
            *pass = pass_of(id, &all, row);
            // A trace may list all runs of a dispatch that was run again. For other dispatches, every row is a dispatch.
            *mark = is_wanted(id, *pass) || !replays.has(id);
        }
        if marks.contains(&false) {
            all.retain(&marks);
            let mut kept = marks.iter().copied();
            ids.retain(|_| kept.next().unwrap_or(true));
            let mut kept = marks.iter().copied();
            passes.retain(|_| kept.next().unwrap_or(true));
        }
        let mut counted = Fields::read(reading, &plan(RecordKind::Counters))?;
        let mut marks = Vec::with_capacity(counted.height);
        let (dispatches, calls) = (counted.slice(Col::Dispatch), counted.slice(Col::Correlation));
        let of =
            |column: Option<&[Option<i64>]>, row: usize| column.and_then(|column| column.get(row).copied().flatten());
        for row in 0..counted.height {
            let id = counted_id(of(dispatches, row), of(calls, row));
            let pass = pass_of(id, &counted, row);
            let is_new = is_wanted(id, pass);
            if is_new {
                ids.push(Some(id));
                passes.push(pass);
            }
            marks.push(is_new);
        }
        counted.retain(&marks);
        all.append(counted);
    }
    let mut next = ids.iter().flatten().max().copied().unwrap_or(0);
    let numbered = ids.iter().map(|id| {
        Some(id.unwrap_or_else(|| {
            next = next.saturating_add(1);
            next
        }))
    });
    let numbered: Int64Chunked = numbered.collect_ca("".into());
    Ok(Dispatches { rows: all, ids: numbered, passes })
}

/// Number of dispatches, or number of their runs in all passes.
pub fn count(reading: &mut Reading<'_>, of_passes: bool) -> Result<u64> {
    let census = &reading.capture.census;
    if census.rows(RecordKind::Counters) == 0 {
        return Ok(census.rows(RecordKind::Kernels));
    }
    Ok(dispatches(reading, of_passes)?.rows.height as u64)
}

/// Assembles the dispatches, and with `pass` also the column of that name.
pub fn read(reading: &mut Reading<'_>, pass: Option<i64>) -> Result<()> {
    let Dispatches { rows, ids, passes } = dispatches(reading, pass.is_some())?;
    reading.put_rows(&Plan::new(RecordKind::Kernels, LAYOUT, &[]), &rows)?;
    if let Some(pass) = pass {
        reading.builder.put_integers("pass", passes.iter().map(|replay| Some(pass.saturating_add(*replay))));
    }
    reading.put("dispatch_id", ids.clone());
    put_names(reading, &rows)?;
    reading.put_agent(&rows.get(Col::Agent), &ids);
    reading.put("correlation_id", zero_as_null(&rows.get(Col::Correlation)));
    put_sizes(reading, &rows, GROUP_SIZES, [Col::WorkgroupX, Col::WorkgroupY, Col::WorkgroupZ], Col::Workgroup);
    put_sizes(reading, &rows, GRID_SIZES, [Col::GridX, Col::GridY, Col::GridZ], Col::Grid);
    let (graphs, nodes) = (rows.get(Col::GraphExec), rows.get(Col::GraphNode));
    let in_graph = |graph: Option<i64>| graph.is_some_and(|graph| graph != 0);
    let nodes = nodes.iter().zip(graphs.iter()).map(|(node, graph)| node.filter(|_| in_graph(graph)));
    reading.builder.put_integers("graph_node_id", nodes);
    Ok(())
}

/// Adds sizes in three dimensions. Counter files report only the total number of work-items, which is put into x.
fn put_sizes(reading: &mut Reading<'_>, rows: &Fields, names: &[&'static str], columns: [Col; 3], total: Col) {
    let total = rows.get(total);
    let ones: Int64Chunked = total.iter().map(|total| total.map(|_| 1)).collect_ca("".into());
    for (at, (name, column)) in names.iter().zip(columns).enumerate() {
        let known = or_else(&rows.get(column), if at == 0 { &total } else { &ones });
        reading.put(name, or(&known, 0));
    }
}

/// Adds the kernel and its names: from the row itself, otherwise from other rows of the same kernel.
fn put_names(reading: &mut Reading<'_>, rows: &Fields) -> Result<()> {
    if !reading.builder.wants(NAMES) {
        return Ok(());
    }
    let symbols = &reading.capture.symbols;
    let words = rows.words(Col::KernelName);
    let list = words.list();
    let by_word: Vec<Option<i64>> = list.iter().map(|word| symbols.by_name.get(word.as_deref()?).copied()).collect();
    let kernel_ids = rows.get(Col::KernelId);
    let of_word = |code: &Option<usize>| code.and_then(|code| by_word.get(code).copied().flatten());
    let ids = kernel_ids.iter().zip(&words.codes).map(|(id, code)| Some(id.or_else(|| of_word(code)).unwrap_or(-1)));
    let ids: Int64Chunked = ids.collect_ca("".into());
    let texts = list.len();
    let unknown = texts + symbols.names.len();
    let codes: Vec<usize> = ids
        .iter()
        .zip(&words.codes)
        .map(|(id, code)| {
            let of_symbol = || id.and_then(|id| symbols.index.position(id)).map(|at| texts + at);
            code.or_else(of_symbol).unwrap_or(unknown)
        })
        .collect();
    if reading.builder.wants(&["kernel_name", "short_name", "category"]) {
        let names = list.into_iter().flatten().chain(symbols.names.iter().cloned());
        let names: SymbolNames = names.chain(["unknown".to_owned()]).collect();
        let forms = names.forms(reading.builder.context.categories, &|_| true);
        for (name, dictionary) in forms.dispatch_columns() {
            let codes = codes.iter().copied().map(Some);
            reading.builder.put_with(name, || Ok(dictionary_column(name, dictionary, codes)?))?;
        }
    }
    reading.put("kernel_id", ids);
    Ok(())
}
