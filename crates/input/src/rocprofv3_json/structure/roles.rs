//! The role of each section of records: the table it fills, or unknown.

use std::borrow::Cow;

use serde_json::Value;

use super::index::{ProcessIndex, Section};
use crate::rocprofv3_json::file::InputFile;

/// Known sections of calls, in the order in which their records are numbered; other sections follow by name.
pub const CALLS: &[&str] = &[
    "hip_api",
    "hsa_api",
    "marker_api",
    "rccl_api",
    "rocdecode_api",
    "rocjpeg_api",
    "hipfile_api",
    "rocshmem_api",
    "ompt",
    "kfd",
];
/// Section of dispatches.
pub const DISPATCHES: &str = "buffer_records.kernel_dispatch";
/// Section of copies.
pub const COPIES: &str = "buffer_records.memory_copy";
/// Sections of allocations, in the order in which their records are numbered.
pub const ALLOCATIONS: &[&str] = &["buffer_records.memory_allocation", "buffer_records.scratch_memory"];
/// Sections of graph launches.
pub const GRAPH_LAUNCHES: &[&str] = &["buffer_records.hip_graph", "buffer_records.graph_launch"];
/// Section of HIP events.
pub const HIP_EVENTS: &str = "buffer_records.hip_event";
/// Sections of PC samples.
pub const PC_SAMPLES: &[&str] = &["buffer_records.pc_sample_host_trap", "buffer_records.pc_sample_stochastic"];
/// Section of dispatches with counters.
pub const COUNTERS: &str = "callback_records.counter_collection";
/// Section of streamed counters.
pub(crate) const STREAMED_COUNTERS: &str = "callback_records.spm_counter_collection";

/// Maximum bytes of a record that is inspected to recognize a section.
const LONGEST_SAMPLE: u64 = 1 << 20;

/// The sections of calls and the unknown sections of a process.
#[derive(Debug, Default)]
pub struct Roles {
    /// Names of sections of calls, in the order in which their records are numbered.
    pub calls: Vec<String>,
    /// Names of unknown sections, with the number of their records.
    pub unknown: Vec<(String, u64)>,
}

impl Roles {
    /// Assigns roles to the sections of a process. The first record decides for unknown names.
    pub fn new(process: &ProcessIndex, file: &InputFile) -> Self {
        let mut roles = Self::default();
        let mut names: Vec<&str> = process.sections.iter().map(|section| section.name.as_str()).collect();
        names.sort_by_key(|name| (call_order(name), *name));
        names.dedup();
        for name in names {
            let of_records = name.starts_with("buffer_records.") || name.starts_with("callback_records.");
            if !of_records || is_other(name) {
                continue;
            }
            let known = call_order(name) < CALLS.len();
            let rows = process.rows(name);
            if known || (rows > 0 && process.named(name).any(|section| holds_calls(section, file))) {
                roles.calls.push(name.to_owned());
            } else if rows > 0 || process.named(name).any(|section| !section.is_array) {
                roles.unknown.push((name.to_owned(), rows));
            }
        }
        roles
    }
}

fn call_order(name: &str) -> usize {
    let key = name.strip_prefix("buffer_records.");
    CALLS.iter().position(|known| key == Some(*known)).unwrap_or(CALLS.len())
}

fn is_other(name: &str) -> bool {
    [DISPATCHES, COPIES, HIP_EVENTS, COUNTERS, STREAMED_COUNTERS].contains(&name)
        || [ALLOCATIONS, GRAPH_LAUNCHES, PC_SAMPLES].iter().any(|names| names.contains(&name))
}

/// Whether the first record looks like a call: it has an operation and times.
fn holds_calls(section: &Section, file: &InputFile) -> bool {
    let Some(first) = section.splits.first().filter(|_| section.name.starts_with("buffer_records.")) else {
        return false;
    };
    let end = section.end.min(first.offset.saturating_add(LONGEST_SAMPLE));
    let mut bytes = Vec::new();
    if file.read(first.offset, end, &mut bytes).is_err() {
        return false;
    }
    let text: Cow<'_, str> = String::from_utf8_lossy(&bytes);
    let record = serde_json::Deserializer::from_str(&text).into_iter::<Value>().next();
    let Some(Ok(record)) = record else { return false };
    let has = |key: &str| record.get(key).is_some();
    has("operation") && ((has("start_timestamp") && has("end_timestamp")) || has("timestamp"))
}
