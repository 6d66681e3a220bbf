//! Datasets written by `convert`: hive-partitioned Parquet with a manifest.

mod block_sums;
mod files;
mod parts;
mod row_groups;
mod source;

pub(crate) use block_sums::BlockSums;
#[cfg(test)]
pub(crate) use source::DATASET_FORMAT;
pub(crate) use source::{Dataset, DatasetSource, is_dataset, part_path, without_manifest};
pub use source::{MANIFEST, Manifest, StoredProcess};
