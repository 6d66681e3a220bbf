//! The table `gpu_segments`: work on each GPU over time.

use anyhow::Result;
use polars::prelude::*;

use crate::derive::gpu_work::gpu_activities;
use crate::derive::{Build, DerivedTable, Frames, Needs, RowsWhen, column, gpu_columns, needed};
use wavesieve_model::analysis::gpu_time::segments::{Segment, each_segment};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::tables;

pub(crate) static DECLARATION: DerivedTable = DerivedTable {
    rows_when: RowsWhen::any(&["kernels", "memory_copies"]),
    ..DerivedTable::new(&tables::derived::GPU_SEGMENTS, needs, Build::Alone(build))
};

/// The source columns that it needs.
pub fn needs() -> Needs {
    vec![
        ("kernels", vec!["category", "gpu", "start_ns", "end_ns", "valid"]),
        ("memory_copies", vec!["gpu", "peer_gpu", "start_ns", "end_ns", "valid"]),
    ]
}

/// Sweeps over the kernels and copies of each GPU.
fn build(process: &Process, tables: &Frames) -> Result<DataFrame> {
    let mut columns = SegmentColumns::default();
    let activities = gpu_activities::of_tables(needed(tables, "kernels")?, needed(tables, "memory_copies")?)?;
    each_segment(activities, |segment| columns.push(&segment));
    columns.into_frame(process)
}

/// The columns of `gpu_segments`, filled segment by segment.
#[derive(Default)]
struct SegmentColumns {
    /// Every GPU with the number of its segments.
    gpus: Vec<(i64, usize)>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    compute: Vec<i64>,
    comm: Vec<i64>,
    copies: Vec<i64>,
}

impl SegmentColumns {
    fn push(&mut self, segment: &Segment) {
        match self.gpus.last_mut() {
            Some((gpu, segments)) if *gpu == segment.gpu => *segments += 1,
            _ => self.gpus.push((segment.gpu, 1)),
        }
        self.start_ns.push(segment.start_ns);
        self.end_ns.push(segment.end_ns);
        self.compute.push(segment.compute);
        self.comm.push(segment.comm);
        self.copies.push(segment.copies);
    }

    fn into_frame(self, process: &Process) -> Result<DataFrame> {
        let [gpu, device] = gpu_columns(process, self.gpus.iter().copied());
        let durations = self.start_ns.iter().zip(&self.end_ns).map(|(start, end)| end.saturating_sub(*start)).collect();
        Ok(DataFrame::new_infer_height(vec![
            gpu,
            device,
            column("start_ns", self.start_ns),
            column("end_ns", self.end_ns),
            column("duration_ns", durations),
            column("compute", self.compute),
            column("comm", self.comm),
            column("copies", self.copies),
        ])?)
    }
}
