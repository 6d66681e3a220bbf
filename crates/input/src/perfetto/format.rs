//! Which files are Perfetto traces.

use super::source::find;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Recognized};
use crate::recognition::head::Head;

/// Perfetto traces, plain or compressed.
pub struct Perfetto;

impl Format for Perfetto {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Head(Head::Perfetto) = content else { return None };
        Some(Recognized::capture(|opening| find(opening.path, opening.shown, opening.name)))
    }
}
