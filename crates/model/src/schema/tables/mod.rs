//! The list of canonical tables. Their meaning and the rules behind them: `docs/tables.md`.

mod activity;
pub mod derived;
pub mod devices;
pub mod features;
pub mod hardware;
pub mod idling;
pub mod inference;
pub mod instructions;
pub mod launching;
pub mod memory;
pub mod paths;
mod process;
pub mod queueing;
pub mod ranging;
pub mod ranks;
mod recorded;
pub mod steadiness;
pub mod telemetry;

use crate::schema::{Column, Table, id};

const PROCESS: Column = id(
    "process",
    "Dense number over the processes of the logical trace, in the order of rank, then guid; the join key",
);
const RANK: Column = id("rank", "Label of the process: from the path, the recorded environment or the order of paths");

/// All canonical tables in documentation order.
pub(super) static TABLES: &[&Table] = &[
    &process::PROCESSES,
    &process::AGENTS,
    &process::QUEUES,
    &process::STREAMS,
    &process::THREADS,
    &process::CODE_OBJECTS,
    &process::KERNEL_SYMBOLS,
    &activity::KERNELS,
    &activity::MEMORY_COPIES,
    &activity::MEMORY_ALLOCATIONS,
    &activity::REGIONS,
    &activity::MARKS,
    &activity::ARGS,
    &hardware::COUNTER_DISPATCHES,
    &hardware::COUNTERS,
    &hardware::COUNTER_INSTANCES,
    &hardware::SAMPLES,
    &hardware::PC_SAMPLES,
    &recorded::RECORDED_METRICS,
    &instructions::ATT_INSTRUCTIONS,
    &activity::GRAPH_LAUNCHES,
    &activity::HIP_EVENTS,
    &derived::GPU_SEGMENTS,
    &derived::REGION_SELF_TIMES,
    &launching::LAUNCHES,
    &launching::DISPATCH_LAUNCHES,
    &launching::QUEUE_DEPTHS,
    &queueing::FOLLOWING_KERNELS,
    &launching::GRAPH_WORK,
    &launching::REGION_TIMES,
    &launching::API_CALLS,
    &idling::IDLE_GAPS,
    &idling::PROFILER_PAUSES,
    &idling::KERNEL_OVERLAPS,
    &ranging::RANGES,
    &ranging::RANGE_SELF_TIMES,
    &ranging::RANGE_WORK,
    &ranging::GEMM_PROBLEMS,
    &ranging::OPERATORS,
    &ranging::ITERATIONS,
    &ranging::RUN_PARTS,
    &inference::INFERENCE_STEPS,
    &ranks::CLOCKS,
    &ranks::COLLECTIVE_KERNELS,
    &paths::CRITICAL_PATH,
    &paths::DISPATCH_SLACK,
    &paths::KERNEL_SAVINGS,
    &derived::ANOMALIES,
    &steadiness::DISPATCH_GROUPS,
    &steadiness::SLOW_DISPATCHES,
    &memory::MEMORY_LIVE,
    &memory::ALLOCATION_LIFETIMES,
    &telemetry::KERNEL_CLOCKS,
    &instructions::ATT_WAITS,
    &hardware::METRIC_SUMS,
    &hardware::RANGE_METRIC_SUMS,
    &hardware::KERNEL_BOTTLENECKS,
    &devices::DEVICE_CONSTANTS,
    &devices::KERNEL_RESOURCES,
    &features::DISPATCH_FEATURES,
    &features::ITERATION_KERNELS,
    &features::PROCESS_FEATURES,
];
