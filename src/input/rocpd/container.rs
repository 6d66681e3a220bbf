//! A rocpd database as a container of partitions: which tables and columns it really has.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rusqlite::Connection;

use crate::input::common::sqlite::{TableShape, metadata, shape, table_names};

/// The tables of one capture (one guid) in a database.
#[derive(Clone, Debug)]
pub struct Partition {
    /// What every table name ends in, such as `_00000096_88a3_…`.
    pub suffix: String,
    /// The dashed guid.
    pub guid: Option<String>,
    /// Schema version the metadata state.
    pub schema_version: Option<String>,
    tables: BTreeMap<String, TableShape>,
}

impl Partition {
    /// The physical table of a base name such as `kernel_dispatch`, if the partition has it.
    pub fn table(&self, base: &str) -> Option<&TableShape> {
        self.tables.get(base)
    }

    /// Base names of the tables nobody knows.
    pub fn unknown_tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str).filter(|base| !KNOWN_TABLES.contains(base))
    }
}

/// Base names of schema 3.x. `rocpd_` in front and the suffix behind are left out.
const KNOWN_TABLES: &[&str] = &[
    "metadata",
    "string",
    "info_node",
    "info_process",
    "info_thread",
    "info_agent",
    "info_queue",
    "info_stream",
    "info_pmc",
    "info_code_object",
    "info_kernel_symbol",
    "track",
    "event",
    "event_operation",
    "arg",
    "pmc_event",
    "region",
    "sample",
    "kernel_dispatch",
    "memory_copy",
    "memory_allocate",
    "graph_launch",
    "hip_event",
];

/// Lists the partitions of a database, in the order of their suffixes.
///
/// # Errors
/// When the list of tables cannot be read.
pub fn partitions(connection: &Connection) -> Result<Vec<Partition>> {
    let names = table_names(connection)?;
    let suffixes: BTreeSet<&str> =
        names.iter().filter_map(|name| name.strip_prefix("rocpd_metadata")).filter(|s| is_suffix(s)).collect();
    suffixes
        .into_iter()
        .map(|suffix| {
            let mut tables = BTreeMap::new();
            for name in &names {
                let base = name.strip_prefix("rocpd_").and_then(|rest| rest.strip_suffix(suffix));
                if let Some(base) = base {
                    tables.insert(base.to_owned(), shape(connection, name)?);
                }
            }
            let mut partition = Partition { suffix: suffix.to_owned(), guid: None, schema_version: None, tables };
            let metadata = partition.table("metadata").and_then(|table| metadata(connection, table).ok());
            let metadata = metadata.unwrap_or_default();
            partition.guid = metadata.get("guid").cloned().or_else(|| guid_of_suffix(suffix));
            partition.schema_version = metadata.get("schema_version").cloned();
            Ok(partition)
        })
        .collect()
}

fn is_suffix(suffix: &str) -> bool {
    suffix.len() == 37 && suffix.starts_with('_') && suffix.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

fn guid_of_suffix(suffix: &str) -> Option<String> {
    suffix.strip_prefix('_').map(|guid| guid.replace('_', "-"))
}
