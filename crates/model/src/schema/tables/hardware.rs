//! Tables of what the hardware counted or was sampled doing.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, flag, float, id, int, text};

pub(crate) static COUNTER_DISPATCHES: Table = Table {
    name: "counter_dispatches",
    key: &["pass", "dispatch_id"],
    sort: &["start_ns", "pass", "dispatch_id"],
    origin: Origin::Source,
    about: "One row per dispatch of a counter pass; dispatches of a lone trace with counters are in `kernels` too.",
    columns: &[
        PROCESS,
        RANK,
        id("pass", "Counter pass within its rank"),
        id("dispatch_id", "Dispatch, unique in the pass"),
        id("kernel_id", "Kernel symbol, see `kernel_symbols`"),
        cat("kernel_name", "Full display name, `kernel_<id>` if the symbol is missing"),
        cat("short_name", "The source's truncated name, otherwise the name with template arguments folded"),
        cat("category", "Category from the rule file, applied to the base name first"),
        id("agent_id", "Agent that ran it, see `agents`").null(),
        id("gpu", "Index among the GPUs of this process").null(),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("queue_id", "Hardware queue, see `queues`").null(),
        id("stream_id", "Stream, see `streams`").null(),
        id("tid", "Thread that launched it").null(),
        id("correlation_id", "Internal id shared with the API call that launched it").null(),
        id("external_id", "External correlation id set by a tool or user").null(),
        cat("region_name", "ROCTx range name given by kernel renaming").null(),
        int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
        int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
        int(
            "duration_ns",
            Unit::Nanoseconds,
            "end_ns minus start_ns, as recorded (negative when the end is before the start)",
        ),
        flag(
            "valid",
            "False if start is not positive, end is before start, or a timestamp is over 1 day outside the process",
        ),
        int("workgroup_x", Unit::WorkItems, "Workgroup size in x"),
        int("workgroup_y", Unit::WorkItems, "Workgroup size in y"),
        int("workgroup_z", Unit::WorkItems, "Workgroup size in z"),
        int("grid_x", Unit::WorkItems, "Grid size in x, in work-items"),
        int("grid_y", Unit::WorkItems, "Grid size in y, in work-items"),
        int("grid_z", Unit::WorkItems, "Grid size in z, in work-items"),
        int("lds_bytes", Unit::Bytes, "LDS of a workgroup").null(),
        int("scratch_bytes", Unit::Bytes, "Scratch memory of a work-item").null(),
        id("graph_exec_id", "HIP graph execution it belongs to").null(),
        id("graph_node_id", "HIP graph node it belongs to").null(),
    ],
};

pub static COUNTERS: Table = Table {
    name: "counters",
    key: &["pass", "dispatch_id", "counter"],
    sort: &["pass", "dispatch_id", "counter"],
    origin: Origin::Source,
    about: "One row per counter of a dispatch.",
    columns: &[
        PROCESS,
        RANK,
        id("pass", "Counter pass within its rank"),
        id("dispatch_id", "Dispatch, unique in the pass"),
        cat("counter", "Counter name"),
        float("value", "Sum over instances"),
        float("min", "Least of the instances"),
        float("max", "Greatest of the instances"),
        float("mean", "Mean over instances"),
        int("instances", Unit::Count, "Instances recorded"),
    ],
};

pub(crate) static COUNTER_INSTANCES: Table = Table {
    name: "counter_instances",
    key: &[],
    sort: &["pass", "dispatch_id", "counter", "instance"],
    origin: Origin::Source,
    about: "One row per hardware instance of a counter of a dispatch.",
    columns: &[
        PROCESS,
        RANK,
        id("pass", "Counter pass within its rank"),
        id("dispatch_id", "Dispatch, unique in the pass"),
        cat("counter", "Counter name"),
        id("instance", "Ordinal of the instance, in recorded order"),
        id("xcc", "Accelerator complex die").null(),
        id("shader_engine", "Shader engine").null(),
        id("channel", "Channel").null(),
        float("value", "Value"),
    ],
};

pub static SAMPLES: Table = Table {
    name: "samples",
    key: &[],
    sort: &["time_ns", "track", "name"],
    origin: Origin::Source,
    about: "One row per telemetry or streaming counter sample.",
    columns: &[
        PROCESS,
        RANK,
        cat("track", "Track, as recorded, with the hardware instance if a streamed counter has several"),
        cat("name", "Metric name"),
        cat("unit", "Unit, as recorded").null(),
        id("agent_id", "Agent it belongs to").null(),
        id("device", "Physical GPU it belongs to").null(),
        int("time_ns", Unit::Nanoseconds, "Time on the source's clock"),
        float("value", "Value"),
    ],
};

