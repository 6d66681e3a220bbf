//! Which databases are rocpd databases.

use super::probe::{Probe, probe};
use super::source::find;
use crate::input::content::{Content, damaged_database};
use crate::input::format::{Format, Recognised};
use crate::input::skipped::{Unread, Why};

/// rocpd databases.
pub struct Rocpd;

impl Format for Rocpd {
    fn recognise(&self, content: &mut Content) -> Option<Recognised> {
        let Content::Database(slot) = content else { return None };
        let database = slot.take()?;
        let lost = |reason: String| Some(Unread::new(Why::Lost, reason).into());
        match probe(&database) {
            Ok(Probe::Readable(partitions)) => {
                Some(Recognised::capture(move |opening| find(&database, &partitions, opening)))
            }
            Ok(Probe::Unsupported(reason)) => lost(reason),
            Ok(Probe::Other) if database.has_any("rocpd_") => lost(
                "a rocpd database without metadata; the profiler was stopped before it finished, collect again"
                    .to_owned(),
            ),
            Ok(Probe::Other) => {
                *slot = Some(database);
                None
            }
            Err(error) => Some(damaged_database(&database.file, &error).into()),
        }
    }
}
