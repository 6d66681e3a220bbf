//! The kind of content that a file name promises.

use crate::att;
use crate::rocprofv3_csv;

/// Ends of the names of databases that are one capture each.
const DATABASES: [&str; 4] = [".db", ".db.gz", ".rpd", ".rpd.gz"];
/// Ends of the names of rocprofv3 JSON and of traces of the PyTorch profiler.
const JSON: [&str; 4] = ["_results.json", "_results.json.gz", ".pt.trace.json", ".pt.trace.json.gz"];
/// Ends of the names of Perfetto traces. Files that end in `.proto` are mostly something else.
const PERFETTO: [&str; 4] = [".pftrace", ".pftrace.gz", ".perfetto-trace", ".perfetto-trace.gz"];
/// Ends of the names of single files in an unsupported compression.
const PACKED: [&str; 4] = [".zst", ".xz", ".bz2", ".zip"];
/// Ends of the names of archives, which may hold any number of files.
const ARCHIVES: [&str; 12] =
    [".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".zip", ".7z", ".zst", ".xz", ".bz2"];
/// The file of counters in a folder of rocprofiler-compute.
const COUNTERS: [&str; 2] = ["pmc_perf.csv", "pmc_perf.csv.gz"];

/// The kind of file that a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedKind {
    /// A rocpd or RPD database, or a trace in an archive that is not read.
    Database,
    /// rocprofv3 JSON, or a trace of the PyTorch profiler. Other programs use these names too.
    Json,
    /// A Perfetto trace. Other programs use these names too.
    Perfetto,
    /// CSV of rocprofv3, or counters of rocprofiler-compute.
    Csv,
    /// Instruction statistics of a thread trace. Other programs use these names too.
    Statistics,
}

/// The kind that a file name promises; `None` if it need not be a trace.
pub fn promise(name: &str) -> Option<ExpectedKind> {
    let ends_in = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let unpacked = PACKED.iter().find_map(|ending| name.strip_suffix(ending));
    let is_packed = |name: &str| [".db", ".rpd", "_results.json"].iter().any(|ending| name.ends_with(ending));
    if ends_in(&DATABASES) || unpacked.is_some_and(is_packed) {
        Some(ExpectedKind::Database)
    } else if ends_in(&JSON) {
        Some(ExpectedKind::Json)
    } else if ends_in(&PERFETTO) {
        Some(ExpectedKind::Perfetto)
    } else if rocprofv3_csv::is_named_like_capture(name) || COUNTERS.contains(&name) {
        Some(ExpectedKind::Csv)
    } else if att::is_named_like_statistics(name) {
        Some(ExpectedKind::Statistics)
    } else {
        None
    }
}

/// Whether a file of this name is an archive, whose content only unpacking shows.
pub fn is_archive(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ARCHIVES.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_archives() {
        for name in ["traces.tar.gz", "run.TGZ", "ranks.zip", "ranks.7z", "all.tar", "all.tar.zst", "log.xz"] {
            assert!(is_archive(name), "{name}");
        }
        for name in ["trace.json.gz", "targets", "zip", "weights.npz", "report.xlsx"] {
            assert!(!is_archive(name), "{name}");
        }
    }

    #[test]
    fn names_promise_traces() {
        for (name, promised) in [
            ("4100_results.db", Some(ExpectedKind::Database)),
            ("rank1.rpd.gz", Some(ExpectedKind::Database)),
            ("rank1.db.zst", Some(ExpectedKind::Database)),
            ("4100_results.json.xz", Some(ExpectedKind::Database)),
            ("4100_results.json.gz", Some(ExpectedKind::Json)),
            ("host_1.2.pt.trace.json.gz", Some(ExpectedKind::Json)),
            ("4100_results.pftrace", Some(ExpectedKind::Perfetto)),
            ("trace_packet.proto", None),
            ("config.json", None),
            ("4100_kernel_trace.csv", Some(ExpectedKind::Csv)),
            ("pmc_perf.csv", Some(ExpectedKind::Csv)),
            ("losses.csv", None),
            ("stats_kernel.csv", Some(ExpectedKind::Statistics)),
            ("notes.zst", None),
            ("notes.txt", None),
        ] {
            assert_eq!(promise(name), promised, "{name}");
        }
    }
}
