//! The rocpd databases among inputs, for commands that copy tables instead of reading rows.

use std::path::PathBuf;
use std::sync::Arc;

use super::common::sqlite::{DatabaseFile, Reader};
use super::error::InputError;
use super::recognition::content::Content;
use super::recognition::discover::{Candidate, Problem, discover};
use super::recognition::format::{Format, Recognized};
use super::recognition::formats::FORMATS;
use super::recognition::unread_content::{SkipReason, UnreadContent};
use super::rocpd::{Partition, Probe, is_track_based, probe};
use super::rpd::Rpd;
use wavesieve_model::text::bytes::text_of_name;

/// Descriptions of inputs of other formats, in the order of [`FORMATS`].
const FORMAT_NAMES: [&str; FORMATS.len()] = [
    "a dataset",
    "an RPD database",
    "a rocpd database",
    "rocprofv3 JSON",
    "a trace of the PyTorch profiler",
    "a Perfetto trace",
    "rocprofv3 CSV",
    "counters of rocprofiler-compute",
    "statistics of a thread trace",
    "an analysis database of rocprofiler-compute",
];

/// A file with a rocpd database in it.
pub struct RocpdFile {
    /// Path as given or found.
    pub path: PathBuf,
    /// The file that SQLite can open: the input or a copy of it.
    pub file: Arc<DatabaseFile>,
    /// Its captures, by suffix.
    pub partitions: Vec<PartitionFacts>,
}

impl RocpdFile {
    /// Its path for messages.
    pub fn shown(&self) -> String {
        text_of_name(&self.path)
    }
}

/// The identity of one capture's tables.
#[derive(Clone, Debug)]
pub struct PartitionFacts {
    /// The suffix of its table names.
    pub suffix: String,
    /// The dashed guid.
    pub guid: String,
    /// Schema version, if stated.
    pub version: Option<String>,
    /// Whether the track of an activity gives its thread, queue and agent.
    pub is_track_based: bool,
}

/// An input that is not a rocpd database.
pub struct OtherInput {
    /// Path as given or found.
    pub path: PathBuf,
    /// Its actual format.
    pub what: String,
    /// Whether the user named it.
    pub named: bool,
    /// Whether it is a trace that other commands read.
    pub is_trace: bool,
}

/// The databases and other files among the inputs.
pub struct FoundDatabases {
    /// rocpd databases, in the natural order of their paths.
    pub databases: Vec<RocpdFile>,
    /// Other files that were named, or are traces.
    pub others: Vec<OtherInput>,
}

/// Finds and recognizes the rocpd databases among inputs.
///
/// # Errors
/// When an input matches nothing, or a rocpd database is damaged or cannot be read.
pub fn rocpd_databases(inputs: &[String]) -> Result<FoundDatabases, InputError> {
    let mut found = FoundDatabases { databases: Vec::new(), others: Vec::new() };
    let mut damaged = Vec::new();
    for candidate in discover(inputs, None)? {
        match inspect(&candidate) {
            Inspected::Database(database) => match damage_of(&database) {
                Some(cause) => damaged.push((candidate.shown(), cause)),
                None => found.databases.push(database),
            },
            Inspected::Other(other) if other.named || other.is_trace => found.others.push(other),
            Inspected::Other(_) => {}
            Inspected::Damaged(reason) => damaged.push((candidate.shown(), reason)),
        }
    }
    if damaged.is_empty() { Ok(found) } else { Err(InputError::Damaged { reasons: damaged }) }
}

/// The cause of damage to a file or to the log next to it. A damaged file is not copied at all.
fn damage_of(database: &RocpdFile) -> Option<String> {
    database.file.damage(&database.shown()).into_iter().next().map(|damage| damage.cause)
}

enum Inspected {
    Database(RocpdFile),
    Other(OtherInput),
    Damaged(String),
}

fn inspect(candidate: &Candidate) -> Inspected {
    let path = candidate.path.as_path();
    let other = |what: &str, is_trace| {
        Inspected::Other(OtherInput { path: path.to_owned(), what: what.to_owned(), named: candidate.named, is_trace })
    };
    match &candidate.problem {
        Some(Problem::Lost(reason)) => return Inspected::Damaged(reason.clone()),
        Some(Problem::DeadLink(reason)) => return other(reason, false),
        None => {}
    }
    let mut content = Content::detect(path, Reader::Auto);
    if !path.is_dir() && Rpd.recognize(&mut content).is_some() {
        return other("an RPD database", true);
    }
    if let Content::Database(Some(database)) = &content {
        match probe(database) {
            Ok(Probe::Readable(partitions)) => {
                let facts = |partition: &Arc<Partition>| PartitionFacts {
                    suffix: partition.suffix.clone(),
                    guid: partition.guid.clone().unwrap_or_default(),
                    version: partition.schema_version.clone(),
                    is_track_based: is_track_based(partition),
                };
                let partitions = partitions.iter().map(facts).collect();
                return Inspected::Database(RocpdFile {
                    path: path.to_owned(),
                    file: Arc::clone(&database.file),
                    partitions,
                });
            }
            Ok(Probe::Unsupported(reason)) => return Inspected::Damaged(reason),
            Ok(Probe::Other) => {}
            Err(error) => return Inspected::Damaged(format!("a damaged SQLite database: {error:#}")),
        }
    }
    let mut formats = FORMATS.iter().zip(FORMAT_NAMES);
    let recognized = formats.find_map(|(format, name)| format.recognize(&mut content).map(|known| (name, known)));
    match recognized {
        Some((name, Recognized::Capture(_) | Recognized::Part)) => other(name, true),
        Some((_, Recognized::Unread(unread) | Recognized::UnreadContent(unread))) => refused(other, unread),
        None => refused(other, content.unread()),
    }
}

fn refused(other: impl Fn(&str, bool) -> Inspected, unread: UnreadContent) -> Inspected {
    let is_lost = matches!(unread.why, SkipReason::Damaged | SkipReason::Lost);
    if is_lost { Inspected::Damaged(unread.reason) } else { other(&unread.reason, false) }
}
