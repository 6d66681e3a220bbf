//! The table `graph_work`: kernels and copies of HIP graphs by graph, replay and node.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{dictionary_column, integers, values_by_text};
use crate::columns::values::FrameValues;
use crate::derive::launching::launching_calls::{CALL_COLUMNS, LaunchingCalls, MARK_COLUMNS};
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, column, needed};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    owners: &Owner::WORK,
    rows_when: RowsWhen::all(&["kernels"]).if_found(),
    ..DerivedTable::new(&tables::launching::GRAPH_WORK, needs, Build::Alone(build))
};

/// Part of the names of calls that launch a graph, in lower case.
const GRAPH_LAUNCH: &str = "graphlaunch";
/// Identification of a graph: by its recorded id, or by launching the same kernels and copies.
const KNOWN_BY: [&str; 2] = ["graph_exec_id", "same work"];
const KINDS: [&str; 2] = ["kernel", "copy"];

fn needs() -> Needs {
    let common = ["gpu", "correlation_id", "graph_exec_id", "start_ns", "end_ns", "valid"];
    let kernels = [&["dispatch_id", "kernel_id", "kernel_name", "graph_node_id"][..], &common].concat();
    let copies = [&["copy_id", "direction"][..], &common].concat();
    vec![
        ("kernels", kernels),
        ("memory_copies", copies),
        ("regions", CALL_COLUMNS.to_vec()),
        ("marks", MARK_COLUMNS.to_vec()),
    ]
}

/// A kernel or copy of a graph.
#[derive(Clone, Copy, Debug)]
struct Member {
    kind: u8,
    row: u32,
    target_id: i64,
    /// Its work: the kernel, or the number of a copy's direction.
    work: i64,
    gpu: Option<i64>,
    node_id: Option<i64>,
    exec_id: Option<i64>,
    correlation_id: Option<i64>,
    call: Option<u32>,
    api_ns: Option<(i64, i64)>,
    start_ns: i64,
    end_ns: i64,
}

/// Finds the work that graphs launched, and numbers graphs, replays and positions.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let calls = LaunchingCalls::from_frames(tables)?;
    let launches = values_by_text(calls.all_names(), |name| name.to_lowercase().contains(GRAPH_LAUNCH))?;
    let (kernels, copies) = (needed(tables, "kernels")?, needed(tables, "memory_copies")?);
    let mut members = Vec::new();
    for (kind, frame, keys) in
        [(0, kernels, ["dispatch_id", "kernel_id", "graph_node_id"]), (1, copies, ["copy_id", "copy_id", "copy_id"])]
    {
        let [key, work, node] = keys;
        let [work, node, gpu, ids, execs] = frame.integers([work, node, "gpu", "correlation_id", "graph_exec_id"])?;
        let directions =
            if kind == 1 { Some(values_by_text(frame.column("direction")?, direction_number)?) } else { None };
        for (row, [target_id, start_ns, end_ns]) in frame.valid_rows([key, "start_ns", "end_ns"])? {
            let place = row as usize;
            let correlation_id = ids.get(place);
            let call = calls.get(correlation_id);
            let by_graph = call.is_some_and(|call| launches.get(call.row as usize).copied().flatten() == Some(true));
            let exec_id = execs.get(place).filter(|id| *id != 0);
            if !by_graph && exec_id.is_none() {
                continue;
            }
            let direction = directions.as_ref().and_then(|directions| directions.get(place).copied().flatten());
            members.push(Member {
                kind,
                row,
                target_id,
                work: direction.unwrap_or_else(|| work.get(place).unwrap_or_default()),
                gpu: gpu.get(place),
                node_id: node.get(place).filter(|id| kind == 0 && *id != 0),
                exec_id,
                correlation_id,
                call: call.map(|call| call.row),
                api_ns: call.map(|call| (call.start_ns, call.end_ns)),
                start_ns,
                end_ns,
            });
        }
    }
    members.sort_unstable_by_key(|member| {
        (member.exec_id, member.correlation_id, member.start_ns, member.kind, member.target_id)
    });
    let numbered = numbered(&members);
    frame(&numbered, &calls, kernels, copies)
}

