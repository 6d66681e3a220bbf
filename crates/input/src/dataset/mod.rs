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

pub use block_sums::BlockSums;
pub use manifest::{
    AnyManifest, DATASET_FORMAT, LAYOUT_VERSION, ListedProcess, NUMBERS_FILE, PROCESSES, SCHEMAS, StoredFile,
    StoredPart, StoredTable, hash, is_dataset, part_name,
};
pub use manifest::{MANIFEST, Manifest};
pub(crate) use manifest::{has_facts, without_manifest};
pub use own_files::{OwnFiles, part_path};
pub use shared_files::{FilePart, Footer, SUMS, SharedFiles};
pub use source::Dataset;
pub(crate) use source::DatasetSource;
pub use store::Store;
pub use stored::StoredProcess;
pub use table_files::TableFiles;
