//! Which databases are RPD databases.

use std::sync::Arc;

use super::census::holds_nothing;
use super::source::find;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Recognized};
use crate::recognition::unread_content::{SkipReason, UnreadContent};

/// Tables that every RPD database has.
const TABLES: [&str; 2] = ["rocpd_api", "rocpd_op"];

/// RPD databases.
pub(crate) struct Rpd;

impl Format for Rpd {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Database(Some(database)) = content else { return None };
        if !TABLES.iter().all(|name| database.has(name)) {
            return None;
        }
        if holds_nothing(&database.file) {
            let reason = "an empty RPD database; collect again while the GPU works";
            return Some(UnreadContent::new(SkipReason::Other, reason).into());
        }
        let file = Arc::clone(&database.file);
        Some(Recognized::capture(move |opening| find(&file, opening.shown, opening.name, opening.reader)))
    }
}
