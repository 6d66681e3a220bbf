//! Tables that are computed from whole source tables.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int, text};

pub static GPU_SEGMENTS: Table = Table {
    name: "gpu_segments",
    key: &["gpu", "start_ns"],
    sort: &["gpu", "start_ns"],
    origin: Origin::Derived,
    about: "Disjoint intervals of each used GPU over the span of its process, with the activities that run in each; idle intervals are rows with zeros. A P2P copy counts on both GPUs.",
    columns: &[
        PROCESS,
        RANK,
        id("gpu", "Index among the GPUs of this process"),
        id("device", "Dense number of the physical GPU over all nodes").null(),
        int("start_ns", Unit::Nanoseconds, "Start of the segment"),
        int("end_ns", Unit::Nanoseconds, "End of the segment"),
        int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
        int("compute", Unit::Count, "Kernels running, communication apart"),
        int("comm", Unit::Count, "Communication kernels running"),
        int("copies", Unit::Count, "Copies running"),
    ],
};

pub static REGION_SELF_TIMES: Table = Table {
    name: "region_self_times",
    key: &["region_id"],
    sort: &["region_id"],
    origin: Origin::Derived,
    about: "Time of each valid region without the regions contained in it on the same thread.",
    columns: &[
        PROCESS,
        RANK,
        id("region_id", "Region, see `regions`"),
        int("self_ns", Unit::Nanoseconds, "Duration minus the time that nested regions on the same thread cover"),
    ],
};

pub static ANOMALIES: Table = Table {
    name: "anomalies",
    key: &[],
    sort: &["check_id", "table_name"],
    origin: Origin::Derived,
    about: "One row per kind of anomaly found in a process.",
    columns: &[
        PROCESS,
        RANK,
        cat("check_id", "Check that found it"),
        cat("severity", "`error`, `warning` or `info`"),
        cat("table_name", "Table it is in"),
        int("count", Unit::Count, "Rows affected"),
        text("first_key", "Key of the first row affected").null(),
        text("detail", "Meaning and remedy"),
    ],
};
