//! Whether a partition carries counters of dispatches, and in how many passes.

use rusqlite::Connection;

use super::container::Partition;
use crate::input::common::sqlite::quoted;

/// Whether values were counted while a kernel ran; the values of samples and of page faults are none of these.
pub fn has_counters(connection: &Connection, partition: &Partition) -> bool {
    let (Some(values), Some(dispatches)) = (partition.table("pmc_event"), partition.table("kernel_dispatch")) else {
        return false;
    };
    if !values.has("event_id") || !dispatches.has("event_id") {
        return false;
    }
    let condition = if values.has("sample_id") { "WHERE sample_id IS NULL" } else { "" };
    let (values, dispatches) = (quoted(&values.name), quoted(&dispatches.name));
    // Without a value SQLite would still look at every dispatch.
    let none = format!(include_str!("sql/first_value.sql"), values = values, condition = condition);
    if matches!(connection.query_row(&none, [], |_| Ok(())), Err(rusqlite::Error::QueryReturnedNoRows)) {
        return false;
    }
    // The first value alone tells in most files, and at once.
    let first = format!(
        include_str!("sql/first_value_is_counter.sql"),
        values = values,
        condition = condition,
        dispatches = dispatches
    );
    let any = format!(
        include_str!("sql/any_value_is_counter.sql"),
        values = values,
        condition = condition,
        dispatches = dispatches
    );
    [first, any].iter().any(|sql| connection.query_row(sql, [], |_| Ok(())).is_ok())
}

/// How often kernels were run again to collect more counters; 0 where they ran once.
pub fn replay_passes(connection: &Connection, partition: &Partition) -> i64 {
    let Some(dispatches) = partition.table("kernel_dispatch").filter(|table| table.has("replay_pass")) else {
        return 0;
    };
    let sql = format!(include_str!("sql/replay_passes.sql"), dispatches = quoted(&dispatches.name));
    connection.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0)).ok().flatten().unwrap_or(0).max(0)
}
