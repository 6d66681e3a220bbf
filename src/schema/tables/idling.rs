//! Tables of what GPUs did not do, and of what they did at the same time.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int};

pub(crate) static IDLE_GAPS: Table = Table {
    name: "idle_gaps",
    key: &["gpu", "start_ns"],
    sort: &["gpu", "start_ns"],
    origin: Origin::OnDemand,
    about: "Stretches without kernels on each used GPU, split where their cause changes. Inside the span of the process all but `copy_only` are the idle time of `gpu_segments`, to the nanosecond.",
    columns: &[
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process"),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("gap_id", "Number of the stretch on its GPU; its parts by cause have the same"),
        int("start_ns", Unit::Nanoseconds, "Start of the part"),
        int("end_ns", Unit::Nanoseconds, "End of the part"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        cat(
            "cause",
            "`host_bound` (the call that launches what comes next has not returned), `sync` (its thread is inside a call that waits), `launch_delay` (launched, not started), `copy_only` (copies run), `no_record` (no call recorded), `paused` (between roctxProfilerPause and Resume), `lead` and `tail` (outside of the span)",
        ),
        cat("next_kind", "What ends the stretch: `kernel` or `copy`").null(),
        cat("kernel_before", "Kernel that ended last before it").null(),
        cat("kernel_after", "First kernel after it").null(),
        id("tid", "Thread that launches what comes next, else the one that launched what ran before").null(),
        cat("api_name", "Call of that thread with the largest overlap with the part").null(),
        int("api_ns", Unit::Nanoseconds, "That overlap; little of it says that the thread was outside of calls").null(),
        cat("range", "ROCTx range of that thread that is the innermost for most of the part").null(),
    ],
};

pub(crate) static PROFILER_PAUSES: Table = Table {
    name: "profiler_pauses",
    key: &["start_ns"],
    sort: &["start_ns"],
    origin: Origin::OnDemand,
    about: "Stretches in which the program had stopped the recording, from roctxProfilerPause to the return of roctxProfilerResume.",
    columns: &[
        PROCESS,
        RANK,
        int("start_ns", Unit::Nanoseconds, "Start of the pause"),
        int("end_ns", Unit::Nanoseconds, "End of the pause, that of the process where it was not resumed"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
    ],
};

pub(crate) static KERNEL_OVERLAPS: Table = Table {
    name: "kernel_overlaps",
    key: &["gpu", "category", "other_category", "start_ns"],
    sort: &["gpu", "start_ns", "category", "other_category"],
    origin: Origin::OnDemand,
    about: "Stretches in which kernels of a category ran on a GPU, and in which kernels of two did at the same time.",
    columns: &[
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process"),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        cat("category", "Kernel category, the first of two by the alphabet"),
        cat(
            "other_category",
            "The other category; the same where two kernels of it ran; null where at least one of `category` did",
        )
        .null(),
        int("start_ns", Unit::Nanoseconds, "Start of the stretch"),
        int("end_ns", Unit::Nanoseconds, "End of the stretch"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
    ],
};
