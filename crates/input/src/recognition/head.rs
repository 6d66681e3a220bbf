//! The kind of a file, by the first bytes of its content alone.

use super::unread_content::{SkipReason, UnreadContent};
use crate::att;
use crate::kineto;
use crate::perfetto::{has_packets, is_perfetto};
use crate::rocprof_compute;
use crate::rocprofv3_csv::{HeadKind, head_of};
use crate::rocprofv3_json::ROOT_KEY;

pub(crate) const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// First bytes of compressed files, and the names of the compressions.
const MAGIC: &[(&[u8], &str)] = &[
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
];

/// Position and value of the mark in tar archives.
const TAR: (std::ops::Range<usize>, &[u8]) = (257..262, b"ustar");

/// Whether a file is a tar archive, by its first bytes.
fn is_tar(head: &[u8]) -> bool {
    head.get(TAR.0) == Some(TAR.1)
}

const TAR_ARCHIVE: &str = "a tar archive; unpack it";

/// Columns of tables that are related to traces, and descriptions of the tables.
const TABLES: &[(&[&str], &str)] = &[
    (
        &["kernelname", "gpu-id", "queue-id"],
        "results of rocprof v1, not a trace; collect again with `rocprofv3 --output-format rocpd`",
    ),
    (
        &["dispatch_id", "gpu_id", "kernel_name", "grid_size"],
        "dispatches of rocprofiler-compute without counters; pass the folder with its pmc_perf.csv",
    ),
    (&["dispatch_id", "gpu_id", "kernel_name"], COMPUTE_TABLE),
    (&["kernel_name", "count", "pct"], COMPUTE_TABLE),
    (&["metric", "avg", "unit"], COMPUTE_TABLE),
];
const COMPUTE_TABLE: &str = "a table that rocprofiler-compute made of counters; pass the folder with its pmc_perf.csv";

/// Columns of tables that `rocprof-compute analyze` derives from PC samples.
const PC_SAMPLING_TABLES: [&[&str]; 3] = [
    &["kernel_uuid", "offset", "instruction", "stall_reason"],
    &["offset", "instruction", "count", "stall_count"],
    &["code object offset", "instruction line", "total count"],
];
const PC_SAMPLING_TABLE: &str = "a table that `rocprof-compute analyze` made of PC samples; pass the workload folder with its \
                                 ps_file_results.json, or the database of `--output-format db`";

/// Title of the text report about unified memory.
const UNIFIED_MEMORY_TITLE: &str = "Unified Memory profiling result";
const UNIFIED_MEMORY: &str = "a report of rocprof-sys about unified memory, which it derived from events of the kernel driver; `page_migrations` and \
                              `page_faults` show these if the trace next to it has them";

/// Content of a file, judged by its first bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    RocprofJson,
    /// A list of PC samples as in rocprofv3 JSON, without the enclosing object.
    PcSamples,
    /// A trace of the PyTorch profiler.
    Kineto,
    /// A Perfetto trace of any program.
    Perfetto,
    RocprofCsv,
    /// Instruction statistics of a thread trace.
    AttStatistics,
    /// Counters of rocprofiler-compute.
    ComputeCounters,
    /// The machine description of rocprofiler-compute, and the reason why it is not read without counters next to it.
    ComputeSystem(UnreadContent),
    UnreadContent(UnreadContent),
}

impl Head {
    fn unread(why: SkipReason, reason: impl Into<String>) -> Self {
        Self::UnreadContent(UnreadContent::new(why, reason))
    }
}

/// The first bytes of a file, and a function that reads more of them.
#[derive(Clone, Copy)]
pub(crate) struct Beginning<'a> {
    pub bytes: &'a [u8],
    pub is_whole: bool,
    /// Reads the requested number of first bytes, or the whole file if it is shorter.
    pub more: &'a dyn Fn(u64) -> Vec<u8>,
}

impl<'a> Beginning<'a> {
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, is_whole: true, more: &|_| Vec::new() }
    }
}

