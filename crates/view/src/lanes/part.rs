//! The lanes of the GPUs, or of the host, of a process.

use anyhow::Result;
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::event::Event;
use super::row::Row;
use super::{gpu, host};

/// The GPUs of a process, or its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Kernels, copies and gaps.
    Gpus,
    /// Calls, ranges and operators.
    Host,
}

/// Identifies a part: its trace, its process and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartKey {
    /// Index of the trace.
    pub side: usize,
    /// Index among the processes of the trace.
    pub member: usize,
    /// Its source.
    pub source: Source,
}

/// A lane with all of its events.
#[derive(Debug)]
pub struct StoredLane {
    /// Index of the GPU in its process; `None` for the host.
    pub gpu: Option<i64>,
    /// Its id after the id of its group.
    pub id: String,
    /// `kernels`, `copies`, `gaps`, `calls`, `ranges` or `operators`.
    pub kind: &'static str,
    /// Its name for people.
    pub label: String,
    /// Rows of nested events.
    pub rows: Vec<Row>,
}

/// All lanes of a part.
#[derive(Debug, Default)]
pub struct Part {
    /// The lanes in the order of display.
    pub lanes: Vec<StoredLane>,
    /// Names of events.
    pub names: Vec<String>,
    /// Ids of kinds.
    pub kinds: Vec<String>,
    /// Kind of lane, id and correlation id of work, sorted; of the host: correlation id and region id, sorted.
    pub links: Vec<(i64, i64)>,
    /// The same for copies.
    pub copy_links: Vec<(i64, i64)>,
    /// Sentences about what is missing.
    pub notes: Vec<String>,
}

impl Part {
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let events: usize = self.lanes.iter().flat_map(|lane| &lane.rows).map(Row::stored).sum();
        let links = self.links.len() + self.copy_links.len();
        let names: usize = self.names.iter().map(|name| name.len() + size_of::<String>()).sum();
        events * size_of::<Event>() + links * size_of::<(i64, i64)>() + names
    }
}

/// Reads a part. `shift_ns` is added to its times.
///
/// # Errors
/// When a table cannot be read.
pub fn load(trace: &Trace, member: &TraceProcess, source: Source, shift_ns: i64) -> Result<Part> {
    match source {
        Source::Gpus => gpu::part(trace, member, shift_ns),
        Source::Host => host::part(trace, member, shift_ns),
    }
}
