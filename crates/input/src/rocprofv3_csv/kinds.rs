//! The kind of the records in a file, by the names of its columns.

use csv::ByteRecord;

use super::columns::Col;
use super::header::{Header, spelling};
use crate::common::csv::header_in;

/// The kind of the records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordKind {
    Kernels,
    Counters,
    /// Calls and markers.
    Calls,
    Copies,
    /// Allocations of device and scratch memory.
    Allocations,
    GraphLaunches,
    Events,
    StreamedCounters,
    /// PC samples.
    PcSamples,
    Agents,
}

impl RecordKind {
    /// The name of the records in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kernels => "kernel trace",
            Self::Counters => "counter collection",
            Self::Calls => "API trace",
            Self::Copies => "memory copy trace",
            Self::Allocations => "memory allocation trace",
            Self::GraphLaunches => "graph launch trace",
            Self::Events => "HIP event trace",
            Self::StreamedCounters => "streamed counters",
            Self::PcSamples => "program counter samples",
            Self::Agents => "agent info",
        }
    }

    /// The kind of a file with this header.
    pub(crate) fn from_header(header: &ByteRecord) -> Option<Self> {
        use Col::*;
        let columns = Header::new(header);
        let has = |names: &[Col]| columns.has(names);
        let times = has(&[Start, End]);
        if has(&[CounterName, CounterValue]) {
            // Other programs also write tables of counters, but without agents and kernels.
            return match (has(&[Time]) && !times, has(&[Agent, KernelName])) {
                (true, _) => Some(Self::StreamedCounters),
                (false, true) => Some(Self::Counters),
                (false, false) => None,
            };
        }
        if has(&[Time, ExecMask]) || has(&[Time, Instruction, Dispatch]) {
            return Some(Self::PcSamples);
        }
        let named = |name: &str| header.iter().any(|field| spelling(&String::from_utf8_lossy(field)) == name);
        if named("agent_type") && (named("node_id") || named("logical_node_id")) {
            return Some(Self::Agents);
        }
        if !times {
            return None;
        }
        if has(&[KernelName]) && (has(&[Kind]) || has(&[Agent, WorkgroupX])) {
            Some(Self::Kernels)
        } else if has(&[Function, Domain]) || has(&[Function, ThreadId, Correlation]) {
            Some(Self::Calls)
        } else if has(&[Direction]) && (has(&[Kind]) || has(&[SourceAgent, DestinationAgent])) {
            Some(Self::Copies)
        } else if has(&[EventHandle]) {
            Some(Self::Events)
        } else if has(&[Operation]) && (has(&[Kind]) || has(&[Flags]) || has(&[Address])) {
            Some(Self::Allocations)
        } else if has(&[GraphExec]) {
            Some(Self::GraphLaunches)
        } else {
            None
        }
    }
}

/// Kind of a file, judged by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadKind {
    Records,
    /// Statistics that were derived from records.
    Summary,
    Other,
}

/// Inspects the header of a file.
pub(crate) fn head_of(bytes: &[u8]) -> HeadKind {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(header) = header_in(line).filter(|_| line.contains(&b',')) else { return HeadKind::Other };
    let has = |name: &str| header.iter().any(|field| spelling(&String::from_utf8_lossy(field)) == name);
    if ["name", "calls", "percentage"].into_iter().all(has) && (has("totaldurationns") || has("averagens")) {
        HeadKind::Summary
    } else if RecordKind::from_header(&header).is_some() {
        HeadKind::Records
    } else {
        HeadKind::Other
    }
}
