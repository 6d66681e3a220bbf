//! Tables of what memory is live when.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int};

pub static MEMORY_LIVE: Table = Table {
    name: "memory_live",
    key: &[],
    sort: &["time_ns", "alloc_id"],
    origin: Origin::OnDemand,
    about: "One row per change of the live memory on a GPU, or on a host where `gpu` is null, inferred from valid allocations and frees with an address; scratch memory is excluded. An allocation counts from the end of its call, a free from the start of its call. An allocation at a live address ends the previous one. Frees of unknown addresses change nothing. Where an allocator states what is live (PyTorch), that counts, memory from before the trace included.",
    columns: &[
        PROCESS,
        RANK,
        id("alloc_id", "Operation, see `memory_allocations`"),
        cat("level", "`REAL` or `VIRTUAL`, summed separately"),
        id("gpu", "Index among the GPUs of this process").null(),
        int("time_ns", Unit::Nanoseconds, "Time of the change on the source's clock"),
        int("change_bytes", Unit::Bytes, "By how much it changed"),
        int("live_bytes", Unit::Bytes, "Bytes that are live from then on"),
        int("allocations", Unit::Count, "Allocations of the trace that are live from then on"),
    ],
};

pub static ALLOCATION_LIFETIMES: Table = Table {
    name: "allocation_lifetimes",
    key: &["alloc_id"],
    sort: &["time_ns", "alloc_id"],
    origin: Origin::OnDemand,
    about: "One row per valid allocation with its outcome, and per free of an unknown address; scratch memory is excluded. Pairs are matched by level and address.",
    columns: &[
        PROCESS,
        RANK,
        id("alloc_id", "Operation, see `memory_allocations`"),
        cat("level", "`REAL` or `VIRTUAL`"),
        id("agent_id", "Agent that owns the memory").null(),
        id("gpu", "Index among the GPUs of this process; null for a host").null(),
        id("address", "Address").null(),
        int("bytes", Unit::Bytes, "Size, 0 for a release"),
        id("tid", "Thread, see `threads`").null(),
        id("correlation_id", "Internal id that links an API call to the work it launched").null(),
        int("time_ns", Unit::Nanoseconds, "End of the allocation's call, start of a release's"),
        int("ended_ns", Unit::Nanoseconds, "When it ended; null when it is live at the end of the trace, or unknown")
            .null(),
        id("ended_by", "Operation that ended it").null(),
        cat(
            "fate",
            "`freed`, `live` (never freed), `reallocated`, `replaced` (another allocation got its address, its free was not recorded), `unpaired` (without address), `unmatched_free` (a free of an unknown address)",
        ),
        int("call_ns", Unit::Nanoseconds, "Time in the call that allocated it and in the one that released it"),
        cat("api_name", "Outermost call with its correlation id").null(),
    ],
};
