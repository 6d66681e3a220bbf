//! The description of a process whose tables are stored.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::block_sums::BlockSums;
use wavesieve_model::schema::facts::{ProcessFacts, Role};
use wavesieve_model::schema::tables;
use wavesieve_tables::derive::gpu_work::gpu_times::GpuTime;

/// A process whose tables are stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredProcess {
    /// Number among the processes that are stored together.
    pub process: i64,
    /// Rank it was stored with.
    pub rank: i64,
    /// Role it was stored with.
    pub role: Role,
    /// Counter pass it was stored with.
    pub pass: i64,
    /// Number of rows by table.
    pub rows: BTreeMap<String, u64>,
    /// Bytes of its own files by table, 0 for a table without rows and file. Unknown in datasets of older versions, and if processes share
    /// files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bytes: BTreeMap<String, u64>,
    /// Sums over the content of its own files by table. Unknown in datasets of older versions, and if processes share files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sums: BTreeMap<String, BlockSums>,
    /// Device number by GPU index.
    pub devices: BTreeMap<i64, i64>,
    /// Sums of `gpu_segments`; unknown in datasets of older versions.
    #[serde(default)]
    pub gpu_times: Option<Vec<GpuTime>>,
    /// Facts that the source reported about it.
    pub facts: ProcessFacts,
}

impl StoredProcess {
    /// Adds tables that did not exist in the version that wrote the dataset; they have no rows.
    pub(crate) fn add_newer_tables(&mut self, directory: &Path) {
        for table in tables().iter().filter(|table| !table.origin.is_derived()) {
            if !self.rows.contains_key(table.name) && !directory.join(table.name).exists() {
                self.rows.insert(table.name.to_owned(), 0);
                self.bytes.insert(table.name.to_owned(), 0);
            }
        }
    }
}
