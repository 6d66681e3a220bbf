//! Which files are traces, or were to be.

use super::discover::{Candidate, Problem};
use super::load::file_name;
use super::naming::{self, Promise, promise};
use super::recognise::{Recognised, recognise};

/// Whether a file is an archive, of which nobody knows what is in it.
pub fn is_archive(candidate: &Candidate) -> bool {
    let name = file_name(candidate);
    promise(&name).is_none() && naming::is_archive(&name)
}

/// Whether a file or dataset is a trace or a part of one, or was to be: what was named by hand, what is damaged, and what is
/// named like a trace and holds none.
pub fn is_capture(candidate: &Candidate) -> bool {
    // A name is enough, and spares looking into compressed databases twice.
    let is_named_like_one = promise(&file_name(candidate)).is_some_and(|promise| promise != Promise::Statistics);
    match candidate.problem {
        Some(Problem::Lost(_)) => return true,
        Some(Problem::DeadLink(_)) => return candidate.named,
        None if candidate.named || is_named_like_one => return true,
        None => {}
    }
    match recognise(&candidate.path) {
        Recognised::Rocpd(..)
        | Recognised::RocprofJson
        | Recognised::Rpd(_)
        | Recognised::RocprofCsv
        | Recognised::AttStatistics
        | Recognised::ComputeCounters
        | Recognised::Dataset
        | Recognised::Damaged(_) => true,
        Recognised::ComputeSystem(_)
        | Recognised::CsvSummary(_)
        | Recognised::Other(_)
        | Recognised::Lost(_)
        | Recognised::OtherJson(_)
        | Recognised::DeadLink(_)
        | Recognised::Foreign(_) => false,
    }
}
