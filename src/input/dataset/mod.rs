//! Datasets written by `convert`: hive-partitioned Parquet with a manifest.

mod block_sums;
mod files;
mod parts;
mod row_groups;
mod source;

pub use block_sums::BlockSums;
#[cfg(test)]
pub(crate) use source::DATASET_FORMAT;
pub use source::{Dataset, DatasetSource, MANIFEST, Manifest, StoredProcess, is_dataset, part_path, without_manifest};
