//! Tables of instructions in thread traces.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int, text};

pub(crate) static ATT_INSTRUCTIONS: Table = Table {
    name: "att_instructions",
    key: &["ordinal"],
    sort: &["ordinal"],
    origin: Origin::Source,
    about: "One row per instruction of a thread trace (`rocprofv3 --att`), including instructions that never ran. Cycles are sums over all hits on the traced compute unit.",
    columns: &[
        PROCESS,
        RANK,
        id("ordinal", "Position in the file, from 1 on"),
        cat("capture", "Name of the file without `stats_` and extension"),
        id("dispatch_id", "Dispatch that was traced, if the file name has it").null(),
        id("kernel_id", "Kernel, see `kernel_symbols`; numbered in the order of the file").null(),
        cat("kernel_name", "Full display name of the kernel; null before the first symbol of a code object").null(),
        cat("short_name", "The name with template arguments folded").null(),
        id("code_object_id", "Code object").null(),
        int("vaddr", Unit::Bytes, "Address in the code object").null(),
        text("instruction", "Instruction with its operands"),
        cat("mnemonic", "Instruction without its operands"),
        cat("class", "`VMEM`, `LDS`, `SMEM`, `MFMA`, `VALU`, `SALU`, `branch`, `wait`, `barrier` or `other`"),
        int("hitcount", Unit::Count, "How often wavefronts issued it"),
        int(
            "latency_cycles",
            Unit::Cycles,
            "From the cycle it could be issued to the cycle the next could, stalls included",
        ),
        int(
            "stall_cycles",
            Unit::Cycles,
            "Part of the latency in which it could not be issued; null if the file has none",
        )
        .null(),
        int(
            "idle_cycles",
            Unit::Cycles,
            "Before it, while the wavefront had nothing to issue; null in files without it",
        )
        .null(),
        text("source", "Source lines as recorded: the line of the instruction, then the lines it was inlined into")
            .null(),
        cat("source_file", "File of the first of them").null(),
        id("source_line", "Line in that file").null(),
        cat("outer_file", "File of the last of them").null(),
        id("outer_line", "Line in that file").null(),
    ],
};

pub static ATT_WAITS: Table = Table {
    name: "att_waits",
    key: &["wait_ordinal", "part"],
    sort: &["wait_ordinal", "part"],
    origin: Origin::OnDemand,
    about: "Memory operations that the waits of thread traces waited for, inferred from straight-line code: equal parts of every wait that ran, one per memory operation, and one for unknown operations. The parts of a wait add up to it.",
    columns: &[
        PROCESS,
        RANK,
        id("wait_ordinal", "The wait, see `att_instructions`"),
        id("part", "Part of the wait, from 1 on"),
        id("kernel_id", "Kernel, see `kernel_symbols`").null(),
        cat("counter", "Counter that is waited for, such as `vmcnt`").null(),
        id("operation_ordinal", "Operation that is waited for, see `att_instructions`").null(),
        cat("reason", "Why no operation is known: `other_path` (issued before a place that is branched to), `any_order` (operations that finish in any order), `nothing_under_way`, `other_reason`, `unknown_branch`").null(),
        int("parts", Unit::Count, "Parts of the wait"),
        int("latency_cycles", Unit::Cycles, "Part of the latency of the wait"),
        int("stall_cycles", Unit::Cycles, "Part of its stall; null in files without it").null(),
    ],
};
