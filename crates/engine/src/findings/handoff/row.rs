//! Reads names from a row of an answer, by its columns.

use crate::findings::rule_context::Rows;
use crate::{Answer, Query};

/// Columns that answers share with the table of kernels. They restrict a row to some of the dispatches.
const KEYS: [&str; 13] = [
    "gpu",
    "device",
    "agent_id",
    "queue_id",
    "stream_id",
    "tid",
    "graph_exec_id",
    "workgroup_x",
    "workgroup_y",
    "workgroup_z",
    "grid_x",
    "grid_y",
    "grid_z",
];
/// Columns with a dispatch; the first names the dispatch that a row is about.
const DISPATCHES: [&str; 3] = ["dispatch_id", "worst_dispatch_id", "first_dispatch_id"];
/// Columns with a process.
const PROCESSES: [&str; 2] = ["process", "worst_process"];
const KERNEL: &str = "kernel_name";
/// Column with the name of a kernel or of other work.
const WORK: &str = "name";

/// Names in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HandoffRow {
    /// A kernel, in the form of the answer.
    pub kernel: Option<String>,
    /// Whether the name may belong to other work than a kernel.
    pub may_be_other_work: bool,
    pub process: Option<i64>,
    pub rank: Option<i64>,
    /// Values of columns of the table of kernels.
    pub keys: Vec<(&'static str, i64)>,
    pub dispatch_id: Option<i64>,
    /// Start on the clock of the trace.
    pub start_ns: Option<i64>,
    /// Start and end on the clock of the trace.
    pub interval: Option<(i64, i64)>,
    pub iteration: Option<i64>,
}

impl HandoffRow {
    /// A row of an answer without dictionaries. `has_raw_times` states whether its times are on the clock of the trace.
    pub(super) fn new(answer: &Answer, row: usize, has_raw_times: bool) -> Self {
        let rows = Rows::over(Some(answer));
        let first = |names: &[&str]| names.iter().find_map(|name| rows.integer(row, name));
        let kernel = rows.text(row, KERNEL);
        let start_ns = rows.integer(row, "start_ns").filter(|_| has_raw_times);
        let end_ns =
            || rows.integer(row, "end_ns").or_else(|| start_ns?.checked_add(rows.integer(row, "duration_ns")?));
        Self {
            kernel: kernel.or_else(|| rows.text(row, WORK)).map(ToOwned::to_owned),
            may_be_other_work: kernel.is_none(),
            process: first(&PROCESSES),
            rank: rows.integer(row, "rank"),
            keys: KEYS.into_iter().filter_map(|key| Some((key, rows.integer(row, key)?))).collect(),
            dispatch_id: first(&DISPATCHES),
            start_ns,
            interval: start_ns.and_then(|start_ns| Some((start_ns, end_ns()?))),
            iteration: rows.integer(row, "iteration"),
        }
    }
}

/// Whether rows of a query with these columns can name a kernel, an interval, a rank or an iteration.
pub fn can_hand_over(query: &Query, columns: &[String]) -> bool {
    let names_kernels = query.declaration.needs.iter().any(|table| table == "kernels");
    let places = [KERNEL, "rank", "iteration", "start_ns"];
    let has = |name: &str| columns.iter().any(|column| column == name);
    places.iter().chain(&PROCESSES).any(|name| has(name)) || names_kernels && has(WORK)
}
