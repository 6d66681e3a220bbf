//! Known dialects of rocpd, and messages about unknown ones.

use super::container::Partition;
use crate::common::sqlite::notes_of_unknown;
use wavesieve_model::analysis::upstream::versions;
use wavesieve_model::schema::anomaly::Anomaly;

/// The id of the format.
const FORMAT: &str = "rocpd";

/// The known compression of JSON columns.
const KNOWN_COMPRESSION: &str = "lz4-frame-v1";

/// Names of the tables that are read or known to hold nothing of use, without the prefix `rocpd_` and the suffix.
const KNOWN_TABLES: &[&str] = &[
    "metadata",
    "string",
    "info_node",
    "info_process",
    "info_thread",
    "info_agent",
    "info_queue",
    "info_stream",
    "info_pmc",
    "info_code_object",
    "info_kernel_symbol",
    "info_category",
    "track",
    "event",
    "event_operation",
    "arg",
    "pmc_event",
    "region",
    "sample",
    "kernel_dispatch",
    "memory_copy",
    "memory_allocate",
    "graph_launch",
    "hip_event",
];

/// Tables of activity whose rows have a start and an end.
const INTERVALS: &[&str] = &["region", "kernel_dispatch", "memory_copy", "memory_allocate"];

/// Reason why the rows of a partition cannot be trusted, if any.
pub fn unsupported(partition: &Partition) -> Option<String> {
    let version = partition.schema_version.as_deref().unwrap_or("unknown");
    let because = |what: &str| {
        Some(format!(
            "a rocpd database of schema version {version}, {what}, which is not supported; collect again with a release \
             of rocprofv3 that writes schema 3"
        ))
    };
    if let Some(compression) = partition.compression.as_deref().filter(|word| *word != KNOWN_COMPRESSION) {
        return because(&format!("compressed as {compression}"));
    }
    let without_times = INTERVALS.iter().find(|base| {
        let has = |name| partition.table(base).is_none_or(|table| table.has(name));
        !has("start") || !has("end")
    });
    match without_times {
        Some(base) => because(&format!("whose table rocpd_{base} has no start and end columns")),
        None if is_track_based(partition) && partition.table("track").is_none() => {
            because("whose rows refer to missing tracks")
        }
        None => None,
    }
}

/// Whether tracks hold the threads, queues and agents of activity, as from schema 4.1.0 on.
pub fn is_track_based(partition: &Partition) -> bool {
    INTERVALS.iter().filter_map(|base| partition.table(base)).any(|table| table.has("track_id") && !table.has("tid"))
}

/// Notes about parts of a partition that were not understood.
pub fn notes(partition: &Partition, shown: &str) -> Vec<Anomaly> {
    let unknown: Vec<&str> = partition.table_bases().filter(|base| !KNOWN_TABLES.contains(base)).collect();
    // The table names the schema versions whose tables this reader knows.
    let is_known = |version: &str| versions(FORMAT).any(|known| known.name == version);
    notes_of_unknown(&unknown, partition.schema_version.as_deref(), is_known, "3.0.5", shown)
}
