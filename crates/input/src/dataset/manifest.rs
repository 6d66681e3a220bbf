//! The manifest of a dataset: its contents and the layout of its files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::store::ADVICE;
use super::stored::StoredProcess;
use wavesieve_files::regular::{self, LARGE_BYTES, SMALL_BYTES};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::facts::{ProcessFacts, Role};
use wavesieve_model::schema::table;
use wavesieve_tables::derive::gpu_work::gpu_times::GpuTime;

/// Maximum bytes of the facts about a process; most have a few thousand.
const FACTS_BYTES: u64 = 1 << 20;
/// Name of the manifest in a dataset directory.
pub const MANIFEST: &str = "manifest.json";
/// Name of the file with the facts about processes. Programs that read whole directories of tables skip names that start with an
/// underscore.
pub const PROCESSES: &str = "_processes.json.zst";
/// Folder of the files without rows, which have the columns of every table.
pub const SCHEMAS: &str = "_schema";
/// The file with whole numbers, because the engines have no common way to count.
pub const NUMBERS_FILE: &str = "numbers.parquet";
/// Value of the manifest's `format`.
pub const DATASET_FORMAT: &str = "wavesieve-dataset";
/// Layout that this program writes: the processes of a table share files.
pub const LAYOUT_VERSION: u32 = 2;
/// Layout of older versions: each process has a file of its own for each table.
const OWN_FILES: u32 = 1;
/// Placeholder for the manifest's own sum while it is computed.
const NO_SUM: &str = "0000000000000000";
/// Level of the compression of the facts.
const ZSTD_LEVEL: i32 = 3;

/// The contents of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// `DATASET_FORMAT`.
    pub format: String,
    pub layout_version: u32,
    /// Version of the program that wrote it.
    pub tool_version: String,
    /// Hash of the effective category rules.
    pub categories_hash: String,
    /// Parts of the sources that could not be read, and sources that could not be read at all.
    pub damage: Vec<Damage>,
    /// The filters that selected its content, as options; empty for the whole trace.
    #[serde(default)]
    pub selection: Vec<String>,
    /// Rows of every row group of a process but its last, which may have fewer.
    pub row_group_rows: u64,
    /// Maximum bytes of a part with more than one row group.
    pub pack_bytes: u64,
    /// Hash of the file with the facts about processes, 16 hexadecimal digits.
    pub facts: String,
    /// The files next to the tables, by their paths below the dataset.
    #[serde(default)]
    pub companions: BTreeMap<String, StoredFile>,
    /// Hash of the manifest itself with zeros in this place, 16 hexadecimal digits.
    #[serde(default)]
    pub sum: String,
    /// The tables that are kept, with or without rows.
    pub tables: BTreeMap<String, StoredTable>,
    /// The processes in order.
    pub processes: Vec<ListedProcess>,
}

/// A file next to the tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// Its size.
    pub bytes: u64,
    /// Hash of its content, 16 hexadecimal digits.
    pub hash: String,
}

impl StoredFile {
    /// The manifest entry for some content.
    pub fn of(content: &[u8]) -> Self {
        Self { bytes: content.len() as u64, hash: hash(content) }
    }

    /// The difference of the file at a path from this entry; `None` if it is the same. Only a file of the right size is read.
    pub fn difference(&self, path: &Path) -> Option<String> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Some("the file is missing".to_owned()),
            Err(error) => return Some(format!("cannot be read: {error}")),
        };
        // Opening a pipe would wait for its other end.
        if !found.is_file() {
            return Some("it is not a file".to_owned());
        }
        let content = if found.len() == self.bytes { regular::read(path, self.bytes) } else { Ok(Vec::new()) };
        match content {
            Ok(content) if Self::of(&content) == *self => None,
            Ok(_) => Some("it changed after it was written".to_owned()),
            Err(error) => Some(format!("cannot be read: {error}")),
        }
    }
}

/// A table of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredTable {
    /// Rows of each process, in the order of the processes.
    pub rows: Vec<u64>,
    /// Its files in order.
    pub parts: Vec<StoredPart>,
}

/// A file with row groups of a table. They come in the order of the processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPart {
    /// Size of the file.
    pub bytes: u64,
    /// Number of row groups.
    pub row_groups: usize,
    /// Bytes before the page index and the footer.
    pub data_bytes: u64,
    /// Hash of the page index and the footer, 16 hexadecimal digits. The footer has the sums of the rest.
    pub footer: String,
}

