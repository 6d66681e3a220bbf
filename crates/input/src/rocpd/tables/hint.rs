//! Rows that a query need not read.

use crate::common::sqlite::{Condition, RowTest};
use crate::rocpd::assembly::Assembly;
use crate::rocpd::database::KEY;

/// Kernel ids that are listed in a condition; with more of them the rows are chosen after reading alone.
const LISTED_KERNELS: usize = 2_000;

/// Which rows of a table to read: those of `own`, and of a table with a start and an end those that somebody will look at.
pub fn condition(assembly: &Assembly<'_>, base: &str, own: Condition) -> Condition {
    let own = match assembly.context.rows {
        Some(rows) => own.and_rows(KEY, rows),
        None => own,
    };
    // SQLite takes the name of a column that is not there for a text.
    let has = |name: &str| assembly.database.partition().table(base).is_some_and(|table| table.has(name));
    let Some(hint) = assembly.context.hint else { return own };
    let condition = if has("start") && has("end") { own.and_times(hint) } else { own };
    match hint.kernel_ids.as_ref().filter(|ids| has("kernel_id") && ids.len() <= LISTED_KERNELS) {
        Some(ids) => condition.and(RowTest::OneOfOrNull("kernel_id", ids.clone())),
        None => condition,
    }
}
