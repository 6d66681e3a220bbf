//! Which files are Perfetto traces.

use super::source::find;
use crate::input::recognition::content::Content;
use crate::input::recognition::format::{Format, Recognized};
use crate::input::recognition::head::Head;

/// Perfetto traces, plain or compressed.
pub(crate) struct Perfetto;

impl Format for Perfetto {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Head(Head::Perfetto) = content else { return None };
        Some(Recognized::capture(|opening| find(opening.path, opening.shown, opening.name)))
    }
}
