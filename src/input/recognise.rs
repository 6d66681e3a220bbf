//! What a file is, by its content.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::common::sqlite::{DatabaseFile, open, table_names};
use super::dataset::is_dataset;
use rusqlite::Connection;

use super::head::{Head, SQLITE_MAGIC, TAR_ARCHIVE, by_head, csv, is_rocprof_json, is_tar, json};
use super::rocpd::{self, Partition, Probe};
use super::rocprofv3_json::{GZIP_MAGIC, decompressed_head};
use super::rpd;
use crate::text::causes::with_causes;

/// What was found.
#[derive(Debug)]
pub enum Recognised {
    /// A rocpd database of a dialect that can be read, or the copy that is read instead, with what its tables are; it is still
    /// open, as to open it costs as much as to read a small one.
    Rocpd(Arc<DatabaseFile>, Connection, Vec<Partition>),
    /// A rocprofv3 JSON file, plain or compressed, or a list of samples out of one.
    RocprofJson,
    /// An RPD database, or the copy that is read instead.
    Rpd(Arc<DatabaseFile>),
    /// A file of rocprofv3 CSV, plain or compressed.
    RocprofCsv,
    /// Instruction statistics of a thread trace, plain or compressed.
    AttStatistics,
    /// A file of counters of rocprofiler-compute, plain or compressed.
    ComputeCounters,
    /// What rocprofiler-compute says of the machine, which is read with the counters beside it.
    ComputeSystem(String),
    /// Statistics that rocprofv3 derived from a trace.
    CsvSummary(String),
    /// A dataset written by `convert`.
    Dataset,
    /// Something that has to do with traces but holds none that can be read; the text says what and what to do.
    Other(String),
    /// A trace without the content that it was to have, or in a form that is not known; the text says what and what to do.
    Lost(String),
    /// JSON of another program, which can be read.
    OtherJson(String),
    /// Nothing that has to do with traces, or a trace whose first bytes are damaged.
    Foreign(String),
    /// A link that leads nowhere, with no name of a trace.
    DeadLink(String),
    /// A trace whose begin cannot be read.
    Damaged(String),
}

impl From<Head> for Recognised {
    fn from(head: Head) -> Self {
        match head {
            Head::RocprofJson | Head::PcSamples => Self::RocprofJson,
            Head::RocprofCsv => Self::RocprofCsv,
            Head::AttStatistics => Self::AttStatistics,
            Head::ComputeCounters => Self::ComputeCounters,
            Head::ComputeSystem(reason) => Self::ComputeSystem(reason),
            Head::CsvSummary(reason) => Self::CsvSummary(reason),
            Head::Other(reason) => Self::Other(reason),
            Head::Lost(reason) => Self::Lost(reason),
            Head::OtherJson(reason) => Self::OtherJson(reason),
            Head::Foreign(reason) => Self::Foreign(reason),
            Head::Damaged(reason) => Self::Damaged(reason),
        }
    }
}

/// How much of a file is looked at. The key of rocprofv3 JSON is the first of the file.
const HEAD_BYTES: u64 = 4096;

/// Looks at the first bytes, and at the table names of a database.
pub fn recognise(path: &Path) -> Recognised {
    if path.is_dir() {
        return if is_dataset(path) {
            Recognised::Dataset
        } else {
            Recognised::Foreign("a directory without traces".to_owned())
        };
    }
    if !path.is_file() {
        return Recognised::Foreign("not a regular file; name a file or a directory".to_owned());
    }
    let mut head = Vec::new();
    if let Err(error) = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)) {
        return Recognised::Damaged(format!("cannot be read: {error}"));
    }
    if head.starts_with(SQLITE_MAGIC) {
        DatabaseFile::of(path).map_or_else(|error| Recognised::Damaged(format!("{error:#}")), sqlite)
    } else if head.starts_with(GZIP_MAGIC) {
        compressed(path, &decompressed_head(path, HEAD_BYTES))
    } else {
        by_head(&head, is_whole(&head)).into()
    }
}

/// Whether the first bytes are all that there is.
fn is_whole(head: &[u8]) -> bool {
    (head.len() as u64) < HEAD_BYTES
}

/// What is in a gzip file, by the first bytes of its content.
fn compressed(path: &Path, head: &[u8]) -> Recognised {
    let text = String::from_utf8_lossy(head);
    if is_tar(head) {
        Recognised::Foreign(TAR_ARCHIVE.to_owned())
    } else if is_rocprof_json(&text) {
        Recognised::RocprofJson
    } else if head.is_empty() {
        Recognised::Foreign("a gzip file that cannot be decompressed; copy it again".to_owned())
    } else if head.starts_with(SQLITE_MAGIC) {
        // What is in it is only known when all of it is there.
        DatabaseFile::decompressed(path).map_or_else(|error| Recognised::Damaged(format!("{error:#}")), sqlite)
    } else {
        let reason = "a gzip file without rocprofv3 JSON or CSV, or a rocpd or RPD database in it";
        let known = csv(head).or_else(|| json(&text, is_whole(head)));
        known.map_or_else(|| Recognised::Foreign(reason.to_owned()), Into::into)
    }
}

fn sqlite(file: DatabaseFile) -> Recognised {
    let other = |what: &str| Recognised::Other(what.to_owned());
    let lost = |what: &str| Recognised::Lost(what.to_owned());
    // Opened once: what SQLite does then takes longer than all that is asked of a small database.
    let opened = open(file.path()).and_then(|connection| Ok((table_names(&connection)?, connection)));
    if opened.as_ref().is_ok_and(|(names, _)| rpd::is_rpd(names)) {
        if rpd::holds_nothing(&file) {
            return other("an RPD database in which nothing was recorded; collect again while the GPU works");
        }
        return Recognised::Rpd(Arc::new(file));
    }
    let probed = opened.and_then(|(names, connection)| Ok((rocpd::probe(&connection, names)?, connection)));
    let names = match probed {
        Ok((Probe::Readable(partitions), connection)) => {
            return Recognised::Rocpd(Arc::new(file), connection, partitions);
        }
        Ok((Probe::Unsupported(reason), _)) => return Recognised::Lost(reason),
        Ok((Probe::Other(names), _)) => names,
        Err(error) => {
            let cause = file.cut().map_or_else(|| with_causes(&error), str::to_owned);
            return Recognised::Damaged(format!("a damaged SQLite database: {cause}"));
        }
    };
    let has = |name: &str| names.iter().any(|table| table == name);
    let begins = |prefix: &str| names.iter().any(|table| table.starts_with(prefix));
    if begins("rocpd_") {
        lost("a rocpd database without metadata; the profiler was stopped before it finished, collect again")
    } else if has("KERN") || (has("HIP") && has("OPS")) {
        other("a rocprof v1 database, not rocpd; collect again with `rocprofv3 --output-format rocpd`")
    } else if begins("compute_") {
        other("a rocprofiler-compute analysis database, not a trace; name the rocpd databases it was made from")
    } else if names.is_empty() {
        lost("a SQLite database without tables; the profiler was stopped before it wrote anything, collect again")
    } else {
        Recognised::Foreign("a SQLite database of another program, not a rocpd trace".to_owned())
    }
}
