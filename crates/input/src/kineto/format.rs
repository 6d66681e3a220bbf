//! Which files are traces of the PyTorch profiler.

use super::source::find;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Recognized};
use crate::recognition::head::Head;

/// Traces of the PyTorch profiler, plain or compressed.
pub struct Kineto;

impl Format for Kineto {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Head(Head::Kineto) = content else { return None };
        Some(Recognized::capture(|opening| {
            let spools = || opening.shared.spools.lock();
            let mut spool = spools().pop().unwrap_or_default();
            let opened = find(opening.path, opening.shown, opening.name, &mut spool);
            spools().push(spool);
            opened
        }))
    }
}
