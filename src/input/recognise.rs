//! What a file is, by its content.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::common::sqlite::{DatabaseFile, open, table_names};
use super::dataset::is_dataset;
use super::rocpd::{self, Probe};
use super::rocprofv3_csv::{HeadOf, head_of};
use super::rocprofv3_json::{GZIP_MAGIC, ROOT_KEY, decompressed_head};
use super::rpd;

/// What was found.
#[derive(Clone, Debug)]
pub enum Recognised {
    /// A rocpd database of a dialect that can be read.
    Rocpd,
    /// A rocprofv3 JSON file, plain or compressed.
    RocprofJson,
    /// An RPD database, decompressed if it was compressed.
    Rpd(Arc<DatabaseFile>),
    /// A file of rocprofv3 CSV, plain or compressed.
    RocprofCsv,
    /// Statistics that rocprofv3 derived from a trace.
    CsvSummary(String),
    /// A dataset written by `convert`.
    Dataset,
    /// Something that has to do with traces but holds none that can be read; the text says what and what to do.
    Other(String),
    /// A file without content.
    Empty(String),
    /// Nothing that has to do with traces.
    Foreign(String),
    /// A database whose list of tables cannot be read.
    Damaged(String),
}

const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

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
        sqlite(DatabaseFile::in_place(path))
    } else if head.starts_with(GZIP_MAGIC) {
        compressed(path, &decompressed_head(path, HEAD_BYTES))
    } else {
        by_head(&head)
    }
}

fn by_head(head: &[u8]) -> Recognised {
    let text = String::from_utf8_lossy(head);
    let trimmed = text.trim_start();
    let other = |what: &str| Recognised::Other(what.to_owned());
    if head.is_empty() {
        let reason = "an empty file; the profiler was stopped before it wrote anything, collect again";
        Recognised::Empty(reason.to_owned())
    } else if head.get(8..12) == Some(b"DUCK") {
        other("a DuckDB database, not a rocpd trace; name the rocpd databases it was made from")
    } else if text.starts_with("version https://git-lfs") {
        other("a Git LFS pointer, not the file itself; fetch it with `git lfs pull`")
    } else if is_rocprof_json(trimmed) {
        Recognised::RocprofJson
    } else if head.starts_with(b"PAR1") {
        other("a single Parquet file; name the dataset directory with its manifest.json")
    } else if SQLITE_MAGIC.starts_with(head) {
        other("a truncated SQLite file without content; collect again")
    } else if trimmed.starts_with(['{', '[']) {
        let reason = format!("JSON of another program: rocprofv3 writes an object whose key is \"{ROOT_KEY}\"");
        Recognised::Foreign(reason)
    } else {
        let reason = "no trace: neither a SQLite database, nor rocprofv3 JSON or CSV, nor a dataset";
        csv(head).unwrap_or_else(|| Recognised::Foreign(reason.to_owned()))
    }
}

/// What the header of a CSV file tells, if it is one of rocprofv3.
fn csv(head: &[u8]) -> Option<Recognised> {
    match head_of(head) {
        HeadOf::Records => Some(Recognised::RocprofCsv),
        HeadOf::Summary => {
            let reason = "statistics that rocprofv3 derived from a trace; name the trace files beside it";
            Some(Recognised::CsvSummary(reason.to_owned()))
        }
        HeadOf::Other => None,
    }
}

fn is_rocprof_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{') && text.contains(&format!("\"{ROOT_KEY}\""))
}

/// What is in a gzip file, by the first bytes of its content.
fn compressed(path: &Path, head: &[u8]) -> Recognised {
    let text = String::from_utf8_lossy(head);
    if is_rocprof_json(&text) {
        Recognised::RocprofJson
    } else if head.starts_with(SQLITE_MAGIC) {
        // What is in it is only known when all of it is there.
        match DatabaseFile::decompressed(path).map(sqlite) {
            Ok(Recognised::Rocpd) => {
                let reason = "a compressed rocpd database, which is not supported yet; decompress it with `gunzip`";
                Recognised::Other(reason.to_owned())
            }
            Ok(recognised) => recognised,
            Err(error) => Recognised::Damaged(format!("{error:#}")),
        }
    } else {
        let reason = "a gzip file without rocprofv3 JSON or CSV or an RPD database in it";
        csv(head).unwrap_or_else(|| Recognised::Foreign(reason.to_owned()))
    }
}

fn sqlite(file: DatabaseFile) -> Recognised {
    let other = |what: &str| Recognised::Other(what.to_owned());
    let in_place = open(file.path()).and_then(|connection| table_names(&connection));
    if in_place.is_ok_and(|names| rpd::is_rpd(&names)) {
        if rpd::holds_nothing(&file) {
            return other("an RPD database in which nothing was recorded; collect again while the GPU works");
        }
        return Recognised::Rpd(Arc::new(file));
    }
    let names = match rocpd::probe(file.path()) {
        Ok(Probe::Readable) => return Recognised::Rocpd,
        Ok(Probe::Unsupported(reason)) => return Recognised::Other(reason),
        Ok(Probe::Other(names)) => names,
        Err(error) => return Recognised::Damaged(format!("a damaged SQLite database: {error:#}")),
    };
    let has = |name: &str| names.iter().any(|table| table == name);
    let begins = |prefix: &str| names.iter().any(|table| table.starts_with(prefix));
    if rpd::is_rpd(&names) {
        other("an RPD database whose tables are still in the log beside it; open and close it once with `sqlite3`")
    } else if begins("rocpd_") {
        other("a rocpd database without metadata; the profiler was stopped before it finished, collect again")
    } else if has("KERN") || (has("HIP") && has("OPS")) {
        other("a rocprof v1 database, not rocpd; collect again with `rocprofv3 --output-format rocpd`")
    } else if begins("compute_") {
        other("a rocprofiler-compute analysis database, not a trace; name the rocpd databases it was made from")
    } else if names.is_empty() {
        other("a SQLite database without tables; the profiler was stopped before it wrote anything, collect again")
    } else {
        Recognised::Foreign("a SQLite database of another program, not a rocpd trace".to_owned())
    }
}
