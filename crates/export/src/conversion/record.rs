//! Record of the sources of a conversion, kept next to its tables, so that the next one knows which parts it can reuse.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::convert::{TableFormat, selection};
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_input::{
    AnyManifest, FileIdentity, MANIFEST, Manifest, OwnFiles, SharedFiles, Store as _, StoredProcess,
};
use wavesieve_model::analysis::categories::Categories;
use wavesieve_model::schema::{Table, tables};
use wavesieve_tables::derive;
use wavesieve_tables::trace::selection::Filters;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Name of the record in a directory that `convert` wrote. Programs that read whole directories of tables skip names
/// with this first character.
pub(crate) const CONVERSION: &str = "_conversion.json";

/// Facts that all processes of a conversion have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Version of the program.
    pub tool_version: String,
    /// Sources that the program was built from.
    pub build: String,
    /// Format of the files.
    pub format: TableFormat,
    /// Hash of the category rules.
    pub categories_hash: String,
    /// The effective filters, as options.
    pub selection: Vec<String>,
    /// The tables made on demand that are kept.
    #[serde(default)]
    pub with: Vec<String>,
}

impl Key {
    /// The key of a conversion by this program.
    pub fn new(categories: &Categories, choice: &Filters, format: TableFormat, with: &[&'static Table]) -> Self {
        Self {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            build: wavesieve_model::build_name().to_owned(),
            format,
            categories_hash: categories.hash(),
            selection: selection(choice),
            with: with.iter().map(|table| table.name.to_owned()).collect(),
        }
    }
}

/// A process that was written, and its inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Hash of everything apart from the files that its rows depend on: its numbers in the trace and the facts about
    /// it.
    pub identity: String,
    /// The files it was read from, as they were then.
    pub inputs: Vec<FileIdentity>,
    /// Its number.
    #[serde(default)]
    pub number: i64,
    /// Bytes of its own files by their paths below the directory; empty where processes share files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, u64>,
    /// Rows over all tables.
    pub rows: u64,
    /// Rows of tables with a time.
    pub events: u64,
    /// Its entry in the manifest; `None` if the manifest can be read instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<StoredProcess>,
}

impl Record {
    /// Whether all of its files exist with their sizes.
    pub fn is_whole(&self, directory: &Path) -> bool {
        self.parts.iter().all(|(path, bytes)| {
            fs::metadata(directory.join(path)).is_ok_and(|metadata| metadata.is_file() && metadata.len() == *bytes)
        })
    }

    /// Whether all of its files have the content that was written; files without a known sum need only be readable.
    pub fn is_as_written(&self, directory: &Path) -> bool {
        let is_sound = |process: &StoredProcess| {
            let files = OwnFiles::new(directory, process.clone());
            tables().iter().all(|table| files.problem_of_content(table).is_none())
        };
        self.is_whole(directory) && self.process.as_ref().is_none_or(is_sound)
    }

    /// Bytes over all of its files.
    pub fn bytes(&self) -> u64 {
        self.parts.values().sum()
    }
}

/// Record of a directory that `convert` wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Conversion {
    /// Facts that all processes have in common.
    pub key: Key,
    /// The processes in order, without those that were damaged: they are always read again.
    pub processes: Vec<Record>,
}

/// Content of a directory that `convert` wrote.
pub struct Earlier {
    pub conversion: Conversion,
    /// The manifest and the files that it lists, if their rows can be reused.
    pub dataset: Option<(Box<Manifest>, SharedFiles)>,
    /// Place of each process in the dataset.
    places: BTreeMap<i64, usize>,
}

impl Earlier {
    /// Reads the content of `directory`; `None` if it cannot be determined.
    pub fn read(directory: &Path) -> Option<Self> {
        let conversion = Conversion::read(directory)?;
        // Files of an older layout, or that cannot be read, are converted again.
        let dataset = match AnyManifest::read(directory) {
            Ok(AnyManifest::SharedFiles(manifest, processes)) => {
                SharedFiles::new(directory, &manifest, processes).ok().map(|files| (manifest, files))
            }
            Ok(AnyManifest::OwnFiles(_)) | Err(_) => None,
        };
        let processes = dataset.iter().flat_map(|(_, files)| files.processes()).enumerate();
        let places = processes.map(|(place, process)| (process.process, place)).collect();
        Some(Self { conversion, dataset, places })
    }

