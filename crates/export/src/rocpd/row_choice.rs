//! Filters as conditions on rows of the tables of a database. They mean the same as for the canonical tables.

use super::processes::KeptProcess;
use super::structure::SourceTable;
use wavesieve_model::schema::{self, Table};
use wavesieve_tables::trace::selection::{Filters, NumberSet, Resolved, WindowMode};

/// The canonical table of the rows of each base table.
const CANONICAL: &[(&str, &str)] = &[
    ("kernel_dispatch", "kernels"),
    ("memory_copy", "memory_copies"),
    ("memory_allocate", "memory_allocations"),
    ("region", "regions"),
    ("graph_launch", "graph_launches"),
    ("hip_event", "hip_events"),
];

/// The calls of the host.
pub(super) const REGIONS: &str = "region";

/// The choice of rows in one process.
pub(super) struct RowChoice<'a> {
    pub filters: &'a Filters,
    pub process: &'a KeptProcess<'a>,
}

/// Whether filters choose GPU work, so that calls are kept only for their work.
pub(super) fn chooses_work(filters: &Filters) -> bool {
    chooses_kernels(filters) || filters.gpus.is_some() || filters.streams.is_some() || filters.queues.is_some()
}

/// Whether filters choose among kernels, so that nothing else of the GPU is kept.
fn chooses_kernels(filters: &Filters) -> bool {
    filters.kernel.is_some() || !filters.categories.is_empty()
}

impl RowChoice<'_> {
    /// Condition for the rows of a table of activity that are chosen, with that for their `category`; `None` if all are.
    pub(super) fn condition(&self, table: &SourceTable, category: Option<&str>) -> Option<String> {
        let canonical = CANONICAL.iter().find(|(base, _)| *base == table.base);
        let canonical = canonical.and_then(|(_, name)| schema::table(name));
        let is_region = table.base == REGIONS;
        let has_kernels = table.base == "kernel_dispatch";
        if (chooses_kernels(self.filters) && !has_kernels) || (chooses_work(self.filters) && is_region) {
            return Some("0".to_owned());
        }
        let mut all: Vec<String> = self.window(table).into_iter().collect();
        if let Some(least) = self.filters.min_duration_ns.filter(|_| table.has_all(&["start", "end"])) {
            // Calls without length are marks, which have no duration.
            let marks = if is_region { "\"start\" = \"end\" OR " } else { "" };
            all.push(format!("({marks}\"end\" - \"start\" >= {least})"));
        }
        if let Some(ids) = self.resolved().and_then(|resolved| resolved.kernel_ids.as_ref()).filter(|_| has_kernels) {
            all.push(format!("coalesce(kernel_id, -1) IN ({})", listed(ids)));
        }
        if let Some(agents) = self.process.agents.as_ref().filter(|_| has(canonical, "gpu")) {
            all.push(of_agents(table, &listed(agents)));
        }
        for (set, column) in [(&self.filters.streams, "stream_id"), (&self.filters.queues, "queue_id")] {
            if let Some(set) = set.as_ref().filter(|_| has(canonical, column) && table.has(column)) {
                all.push(of_numbers(set, column));
            }
        }
        all.extend(category.map(ToOwned::to_owned));
        (!all.is_empty()).then(|| all.join(" AND "))
    }

    /// Condition for moments that are chosen, such as samples.
    pub(super) fn condition_of_instants(&self) -> Option<String> {
        if chooses_work(self.filters) {
            return Some("0".to_owned());
        }
        self.bounds(|from, to| within("timestamp", from, to))
    }

    fn window(&self, table: &SourceTable) -> Option<String> {
        table.has_all(&["start", "end"]).then_some(())?;
        self.bounds(|from, to| {
            let inside = format!("{} AND {}", within("start", from, to), within("end", from, to));
            if self.filters.window_mode == WindowMode::Inside {
                return inside;
            }
            let later = from.map(|from| format!("\"end\" > {from}"));
            let sooner = to.map(|to| format!("\"start\" < {to}"));
            let touching: Vec<String> = later.into_iter().chain(sooner).collect();
            format!("(({}) OR (\"start\" = \"end\" AND {inside}))", touching.join(" AND "))
        })
    }

    /// Condition for a window; `None` if it is open on both sides.
    fn bounds(&self, condition: impl Fn(Option<i64>, Option<i64>) -> String) -> Option<String> {
        let resolved = self.resolved().filter(|_| self.filters.is_windowed())?;
        match resolved.window {
            _ if resolved.nothing => Some("0".to_owned()),
            (None, None) => None,
            (from, to) => Some(condition(from, to)),
        }
    }

    fn resolved(&self) -> Option<&Resolved> {
        self.process.resolved
    }

    /// The expression that clips a time to the window, if the mode requires it. Invalid times stay as they are, and so
    /// do calls outside the window that launched chosen work.
    pub(super) fn cut(&self, table: &SourceTable, column: &str) -> Option<String> {
        let resolved = self.resolved().filter(|_| self.filters.clips())?;
        let touches = self.window(table)?;
        let (from, to) = resolved.window;
        let cut = match column {
            "start" => from.map(|from| format!("max(\"start\", {from})")),
            "end" => to.map(|to| format!("min(\"end\", {to})")),
            _ => None,
        };
        Some(format!("CASE WHEN \"start\" <= \"end\" AND {touches} THEN {} ELSE \"{column}\" END", cut?))
    }
}

fn has(table: Option<&Table>, column: &str) -> bool {
    table.is_some_and(|table| table.column(column).is_some())
}

fn within(column: &str, from: Option<i64>, to: Option<i64>) -> String {
    let from = from.map(|from| format!("\"{column}\" >= {from}"));
    let to = to.map(|to| format!("\"{column}\" <= {to}"));
    from.into_iter().chain(to).collect::<Vec<String>>().join(" AND ")
}

/// Numbers as a list in SQL.
pub(super) fn listed(ids: &[i64]) -> String {
    ids.iter().map(i64::to_string).collect::<Vec<String>>().join(", ")
}

/// Condition for rows of these agents. A copy belongs to the GPUs on both of its sides.
fn of_agents(table: &SourceTable, agents: &str) -> String {
    let columns = ["agent_id", "src_agent_id", "dst_agent_id"].into_iter().filter(|column| table.has(column));
    let sides: Vec<String> = columns.map(|column| format!("{column} IN ({agents})")).collect();
    if sides.is_empty() { "0".to_owned() } else { format!("({})", sides.join(" OR ")) }
}

fn of_numbers(set: &NumberSet, column: &str) -> String {
    let ranges = set.ranges().iter().map(|(first, last)| format!("{column} BETWEEN {first} AND {last}"));
    format!("({})", ranges.collect::<Vec<String>>().join(" OR "))
}
