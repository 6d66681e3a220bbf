//! Reads every format into the canonical tables: finds inputs, recognizes them by content, and opens each with its adapter.
//!
//! [`open`] opens a trace; [`load`] does so with options. This crate does not know queries; no code outside of it knows where a row came
//! from.
//!
//! Only `dataset/row_groups.rs` has `unsafe` code: it makes a column from codes that were checked before.

mod att;
mod common;
mod compute_database;
mod json;
mod kineto;
mod perfetto;
pub mod properties;
mod recognition;
mod rocprof_compute;
mod rocprofv3_csv;
mod rocprofv3_json;
mod rpd;

mod cache;
mod databases;
mod dataset;
mod duplicate_processes;
mod error;
mod file_kind;
mod files;
#[cfg(test)]
mod health_tests;
mod load;
mod load_options;
mod repeated;
mod rocpd;
pub mod stores;
mod system_memory;
mod traces_below;

pub use att::thread_traces_below;
pub use cache::{Cache, CacheEntry, CachedProcess, Miss, cached_source, describe_entry};
pub use common::interruption::{AtInterruption, interrupt};
pub use common::left_over::{hold, sweep, sweep_now};
pub use common::sqlite::Reader;
pub use common::sqlite::{quoted, read_only_uri};
pub use common::temporary::TemporaryFolder;
pub use databases::{OtherInput, PartitionFacts, RocpdFile, rocpd_databases};
pub use dataset::StoredProcess;
pub use dataset::{
    AnyManifest, BlockSums, DATASET_FORMAT, FilePart, Footer, LAYOUT_VERSION, ListedProcess, NUMBERS_FILE, OwnFiles,
    PROCESSES, SCHEMAS, SUMS, SharedFiles, Store, StoredFile, StoredPart, StoredTable, TableFiles, hash, is_dataset,
    part_name, part_path,
};
pub use dataset::{MANIFEST, Manifest};
pub use error::InputError;
pub use files::{FileIdentity, Stamp};
pub use load::load;
pub use load::{load_candidates, load_with_cache, open};
pub use load_options::LoadOptions;
pub use recognition::captures::{is_archive, is_capture};
pub use recognition::discover::{Candidate, UNFINISHED, discover, is_unfinished, named};
pub use recognition::index_file::{INDEX, KEYS, PACKAGE, VERSION};
pub use recognition::skipped::DEAD_LINK;
pub use rocpd::RANK_TAG;
pub use system_memory::available_bytes;
pub use traces_below::traces_below;