    /// The processes that can be reused if they did not change: all of their files are there.
    pub fn whole(&self, directory: &Path) -> BTreeMap<i64, Record> {
        let records = self.conversion.processes.iter();
        if self.conversion.key.format != TableFormat::Parquet {
            let whole = records.filter(|record| record.process.is_some() && record.is_whole(directory));
            return whole.map(|record| (record.number, record.clone())).collect();
        }
        let Some((_, files)) = &self.dataset else { return BTreeMap::new() };
        let damaged = files.damaged();
        let whole = records.filter_map(|record| {
            let place = self.place(record.number)?;
            let mut parts = tables().iter().flat_map(|table| files.groups_of(table, place));
            let is_whole = damaged.get(place)?.is_empty() && parts.all(|(part, _)| part.metadata().is_ok());
            let process = is_whole.then(|| files.processes().get(place)).flatten()?;
            Some((record.number, Record { process: Some(StoredProcess::clone(process)), ..record.clone() }))
        });
        whole.collect()
    }

    /// The place of a process in the dataset.
    pub fn place(&self, number: i64) -> Option<usize> {
        self.places.get(&number).copied()
    }
}

impl Conversion {
    /// Reads the record in `directory`; `None` if it cannot be determined.
    pub fn read(directory: &Path) -> Option<Self> {
        let text = regular::read_text(&directory.join(CONVERSION), LARGE_BYTES).ok()?;
        let conversion: Self = serde_json::from_str(&text).ok()?;
        let is_dataset = conversion.key.format == TableFormat::Parquet;
        (!is_dataset || directory.join(MANIFEST).is_file()).then_some(conversion)
    }

    /// The text that [`Conversion::read`] reads.
    pub fn text(&self) -> Result<String> {
        let mut written = self.clone();
        if written.key.format == TableFormat::Parquet {
            // The manifest lists the processes, and their rows are in shared files.
            for record in &mut written.processes {
                record.process = None;
                record.parts.clear();
            }
        }
        Ok(serde_json::to_string(&written)? + "\n")
    }

    /// Whether one of the files is among its inputs.
    pub(crate) fn shares_input(&self, inputs: &[Vec<FileIdentity>]) -> bool {
        let paths: BTreeSet<&str> = inputs.iter().flatten().map(|file| file.path.as_str()).collect();
        let contents: BTreeSet<(u64, &str)> =
            inputs.iter().flatten().map(|file| (file.bytes, file.ends_hash.as_str())).collect();
        self.processes
            .iter()
            .flat_map(|record| &record.inputs)
            .any(|file| paths.contains(file.path.as_str()) || contents.contains(&(file.bytes, file.ends_hash.as_str())))
    }
}

/// Hash of everything apart from its files that the rows of a process depend on, and these files.
pub(crate) type Described = (String, Vec<FileIdentity>);

/// Adds all processes to the hash of each one if a table covers all processes.
pub(crate) fn with_others(described: &mut [Described], with: &[&'static Table]) {
    if with.iter().any(|table| derive::is_joint(table.name)) {
        let all = xxh3_128(format!("{described:?}").as_bytes());
        described.iter_mut().for_each(|(identity, _)| identity.push_str(&format!(" {all:032x}")));
    }
}

/// Hash of everything apart from its files that the rows of a process depend on.
pub fn identity(trace: &Trace, member: &TraceProcess) -> Result<String> {
    let process = &member.process;
    let gpus: Vec<(i64, i64, i64)> = process.gpus.iter().map(|(agent, gpu)| (*agent, gpu.gpu, gpu.device)).collect();
    // Anomalies of the inputs as a whole are in the rows of the first process.
    let of_inputs = trace.anomalies_of_inputs(member);
    let notes = if of_inputs.is_empty() { String::new() } else { format!("{of_inputs:?}") };
    let numbers = (process.process, process.rank, process.node, process.role, process.pass);
    let bytes = serde_json::to_vec(&(numbers, gpus, &process.facts, notes)).context("cannot describe a process")?;
    Ok(format!("{:032x}", xxh3_128(&bytes)))
}

/// The files of a process as they are now.
pub fn inputs(member: &TraceProcess) -> Result<Vec<FileIdentity>> {
    member.files.iter().map(|path| FileIdentity::compute(path)).collect()
}
