//! Recognizes rocprofv3 JSON.

use super::source::find;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Recognized};
use crate::recognition::head::Head;

/// rocprofv3 JSON, plain or compressed, or a list of samples from it.
pub(crate) struct RocprofJson;

impl Format for RocprofJson {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Head(Head::RocprofJson | Head::PcSamples) = content else { return None };
        Some(Recognized::capture(|opening| {
            let spools = || opening.shared.spools.lock();
            let mut spool = spools().pop().unwrap_or_default();
            let opened = find(opening.path, opening.shown, opening.name, &mut spool, opening.ahead);
            spools().push(spool);
            opened
        }))
    }
}
