//! Which files are statistics of thread traces.

use super::source::find;
use crate::input::content::Content;
use crate::input::format::{Format, Recognised};
use crate::input::head::Head;

/// Instruction statistics of a thread trace, plain or compressed.
pub struct AttStatistics;

impl Format for AttStatistics {
    fn recognise(&self, content: &mut Content) -> Option<Recognised> {
        let Content::Head(Head::AttStatistics) = content else { return None };
        Some(Recognised::capture(|opening| find(opening.path, opening.shown, opening.name)))
    }
}
