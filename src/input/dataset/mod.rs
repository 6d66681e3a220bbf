//! Datasets written by `convert`: Parquet with a manifest. In layout 2 the processes share the files of a table, in layout 1 each has
//! its own.

mod block_sums;
mod files;
mod manifest;
mod own_files;
mod row_groups;
mod shared_files;
mod source;
mod store;
mod stored;
mod table_files;

pub(crate) use block_sums::BlockSums;
pub(crate) use manifest::{
    AnyManifest, DATASET_FORMAT, LAYOUT_VERSION, ListedProcess, NUMBERS_FILE, PROCESSES, SCHEMAS, StoredFile,
    StoredPart, StoredTable, hash, is_dataset, part_name, without_manifest,
};
pub(crate) use manifest::{MANIFEST, Manifest};
pub(crate) use own_files::{OwnFiles, part_path};
pub(crate) use shared_files::{Footer, Part, SUMS, SharedFiles};
pub(crate) use source::{Dataset, DatasetSource};
pub(crate) use store::Store;
pub use stored::StoredProcess;
pub(crate) use table_files::TableFiles;
