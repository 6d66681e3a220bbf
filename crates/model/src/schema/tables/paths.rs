//! Tables about what the end of the work depends on.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int};

pub static CRITICAL_PATH: Table = Table {
    name: "critical_path",
    key: &["ordinal"],
    sort: &["ordinal"],
    origin: Origin::OnDemand,
    about: "The longest path to the end of the GPU work of each process: from its last end back to its first start, each time to the dependency that ended last. Its parts follow each other without gaps, so they add up to the span of the process. Host code between calls is a dependency of the next call of its thread; waits of one thread for another are not recorded.",
    columns: &[
        PROCESS,
        RANK,
        int("ordinal", Unit::Count, "Place on the path, from 0"),
        cat(
            "kind",
            "`kernel` and `copy` (runs), `api` (a thread is in the call), `host` (a thread is outside calls), `launch_latency` (launched, not started), `queue_wait` (dependencies over, not started), `sync_wakeup` (awaited work is over, the call has not returned), `unknown` (the dependency was not recorded; also waits of more than 50 µs of work whose launch is not recorded)",
        ),
        cat("name", "Full name of the kernel, direction of the copy, or function; for waits, of the work that waits")
            .null(),
        id("kernel_id", "Kernel symbol, see `kernel_symbols`").null(),
        id("target_id", "`dispatch_id` of the kernel or `copy_id` of the copy").null(),
        id("gpu", "Index among the GPUs of this process").null(),
        id("tid", "Thread").null(),
        int("start_ns", Unit::Nanoseconds, "Start of the part"),
        int("end_ns", Unit::Nanoseconds, "End of the part, the start of the next"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        cat(
            "reached_by",
            "Link to the previous part: `stream` (order of a stream, or of a queue if streams are not recorded), `event` (a recorded wait for an event), `inferred` (work elsewhere ended shortly before, and nothing recorded explains the start), `launch`, `wait` (a call waited for work), `thread` (order of a thread), `start` (nothing before)",
        ),
        id("iteration", "Iteration, see `iterations`; parts are cut where iterations start and end").null(),
    ],
};

pub static DISPATCH_SLACK: Table = Table {
    name: "dispatch_slack",
    key: &["dispatch_id"],
    sort: &["dispatch_id"],
    origin: Origin::OnDemand,
    about: "How much longer each valid dispatch could take, with all that depends on it shifted, before the GPU work of its process would end later.",
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
        int("kernel_ns", Unit::Nanoseconds, "Time it ran on the GPU"),
        int("path_ns", Unit::Nanoseconds, "The same if it is on the longest path, otherwise 0"),
        int("slack_ns", Unit::Nanoseconds, "How much longer it could take; 0 on the longest path"),
    ],
};

pub static KERNEL_SAVINGS: Table = Table {
    name: "kernel_savings",
    key: &["kernel_name"],
    sort: &["kernel_name"],
    origin: Origin::OnDemand,
    about: "How much earlier the GPU work of a process would end if all dispatches of a kernel took no time. What bound a start or a return keeps its delay, another cause that takes over has none; the time of the host between calls and in calls that do not wait stays as it was.",
    columns: &[
        PROCESS,
        RANK,
        cat("kernel_name", "Full display name"),
        int("dispatches", Unit::Count, "Valid dispatches"),
        int("kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("path_ns", Unit::Nanoseconds, "Part of it on the longest path, the upper bound of any saving"),
        int(
            "saved_ns",
            Unit::Nanoseconds,
            "How much earlier the work would end, computed over all dependencies, for the 16 kernels with most time on the path; 0 for kernels off the path",
        )
        .null(),
        int("span_ns", Unit::Nanoseconds, "First start to last end of the GPU work of the process"),
    ],
};
