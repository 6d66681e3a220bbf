//! Whether a partition carries counters of dispatches, and in how many passes.

use rusqlite::{Error, Row};

use super::container::Partition;
use crate::common::sqlite::{OpeningDatabase, quoted};
use wavesieve_model::text::causes::with_causes;

/// Facts that distinguish a counter pass from a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterFacts {
    /// Whether values were counted while a kernel ran; the values of samples and of page faults do not count.
    pub has_counters: bool,
    /// Number of times that kernels ran again to collect more counters; 0 if they ran once.
    pub replay_passes: i64,
    /// Failure due to which these facts may be wrong: the base name of a table, and the error.
    pub failure: Option<(&'static str, String)>,
}

/// The tables that these facts are read from.
pub(crate) const DECISIVE_TABLES: [&str; 2] = [VALUES, DISPATCHES];
const VALUES: &str = "pmc_event";
const DISPATCHES: &str = "kernel_dispatch";

impl CounterFacts {
    /// Looks for values and replays.
    pub fn read(database: &OpeningDatabase, partition: &Partition) -> Self {
        let mut asking = RowProbe { database, failure: None };
        let replay_passes = asking.replay_passes(partition);
        let has_counters = replay_passes > 0 || asking.has_counters(partition);
        Self { has_counters, replay_passes, failure: asking.failure }
    }
}

/// Queries one row at a time, and remembers the first failure.
struct RowProbe<'a> {
    database: &'a OpeningDatabase,
    failure: Option<(&'static str, String)>,
}

impl RowProbe<'_> {
    /// The first row of the result of a query on a table.
    fn first<T>(&mut self, base: &'static str, sql: &str, read: fn(&Row<'_>) -> rusqlite::Result<T>) -> Option<T> {
        let answer = match self.database.connection() {
            Ok(connection) => connection.query_row(sql, [], read),
            Err(error) => {
                self.failure.get_or_insert_with(|| (base, with_causes(&error)));
                return None;
            }
        };
        match answer {
            Ok(value) => Some(value),
            Err(Error::QueryReturnedNoRows) => None,
            Err(error) => {
                self.failure.get_or_insert_with(|| (base, error.to_string()));
                None
            }
        }
    }

    fn is_any(&mut self, sql: &str) -> bool {
        self.first(VALUES, sql, |_| Ok(())).is_some()
    }

    fn has_counters(&mut self, partition: &Partition) -> bool {
        let (Some(values), Some(dispatches)) = (partition.table(VALUES), partition.table(DISPATCHES)) else {
            return false;
        };
        if !values.has("event_id") || !dispatches.has("event_id") {
            return false;
        }
        if self.database.is_empty(values) {
            return false;
        }
        let condition = if values.has("sample_id") { "WHERE sample_id IS NULL" } else { "" };
        let (values, dispatches) = (quoted(&values.name), quoted(&dispatches.name));
        // Without any value, SQLite would still read every dispatch.
        let none = format!(include_str!("sql/first_value.sql"), values = values, condition = condition);
        if !self.is_any(&none) && self.failure.is_none() {
            return false;
        }
        // In most files the first value is a counter, which is quick to check.
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
        self.is_any(&first) || self.is_any(&any)
    }

    fn replay_passes(&mut self, partition: &Partition) -> i64 {
        let Some(dispatches) = partition.table(DISPATCHES).filter(|table| table.has("replay_pass")) else {
            return 0;
        };
        if self.database.is_empty(dispatches) {
            return 0;
        }
        let sql = format!(include_str!("sql/replay_passes.sql"), dispatches = quoted(&dispatches.name));
        self.first(DISPATCHES, &sql, |row| row.get::<_, Option<i64>>(0)).flatten().unwrap_or(0).max(0)
    }
}
