//! The table `kernel_savings`: the time by which the work of a process would end earlier if a kernel took no time.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categorical, integers};
use crate::derive::paths::path_graph;
use crate::derive::paths::path_graph::PathGraph;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, column, needed};
use wavesieve_model::analysis::critical_path::{PathPart, end_without, longest_path};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::all(&["kernels"]),
    ..DerivedTable::new(&tables::paths::KERNEL_SAVINGS, needs, Build::Alone(build))
};

/// Maximum number of kernels, those with most time on the path, for which the end is recomputed.
const MAX: usize = 16;
/// Number of work that is not a kernel.
const NO_NAME: u32 = u32::MAX;

fn needs() -> Needs {
    let mut needs = path_graph::needs();
    for (_, columns) in needs.iter_mut().filter(|(table, _)| *table == "kernels") {
        columns.push("kernel_name");
    }
    needs
}

/// Computes the end without each kernel.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let path_graph = PathGraph::from_frames(tables)?;
    let graph = &path_graph.graph;
    let kernels = needed(tables, "kernels")?;
    let names = kernels.column("kernel_name")?.as_materialized_series().cast(&categorical())?;
    let codes: Vec<Option<u32>> = names.cat32()?.physical().iter().collect();

    let mut numbers: BTreeMap<Option<u32>, u32> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut number_of_work = Vec::with_capacity(path_graph.rows.len());
    for (work, row) in graph.work().iter().zip(&path_graph.rows) {
        let Some(code) = codes.get(*row as usize) else {
            number_of_work.push(NO_NAME);
            continue;
        };
        let next = groups.len() as u32;
        let number = *numbers.entry(*code).or_insert(next);
        if number == next {
            groups.push(Group { row: *row, ..Group::default() });
        }
        number_of_work.push(number);
        if let Some(group) = groups.get_mut(number as usize) {
            group.dispatches += 1;
            group.kernel_ns = group.kernel_ns.saturating_add(work.end_ns.saturating_sub(work.start_ns));
        }
    }
    drop((codes, numbers));
    for segment in longest_path(graph) {
        let PathPart::Work(place) = segment.part else { continue };
        let number = number_of_work.get(place as usize).copied().unwrap_or(NO_NAME);
        if let Some(group) = groups.get_mut(number as usize) {
            group.path_ns = group.path_ns.saturating_add(segment.end_ns.saturating_sub(segment.start_ns));
        }
    }
    let (first_ns, last_ns) = graph.span();
    let mut order: Vec<u32> = (0..groups.len() as u32).collect();
    order.sort_by_key(|number| groups.get(*number as usize).map(|group| Reverse(group.path_ns)));
    for (rank, number) in order.into_iter().enumerate() {
        let Some(group) = groups.get_mut(number as usize) else { continue };
        if group.path_ns == 0 {
            group.saved_ns = Some(0);
        } else if rank < MAX {
            let end_ns = end_without(graph, |place| number_of_work.get(place as usize) == Some(&number));
            group.saved_ns = Some(last_ns.saturating_sub(end_ns));
        }
    }

    let rows: IdxCa = groups.iter().map(|group| Some(group.row as IdxSize)).collect();
    let of_groups = |name, value: fn(&Group) -> i64| column(name, groups.iter().map(value).collect());
    Ok(DataFrame::new_infer_height(vec![
        names.take(&rows)?.with_name("kernel_name".into()).into_column(),
        of_groups("dispatches", |group| group.dispatches),
        of_groups("kernel_ns", |group| group.kernel_ns),
        of_groups("path_ns", |group| group.path_ns),
        integers("saved_ns", groups.iter().map(|group| group.saved_ns)),
        column("span_ns", vec![last_ns.saturating_sub(first_ns); groups.len()]),
    ])?)
}

/// The dispatches of a kernel.
#[derive(Default)]
struct Group {
    /// Row of the first dispatch.
    row: u32,
    dispatches: i64,
    kernel_ns: i64,
    path_ns: i64,
    saved_ns: Option<i64>,
}
