//! A rocpd database as a container of partitions, with the tables and columns that it really has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;

use super::process::RANK_TAG;
use crate::common::sqlite::{OpeningDatabase, TableShape};

/// The tables of one capture (one guid) in a database.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The suffix of all its table names, such as `_00000096_88a3_…`, or 32 hexadecimal digits in the early spelling.
    pub suffix: String,
    /// The dashed guid.
    pub guid: Option<String>,
    /// Schema version from the metadata.
    pub schema_version: Option<String>,
    /// Compression of JSON columns, according to the metadata.
    pub compression: Option<String>,
    /// Ranks from the metadata, by the row ids of processes.
    kept_ranks: BTreeMap<i64, i64>,
    tables: BTreeMap<String, TableShape>,
    unreadable: Vec<String>,
}

impl Partition {
    /// The physical table of a base name such as `kernel_dispatch`, if the partition has it.
    pub fn table(&self, base: &str) -> Option<&TableShape> {
        self.tables.get(base)
    }

    /// The rank of a process that a trimmed or merged database keeps in its metadata.
    pub(crate) fn kept_rank(&self, process_row: i64) -> Option<i64> {
        self.kept_ranks.get(&process_row).copied()
    }

    /// Names of tables whose declaration SQLite cannot parse. They have no columns, and count as missing.
    pub fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    /// Base names of all tables.
    pub(crate) fn table_bases(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }
}

/// Lists the partitions of a database, in the order of their suffixes.
pub fn partitions(database: &OpeningDatabase) -> Result<Vec<Arc<Partition>>> {
    let tables = database.declarations();
    let suffixes: BTreeSet<&str> = tables.iter().filter_map(|(name, _)| suffix_of(name)).collect();
    let partitions: Result<Vec<Arc<Partition>>> = suffixes
        .into_iter()
        .map(|suffix| {
            let mut of_partition = BTreeMap::new();
            let mut unreadable = Vec::new();
            let guid = guid_of_suffix(suffix);
            for (name, sql) in tables {
                let base = name.strip_prefix("rocpd_").and_then(|rest| rest.strip_suffix(suffix));
                let Some(base) = base else { continue };
                // All ranks of a run declare the same tables, except for the suffix and the default guid.
                let declaration = sql.replace(suffix, "").replace(&guid, "");
                let shape = database.shape(name, &format!("{base}\0{declaration}"))?;
                if shape.columns.is_empty() {
                    unreadable.push(format!("rocpd_{base}"));
                } else {
                    of_partition.insert(base.to_owned(), shape);
                }
            }
            let mut partition = Partition {
                suffix: suffix.to_owned(),
                guid: None,
                schema_version: None,
                compression: None,
                kept_ranks: BTreeMap::new(),
                tables: of_partition,
                unreadable,
            };
            let metadata = partition.table("metadata").and_then(|table| database.metadata(table).ok());
            let metadata = metadata.unwrap_or_default();
            partition.guid = metadata.get("guid").cloned().or(Some(guid));
            partition.schema_version = metadata.get("schema_version").cloned();
            partition.compression = metadata.get("compression").cloned();
            partition.kept_ranks = metadata.iter().filter_map(|(tag, value)| kept_rank(tag, value)).collect();
            Ok(Arc::new(partition))
        })
        .collect();
    if partitions.is_ok() {
        database.remember();
    }
    partitions
}

/// The row of a process and its rank.
fn kept_rank(tag: &str, value: &str) -> Option<(i64, i64)> {
    let (row, rank) = (tag.strip_prefix(RANK_TAG)?.parse().ok()?, value.parse().ok()?);
    (rank >= 0).then_some((row, rank))
}

/// The suffix of a partition's table names, from the name of its metadata table.
pub(crate) fn suffix_of(name: &str) -> Option<&str> {
    name.strip_prefix("rocpd_metadata").filter(|suffix| is_suffix(suffix))
}

/// Whether it is an underscore and a uuid with underscores for dashes, or in the early spelling only the digits of a uuid.
fn is_suffix(suffix: &str) -> bool {
    match suffix.strip_prefix('_') {
        Some(uuid) => uuid.len() == 36 && uuid.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()),
        None => suffix.len() == 32 && suffix.chars().all(|c| c.is_ascii_hexdigit()),
    }
}

fn guid_of_suffix(suffix: &str) -> String {
    suffix.strip_prefix('_').map_or_else(|| suffix.to_owned(), |guid| guid.replace('_', "-"))
}