/// Keys that only rocprofv3 writes near the start of its JSON.
const METADATA_KEYS: [&str; 2] = ["\"init_time\"", "\"fini_time\""];

/// Content that the first bytes of a text show, whether it was compressed or not.
pub fn marked(head: &[u8], text: &str) -> Option<Head> {
    if is_tar(head) {
        Some(Head::unread(SkipReason::Foreign, TAR_ARCHIVE))
    } else if is_perfetto(head) {
        Some(Head::Perfetto)
    } else if is_rocprof_json(text) {
        Some(Head::RocprofJson)
    } else {
        is_pc_samples(text).then_some(Head::PcSamples)
    }
}

/// Content of a file that is neither a database nor compressed.
pub(crate) fn by_head(beginning: Beginning<'_>) -> Head {
    let head = beginning.bytes;
    let text = String::from_utf8_lossy(head);
    let other = |what: &str| Head::unread(SkipReason::Other, what);
    let lost = |what: &str| Head::unread(SkipReason::Lost, what);
    if head.is_empty() {
        lost("an empty file; the profiler was stopped before it wrote anything, collect again")
    } else if head.get(8..12) == Some(b"DUCK") {
        other("a DuckDB database, not a rocpd trace; name the rocpd databases it was made from")
    } else if text.starts_with("version https://git-lfs") {
        lost("a Git LFS pointer, not the file itself; fetch it with `git lfs pull`")
    } else if let Some(marked) = marked(head, &text) {
        marked
    } else if head.starts_with(b"PAR1") {
        other("a single Parquet file; name the dataset directory with its manifest.json")
    } else if SQLITE_MAGIC.starts_with(head) {
        lost("a truncated SQLite file without content; collect again")
    } else if let Some((_, what)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        Head::unread(
            SkipReason::Foreign,
            format!("a file compressed with {what}, which is unsupported; decompress it, or use `gzip`"),
        )
    } else if let Some(json) = json(&text, beginning) {
        json
    } else if text.contains(UNIFIED_MEMORY_TITLE) {
        Head::unread(SkipReason::Report, UNIFIED_MEMORY)
    } else {
        let reason = "no trace: neither a SQLite database, nor rocprofv3 JSON or CSV, nor counters of rocprofiler-compute, nor a dataset";
        let damaged = || has_packets(head).then_some(Head::Perfetto);
        csv(head).or_else(|| table(&text)).or_else(damaged).unwrap_or_else(|| Head::unread(SkipReason::Foreign, reason))
    }
}

/// Content of a CSV file, judged by its header, if it is from rocprofv3 or rocprofiler-compute.
pub fn csv(head: &[u8]) -> Option<Head> {
    match head_of(head) {
        HeadKind::Records => Some(Head::RocprofCsv),
        HeadKind::Summary => {
            let reason = "statistics that rocprofv3 derived from a trace; pass the trace files next to it";
            Some(Head::unread(SkipReason::Summary, reason))
        }
        HeadKind::Other => compute(head),
    }
}

fn compute(head: &[u8]) -> Option<Head> {
    match rocprof_compute::head_of(head) {
        rocprof_compute::HeadKind::Counters => Some(Head::ComputeCounters),
        rocprof_compute::HeadKind::System => {
            let reason = "system information of rocprofiler-compute; pass the folder with its pmc_perf.csv";
            Some(Head::ComputeSystem(UnreadContent::new(SkipReason::Other, reason)))
        }
        rocprof_compute::HeadKind::Other => att::is_header(head).then_some(Head::AttStatistics),
    }
}

