//! Finds inputs, recognises them by content and opens each with the adapter of its format.

mod cache;
mod common;
mod dataset;
mod discover;
mod error;
mod files;
mod load;
mod recognise;
mod rocpd;
mod rocprofv3_csv;
mod rocprofv3_json;
mod row_groups;
mod rpd;

pub use cache::{Cache, CachedProcess, Entry, Miss, cached_source, describe_entry};
pub use common::sqlite::Reader;
pub use dataset::{DATASET_FORMAT, MANIFEST, Manifest, StoredProcess, is_dataset, part_path};
pub use discover::UNFINISHED;
pub use error::InputError;
pub use files::FileIdentity;
use load::Opened;
pub use load::{Found, LoadOptions, load, load_with_cache};
