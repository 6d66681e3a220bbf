//! Which files are statistics of thread traces.

use super::source::find;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Recognized};
use crate::recognition::head::Head;

/// Instruction statistics of a thread trace, plain or compressed.
pub(crate) struct AttStatistics;

impl Format for AttStatistics {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Head(Head::AttStatistics) = content else { return None };
        Some(Recognized::capture(|opening| find(opening.path, opening.shown, opening.name)))
    }
}