/// A process of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedProcess {
    /// Number in the dataset.
    pub process: i64,
    /// Rank in the dataset.
    pub rank: i64,
    /// Role in the dataset.
    pub role: Role,
    /// Counter pass in the dataset.
    pub pass: i64,
}

/// Facts about a process that the program needs next to its rows.
#[derive(Debug, Serialize, Deserialize)]
struct Facts {
    devices: BTreeMap<i64, i64>,
    gpu_times: Option<Vec<GpuTime>>,
    facts: ProcessFacts,
}

/// A manifest of layout 1.
#[derive(Debug, Deserialize)]
pub struct OwnManifest {
    pub categories_hash: String,
    pub damage: Vec<Damage>,
    #[serde(default)]
    pub selection: Vec<String>,
    pub processes: Vec<StoredProcess>,
}

/// The manifest of a dataset of any layout that can be read.
#[derive(Debug)]
pub enum AnyManifest {
    /// Layout 1.
    OwnFiles(OwnManifest),
    /// Layout 2, with its processes.
    SharedFiles(Box<Manifest>, Vec<StoredProcess>),
}

#[derive(Deserialize)]
struct Version {
    layout_version: u32,
}

/// Whether a manifest states the layout with a file of facts about processes.
pub(crate) fn has_facts(manifest: &[u8]) -> bool {
    serde_json::from_slice(manifest).is_ok_and(|version: Version| version.layout_version == LAYOUT_VERSION)
}

impl AnyManifest {
    /// Reads the manifest of a dataset.
    ///
    /// # Errors
    /// When a file cannot be read, or has another layout.
    pub fn read(directory: &Path) -> Result<Self> {
        let path = directory.join(MANIFEST);
        let text = regular::read_text(&path, LARGE_BYTES).with_context(|| format!("cannot read {}", path.display()))?;
        let other = || format!("{} is not a manifest of this version; convert again", path.display());
        let Version { layout_version } = serde_json::from_str(&text).with_context(other)?;
        match layout_version {
            OWN_FILES => {
                let mut manifest: OwnManifest = serde_json::from_str(&text).with_context(other)?;
                manifest.processes.iter_mut().for_each(|process| process.add_newer_tables(directory));
                Ok(Self::OwnFiles(manifest))
            }
            LAYOUT_VERSION => {
                let manifest: Manifest = serde_json::from_str(&text).with_context(other)?;
                let written = text.replacen(&summed(&manifest.sum), &unsummed(), 1);
                let is_as_written = hash(written.as_bytes()) == manifest.sum;
                ensure!(is_as_written, "{} changed after it was written; {ADVICE}", path.display());
                let processes = manifest.processes(directory)?;
                Ok(Self::SharedFiles(Box::new(manifest), processes))
            }
            version => bail!(
                "{} has layout version {version}, this program reads up to {LAYOUT_VERSION}; convert again",
                path.display(),
            ),
        }
    }
}

impl Manifest {
    /// The text of the file: a line for each table and process.
    ///
    /// # Errors
    /// Never in practice: all of it is plain texts and numbers.
    pub fn text(&self) -> Result<String> {
        let mut whole = serde_json::to_value(Self { sum: NO_SUM.to_owned(), ..self.clone() })?;
        let mut lists: Vec<(&str, [&str; 2], Vec<String>)> = Vec::new();
        let fields = whole.as_object_mut().context("internal: a manifest without fields")?;
        let tables = self.tables.iter();
        let tables = tables.map(|(name, table)| Ok(format!("{}:{}", json(name)?, json(table)?)));
        lists.push(("tables", ["{", "}"], tables.collect::<Result<_>>()?));
        let companions = self.companions.iter();
        let companions = companions.map(|(path, file)| Ok(format!("{}:{}", json(path)?, json(file)?)));
        lists.push(("companions", ["{", "}"], companions.collect::<Result<_>>()?));
        lists.push(("processes", ["[", "]"], self.processes.iter().map(json).collect::<Result<_>>()?));
        lists.iter().for_each(|(name, ..)| drop(fields.remove(*name)));
        let mut text = serde_json::to_string_pretty(&whole)?;
        text.truncate(text.len().saturating_sub(2));
        for (name, [open, close], lines) in lists {
            text.push_str(&format!(",\n  \"{name}\": {open}\n    {}\n  {close}", lines.join(",\n    ")));
        }
        text.push_str("\n}\n");
        Ok(text.replacen(&unsummed(), &summed(&hash(text.as_bytes())), 1))
    }

