//! Tables that relate the processes of a trace to one another.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, float, id, int};

pub static CLOCKS: Table = Table {
    name: "clocks",
    key: &[],
    sort: &[],
    origin: Origin::OnDemand,
    about: "One row per process: which times of different processes can be compared. Without `--align`, times of one node.",
    columns: &[
        PROCESS,
        RANK,
        id("node", "Dense number of the node"),
        id("clock", "Dense number; times of processes with the same one can be compared once `offset_ns` was added"),
        int("offset_ns", Unit::Nanoseconds, "To be added to a recorded time"),
        cat(
            "basis",
            "Source of the offset: `recorded` (none, the clock of the node), `process-start` (the process starts at 0), `collectives` or `file`",
        ),
    ],
};

pub static COLLECTIVE_KERNELS: Table = Table {
    name: "collective_kernels",
    key: &["dispatch_id"],
    sort: &["start_ns", "dispatch_id"],
    origin: Origin::OnDemand,
    about: "Valid communication kernels, matched into collectives across GPUs: by their recorded numbers, otherwise by order if GPUs have as many calls of a kernel on a communicator, or by their ends if calls are missing. Depends on all processes read together.",
    columns: &[
        PROCESS,
        RANK,
        id("dispatch_id", "Dispatch, see `kernels`"),
        id("kernel_id", "Kernel symbol, see `kernel_symbols`"),
        cat("kernel_name", "Full display name"),
        cat("short_name", "The source's truncated name, otherwise the name with template arguments folded"),
        cat("category", "Category from the rule file"),
        id("gpu", "Index among the GPUs of this process").null(),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        id("queue_id", "Hardware queue, see `queues`").null(),
        id("stream_id", "Stream, see `streams`").null(),
        int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
        int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("exposed_ns", Unit::Nanoseconds, "Part of it in which no kernel of another kind runs on the GPU"),
        id(
            "communicator",
            "Number of the communicator of the kernel, inferred from the arguments of RCCL calls, otherwise from streams or queues that all its GPUs have",
        ),
        int(
            "ranks",
            Unit::Count,
            "Ranks of the communicator: as recorded when it was created, otherwise the GPUs that have calls of this kernel on it",
        )
        .null(),
        id("ordinal", "Place among the calls of the kernel on this GPU and communicator, from 0"),
        id(
            "collective",
            "Number of the collective over all processes; null if the call has no partner although others have",
        )
        .null(),
        cat("matched_by", "`sequence`, `order` or `time`; null if no partner was found").null(),
        int("gpus", Unit::Count, "GPUs whose calls were found of this collective"),
        int("expected_gpus", Unit::Count, "GPUs that have calls of this kernel on this communicator"),
        int("sequence", Unit::Count, "Number of the collective on its communicator, as PyTorch records it").null(),
        cat("operation", "What the RCCL call does that launched it, such as `all_reduce`").null(),
        cat("element_type", "Type of the elements, such as `bfloat16`").null(),
        int(
            "message_bytes",
            Unit::Bytes,
            "Size of the message as rccl-tests counts it: count times size of the type, times ranks if the count is the share of one",
        )
        .null(),
        float("bus_factor", "Bus bandwidth over algorithm bandwidth of the operation, see rccl-tests").null(),
        cat(
            "sizes",
            "`arguments` if the size is known, otherwise the reason: `no call`, `no arguments`, `unreadable arguments`, `mixed group` or `unknown ranks`",
        ),
    ],
};
