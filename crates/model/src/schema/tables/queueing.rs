//! Tables about the order of kernels on their queues.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int};

pub static FOLLOWING_KERNELS: Table = Table {
    name: "following_kernels",
    key: &["dispatch_id"],
    sort: &["start_ns", "dispatch_id"],
    origin: Origin::OnDemand,
    about: "One row per valid kernel dispatch, with the next three valid dispatches on its queue, by start, then by dispatch_id, then as recorded. Dispatches whose GPU or queue is unknown count as one queue.",
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
        int("start_ns", Unit::Nanoseconds, "Its start"),
        int("end_ns", Unit::Nanoseconds, "Its end"),
        int("kernel_ns", Unit::Nanoseconds, "Time it ran on the GPU"),
        id("kernel_id_2", "Kernel symbol of the next dispatch on its queue").null(),
        cat("kernel_name_2", "Full display name of that").null(),
        cat("short_name_2", "Short name of that").null(),
        int("start_2_ns", Unit::Nanoseconds, "Start of that; before end_ns where both ran at the same time").null(),
        int("end_2_ns", Unit::Nanoseconds, "End of that").null(),
        id("kernel_id_3", "Kernel symbol of the dispatch after that").null(),
        cat("kernel_name_3", "Full display name of that").null(),
        cat("short_name_3", "Short name of that").null(),
        int("start_3_ns", Unit::Nanoseconds, "Start of that").null(),
        int("end_3_ns", Unit::Nanoseconds, "End of that").null(),
        id("kernel_id_4", "Kernel symbol of the dispatch after that").null(),
        cat("kernel_name_4", "Full display name of that").null(),
        cat("short_name_4", "Short name of that").null(),
        int("start_4_ns", Unit::Nanoseconds, "Start of that").null(),
        int("end_4_ns", Unit::Nanoseconds, "End of that").null(),
    ],
};
