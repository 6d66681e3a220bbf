//! The content of a file before any format inspects it: a dataset, a database, or the first bytes of something else.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::head::{Beginning, Head, SQLITE_MAGIC, by_head, csv, json, marked, table};
use super::unread_content::{SkipReason, UnreadContent};
use crate::common::sqlite::{DatabaseFile, OpeningDatabase, Reader};
use crate::dataset::is_dataset;
use crate::json::{GZIP_MAGIC, decompressed_head};
use crate::perfetto::has_packets;
use crate::rocprof_compute;
use wavesieve_files::regular;
use wavesieve_model::text::causes::with_causes;

/// Bytes of a file that are inspected. The key of rocprofv3 JSON is the first of the file.
const HEAD_BYTES: u64 = 4096;

pub enum Content {
    /// A dataset written by `convert`.
    Dataset,
    /// A SQLite database, or the copy that is read instead, until a format takes it.
    Database(Option<OpeningDatabase>),
    /// Any other file, decompressed if need be, by its first bytes.
    Head(Head),
}

impl Content {
    /// Inspects the first bytes, and the table names of a database.
    pub fn detect(path: &Path, reader: Reader) -> Self {
        if path.is_dir() {
            return if is_dataset(path) {
                Self::Dataset
            } else {
                unread(SkipReason::Foreign, "a directory without traces")
            };
        }
        if !path.is_file() {
            return unread(SkipReason::Foreign, "not a regular file; name a file or a directory");
        }
        let head = match first_bytes(path, HEAD_BYTES) {
            Ok(head) => head,
            Err(error) => return unread(SkipReason::Damaged, format!("cannot be read: {error}")),
        };
        if head.starts_with(SQLITE_MAGIC) {
            database(path, DatabaseFile::open(path), reader)
        } else if head.starts_with(GZIP_MAGIC) {
            compressed(path, &decompressed_head(path, HEAD_BYTES), reader)
        } else {
            let more = |length| first_bytes(path, length).unwrap_or_default();
            Self::Head(by_head(Beginning { bytes: &head, is_whole: is_whole(&head), more: &more }))
        }
    }

    /// The reason why it is not read, if no format recognizes it.
    pub fn unread(self) -> UnreadContent {
        match self {
            Self::Head(Head::UnreadContent(unread)) => unread,
            Self::Database(Some(database)) => unread_database(&database),
            Self::Dataset | Self::Database(None) | Self::Head(_) => {
                UnreadContent::new(SkipReason::Foreign, "unknown format")
            }
        }
    }
}

/// The reason why a database of no known format is not read.
fn unread_database(database: &OpeningDatabase) -> UnreadContent {
    if let Some(damage) = damage(&database.file).filter(|_| database.has_any("rocpd_")) {
        damage
    } else if database.has("KERN") || (database.has("HIP") && database.has("OPS")) {
        let reason = "a rocprof v1 database, not rocpd; collect again with `rocprofv3 --output-format rocpd`";
        UnreadContent::new(SkipReason::Other, reason)
    } else if database.has_any("compute_") {
        let reason = "an analysis database of rocprofiler-compute without workloads; analyze the workload again, or name its folder";
        UnreadContent::new(SkipReason::Other, reason)
    } else if database.declarations().is_empty() {
        let reason =
            "a SQLite database without tables; the profiler was stopped before it wrote anything, collect again";
        UnreadContent::new(SkipReason::Lost, reason)
    } else {
        UnreadContent::new(SkipReason::Foreign, "a SQLite database of another program, not a rocpd trace")
    }
}

/// The reason why a database that cannot be scanned is not read.
pub(crate) fn damaged_database(file: &DatabaseFile, error: &anyhow::Error) -> UnreadContent {
    let cause = file.cut().map_or_else(|| with_causes(error), str::to_owned);
    UnreadContent::new(SkipReason::Damaged, format!("a damaged SQLite database: {cause}"))
}

/// Damage to the pages of a database in which no capture was found; `None` if there is none.
pub fn damage(file: &DatabaseFile) -> Option<UnreadContent> {
    let damage = file.damage("").into_iter().next()?;
    Some(UnreadContent::new(SkipReason::Damaged, format!("a damaged SQLite database: {}", damage.cause)))
}

fn unread(why: SkipReason, reason: impl Into<String>) -> Content {
    Content::Head(Head::UnreadContent(UnreadContent::new(why, reason)))
}

fn first_bytes(path: &Path, length: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path)?.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether the first bytes are the whole file.
fn is_whole(head: &[u8]) -> bool {
    (head.len() as u64) < HEAD_BYTES
}

/// The content of a gzip file, by its first decompressed bytes.
fn compressed(path: &Path, head: &[u8], reader: Reader) -> Content {
    let text = String::from_utf8_lossy(head);
    if let Some(marked) = marked(head, &text) {
        Content::Head(marked)
    } else if head.is_empty() {
        unread(SkipReason::Foreign, "a gzip file that cannot be decompressed; copy it again")
    } else if head.starts_with(SQLITE_MAGIC) {
        // Its content is only known once all of it is decompressed.
        database(path, DatabaseFile::decompressed(path), reader)
    } else {
        let reason = "a gzip file without rocprofv3 JSON or CSV, or a rocpd or RPD database in it";
        let damaged = || has_packets(head).then_some(Head::Perfetto);
        let more = |length| decompressed_head(path, length);
        let beginning = Beginning { bytes: head, is_whole: is_whole(head), more: &more };
        let known = csv(head).or_else(|| json(&text, beginning)).or_else(|| table(&text)).or_else(damaged);
        known.map_or_else(|| unread(SkipReason::Foreign, reason), Content::Head)
    }
}

fn database(path: &Path, file: anyhow::Result<DatabaseFile>, reader: Reader) -> Content {
    let file = match file {
        Ok(file) => Arc::new(file),
        Err(error) => return unread(SkipReason::Damaged, format!("{error:#}")),
    };
    match OpeningDatabase::new(Arc::clone(&file), reader) {
        Ok(database) if rocprof_compute::is_pass(path, &database) => Content::Head(Head::ComputeCounters),
        Ok(database) => Content::Database(Some(database)),
        Err(error) => Content::Head(Head::UnreadContent(damaged_database(&file, &error))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn a_compressed_list_of_samples_is_recognized() {
        let list = br#" [{"record": {"hw_id": {}, "exec_mask": 1, "timestamp": 2}}]"#;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut encoder = GzEncoder::new(&mut file, Compression::fast());
        encoder.write_all(list).unwrap();
        encoder.finish().unwrap();
        assert!(matches!(Content::detect(file.path(), Reader::Auto), Content::Head(Head::PcSamples)));
    }
}
