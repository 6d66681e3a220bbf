//! The table `critical_path`: the chain of work and waits that determined the end of the work of a process.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{categorical, dictionary_column, integers};
use crate::columns::values::{FrameValues, I64Values};
use crate::derive::idling::host_intervals::{HostIntervals, Piece};
use crate::derive::paths::path_graph;
use crate::derive::paths::path_graph::PathGraph;
use crate::derive::repeating::iterations;
use crate::derive::repeating::units::{self, Units};
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, column, needed};
use wavesieve_model::analysis::critical_path::{Edge, PathPart, Segment, longest_path};
use wavesieve_model::analysis::intervals::Interval;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::any(&["kernels", "memory_copies"]),
    ..DerivedTable::new(&tables::paths::CRITICAL_PATH, needs, Build::Alone(build))
};

/// Words for the kind of a row.
const KINDS: [&str; 8] = ["kernel", "copy", "api", "host", "launch_latency", "queue_wait", "sync_wakeup", "unknown"];
/// Words for the edge by which a row was reached.
const EDGES: [&str; 7] = ["stream", "event", "inferred", "launch", "wait", "thread", "start"];

fn needs() -> Needs {
    let own = vec![("kernels", vec!["kernel_id", "kernel_name"]), ("memory_copies", vec!["direction"])];
    units::merged([path_graph::needs(), units::needs(), own])
}

/// Follows the longest path and describes each of its parts.
fn build(_process: &Process, tables: &Frames) -> Result<DataFrame> {
    let path_graph = PathGraph::from_frames(tables)?;
    let path = longest_path(&path_graph.graph);
    let mut by_thread: BTreeMap<Option<i64>, Vec<Interval>> = BTreeMap::new();
    for segment in &path {
        if let PathPart::Host(thread) = segment.part {
            let tid = path_graph.threads.get(thread as usize).copied().flatten();
            by_thread.entry(tid).or_default().push(Interval::new(segment.start_ns, segment.end_ns));
        }
    }
    let host = HostIntervals::new(needed(tables, "regions")?, &by_thread)?;
    let kernels = needed(tables, "kernels")?.height();
    let iterations = Iterations::from_frame(&iterations::table(&Units::find(tables)?)?)?;
    let mut rows = Rows { kernels, iterations, rows: Vec::new() };
    for segment in &path {
        rows.add(segment, &path_graph, &host);
    }
    rows.into_frame(tables, &path_graph)
}

/// The repetitions of the process in their order.
struct Iterations {
    starts: I64Values,
    ends: I64Values,
    next: usize,
}

impl Iterations {
    fn from_frame(frame: &DataFrame) -> Result<Self> {
        Ok(Self { starts: frame.integer("start_ns")?, ends: frame.integer("end_ns")?, next: 0 })
    }

    /// The next interval, starting at `from_ns`: where it ends, and its iteration. `from_ns` must not decrease between calls.
    fn part(&mut self, from_ns: i64) -> (i64, Option<i64>) {
        while self.ends.get(self.next).is_some_and(|end_ns| end_ns <= from_ns) {
            self.next += 1;
        }
        match self.starts.get(self.next).zip(self.ends.get(self.next)) {
            Some((start_ns, end_ns)) if start_ns <= from_ns => (end_ns, i64::try_from(self.next).ok()),
            Some((start_ns, _)) => (start_ns, None),
            None => (i64::MAX, None),
        }
    }
}

/// A row of the table.
struct PathRow {
    start_ns: i64,
    end_ns: i64,
    kind: u8,
    edge: u8,
    iteration: Option<i64>,
    tid: Option<i64>,
    /// Row of the kernel, or of the copy, counted after all kernels.
    work: Option<u32>,
    /// Number of the call.
    call: Option<u32>,
}

struct Rows {
    kernels: usize,
    iterations: Iterations,
    rows: Vec<PathRow>,
}

