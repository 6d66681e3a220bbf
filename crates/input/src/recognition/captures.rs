//! Files that are traces, or were meant to be.

use super::discover::{Candidate, Problem};
use super::format::Recognized;
use super::formats::recognize;
use super::naming;
use super::naming::{ExpectedKind, promise};
use super::unread_content::SkipReason;
use crate::common::sqlite::Reader;

/// Whether a file is an archive, whose content is unknown.
pub fn is_archive(candidate: &Candidate) -> bool {
    let name = candidate.name();
    promise(&name).is_none() && naming::is_archive(&name)
}

/// Whether a file or dataset is a trace or a part of one, or was meant to be: the user named it, it is damaged, or it has the name of a
/// trace.
pub fn is_capture(candidate: &Candidate) -> bool {
    // The name is enough. Without it, compressed databases would be inspected twice.
    let is_named_like_one = promise(&candidate.name()).is_some_and(|promise| promise != ExpectedKind::Statistics);
    match candidate.problem {
        Some(Problem::Lost(_)) => return true,
        Some(Problem::DeadLink(_)) => return candidate.named,
        None if candidate.named || is_named_like_one => return true,
        None => {}
    }
    match recognize(&candidate.path, Reader::Auto).1 {
        Recognized::Capture(_) | Recognized::Part => true,
        Recognized::UnreadContent(unread) => unread.why == SkipReason::Damaged,
        Recognized::Unread(_) => false,
    }
}
