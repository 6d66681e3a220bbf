//! Properties that recognition guarantees for any bytes, and the properties of the adapters.

pub use super::att::properties::*;
pub use super::common::sqlite::properties::*;
pub use super::kineto::properties::*;
pub use super::perfetto::properties::*;
pub use super::rocprof_compute::properties::*;
pub use super::rocprofv3_csv::properties::*;
pub use super::rocprofv3_json::properties::*;
pub use super::rpd::properties::*;

use super::att::is_header;
use super::recognition::head::{Beginning, Head, SQLITE_MAGIC, by_head};
use super::recognition::unread_content::{SkipReason, UnreadContent};
use super::rocprof_compute;
use super::rocprofv3_csv::{HeadKind, head_of};
use super::rocprofv3_json::ROOT_KEY;

/// First bytes are recognized as a format only if they have its marks, and blanks before JSON change nothing.
pub fn head(bytes: &[u8]) {
    let found = by_head(Beginning::whole(bytes));
    let is_lost = bytes.is_empty() || SQLITE_MAGIC.starts_with(bytes) || bytes.starts_with(b"version https://git-lfs");
    let text = String::from_utf8_lossy(bytes);
    let is_bare = text.trim_start_matches('\u{feff}').split_whitespace().map(str::len).sum::<usize>() == 2;
    match found {
        Head::UnreadContent(UnreadContent { why: SkipReason::Lost, .. }) => assert!(is_lost || is_bare, "{found:?}"),
        _ => assert!(!is_lost, "{found:?}"),
    }
    match &found {
        Head::RocprofJson => {
            assert!(String::from_utf8_lossy(bytes).contains(ROOT_KEY));
            assert_eq!(by_head(Beginning::whole(&[b" \n", bytes].concat())), Head::RocprofJson);
        }
        Head::Kineto => assert!(String::from_utf8_lossy(bytes).contains('"')),
        Head::Perfetto => assert!(bytes.contains(&b'\n')),
        Head::PcSamples => assert_eq!(by_head(Beginning::whole(&[b" \n", bytes].concat())), Head::PcSamples),
        Head::RocprofCsv => assert_eq!(head_of(bytes), HeadKind::Records),
        Head::AttStatistics => assert!(is_header(bytes)),
        Head::ComputeCounters => assert_eq!(rocprof_compute::head_of(bytes), rocprof_compute::HeadKind::Counters),
        Head::ComputeSystem(_) => assert_eq!(rocprof_compute::head_of(bytes), rocprof_compute::HeadKind::System),
        Head::UnreadContent(UnreadContent { why: SkipReason::Summary, .. }) => {
            assert_eq!(head_of(bytes), HeadKind::Summary)
        }
        Head::UnreadContent(UnreadContent { reason, .. }) => assert!(!reason.is_empty()),
    }
}
