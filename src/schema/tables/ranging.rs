//! Tables about stretches of the program: ROCTx ranges and iterations.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int, text};

pub(crate) static RANGES: Table = Table {
    name: "ranges",
    key: &["range_id"],
    sort: &["start_ns", "range_id"],
    origin: Origin::OnDemand,
    about: "One row per valid ROCTx range. Ranges of a thread lie in one another; those of the process (start and stop) stand apart with depth 0. Kernels and copies belong to the ranges of the thread that launched them which were open when the launching call began, and to the ranges of the process that were open then; of ranges that overlap in part, none lies in the other and the one that ends first counts as inner.",
    columns: &[
        PROCESS,
        RANK,
        id("range_id", "Its `region_id` in `regions`"),
        cat("message", "Text of the range, else the operation that opened it"),
        text(
            "path",
            "Messages from the outermost range to this one, joined by `/`; a `/` or `\\` in a message has a `\\` before it. Ranges deeper than 128 share a path that ends in `…`",
        ),
        int("depth", Unit::Count, "Ranges of its thread that it lies in"),
        int("iteration", Unit::Count, "Ordinal among the ranges of this path on its thread, from 0"),
        cat("kind", "`thread` for ranges that are pushed and popped, `process` for those that are started and stopped"),
        id("tid", "Thread that opened it").null(),
        int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
        int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("gpu_start_ns", Unit::Nanoseconds, "First start of what was launched in it").null(),
        int("gpu_end_ns", Unit::Nanoseconds, "Last end of what was launched in it").null(),
        int("kernels", Unit::Count, "Kernels launched in it, in the ranges that lie in it too"),
        int("kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("copy_ns", Unit::Nanoseconds, "Sum of the durations of the copies launched in it"),
    ],
};

pub(crate) static RANGE_SELF_TIMES: Table = Table {
    name: "range_self_times",
    key: &["range_id"],
    sort: &["range_id"],
    origin: Origin::OnDemand,
    about: "What is left of each range without the ranges that lie in it. Over the ranges of threads it adds up to all that was launched in any range; ranges of the process have no GPU time of their own.",
    columns: &[
        PROCESS,
        RANK,
        id("range_id", "Range, see `ranges`"),
        id("parent_id", "The range that it lies in").null(),
        int("self_ns", Unit::Nanoseconds, "Duration minus that of the ranges that lie in it"),
        int("self_kernels", Unit::Count, "Kernels launched in it and in no range that lies in it"),
        int("self_kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("self_copies", Unit::Count, "Copies launched in it and in no range that lies in it"),
        int("self_copy_ns", Unit::Nanoseconds, "Sum of their durations"),
    ],
};

pub(crate) static RANGE_WORK: Table = Table {
    name: "range_work",
    key: &["kind", "target_id"],
    sort: &["start_ns", "kind", "target_id"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel and copy, with the innermost ROCTx range of the thread that launched it which was open when the launching call began.",
    columns: &[
        PROCESS,
        RANK,
        cat("kind", "`kernel` or `copy`"),
        id("target_id", "Key in `kernels` or `memory_copies`"),
        id("range_id", "Innermost range of the launching thread").null(),
        cat(
            "launch",
            "`range` when it was launched in a range, `outside` when in none, `unknown` when the call that launched it was not recorded",
        ),
        id("gpu", "Index among the GPUs of this process").null(),
        int("start_ns", Unit::Nanoseconds, "Start of the kernel or copy"),
        int("end_ns", Unit::Nanoseconds, "End of the kernel or copy"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
    ],
};

pub(crate) static ITERATIONS: Table = Table {
    name: "iterations",
    key: &["iteration"],
    sort: &["iteration"],
    origin: Origin::OnDemand,
    about: "One row per repetition in the sequence of kernels of the GPU that ran most of them, found without markers by name and grid, else by name. It is the shortest period in which nearly every recurring kernel has its place, repeated at least three times; where nearly all is one kernel with one grid, every dispatch is a repetition. A process without a period has no rows. What comes before the first, behind the last and between is in no row.",
    columns: &[
        PROCESS,
        RANK,
        id("iteration", "Ordinal of the repetition, from 0"),
        cat(
            "phase",
            "`warmup` for those at the begin and `cooldown` for those at the end that take longer than the median by more than a tenth of it and three scaled median distances, else `steady`",
        ),
        int("start_ns", Unit::Nanoseconds, "Start of its first kernel"),
        int(
            "end_ns",
            Unit::Nanoseconds,
            "Start of the next repetition; of the last one, and where something else follows, end of its last kernel",
        ),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("kernels", Unit::Count, "Kernels of the process that start in it, on all its GPUs"),
        int("kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("period", Unit::Count, "Usual number of kernels of a repetition in the sequence that repeats"),
    ],
};

pub(crate) static RUN_PARTS: Table = Table {
    name: "run_parts",
    key: &["part"],
    sort: &["part"],
    origin: Origin::OnDemand,
    about: "The parts of the run of a process from its first to its last work on a GPU, which they add up to. Of a process with iterations, the steady part is the longest stretch of neighboring steady iterations that takes, pauses included, at most twice the time of as many medians; `--window steady` chooses it. Of one without iterations, the dense part is what is left without long sparse stretches at both ends: in a hundred equal bins, those with less than a fifth of the usual work. The thresholds are those of `share/run_parts.toml`.",
    columns: &[
        PROCESS,
        RANK,
        id("part", "Ordinal of the part, from 0"),
        cat(
            "kind",
            "`set_up` before the first iteration or the dense work, `warmup` and `cooldown` for these iterations, `steady` for the steady part and `uneven` for steady iterations before and after it, `pause` between two of these parts, `dense` where there are no iterations, `tail` after the last iteration or the dense work",
        ),
        int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
        int("end_ns", Unit::Nanoseconds, "End: the start of the next part"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("iterations", Unit::Count, "Iterations in it"),
        id("first_iteration", "The first of them, see `iterations`").null(),
        id("last_iteration", "The last of them").null(),
        int("pause_ns", Unit::Nanoseconds, "What of its time lies between its iterations"),
    ],
};
