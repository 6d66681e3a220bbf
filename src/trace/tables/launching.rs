//! Tables about how work reached the GPU.

use super::{PROCESS, RANK};
use crate::trace::schema::{Origin, Table, Unit, cat, flag, id, int};

pub(super) static LAUNCHES: Table = Table {
    name: "launches",
    key: &["correlation_id", "kind", "target_id"],
    sort: &["start_ns", "kind", "target_id"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel or copy whose launching API call was recorded. Of several calls with its correlation id the innermost counts; markers launch nothing.",
    columns: &[
        PROCESS,
        RANK,
        id("correlation_id", "Internal id that the call shares with what it launched"),
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

pub(super) static DISPATCH_LAUNCHES: Table = Table {
    name: "dispatch_launches",
    key: &["dispatch_id"],
    sort: &["dispatch_id"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel dispatch, with the times of its launch where the launching API call was recorded. Columns that are 1 or 0 can be added up.",
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
        int("launched", Unit::Count, "1 when that call was recorded, else 0"),
        int("api_ns", Unit::Nanoseconds, "Length of the call").null(),
        int("queue_delay_ns", Unit::Nanoseconds, "Start on the GPU minus the end of the call").null(),
        int(
            "prequeued",
            Unit::Count,
            "1 when an earlier dispatch of its queue (its stream where no queue is known) ended after the call did, so that the call kept nobody waiting, else 0",
        )
        .null(),
        int(
            "exposed_launch_ns",
            Unit::Nanoseconds,
            "Time that its queue stood empty for it: from the start of the call, or from the end of what ran before if that is later, to its own start; 0 where they overlap",
        )
        .null(),
        int("launch_bound", Unit::Count, "1 when it was not prequeued and ran for less than exposed_launch_ns, else 0")
            .null(),
        int("kernel_ns", Unit::Nanoseconds, "Time it ran on the GPU"),
    ],
};

pub(super) static API_CALLS: Table = Table {
    name: "api_calls",
    key: &["region_id"],
    sort: &["region_id"],
    origin: Origin::OnDemand,
    about: "One row per valid API call with its class, and what the GPUs of its process did meanwhile. Markers are no calls.",
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
