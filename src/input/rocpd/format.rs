//! Which databases are rocpd databases.

use std::sync::Arc;

use super::probe::{Probe, probe};
use super::source::find;
use crate::input::recognition::content::{Content, damaged_database};
use crate::input::recognition::format::{Format, Recognized};
use crate::input::recognition::skipped::{SkipReason, UnreadContent};

/// rocpd databases.
pub struct Rocpd;

impl Format for Rocpd {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Database(database) = content else { return None };
        let lost = |reason: String| Some(UnreadContent::new(SkipReason::Lost, reason).into());
        let connection = database.connection.take()?;
        match probe(&connection) {
            Ok(Probe::Readable(partitions)) => {
                let file = Arc::clone(&database.file);
                Some(Recognized::capture(move |opening| find(&file, &connection, &partitions, opening)))
            }
            Ok(Probe::Unsupported(reason)) => lost(reason),
            Ok(Probe::Other) if database.has_any("rocpd_") => lost(
                "a rocpd database without metadata; the profiler was stopped before it finished, collect again"
                    .to_owned(),
            ),
            Ok(Probe::Other) => None,
            Err(error) => Some(damaged_database(&database.file, &error).into()),
        }
    }
}
