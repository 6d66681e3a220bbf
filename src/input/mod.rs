//! Finds inputs, recognizes them by content and opens each with the adapter of its format.

mod att;
mod common;
mod compute_database;
mod json;
mod kineto;
mod perfetto;
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
        mod databases;
        mod dataset;
        mod duplicate_processes;
        mod error;
        mod file_kind;
        mod files;
        mod load;
        mod load_options;
        mod repeated;
        mod rocpd;
        pub(crate) mod stores;
        mod system_memory;
        mod traces_below;

        pub(crate) use att::thread_traces_below;
        pub(crate) use cache::{Cache, CachedProcess, Entry, Miss, cached_source, describe_entry};
        pub(crate) use common::interruption::{AtInterruption, interrupt};
        pub(crate) use common::left_over::{hold, sweep};
        pub(crate) use common::temporary::TemporaryFolder;
        pub use common::sqlite::Reader;
        pub(crate) use common::sqlite::{quoted, read_only_uri};
        pub(crate) use databases::{OtherInput, PartitionFacts, RocpdFile, is_same_file, rocpd_databases};
        pub(crate) use dataset::{
            AnyManifest, BlockSums, DATASET_FORMAT, Footer, LAYOUT_VERSION, ListedProcess, NUMBERS_FILE, OwnFiles, PROCESSES, Part, SCHEMAS,
            SUMS, Store,
            SharedFiles, StoredFile, StoredPart, StoredTable, TableFiles, hash, is_dataset, part_name, part_path,
        };
        pub(crate) use dataset::{MANIFEST, Manifest};
        pub use dataset::StoredProcess;
        pub(crate) use error::InputError;
        pub(crate) use files::{FileIdentity, Stamp};
        pub(crate) use load::{load_candidates, load_with_cache};
        pub use load::load;
        pub use load_options::LoadOptions;
        pub(crate) use recognition::captures::{is_archive, is_capture};
        pub(crate) use recognition::index_file::{INDEX, KEYS, PACKAGE, VERSION};
        pub(crate) use recognition::discover::{Candidate, UNFINISHED, discover, is_unfinished, named};
        pub(crate) use recognition::skipped::DEAD_LINK;
        pub(crate) use rocpd::RANK_TAG;
        pub(crate) use system_memory::available_bytes;
        pub(crate) use traces_below::traces_below;
    }
}
