//! Tables of what GPUs did not do, and of what they did at the same time.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int};

pub static IDLE_GAPS: Table = Table {
    name: "idle_gaps",
    key: &["gpu", "start_ns"],
    sort: &["gpu", "start_ns"],
    origin: Origin::OnDemand,
    about: "Intervals without kernels on each used GPU, split where their cause changes. Within the span of the process, all intervals except `copy_only` add up to the idle time of `gpu_segments`, to the nanosecond.",
    columns: &[
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process"),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("gap_id", "Number of the interval on its GPU; its parts by cause share it"),
        int("start_ns", Unit::Nanoseconds, "Start of the part"),
        int("end_ns", Unit::Nanoseconds, "End of the part"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        cat(
            "cause",
            "`host_bound` (the call that launches the next work has not returned), `sync` (its thread is inside a synchronization call), `launch_delay` (launched, not started), `copy_only` (copies run), `no_record` (no call recorded), `paused` (between roctxProfilerPause and Resume), `lead` and `tail` (outside the span)",
        ),
        cat("next_kind", "Work that ends the interval: `kernel` or `copy`").null(),
        cat("kernel_before", "Kernel that ended last before it").null(),
        cat("kernel_after", "First kernel after it").null(),
        id("tid", "Thread that launches the next work, otherwise the thread that launched the previous work").null(),
        cat("api_name", "Call of that thread with the largest overlap with the part").null(),
        int("api_ns", Unit::Nanoseconds, "That overlap; if it is short, the thread was outside API calls").null(),
        cat("range", "ROCTx range of that thread that is the innermost for most of the part").null(),
    ],
};

pub static PROFILER_PAUSES: Table = Table {
    name: "profiler_pauses",
    key: &["start_ns"],
    sort: &["start_ns"],
    origin: Origin::OnDemand,
    about: "Intervals in which the program paused the recording, from roctxProfilerPause to the return of roctxProfilerResume.",
    columns: &[
        PROCESS,
        RANK,
        int("start_ns", Unit::Nanoseconds, "Start of the pause"),
        int("end_ns", Unit::Nanoseconds, "End of the pause, or of the process if it was not resumed"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
    ],
};

pub static KERNEL_OVERLAPS: Table = Table {
    name: "kernel_overlaps",
    key: &["gpu", "category", "other_category", "start_ns"],
    sort: &["gpu", "start_ns", "category", "other_category"],
    origin: Origin::OnDemand,
    about: "Intervals in which kernels of one category ran on a GPU, or kernels of two categories ran at the same time.",
    columns: &[
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process"),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        cat("category", "Kernel category, the first of two by the alphabet"),
        cat(
            "other_category",
            "The other category; the same if two kernels of it ran; null if at least one kernel of `category` ran",
        )
        .null(),
        int("start_ns", Unit::Nanoseconds, "Start of the interval"),
        int("end_ns", Unit::Nanoseconds, "End of the interval"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
    ],
};
