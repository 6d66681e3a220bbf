//! Tables about how work reached the GPU.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, flag, id, int};

pub static LAUNCHES: Table = Table {
    name: "launches",
    key: &["correlation_id", "kind", "target_id"],
    sort: &["start_ns", "kind", "target_id"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel or copy whose launching API call was recorded. Of several calls with its correlation id the innermost counts; markers launch nothing.",
    columns: &[
        PROCESS,
        RANK,
        id("correlation_id", "Internal id that the call shares with the work it launched"),
        cat("api_name", "The call"),
        id("tid", "Thread of the call").null(),
        id("gpu", "Index among the GPUs of this process").null(),
        cat("kind", "`kernel` or `copy`"),
        id("target_id", "`dispatch_id` of the kernel or `copy_id` of the copy"),
        int("api_start_ns", Unit::Nanoseconds, "Start of the call"),
        int("api_end_ns", Unit::Nanoseconds, "End of the call"),
        int("start_ns", Unit::Nanoseconds, "Start on the GPU"),
        int("end_ns", Unit::Nanoseconds, "End on the GPU"),
        int(
            "queue_delay_ns",
            Unit::Nanoseconds,
            "start_ns minus api_end_ns; negative when the GPU starts before the call returns",
        ),
    ],
};

pub static DISPATCH_LAUNCHES: Table = Table {
    name: "dispatch_launches",
    key: &["dispatch_id"],
    sort: &["dispatch_id"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel dispatch, with the times of its launch if the launching API call was recorded. Columns that are 1 or 0 can be summed.",
    columns: &[
        PROCESS,
        RANK,
        id("dispatch_id", "Dispatch, see `kernels`"),
        id("kernel_id", "Kernel symbol, see `kernel_symbols`"),
        cat("kernel_name", "Full display name"),
        cat("short_name", "Short name, see `kernels`"),
        cat("category", "Kernel category"),
        id("gpu", "Index among the GPUs of this process").null(),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("queue_id", "Hardware queue, see `queues`").null(),
        id("stream_id", "Stream, see `streams`").null(),
        id("tid", "Thread that launched it").null(),
        cat("api_name", "The call that launched it").null(),
        int("launched", Unit::Count, "1 if that call was recorded, otherwise 0"),
        int("api_ns", Unit::Nanoseconds, "Length of the call").null(),
        int("queue_delay_ns", Unit::Nanoseconds, "Start on the GPU minus the end of the call").null(),
        int(
            "prequeued",
            Unit::Count,
            "1 if an earlier dispatch of its queue (its stream if no queue is known) ended after the call, so that the launch delayed nothing, otherwise 0",
        )
        .null(),
        int(
            "exposed_launch_ns",
            Unit::Nanoseconds,
            "Idle time of its GPU due to the launch: from the start of the call, or from the end of the previous kernels and copies if that is later, to its own start; 0 if they overlap",
        )
        .null(),
        int(
            "launch_bound",
            Unit::Count,
            "1 if it ran for less than exposed_launch_ns, and was not prequeued or started within 1.5 times the median queue_delay_ns of launches that were not; otherwise 0",
        )
        .null(),
        int("kernel_ns", Unit::Nanoseconds, "Time it ran on the GPU"),
    ],
};

pub static QUEUE_DEPTHS: Table = Table {
    name: "queue_depths",
    key: &["gpu", "queue_id", "stream_id", "start_ns"],
    sort: &["gpu", "queue_id", "stream_id", "start_ns"],
    origin: Origin::OnDemand,
    about: "Disjoint intervals of each queue from its first issued dispatch to the end of its last, with waiting and running dispatches; an empty queue is a row of zeros. A dispatch is issued at the end of the call that launched it, or at its start if that is earlier or no call was recorded.",
    columns: &[
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process").null(),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("queue_id", "Hardware queue, see `queues`").null(),
        id("stream_id", "Stream, if the queue is unknown").null(),
        int("start_ns", Unit::Nanoseconds, "Start of the interval"),
        int("end_ns", Unit::Nanoseconds, "End of the interval"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("waiting", Unit::Count, "Dispatches issued and not started"),
        int("running", Unit::Count, "Dispatches started and not ended"),
    ],
};

pub static GRAPH_WORK: Table = Table {
    name: "graph_work",
    key: &["graph", "replay", "position"],
    sort: &["graph", "replay", "position"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel or copy of a HIP graph: it names a graph execution, or a call that launches graphs launched it. Rows with the same graph execution and correlation id are one replay.",
    columns: &[
        PROCESS,
        RANK,
        id("graph", "Number of the graph in the order of first work, from 0"),
        cat(
            "known_by",
            "`graph_exec_id` if it was recorded; otherwise `same work`: replays of the same kernels and copies count as one graph",
        ),
        id("graph_exec_id", "HIP graph execution, as recorded").null(),
        int("replay", Unit::Count, "Ordinal of the replay of its graph, from 0"),
        int("position", Unit::Count, "Ordinal in the replay by start, from 0"),
        id("node_id", "HIP graph node, as recorded").null(),
        cat("kind", "`kernel` or `copy`"),
        id("target_id", "`dispatch_id` of the kernel or `copy_id` of the copy"),
        cat("name", "Full kernel name, or direction of the copy").null(),
        id("gpu", "Index among the GPUs of this process").null(),
        id("correlation_id", "Internal id shared with the launching call").null(),
        cat("api_name", "The launching call").null(),
        int("api_start_ns", Unit::Nanoseconds, "Start of the launching call").null(),
        int("api_end_ns", Unit::Nanoseconds, "End of the launching call").null(),
        int("start_ns", Unit::Nanoseconds, "Start on the GPU"),
        int("end_ns", Unit::Nanoseconds, "End on the GPU"),
        int("work_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
    ],
};

pub static REGION_TIMES: Table = Table {
    name: "region_times",
    key: &["region_id"],
    sort: &["region_id"],
    origin: Origin::OnDemand,
    about: "One row per valid region with the columns that a summary of regions needs, without joins.",
    columns: &[
        PROCESS,
        RANK,
        id("region_id", "Region, see `regions`"),
        cat("domain", "As in `regions`"),
        cat("category", "As in `regions`"),
        cat("name", "As in `regions`"),
        id("tid", "As in `regions`").null(),
        int("region_ns", Unit::Nanoseconds, "Length of the region"),
        int("self_ns", Unit::Nanoseconds, "As in `region_self_times`"),
    ],
};

pub static API_CALLS: Table = Table {
    name: "api_calls",
    key: &["region_id"],
    sort: &["region_id"],
    origin: Origin::OnDemand,
    about: "One row per valid API call with its class, and the GPU activity of its process meanwhile. Markers, functions of the program and calls of the recording tool are excluded.",
    columns: &[
        PROCESS,
        RANK,
        id("region_id", "Call, see `regions`"),
        cat("domain", "As in `regions`"),
        cat("class", "What the call is for: `launch`, `synchronise`, `copy` and so on"),
        cat("name", "Function"),
        id("tid", "Thread, see `threads`").null(),
        flag("waits", "Whether calls of this class wait for the GPU"),
        int("call_ns", Unit::Nanoseconds, "Length of the call"),
        int("self_ns", Unit::Nanoseconds, "The same without the calls inside it on the same thread"),
        int("gpu_busy_ns", Unit::Nanoseconds, "Part of it in which a GPU of the process ran a kernel or copy"),
        int("gpu_idle_ns", Unit::Nanoseconds, "The rest of it"),
    ],
};
