//! What a query need not read of a table with a start and an end, as conditions in SQL.

use crate::trace::source::ScanHint;

/// Conditions for the rows that a hint does not leave out. Rows whose times are no integers are read, because the reader
/// may see them otherwise than SQL does; they are chosen again after.
pub fn time_conditions(hint: &ScanHint) -> impl Iterator<Item = String> {
    let latest = hint.latest_start_ns.map(|latest| format!(include_str!("sql/starts_until.sql"), latest = latest));
    let earliest = hint.earliest_end_ns.map(|earliest| format!(include_str!("sql/ends_from.sql"), earliest = earliest));
    let least = hint.least_duration_ns.map(|least| format!(include_str!("sql/lasts.sql"), least = least));
    [latest, earliest, least].into_iter().flatten().map(|condition| condition.trim_end().to_owned())
}