/// The head of JSON that does not start like rocprofv3 JSON.
pub fn json(text: &str, beginning: Beginning<'_>) -> Option<Head> {
    let Beginning { bytes, is_whole, more } = beginning;
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    if METADATA_KEYS.iter().all(|key| text.contains(key)) {
        let reason = format!("rocprofv3 JSON whose first key \"{ROOT_KEY}\" is damaged; copy the file again");
        return Some(Head::unread(SkipReason::Damaged, reason));
    }
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    if is_whole && trimmed.split_whitespace().collect::<String>().len() == 2 {
        let reason = "JSON without content; the profiler was stopped before it wrote anything, collect again";
        return Some(Head::unread(SkipReason::Lost, reason));
    }
    if is_unified_memory(text) {
        return Some(Head::unread(SkipReason::Report, UNIFIED_MEMORY));
    }
    let verdict = kineto::recognize(bytes, is_whole, more);
    if verdict == kineto::Verdict::Kineto {
        return Some(Head::Kineto);
    }
    // A trace that is left out is missed; another document is not.
    let is_chrome = text.contains("\"traceEvents\"") || (trimmed.starts_with('[') && text.contains("\"ph\""));
    if let Some(error) = syntax_error(trimmed, is_whole) {
        let reason = format!("JSON whose first bytes are damaged: {error}; copy the file again");
        return Some(Head::unread(if is_chrome { SkipReason::Other } else { SkipReason::Foreign }, reason));
    }
    if is_chrome {
        let program = kineto::other_program(text).map_or_else(String::new, |program| format!(" of {program}"));
        let reason = format!(
            "a Chrome trace{program}, not one of the PyTorch profiler; name the rocprofv3 output or the PyTorch trace of the run"
        );
        return Some(Head::unread(SkipReason::Other, reason));
    }
    if verdict == kineto::Verdict::Undecided {
        let reason = format!(
            "JSON whose first {} MiB contain no event of the PyTorch profiler; move `traceEvents` to its start",
            kineto::MAX_BYTES >> 20
        );
        return Some(Head::unread(SkipReason::Other, reason));
    }
    let reason = format!("JSON of another program: rocprofv3 writes an object whose key is \"{ROOT_KEY}\"");
    Some(Head::unread(SkipReason::OtherJson, reason))
}

/// Whether JSON is the report about unified memory: values of each device, then their sums.
fn is_unified_memory(text: &str) -> bool {
    let has = |keys: &[&str]| keys.iter().all(|key| text.contains(&format!("\"{key}\"")));
    has(&["migration_triggers", "total_page_faults"])
        || has(&["migrations", "host_to_device", "device_to_host", "total_size_bytes"])
}

/// The syntax error at the start of a text of JSON values, unless the text only ends too early.
fn syntax_error(text: &str, is_whole: bool) -> Option<serde_json::Error> {
    // Python writes these, and most programs read them.
    let text = text.replace("NaN", "0").replace("Infinity", "0");
    // A number at the end of the text may be cut.
    let is_of_number = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
    let text = if is_whole { &text } else { text.trim_end_matches(is_of_number) };
    let values = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    values.filter_map(Result::err).next().filter(|error| is_whole || !error.is_eof())
}

/// Whether a text starts like rocprofv3 JSON.
fn is_rocprof_json(text: &str) -> bool {
    let trimmed = text.trim_start().trim_start_matches('\u{feff}').trim_start();
    trimmed.starts_with('{') && text.contains(&format!("\"{ROOT_KEY}\""))
}

/// Whether a text starts like a list of PC samples.
fn is_pc_samples(text: &str) -> bool {
    let keys = ["\"record\"", "\"hw_id\"", "\"exec_mask\"", "\"timestamp\""];
    text.trim_start().starts_with('[') && keys.iter().all(|key| text.contains(key))
}

/// A table of another tool, by the names of its columns.
pub fn table(text: &str) -> Option<Head> {
    let header = text.lines().next()?.to_ascii_lowercase();
    let columns: Vec<&str> = header.split(',').map(|column| column.trim().trim_matches('"')).collect();
    if PC_SAMPLING_TABLES.iter().any(|names| names.iter().all(|name| columns.contains(name))) {
        return Some(Head::unread(SkipReason::Report, PC_SAMPLING_TABLE));
    }
    TABLES
        .iter()
        .find(|(names, _)| names.iter().all(|name| columns.contains(name)))
        .map(|(_, what)| Head::unread(SkipReason::Foreign, *what))
}
