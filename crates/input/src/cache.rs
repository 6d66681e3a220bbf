//! Files that were converted before, kept in a directory of the user's choice.
//!
//! An entry holds the tables of all processes of a file as a dataset does, and what the reader reported about them: facts, notes and
//! anomalies. Its name is a hash of everything it depends on. A rename puts it in place when it is complete, and it never changes, so that
//! any number of programs can use the directory at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::dataset::{DatasetSource, OwnFiles, StoredProcess};
use super::files::FileIdentity;
use super::recognition::format::{Opened, ProcessInput};
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_model::analysis::categories::Categories;
use wavesieve_model::schema::anomaly::{Anomaly, Damage};
use wavesieve_model::schema::facts::Role;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows, Stored};

/// Name of the description in an entry.
const ENTRY: &str = "entry.json";

/// A directory of converted files.
#[derive(Clone, Debug)]
pub struct Cache {
    directory: PathBuf,
}

/// A file, or the files of a capture, that the cache does not hold.
#[derive(Clone, Debug)]
pub struct Miss {
    /// Path as given or found.
    pub shown: String,
    /// Number of processes in it.
    pub processes: usize,
    /// Path at which its entry belongs.
    pub entry: PathBuf,
    /// Notes of the reader about the file as a whole.
    pub notes: Vec<Anomaly>,
}

/// A process in an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CachedProcess {
    /// The process as a dataset stores it.
    pub stored: StoredProcess,
    /// Anomalies of the rows, by table.
    pub anomalies: BTreeMap<String, Vec<Anomaly>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct CacheEntry {
    /// The processes in the order in which the reader gives them.
    pub processes: Vec<CachedProcess>,
    /// Anomalies of the file as a whole.
    pub notes: Vec<Anomaly>,
    /// Bytes of its files by their paths below the entry.
    pub parts: BTreeMap<PathBuf, u64>,
}

impl Cache {
    /// The cache in a directory, which need not exist.
    pub fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Path of the entry for some files. It depends on their path as given, because results show that path.
    pub fn place(&self, shown: &str, files: &[PathBuf], categories: &Categories) -> Result<PathBuf> {
        let identify = |path: &PathBuf| FileIdentity::compute(&path.canonicalize()?);
        let files: Vec<FileIdentity> = files.iter().map(identify).collect::<Result<_>>()?;
        let build = (env!("CARGO_PKG_VERSION"), wavesieve_model::build_name(), categories.hash());
        let bytes = serde_json::to_vec(&(build, shown, files)).context("cannot describe a file")?;
        Ok(self.directory.join(format!("{:032x}", xxh3_128(&bytes))))
    }

    /// The content of an entry, if it exists and is complete.
    pub fn open(entry: &Path) -> Option<(Opened, Vec<Role>)> {
        let described: CacheEntry =
            serde_json::from_str(&regular::read_text(&entry.join(ENTRY), LARGE_BYTES).ok()?).ok()?;
        let whole = described.parts.iter().all(|(path, bytes)| {
            fs::metadata(entry.join(path)).is_ok_and(|metadata| metadata.is_file() && metadata.len() == *bytes)
        });
        if !whole {
            return None;
        }
        let roles = described.processes.iter().map(|process| process.stored.role).collect();
        let found = |process: CachedProcess| ProcessInput {
            facts: process.stored.facts.clone(),
            source: cached_source(entry, process),
        };
        let processes = described.processes.into_iter().map(found).collect();
        Some((Opened { processes, notes: described.notes, damage: Vec::new() }, roles))
    }
}

/// Reads the tables of a process from an entry.
pub fn cached_source(entry: &Path, process: CachedProcess) -> Arc<dyn ProcessReader> {
    let tables = DatasetSource::new(Box::new(OwnFiles::new(entry, process.stored)), true);
    Arc::new(CachedSource { tables, anomalies: process.anomalies })
}

/// Writes the description of an entry, which completes it.
pub fn describe_entry(directory: &Path, entry: &CacheEntry) -> Result<()> {
    let path = directory.join(ENTRY);
    fs::write(&path, serde_json::to_string(entry)?).with_context(|| format!("cannot write {}", path.display()))
}

/// Tables of a dataset with what the reader reported about them.
struct CachedSource {
    tables: DatasetSource,
    anomalies: BTreeMap<String, Vec<Anomaly>>,
}

impl ProcessReader for CachedSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        let rows = self.tables.read(context, table, columns)?;
        Ok(Rows { anomalies: self.anomalies.get(table.name).cloned().unwrap_or_default(), ..rows })
    }

    fn read_derived(
        &self,
        context: &ReadContext<'_>,
        table: &'static Table,
        wanted: &BTreeSet<&'static str>,
    ) -> Result<Stored> {
        self.tables.read_derived(context, table, wanted)
    }

    fn damage(&self) -> Vec<Damage> {
        self.tables.damage()
    }

    fn damage_of_structure(&self) -> Vec<Damage> {
        self.tables.damage_of_structure()
    }

    fn damage_of_content(&self) -> &[Damage] {
        self.tables.damage_of_content()
    }

    fn has_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> bool {
        self.tables.has_rows(context, table)
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        self.tables.count_rows(context, table)
    }

    fn memory_bytes(&self) -> Option<u64> {
        self.tables.memory_bytes()
    }

    fn memory_bytes_of(&self, request: &Request) -> Option<u64> {
        self.tables.memory_bytes_of(request)
    }
}
