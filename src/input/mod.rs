//! Finds inputs, recognizes them by content and opens each with the adapter of its format.

mod att;
#[cfg(feature = "tables")]
mod cache;
mod common;
#[cfg(feature = "tables")]
mod dataset;
#[cfg(feature = "tables")]
mod duplicate_processes;
#[cfg(feature = "tables")]
mod error;
#[cfg(feature = "tables")]
mod file_kind;
#[cfg(feature = "tables")]
mod files;
#[cfg(feature = "tables")]
mod load;
#[cfg(feature = "tables")]
mod open;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
mod recognition;
#[cfg(feature = "tables")]
mod repeated;
#[cfg(feature = "tables")]
mod rocpd;
mod rocprof_compute;
mod rocprofv3_csv;
mod rocprofv3_json;
mod rpd;
#[cfg(feature = "tables")]
mod system_memory;

#[cfg(feature = "tables")]
pub use att::thread_traces_below;
#[cfg(feature = "tables")]
pub use cache::{Cache, CachedProcess, Entry, Miss, cached_source, describe_entry};
#[cfg(feature = "tables")]
pub use common::interruption::AtInterruption;
#[cfg(feature = "tables")]
pub use common::sqlite::Reader;
#[cfg(feature = "tables")]
pub use dataset::{BlockSums, DATASET_FORMAT, MANIFEST, Manifest, StoredProcess, is_dataset, part_path};
#[cfg(feature = "tables")]
pub use error::InputError;
#[cfg(feature = "tables")]
pub use files::FileIdentity;
#[cfg(feature = "tables")]
pub use load::{load, load_candidates, load_with_cache};
#[cfg(feature = "tables")]
pub use open::LoadOptions;
#[cfg(feature = "tables")]
pub use recognition::captures::{is_archive, is_capture};
#[cfg(feature = "tables")]
pub use recognition::discover::{Candidate, UNFINISHED, discover, is_unfinished, named};
#[cfg(feature = "tables")]
pub use recognition::format::ProcessInput;
#[cfg(feature = "tables")]
pub use recognition::skipped::DEAD_LINK;
#[cfg(feature = "tables")]
pub use system_memory::available_bytes;
