//! Finds inputs, recognizes them by content and opens each with the adapter of its format.

mod att;
mod common;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod recognition;
mod rocprof_compute;
mod rocprofv3_csv;
mod rocprofv3_json;
mod rpd;

cfg_if::cfg_if! {
    if #[cfg(feature = "core")] {
        mod cache;
        mod dataset;
        mod duplicate_processes;
        mod error;
        mod file_kind;
        mod files;
        mod load;
        mod open;
        mod repeated;
        mod rocpd;
        mod system_memory;

        pub use att::thread_traces_below;
        pub use cache::{Cache, CachedProcess, Entry, Miss, cached_source, describe_entry};
        pub use common::interruption::{AtInterruption, interrupt};
        pub use common::sqlite::Reader;
        pub use dataset::{BlockSums, MANIFEST, Manifest, StoredProcess, is_dataset, part_path};
        pub use error::InputError;
        pub use files::FileIdentity;
        pub use load::{load, load_candidates, load_with_cache};
        pub use open::LoadOptions;
        pub use recognition::captures::{is_archive, is_capture};
        pub use recognition::discover::{Candidate, UNFINISHED, discover, is_unfinished, named};
        pub use recognition::skipped::DEAD_LINK;
        pub use system_memory::available_bytes;
    }
}