pub static PC_SAMPLES: Table = Table {
    name: "pc_samples",
    key: &[],
    sort: &["time_ns", "dispatch_id", "wave"],
    origin: Origin::Source,
    about: "One row per program counter sample.",
    columns: &[
        PROCESS,
        RANK,
        id("dispatch_id", "Dispatch that was running").null(),
        id("code_object_id", "Code object of the instruction").null(),
        int("code_object_offset", Unit::Bytes, "Offset of the instruction in its code object").null(),
        text("instruction", "Disassembled instruction").null(),
        text("comment", "Source location or comment").null(),
        cat("stall_reason", "Why the wavefront did not issue").null(),
        cat("instruction_type", "Type of the instruction").null(),
        flag("wave_issued", "Whether the wavefront issued an instruction").null(),
        text("exec_mask", "Active lanes, hexadecimal").null(),
        id("xcc", "Accelerator complex die").null(),
        id("shader_engine", "Shader engine").null(),
        id("cu", "Compute unit or workgroup processor").null(),
        id("simd", "SIMD unit").null(),
        id("wave", "Wavefront slot").null(),
        int("time_ns", Unit::Nanoseconds, "Time on the source's clock"),
    ],
};

/// Columns of what is known of a metric, behind those that say what it is of.
macro_rules! metric_columns {
    ($($own:expr,)*) => {
        &[
            $($own,)*
            int("panel", Unit::None, "Number of the panel that the metric is of"),
            cat("panel_title", "Title of the panel"),
            cat("section", "Title of the table in the panel"),
            int("ordinal", Unit::None, "Place of the metric among all"),
            cat("metric", "Unique name of the metric"),
            cat("title", "Name of the metric for people"),
            cat("unit", "Unit, with its normalization"),
            cat("per", "Normalization: `wave`, `cycle`, `second` or `kernel`; null if the metric has none").null(),
            int("per_ordinal", Unit::None, "Place of `per` among its values"),
            int("kernel_dispatches", Unit::Count, "Dispatches of the kernel with any counters"),
            int("dispatches", Unit::Count, "Those of them that have all counters of the metric"),
            float("numerator", "Sum of the numerators of these").null(),
            float("denominator", "Sum of their denominators").null(),
            int("valued_dispatches", Unit::Count, "Dispatches whose denominator is not 0"),
            float("value_sum", "Sum of the values of these").null(),
            float("value_min", "Least value of a dispatch").null(),
            float("value_max", "Greatest value of a dispatch").null(),
            float("peak", "Highest value that the device allows").null(),
            cat(
                "reason",
                "Why there is no value: counters not collected, constants unknown, or divided by 0; or missing counters",
            )
            .null(),
        ]
    };
}

pub static METRIC_SUMS: Table = Table {
    name: "metric_sums",
    key: &["kernel_id", "gpu", "metric", "per"],
    sort: &["kernel_id", "gpu", "ordinal", "per_ordinal"],
    origin: Origin::OnDemand,
    about: "One row per metric of a kernel on a GPU, over its dispatches in all counter passes of the rank: the value is \
            numerator divided by denominator, of one kernel or summed over several.",
    columns: metric_columns![
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process").null(),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("kernel_id", "Kernel symbol, see `kernel_symbols`"),
        cat("kernel_name", "Full display name"),
        cat("short_name", "The source's truncated name, otherwise the name with template arguments folded"),
        cat("category", "Category from the rule file, applied to the base name first"),
    ],
};

pub static RANGE_METRIC_SUMS: Table = Table {
    name: "range_metric_sums",
    key: &["path", "gpu", "metric", "per"],
    sort: &["path", "gpu", "ordinal", "per_ordinal"],
    origin: Origin::OnDemand,
    about: "As `metric_sums`, by the innermost ROCTx range in which dispatches were launched. Counter passes have no ranges of their \
            own: their dispatches have that of the same dispatch in the trace of the rank, the same kernel with the same shape the n-th time.",
    columns: metric_columns![
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process").null(),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        cat("path", "Messages of the range and of those that enclose it, joined by `/`; null outside of ranges").null(),
    ],
};

pub static KERNEL_BOTTLENECKS: Table = Table {
    name: "kernel_bottlenecks",
    key: &["kernel_id", "gpu", "ordinal"],
    sort: &["kernel_id", "gpu", "ordinal"],
    origin: Origin::OnDemand,
    about: "One row per bottleneck that a kernel on a GPU may have, by the rules of `share/bottlenecks.toml`, and one more \
            (`none` or `unknown`) for a kernel that has none.",
    columns: &[
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process").null(),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("kernel_id", "Kernel symbol, see `kernel_symbols`"),
        cat("kernel_name", "Full display name"),
        cat("short_name", "The source's truncated name, otherwise the name with template arguments folded"),
        cat("category", "Category from the rule file, applied to the base name first"),
        int("ordinal", Unit::None, "Place of the rule; the first that holds is the verdict"),
        cat("bottleneck", "Name of the rule, `none` or `unknown`"),
        cat("verdict", "Name for people"),
        cat("state", "`yes`, `no`, or `unknown` if a required metric was not collected"),
        flag("is_verdict", "Whether it is the verdict on the kernel"),
        text("evidence", "Metrics with their values and thresholds").null(),
        text("missing", "Metrics that are needed and missing, with the reason").null(),
        int("dispatches", Unit::Count, "Dispatches of the kernel with any counters"),
        float("time_ns", "Sum of their durations in the counter pass").null(),
    ],
};
