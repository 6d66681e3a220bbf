//! Numbers that an input states instead of what they were computed from.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, float, id, int, text};

pub(crate) static RECORDED_METRICS: Table = Table {
    name: "recorded_metrics",
    key: &[],
    sort: &["ordinal", "kernel_id", "value_name"],
    origin: Origin::Source,
    about: "One row per value that an analysis database of rocprofiler-compute states: metrics, points and ceilings of \
            rooflines, and counts of PC samples by instruction, of a kernel or of the whole workload. Other inputs have none.",
    columns: &[
        PROCESS,
        RANK,
        id("kernel_id", "Kernel symbol, see `kernel_symbols`; null for the whole workload").null(),
        cat("kernel_name", "Full display name; null for the whole workload").null(),
        cat("short_name", "The name with template arguments folded; null for the whole workload").null(),
        int("ordinal", Unit::None, "Place of the metric in the input, 0 if its definition is missing"),
        cat("metric_id", "Id of the metric, as recorded").null(),
        cat("metric", "Name of the metric, as recorded; the instruction for PC samples").null(),
        cat("table_name", "Table that the metric is shown in, as recorded").null(),
        cat("sub_table_name", "Its part, as recorded; the source line for PC samples").null(),
        text("description", "What the metric means, as recorded").null(),
        cat("unit", "Unit, as recorded").null(),
        cat("value_name", "Which value of the metric it is, as recorded, such as `Avg` or `Peak`").null(),
        float("value", "Value; null if the input states none").null(),
    ],
};