    /// The file with the facts about processes, and its hash.
    ///
    /// # Errors
    /// When the facts cannot be compressed.
    pub fn facts_of(processes: &[StoredProcess]) -> Result<(Vec<u8>, String)> {
        let facts = processes.iter().map(|process| Facts {
            devices: process.devices.clone(),
            gpu_times: process.gpu_times.clone(),
            facts: process.facts.clone(),
        });
        let text = serde_json::to_vec(&facts.collect::<Vec<Facts>>())?;
        let bytes = zstd::encode_all(text.as_slice(), ZSTD_LEVEL).context("cannot compress the facts")?;
        let hash = hash(&bytes);
        Ok((bytes, hash))
    }

    /// The processes with the facts about them.
    fn processes(&self, directory: &Path) -> Result<Vec<StoredProcess>> {
        let path = directory.join(PROCESSES);
        let bytes =
            regular::read(&path, LARGE_BYTES).with_context(|| format!("cannot read {}; {ADVICE}", path.display()))?;
        ensure!(hash(&bytes) == self.facts, "{} differs from what the manifest lists; {ADVICE}", path.display());
        let limit = self.processes.len() as u64 * FACTS_BYTES + SMALL_BYTES;
        let text = unpacked(&bytes, limit.min(LARGE_BYTES));
        let text = text.with_context(|| format!("cannot unpack {}; {ADVICE}", path.display()))?;
        let facts: Vec<Facts> =
            serde_json::from_slice(&text).with_context(|| format!("cannot read {}; {ADVICE}", path.display()))?;
        let count = self.processes.len();
        let is_complete = facts.len() == count && self.tables.values().all(|table| table.rows.len() == count);
        ensure!(is_complete, "{} does not list the same processes everywhere; {ADVICE}", directory.display());
        let stored = self.processes.iter().zip(facts).enumerate().map(|(index, (listed, facts))| {
            let rows = self.tables.iter();
            let rows = rows.filter_map(|(name, table)| Some((name.clone(), *table.rows.get(index)?)));
            StoredProcess {
                process: listed.process,
                rank: listed.rank,
                role: listed.role,
                pass: listed.pass,
                rows: rows.collect(),
                bytes: BTreeMap::new(),
                sums: BTreeMap::new(),
                devices: facts.devices,
                gpu_times: facts.gpu_times,
                facts: facts.facts,
            }
        });
        Ok(stored.collect())
    }
}

/// Unpacks bytes, and fails above a limit, because the unpacked size is not known before.
fn unpacked(bytes: &[u8], limit: u64) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    zstd::Decoder::new(bytes)?.take(limit + 1).read_to_end(&mut text)?;
    ensure!(text.len() as u64 <= limit, "it has more than {limit} bytes when it is unpacked");
    Ok(text)
}

/// The sum as the text has it.
fn summed(sum: &str) -> String {
    format!("\"sum\": \"{sum}\"")
}

fn unsummed() -> String {
    summed(NO_SUM)
}

fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// Hash of content, in the form of the manifest.
pub fn hash(content: &[u8]) -> String {
    format!("{:016x}", xxh3_64(content))
}

/// Name of a part of a table, by its number.
pub fn part_name(number: usize) -> String {
    format!("part-{number:05}.parquet")
}

/// Whether a directory is a dataset: its manifest names the format.
pub fn is_dataset(directory: &Path) -> bool {
    regular::read_text(&directory.join(MANIFEST), LARGE_BYTES).is_ok_and(|text| text.contains(DATASET_FORMAT))
}

/// The problem of a directory that holds the parts of a dataset, but no readable manifest.
pub(crate) fn without_manifest(directory: &Path, entries: &[PathBuf]) -> Option<String> {
    let below = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_part = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "parquet");
    let named =
        |path: &PathBuf, start: &str| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
    let is_table = |path: &&PathBuf| path.file_name().and_then(|name| table(name.to_str()?)).is_some();
    let holds_parts = |path: &PathBuf| {
        below(path).any(|inner| {
            let is_shared = named(&inner, "part-") && is_part(&inner);
            is_shared || named(&inner, "rank=") && below(&inner).any(|own| is_part(&own))
        })
    };
    if !entries.iter().filter(is_table).any(holds_parts) {
        return None;
    }
    Some(match regular::read(&directory.join(MANIFEST), LARGE_BYTES) {
        Ok(_) => format!("a dataset whose {MANIFEST} is damaged; {ADVICE}"),
        Err(error) if error.kind() == ErrorKind::NotFound => format!("a dataset without its {MANIFEST}; {ADVICE}"),
        Err(error) => format!("a dataset whose {MANIFEST} cannot be read: {error}"),
    })
}
