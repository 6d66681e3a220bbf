//! The questions that rules and figures ask.

use super::query_request::QueryRequest;

macro_rules! questions {
    ($($(#[$about:meta])* $name:ident: $query:literal $(by $by:tt)? $(with $parameter:literal $value:literal)?;)*) => {
        $($(#[$about])*
        pub fn $name() -> QueryRequest {
            QueryRequest::new($query)$(.by(&$by))?$(.with($parameter, $value))?
        })*
    };
}

/// A question without its view.
pub type Question = fn() -> QueryRequest;

questions! {
    /// Allocations that are made and freed again and again.
    allocation_churn: "allocation_churn" by [];
    /// Arrivals of GPUs at collectives.
    arrivals: "collective_summary" by ["rank", "gpu"];
    /// Limits of each kernel, inferred from counters.
    bottlenecks: "bottlenecks";
    /// Chains of short kernels.
    chains: "kernel_sequences" with "top" 0;
    /// Collectives and their waiting.
    collectives: "collective_summary";
    /// Calls that copy, and how long they block.
    copy_calls: "copy_calls";
    /// The same by GPU.
    copy_calls_of_gpus: "copy_calls" by ["rank", "gpu"];
    /// Copies by direction.
    copies: "copy_summary";
    /// Work inside and outside of ranges.
    coverage: "range_coverage" by [];
    /// Calls that fill memory.
    fills: "fill_summary";
    /// The longest gaps of all GPUs.
    gaps: "idle_gaps";
    /// HIP graphs that were replayed.
    graphs: "graph_summary";
    /// Anomalies of the trace.
    health: "trace_health";
    /// The same by rank.
    health_of_ranks: "trace_health" by ["rank"];
    /// Peaks of live memory.
    high_water: "memory_high_water";
    /// Causes of idle time for each GPU of each rank.
    idle: "idle_by_cause" by ["rank", "gpu"];
    /// Activity of the host meanwhile: the call in which the launching thread was.
    idle_calls: "idle_by_call" by ["rank", "gpu"];
    /// The same by operator or function.
    idle_functions: "idle_by_call" by ["function_name"];
    /// The same by ROCTx range.
    idle_ranges: "idle_by_call" by ["range"];
    /// The same by state of the launching thread.
    idle_states: "idle_by_call" by ["thread_state"];
    /// How unequally work is spread.
    imbalance: "rank_imbalance";
    /// Iterations of every rank.
    iterations: "iteration_summary";
    /// Classes of instructions in thread traces.
    instruction_classes: "att_by_class";
    /// Instructions in thread traces that stall.
    instruction_hotspots: "att_hotspots";
    /// Memory operations that instructions in thread traces wait for.
    instruction_waits: "att_waits";
    /// Stability of each kernel.
    kernel_pace: "kernel_pace" by ["rank", "gpu"];
    /// All kernels with their time.
    kernels: "kernel_summary";
    /// Kernels with the calls that launched them.
    launches: "launch_summary";
    /// Allocations that may leak.
    leaks: "leak_candidates";
    /// Bandwidth of copies on their links.
    links: "link_utilization";
    /// Matrix products by shape.
    matrix_shapes: "gemm_shapes";
    /// Theoretical and achieved occupancy.
    occupancy: "occupancy";
    /// Dispatches that took longer than others.
    outliers: "kernel_outliers";
    /// PC samples by the reason why waves stalled.
    pc_samples: "pc_hotspots" by ["kernel_name", "stall_reason"];
    /// Programs among the inputs.
    programs: "programs";
    /// How full queues were.
    queues: "queue_summary";
    /// Stability of each range.
    range_pace: "range_pace";
    /// Registers and LDS of kernels.
    resources: "kernel_resources";
    /// Kernels next to their roofs.
    roofline: "roofline";
    /// The parts of the run of every process.
    run_parts: "run_parts";
    /// GPUs that delay the others.
    stragglers: "stragglers";
    /// Clocks below the highest.
    throttling: "throttling";
    /// Use of time by each GPU of each rank; all spans come from here.
    time_question: "time_breakdown" by ["rank", "gpu"];
    /// Units of work of every process, chosen and others.
    units: "units";
    /// First calls of kernels.
    warm_up: "kernel_warmup";
}