impl Rows {
    fn add(&mut self, segment: &Segment, path_graph: &PathGraph, host: &HostIntervals) {
        let work = |place: u32| path_graph.rows.get(place as usize).copied();
        let time = Interval::new(segment.start_ns, segment.end_ns);
        let edge = match segment.edge {
            Edge::Stream => 0,
            Edge::Event => 1,
            Edge::Inferred => 2,
            Edge::Launch => 3,
            Edge::Wait => 4,
            Edge::Thread => 5,
            Edge::Start => 6,
        };
        let plain = PathRow {
            start_ns: segment.start_ns,
            end_ns: segment.end_ns,
            kind: 0,
            edge,
            iteration: None,
            tid: None,
            work: None,
            call: None,
        };
        let of_call = |place: u32, kind: u8| {
            let number = path_graph.numbers.get(place as usize).copied();
            let tid = number.and_then(|number| path_graph.calls.at(number)?.tid);
            PathRow { kind, call: number, tid, ..plain }
        };
        let row = match segment.part {
            PathPart::Work(place) => {
                let row = work(place);
                let is_copy = row.is_some_and(|row| row as usize >= self.kernels);
                PathRow { kind: u8::from(is_copy), work: row, ..plain }
            }
            PathPart::Call(place) => of_call(place, 2),
            PathPart::LaunchLatency(place) => PathRow { kind: 4, work: work(place), ..plain },
            PathPart::QueueWait(place) => PathRow { kind: 5, work: work(place), ..plain },
            PathPart::SyncWakeup(place) => of_call(place, 6),
            PathPart::Unknown(place) => PathRow { kind: 7, work: work(place), ..plain },
            PathPart::Host(thread) => {
                let tid = path_graph.threads.get(thread as usize).copied().flatten();
                for (time, piece) in host.pieces(tid, time) {
                    let plain = PathRow { start_ns: time.start_ns, end_ns: time.end_ns, tid, ..plain };
                    self.split(match piece {
                        Piece::Call(number) => PathRow { kind: 2, call: Some(number), ..plain },
                        Piece::Outside => PathRow { kind: 3, ..plain },
                        Piece::Before => PathRow { kind: 7, ..plain },
                    });
                }
                return;
            }
        };
        self.split(row);
    }

    /// Adds a row, cut where iterations start and end.
    fn split(&mut self, row: PathRow) {
        let mut from_ns = row.start_ns;
        while from_ns < row.end_ns {
            let (until_ns, iteration) = self.iterations.part(from_ns);
            let end_ns = until_ns.min(row.end_ns);
            self.rows.push(PathRow { start_ns: from_ns, end_ns, iteration, ..row });
            from_ns = end_ns;
        }
    }

    fn into_frame(self, tables: &Frames, path_graph: &PathGraph) -> Result<DataFrame> {
        let (kernels, copies) = (needed(tables, "kernels")?, needed(tables, "memory_copies")?);
        let rows = &self.rows;
        let text = |column: &Column| column.as_materialized_series().cast(&categorical());
        // Names of kernels, then directions of copies, then names of calls.
        let mut names = text(kernels.column("kernel_name")?)?;
        names.append(&text(copies.column("direction")?)?)?;
        let calls_from = names.len();
        names.append(&text(path_graph.calls.all_names())?)?;
        let places: IdxCa = rows
            .iter()
            .map(|row| row.work.map(|row| row as usize).or(row.call.map(|number| calls_from + number as usize)))
            .map(|place| place.and_then(|place| IdxSize::try_from(place).ok()))
            .collect();
        let name = names.take(&places)?.with_name("name".into()).into_column();

        let of_work = |name: &str, kernel_column: &str, copy_column: Option<&str>| -> Result<Column> {
            let of_kernels = kernels.integer(kernel_column)?;
            let of_copies = copy_column.map(|column| copies.integer(column)).transpose()?;
            let value = |row: &PathRow| {
                let place = row.work? as usize;
                match place.checked_sub(self.kernels) {
                    None => of_kernels.get(place),
                    Some(place) => of_copies.as_ref()?.get(place),
                }
            };
            Ok(integers(name, rows.iter().map(value)))
        };
        let of_rows = |name: &str, value: fn(&PathRow) -> Option<i64>| integers(name, rows.iter().map(value));
        Ok(DataFrame::new_infer_height(vec![
            column("ordinal", (0..rows.len() as i64).collect()),
            dictionary_column("kind", &KINDS, rows.iter().map(|row| Some(usize::from(row.kind))))?,
            name,
            of_work("kernel_id", "kernel_id", None)?,
            of_work("target_id", "dispatch_id", Some("copy_id"))?,
            of_work("gpu", "gpu", Some("gpu"))?,
            of_rows("tid", |row| row.tid),
            column("start_ns", rows.iter().map(|row| row.start_ns).collect()),
            column("end_ns", rows.iter().map(|row| row.end_ns).collect()),
            column("duration_ns", rows.iter().map(|row| row.end_ns.saturating_sub(row.start_ns)).collect()),
            dictionary_column("reached_by", &EDGES, rows.iter().map(|row| Some(usize::from(row.edge))))?,
            of_rows("iteration", |row| row.iteration),
        ])?)
    }
}
