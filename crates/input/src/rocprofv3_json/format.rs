//! Recognizes rocprofv3 JSON.

use super::source::find;
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Opening, Recognized};
use crate::recognition::head::Head;

/// rocprofv3 JSON, plain or compressed, or a list of samples from it.
pub(crate) struct RocprofJson;

impl Format for RocprofJson {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Head(Head::RocprofJson | Head::PcSamples) = content else { return None };
        Some(Recognized::capture(|opening| {
            let Opening { path, shown, name, ahead, .. } = *opening;
            opening.shared.with_spool(|spool| find(path, shown, name, spool, ahead))
        }))
    }
}
