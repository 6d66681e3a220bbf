//! Which files are traces, or were to be.

use super::discover::Candidate;
use super::load::{ENDINGS, file_name, is_named_like};
use super::recognise::{Recognised, recognise};
use super::rocprofv3_csv;

/// Whether a file or dataset is a trace or a part of one, or was to be: what was named by hand, what is damaged, and what is
/// named like a trace and holds none.
pub fn is_capture(candidate: &Candidate) -> bool {
    // A name is enough, and spares looking into compressed databases twice.
    let is_named_like_one =
        is_named_like(candidate, &ENDINGS) || rocprofv3_csv::is_named_like_capture(&file_name(candidate));
    if candidate.named || is_named_like_one {
        return true;
    }
    match recognise(&candidate.path) {
        Recognised::Rocpd(_)
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
        | Recognised::Foreign(_) => false,
    }
}
