//! The lanes of the GPUs, or of the host, of a process.

use anyhow::Result;
use wavesieve_tables::trace::{Trace, TraceProcess};

use super::event::{Event, NO_NAME};
use super::path::PathPart;
use super::row::Row;
use super::{gpu, host, path};

/// The GPUs of a process, or its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Kernels, copies and gaps.
    Gpus,
    /// Calls, ranges and operators.
    Host,
    /// The critical path.
    Path,
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
    /// `kernels`, `copies`, `gaps`, `calls`, `ranges`, `operators` or `counter`.
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
    /// The critical path in order.
    pub path: Vec<PathPart>,
    /// The lanes on it: GPU, and id after the id of the group.
    pub path_lanes: Vec<(Option<i64>, String)>,
    /// Sentences about what is missing.
    pub notes: Vec<String>,
}

impl Part {
    /// A part with a kernel of each length from 1 to 900 around a time, for properties.
    pub fn example(middle_ns: i64) -> Self {
        let mut at_ns = middle_ns.saturating_sub(200_000);
        let event = |length_ns: i64| {
            let start_ns = at_ns;
            at_ns = at_ns.saturating_add(length_ns);
            Event::one((start_ns, at_ns), length_ns, 0, u16::from(length_ns % 3 == 0), NO_NAME)
        };
        let rows = vec![Row::new((1..900).map(event).collect())];
        let lane = StoredLane { gpu: Some(0), id: String::new(), kind: "kernels", label: String::new(), rows };
        let kinds = vec!["gemm".to_owned(), "copy".to_owned()];
        Self { lanes: vec![lane], names: vec!["several".to_owned()], kinds, ..Self::default() }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let events: usize = self.lanes.iter().flat_map(|lane| &lane.rows).map(Row::stored).sum();
        let links = self.links.len() + self.copy_links.len();
        let names: usize = self.names.iter().map(|name| name.len() + size_of::<String>()).sum();
        let path = self.path.len() * size_of::<PathPart>();
        events * size_of::<Event>() + links * size_of::<(i64, i64)>() + names + path
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
        Source::Path => path::part(trace, member, shift_ns),
    }
}
