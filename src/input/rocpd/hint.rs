//! What a query need not read, as a condition in SQL.

use super::assembly::Assembly;
use crate::trace::source::ScanHint;

/// Kernel ids that are listed in a statement; with more of them the rows are chosen after reading alone.
const LISTED_KERNELS: usize = 2_000;

/// Which rows of a table with a start and an end to read; empty for all. Rows whose times or ids are no integers are
/// read, because the reader may see them otherwise than SQL does; they are chosen again after.
pub fn condition(assembly: &Assembly<'_>, base: &str, own: &str) -> String {
    // SQLite takes the name of a column that is not there for a text.
    let has = |name: &str| assembly.database.partition().table(base).is_some_and(|table| table.has(name));
    let mut conditions: Vec<String> = Vec::new();
    if !own.is_empty() {
        conditions.push(format!("({own})"));
    }
    if let Some(hint) = assembly.context.hint {
        if has("start") && has("end") {
            conditions.extend(of_times(hint));
        }
        if has("kernel_id") {
            conditions.extend(of_kernels(hint));
        }
    }
    conditions.join(" AND ")
}

fn of_times(hint: &ScanHint) -> impl Iterator<Item = String> {
    let latest = hint.latest_start_ns.map(|latest| format!(include_str!("sql/starts_until.sql"), latest = latest));
    let earliest = hint.earliest_end_ns.map(|earliest| format!(include_str!("sql/ends_from.sql"), earliest = earliest));
    let least = hint.least_duration_ns.map(|least| format!(include_str!("sql/lasts.sql"), least = least));
    [latest, earliest, least].into_iter().flatten().map(|condition| condition.trim_end().to_owned())
}

fn of_kernels(hint: &ScanHint) -> Option<String> {
    let ids = hint.kernel_ids.as_ref().filter(|ids| ids.len() <= LISTED_KERNELS)?;
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    Some(format!(include_str!("sql/of_kernels.sql"), ids = ids.join(", ")).trim_end().to_owned())
}
