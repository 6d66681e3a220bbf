//! What a query need not read, as a condition in SQL.

use super::assembly::Assembly;
use crate::input::common::sqlite::time_conditions;
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
            conditions.extend(time_conditions(hint));
        }
        if has("kernel_id") {
            conditions.extend(of_kernels(hint));
        }
    }
    conditions.join(" AND ")
}

fn of_kernels(hint: &ScanHint) -> Option<String> {
    let ids = hint.kernel_ids.as_ref().filter(|ids| ids.len() <= LISTED_KERNELS)?;
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    Some(format!(include_str!("sql/of_kernels.sql"), ids = ids.join(", ")).trim_end().to_owned())
}
