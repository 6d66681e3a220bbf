//! Tables that join telemetry with what ran meanwhile.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, float, id, int};

pub static KERNEL_CLOCKS: Table = Table {
    name: "kernel_clocks",
    key: &["dispatch_id"],
    sort: &["time_ns", "dispatch_id"],
    origin: Origin::OnDemand,
    about: "One row per valid dispatch on a GPU whose clock, power or temperature is in `samples`, with their means while it ran. A sample is valid until the next one of its track.",
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
        int("time_ns", Unit::Nanoseconds, "Start on the source's clock"),
        int("took_ns", Unit::Nanoseconds, "Duration, not cut by a window"),
        float(
            "clock_mhz",
            "Clock of the compute units in MHz, the mean of its tracks; null before their first samples",
        )
        .null(),
        float("power_w", "Power in watts, from the track with the maximum").null(),
        float("temperature_c", "Temperature in °C, from the hottest track").null(),
    ],
};
