//! Derived tables, built from the whole source tables of one process.

mod allocation_lifetimes;
mod allocation_pairs;
mod api_calls;
mod att_waits;
mod call_times;
mod collective_kernels;
mod collective_messages;
mod columns;
mod communicators;
mod counted_dispatches;
mod critical_path;
mod device_constants;
mod dispatch_groups;
mod dispatch_launches;
mod dispatch_slack;
mod exposed_communication;
mod following_kernels;
mod gap_columns;
mod gap_sweep;
mod gpu_segments;
mod graph_work;
mod host_stretches;
mod host_threads;
mod idle_gaps;
mod iterations;
mod joined_passes;
mod kernel_bottlenecks;
mod kernel_clocks;
mod kernel_overlaps;
mod kernel_resources;
mod kernel_savings;
mod launch_shapes;
mod launched_work;
mod launches;
mod launching_calls;
mod memory_live;
mod metric_evaluation;
mod metric_sums;
mod path_graph;
mod profiler_pauses;
mod queue_depths;
mod queue_lanes;
mod range_forest;
mod ranges;
mod region_self_times;
mod region_times;
mod registry;
mod run_parts;
mod same_work;
mod slow_dispatches;
mod source_frames;

use columns::{WantedColumns, repeated};
use registry::column;
pub use registry::{
    Needs, Part, beside, derive, derive_all, extract, families, is_joint, is_of_cut_calls, kept_rows, needs, needs_of,
    relate,
};
use source_frames::needed;
pub use source_frames::{Frames, Shared};
