//! Recognizes rocpd databases.

use super::probe::{Probe, probe};
use super::source::find;
use crate::recognition::content::{Content, damage, damaged_database};
use crate::recognition::format::{Format, Recognized};
use crate::recognition::unread_content::{SkipReason, UnreadContent};

/// rocpd databases.
pub struct Rocpd;

impl Format for Rocpd {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Database(slot) = content else { return None };
        let database = slot.take()?;
        let lost = |reason: String| Some(UnreadContent::new(SkipReason::Lost, reason).into());
        match probe(&database) {
            Ok(Probe::Readable(partitions)) => {
                Some(Recognized::capture(move |opening| find(&database, &partitions, opening)))
            }
            Ok(Probe::Unsupported(reason)) => lost(reason),
            // If the list of tables lost a page, the names do not show that tables are missing.
            Ok(Probe::Other) if database.has_any("rocpd_") && damage(&database.file).is_some() => {
                damage(&database.file).map(Into::into)
            }
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
