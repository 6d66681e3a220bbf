//! Tables about intervals of the program: ROCTx ranges and iterations.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, float, id, int, text};

pub static RANGES: Table = Table {
    name: "ranges",
    key: &["range_id"],
    sort: &["start_ns", "range_id"],
    origin: Origin::OnDemand,
    about: "One row per valid ROCTx range. Push/pop ranges of a thread nest; start/stop ranges of the process have depth 0. Kernels and copies belong to the ranges of the launching thread that were open when the launching call started, and to the process ranges open then; what a thread of PyTorch's backward pass launches outside its own ranges, to those of the thread that waits for it. Ranges that overlap in part do not nest; the one that ends first counts as inner, and its work does not belong to the other.",
    columns: &[
        PROCESS,
        RANK,
        id("range_id", "Its `region_id` in `regions`"),
        cat("message", "Text of the range, otherwise the operation that opened it"),
        text(
            "path",
            "Messages from the outermost range to this one, joined by `/`; a `/` or `\\` in a message has a `\\` before it. Ranges deeper than 128 share a path that ends in `…`",
        ),
        int("depth", Unit::Count, "Nesting depth on its thread"),
        int("iteration", Unit::Count, "Ordinal among the ranges of this path on its thread, from 0"),
        cat("kind", "`thread` for push/pop ranges, `process` for start/stop ranges"),
        id("tid", "Thread that opened it").null(),
        int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
        int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("gpu_start_ns", Unit::Nanoseconds, "First start of work launched in it").null(),
        int("gpu_end_ns", Unit::Nanoseconds, "Last end of work launched in it").null(),
        int("kernels", Unit::Count, "Kernels launched in it, nested ranges included"),
        int("kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("copy_ns", Unit::Nanoseconds, "Sum of the durations of the copies launched in it"),
    ],
};

pub static RANGE_SELF_TIMES: Table = Table {
    name: "range_self_times",
    key: &["range_id"],
    sort: &["range_id"],
    origin: Origin::OnDemand,
    about: "Time and work of each range without nested ranges. Over push/pop ranges it adds up to all work launched in any range; start/stop ranges have no GPU time of their own.",
    columns: &[
        PROCESS,
        RANK,
        id("range_id", "Range, see `ranges`"),
        id("parent_id", "The enclosing range").null(),
        int("self_ns", Unit::Nanoseconds, "Duration minus the time that nested ranges cover"),
        int("self_kernels", Unit::Count, "Kernels launched in it and in no nested range"),
        int("self_kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("self_copies", Unit::Count, "Copies launched in it and in no nested range"),
        int("self_copy_ns", Unit::Nanoseconds, "Sum of their durations"),
    ],
};

pub static RANGE_WORK: Table = Table {
    name: "range_work",
    key: &["kind", "target_id"],
    sort: &["start_ns", "kind", "target_id"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel and copy, with the innermost ROCTx range of the launching thread that was open when the launching call started; of a thread of PyTorch's backward pass that had none, that of the thread that waits for it.",
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

pub static OPERATORS: Table = Table {
    name: "operators",
    key: &["operator_id"],
    sort: &["start_ns", "operator_id"],
    origin: Origin::OnDemand,
    about: "One row per valid operator of PyTorch, and per call of a module if Python functions were recorded. Operators nest in operators and modules in modules, on their thread. Kernels and copies belong to the operators and to the modules of the launching thread that were open when the launching call started, and the backward pass to modules of the thread that waits for it; work whose call was not recorded belongs to none.",
    columns: &[
        PROCESS,
        RANK,
        id("operator_id", "Its `region_id` in `regions`"),
        cat("kind", "`operator`, or `module` for the call of an `nn.Module`"),
        cat("name", "Name, such as `aten::mm` or `Linear_0`"),
        text("path", "Names from the outermost of this kind to this one, joined by `/`; see `ranges`"),
        int("depth", Unit::Count, "Nesting depth among those of its kind on its thread"),
        id("parent_id", "The one that it lies in").null(),
        id("tid", "Thread that called it").null(),
        int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
        int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("self_ns", Unit::Nanoseconds, "Duration minus the time that those of its kind in it cover"),
        int("kernels", Unit::Count, "Kernels launched in it, those in it included"),
        int("kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("copy_ns", Unit::Nanoseconds, "Sum of the durations of the copies launched in it"),
        int("self_kernels", Unit::Count, "Kernels launched in it and in none of its kind in it"),
        int("self_kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("self_copy_ns", Unit::Nanoseconds, "Sum of the durations of such copies"),
    ],
};

pub static ITERATIONS: Table = Table {
    name: "iterations",
    key: &["iteration"],
    sort: &["iteration"],
    origin: Origin::OnDemand,
    about: "One row per repetition in the sequence of kernels of the GPU that ran most of them, found without markers by name and grid, otherwise by name. It is the shortest period in which nearly every recurring kernel has its place, repeated at least three times; if nearly all dispatches are one kernel with one grid, every dispatch is a repetition. A process without a period has no rows. Work before the first, after the last and between repetitions is in no row.",
    columns: &[
        PROCESS,
        RANK,
        id("iteration", "Ordinal of the repetition, from 0"),
        cat(
            "phase",
            "`warmup` at the start and `cooldown` at the end for repetitions that exceed the median by more than 10 % and three scaled median absolute deviations, otherwise `steady`",
        ),
        int("start_ns", Unit::Nanoseconds, "Start of its first kernel"),
        int(
            "end_ns",
            Unit::Nanoseconds,
            "Start of the next repetition; end of its last kernel for the last one, and if other work follows",
        ),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("kernels", Unit::Count, "Kernels of the process that start in it, on all its GPUs"),
        int("kernel_ns", Unit::Nanoseconds, "Sum of their durations"),
        int("period", Unit::Count, "Usual number of kernels of a repetition in the sequence that repeats"),
    ],
};

pub static RUN_PARTS: Table = Table {
    name: "run_parts",
    key: &["part"],
    sort: &["part"],
    origin: Origin::OnDemand,
    about: "The parts of the run of a process; they add up to the time from its first to its last GPU work. With iterations, the steady part is the longest interval of consecutive steady iterations that takes, pauses included, at most twice the time of as many medians; `--window steady` selects it. Without iterations, the dense part is the run without long sparse intervals at both ends: in 100 equal bins, those with less than a fifth of the usual work. `share/run_parts.toml` has the thresholds.",
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
        int("pause_ns", Unit::Nanoseconds, "Time between its iterations"),
    ],
};

pub static GEMM_PROBLEMS: Table = Table {
    name: "gemm_problems",
    key: &["owner", "owner_id"],
    sort: &["owner", "owner_id"],
    origin: Origin::OnDemand,
    about: "One row per call of hipBLASLt or rocBLAS whose benchmark line is in the text of a ROCTx range or mark (`HIPBLASLT_ENABLE_MARKER=2`): the sizes and types of its matrix product.",
    columns: &[
        PROCESS,
        RANK,
        cat("owner", "`range` or `mark`"),
        id("owner_id", "Key in `ranges` or `marks`"),
        id("tid", "Thread that called").null(),
        int("time_ns", Unit::Nanoseconds, "Start of the range, or time of the mark"),
        cat("library", "`hipblaslt` or `rocblas`"),
        int("m", Unit::Count, "Rows of the result, null where the products of a grouped call differ").null(),
        int("n", Unit::Count, "Columns of the result").null(),
        int("k", Unit::Count, "Length of the sums").null(),
        int("batch", Unit::Count, "Products of each size").null(),
        int("problems", Unit::Count, "Sizes of a grouped call, otherwise 1"),
        cat("trans_a", "Whether A is transposed: `N`, `T` or `C`").null(),
        cat("trans_b", "Whether B is transposed").null(),
        cat("a_type", "Type of the elements of A, such as `f16_r`").null(),
        cat("b_type", "Type of the elements of B").null(),
        cat("d_type", "Type of the elements of the result").null(),
        cat("compute_type", "Type in which is added up").null(),
        id("solution_index", "Solution that the library chose, where it is logged").null(),
        float("flop", "Floating point operations: 2·m·n·k of each product"),
    ],
};
