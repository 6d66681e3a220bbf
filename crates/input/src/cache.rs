//! Files that were converted before, kept in a directory of the user's choice.
//!
//! An entry holds the tables of all processes of a file as a dataset does, and what the reader reported about them: facts,
//! notes and anomalies. It is named after all that it depends on, appears whole by a rename and never changes, so that
//! any number of programs can use the directory at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::dataset::{DatasetSource, OwnFiles, StoredProcess};
use super::files::FileIdentity;
use super::recognition::format::{Opened, ProcessInput};
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_model::analysis::categories::Categories;
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::facts::{ProcessFacts, Role};
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

/// A file, or the files of a capture, that the cache has not.
#[derive(Clone, Debug)]
pub struct Miss {
    /// Path as given or found.
    pub shown: String,
    /// How many processes are in it.
    pub processes: usize,
    /// Where its entry belongs.
    pub entry: PathBuf,
    /// Notes of the reader about the file as a whole.
    pub notes: Vec<Anomaly>,
}

/// A process in an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CachedProcess {
    /// Where its tables are.
    pub stored: StoredProcess,
    /// Anomalies of the rows, by table.
    pub anomalies: BTreeMap<String, Vec<StoredAnomaly>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The processes in the order in which the reader gives them.
    pub processes: Vec<CachedProcess>,
    /// Anomalies of the file as a whole.
    pub notes: Vec<StoredAnomaly>,
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
        let described: Entry = serde_json::from_str(&regular::read_text(&entry.join(ENTRY), LARGE_BYTES).ok()?).ok()?;
        let whole = described.parts.iter().all(|(path, bytes)| {
            fs::metadata(entry.join(path)).is_ok_and(|metadata| metadata.is_file() && metadata.len() == *bytes)
        });
        if !whole {
            return None;
        }
        let roles = described.processes.iter().map(|process| process.stored.role).collect();
        let processes = described.processes.into_iter().map(|process| found(entry, process)).collect();
        let notes = described.notes.into_iter().map(Anomaly::from).collect();
        Some((Opened { processes, notes, damage: Vec::new() }, roles))
    }
}

/// A process of an entry as the reader of its file would give it.
fn found(entry: &Path, process: CachedProcess) -> ProcessInput {
    let facts: ProcessFacts = process.stored.facts.clone();
    ProcessInput { facts, source: cached_source(entry, process) }
}

/// Reads the tables of a process from an entry.
pub fn cached_source(entry: &Path, process: CachedProcess) -> Arc<dyn ProcessReader> {
    let anomalies = process
        .anomalies
        .into_iter()
        .map(|(table, anomalies)| (table, anomalies.into_iter().map(Anomaly::from).collect()))
        .collect();
    Arc::new(CachedSource {
        tables: DatasetSource::new(Box::new(OwnFiles::new(entry, process.stored)), true),
        anomalies,
    })
}

/// Writes the description of an entry, which completes it.
pub fn describe_entry(directory: &Path, entry: &Entry) -> Result<()> {
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

/// An anomaly in an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredAnomaly {
    check_id: String,
    severity: Severity,
    table_name: String,
    count: i64,
    first_key: Option<String>,
    detail: String,
}

impl From<Anomaly> for StoredAnomaly {
    fn from(anomaly: Anomaly) -> Self {
        let Anomaly { check_id, severity, table_name, count, first_key, detail } = anomaly;
        Self { check_id: check_id.to_owned(), severity, table_name, count, first_key, detail }
    }
}

impl From<StoredAnomaly> for Anomaly {
    fn from(stored: StoredAnomaly) -> Self {
        let StoredAnomaly { check_id, severity, table_name, count, first_key, detail } = stored;
        Self { check_id: interned(check_id), severity, table_name, count, first_key, detail }
    }
}

/// The text for as long as the program runs. There are few kinds of checks.
fn interned(text: String) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock();
    if let Some(known) = known.get(text.as_str()) {
        return known;
    }
    let leaked: &'static str = Box::leak(text.into_boxed_str());
    known.insert(leaked);
    leaked
}