/// A number for a direction, negative because kernel ids are not negative.
fn direction_number(direction: &str) -> i64 {
    direction.bytes().fold(-1_i64, |number, byte| number.wrapping_mul(31).wrapping_sub(i64::from(byte))) | i64::MIN
}

/// A member with its graph, the identification of the graph, its replay and its position.
type Numbered<'a> = (usize, usize, usize, usize, &'a Member);

/// Numbers graphs by their first work, and replays of each graph by theirs. Rows of a replay are consecutive.
fn numbered(members: &[Member]) -> Vec<Numbered<'_>> {
    let mut replays: Vec<&[Member]> = members
        .chunk_by(|one, other| (one.exec_id, one.correlation_id) == (other.exec_id, other.correlation_id))
        .collect();
    replays.sort_by_key(|replay| replay.first().map(|first| (first.start_ns, first.kind, first.target_id)));
    let mut graphs: BTreeMap<(Option<i64>, Vec<i64>), (usize, usize)> = BTreeMap::new();
    let mut rows = Vec::with_capacity(members.len());
    for replay in replays {
        let exec_id = replay.first().and_then(|first| first.exec_id);
        // Branches of a graph may run in any order.
        let mut work: Vec<i64> =
            if exec_id.is_some() { Vec::new() } else { replay.iter().map(|one| one.work).collect() };
        work.sort_unstable();
        let next = graphs.len();
        let (graph, replays) = graphs.entry((exec_id, work)).or_insert((next, 0));
        let known_by = usize::from(exec_id.is_none());
        rows.extend(replay.iter().enumerate().map(|(position, member)| (*graph, known_by, *replays, position, member)));
        *replays += 1;
    }
    rows
}

fn frame(rows: &[Numbered<'_>], calls: &LaunchingCalls, kernels: &DataFrame, copies: &DataFrame) -> Result<DataFrame> {
    let number = |name: &str, value: &dyn Fn(&Numbered<'_>) -> usize| {
        column(name, rows.iter().map(|row| i64::try_from(value(row)).unwrap_or(i64::MAX)).collect())
    };
    let optional =
        |name: &str, value: &dyn Fn(&Member) -> Option<i64>| integers(name, rows.iter().map(|row| value(row.4)));
    // Names of kernels, then of copies; rows index into both.
    let mut names = kernels.column("kernel_name")?.clone();
    names.append(copies.column("direction")?)?;
    let before = [0, kernels.height()];
    let places: IdxCa = rows
        .iter()
        .map(|row| IdxSize::try_from(before.get(usize::from(row.4.kind))?.checked_add(row.4.row as usize)?).ok())
        .collect();
    Ok(DataFrame::new_infer_height(vec![
        number("graph", &|row| row.0),
        dictionary_column("known_by", &KNOWN_BY, rows.iter().map(|row| Some(row.1)))?,
        optional("graph_exec_id", &|member| member.exec_id),
        number("replay", &|row| row.2),
        number("position", &|row| row.3),
        optional("node_id", &|member| member.node_id),
        dictionary_column("kind", &KINDS, rows.iter().map(|row| Some(usize::from(row.4.kind))))?,
        optional("target_id", &|member| Some(member.target_id)),
        names.take(&places)?.with_name("name".into()),
        optional("gpu", &|member| member.gpu),
        optional("correlation_id", &|member| member.correlation_id),
        calls.names("api_name", rows.iter().map(|row| row.4.call))?,
        optional("api_start_ns", &|member| member.api_ns.map(|(start_ns, _)| start_ns)),
        optional("api_end_ns", &|member| member.api_ns.map(|(_, end_ns)| end_ns)),
        optional("start_ns", &|member| Some(member.start_ns)),
        optional("end_ns", &|member| Some(member.end_ns)),
        optional("work_ns", &|member| Some(member.end_ns.saturating_sub(member.start_ns))),
    ])?)
}
