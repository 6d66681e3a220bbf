//! The table `dispatch_slack`: the time by which each dispatch could take longer without moving the end.

use anyhow::Result;
use itertools::izip;
use polars::prelude::*;

use crate::derive::paths::path_graph;
use crate::derive::paths::path_graph::PathGraph;
use crate::derive::{Build, DerivedTable, Frames, Needs, Owner, RowsWhen, column, needed};
use wavesieve_model::analysis::critical_path::{PathPart, longest_path, slack};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    owners: &[Owner::KERNEL],
    rows_when: RowsWhen::all(&["kernels"]),
    ..DerivedTable::new(&tables::paths::DISPATCH_SLACK, needs, Build::Alone(build))
};

/// Columns of `kernels` that are copied.
const TAKEN: [&str; 9] =
    ["dispatch_id", "kernel_id", "kernel_name", "short_name", "category", "gpu", "device", "queue_id", "stream_id"];

fn needs() -> Needs {
    let mut needs = path_graph::needs();
    for (_, columns) in needs.iter_mut().filter(|(table, _)| *table == "kernels") {
        columns.extend(TAKEN);
        columns.sort_unstable();
        columns.dedup();
    }
    needs
}

/// Passes forward and backward over the graph of causes.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let path_graph = PathGraph::from_frames(tables)?;
    let kernels = needed(tables, "kernels")?;
    let mut on_path = vec![0; path_graph.graph.work().len()];
    for segment in longest_path(&path_graph.graph) {
        let PathPart::Work(place) = segment.part else { continue };
        if let Some(path_ns) = on_path.get_mut(place as usize) {
            *path_ns = segment.end_ns.saturating_sub(segment.start_ns);
        }
    }
    let slack = slack(&path_graph.graph);
    let mut found: Vec<(u32, i64, i64, i64)> = Vec::with_capacity(kernels.height());
    let works = izip!(path_graph.graph.work(), &path_graph.rows, on_path, slack);
    for (work, row, path_ns, slack_ns) in works.filter(|(_, row, _, _)| (**row as usize) < kernels.height()) {
        found.push((*row, work.end_ns.saturating_sub(work.start_ns), path_ns, slack_ns));
    }
    found.sort_unstable();
    let rows: IdxCa = found.iter().map(|(row, _, _, _)| Some(*row as IdxSize)).collect();
    let mut columns = Vec::with_capacity(TAKEN.len() + 3);
    for name in TAKEN {
        columns.push(kernels.column(name)?.take(&rows)?);
    }
    columns.push(column("kernel_ns", found.iter().map(|(_, kernel_ns, _, _)| *kernel_ns).collect()));
    columns.push(column("path_ns", found.iter().map(|(_, _, path_ns, _)| *path_ns).collect()));
    columns.push(column("slack_ns", found.iter().map(|(_, _, _, slack_ns)| *slack_ns).collect()));
    Ok(DataFrame::new_infer_height(columns)?)
}
