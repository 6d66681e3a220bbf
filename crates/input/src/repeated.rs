//! Captures that occur more than once among the inputs: copies of a file, and the same process in several formats.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polars::prelude::{col, lit};

use super::load::Located;
use super::load_options::LoadOptions;
use super::{compute_database, perfetto, rocprof_compute, rocprofv3_csv, rocprofv3_json};
use wavesieve_model::schema;
use wavesieve_model::schema::anomaly::{Anomaly, Severity};
use wavesieve_model::schema::facts::{ProcessFacts, Role};
use wavesieve_model::schema::process::{Clock, Process};
use wavesieve_tables::trace::source::ReadContext;

/// Format of rocpd databases in [`ProcessFacts`].
const ROCPD: &str = "rocpd";

/// Drops repeated captures, such as copies of a file, and keeps the first. The profiler gives all its sessions with a process the same id.
/// Captures whose activities do not overlap in time are therefore parts of that process, and all are kept.
pub(crate) fn drop_repeated(found: &mut Vec<Located>, notes: &mut Vec<Anomaly>, options: &LoadOptions) {
    let mut seen: BTreeMap<Capture, Vec<usize>> = BTreeMap::new();
    let mut is_kept = vec![true; found.len()];
    let activities: Vec<OnceCell<Option<(i64, i64)>>> = vec![OnceCell::new(); found.len()];
    let activity = |at: usize| *activities.get(at)?.get_or_init(|| activity(found.get(at)?, options));
    for ((at, candidate), is_kept) in found.iter().enumerate().zip(&mut is_kept) {
        let facts = &candidate.found.facts;
        let Some(capture) = capture(facts) else { continue };
        let known = seen.entry(capture).or_default();
        let is_apart = || {
            activity(at).is_some_and(|(start, end)| {
                known.iter().all(|other| activity(*other).is_some_and(|(first, last)| end < first || last < start))
            })
        };
        *is_kept = known.is_empty() || (facts.guid.is_some() && is_apart());
        if *is_kept {
            known.push(at);
        } else {
            let detail = "the same capture is passed more than once; it is read once";
            notes.push(note_about("repeated_capture", Severity::Warning, facts, detail));
        }
    }
    let mut is_kept = is_kept.into_iter();
    found.retain(|_| is_kept.next().unwrap_or(true));
}

/// First start and last end of the activity of a process; `None` without activity, or if the times cannot be read.
fn activity(located: &Located, options: &LoadOptions) -> Option<(i64, i64)> {
    let process = Process {
        process: 0,
        rank: 0,
        node: 0,
        role: Role::Trace,
        pass: 0,
        clock: Clock::default(),
        gpus: BTreeMap::new(),
        facts: located.found.facts.clone(),
    };
    let context = ReadContext::whole(&process, &options.categories, options.threads);
    let of_table = |name: &&str| -> Option<(i64, i64)> {
        let table = schema::table(name)?;
        let columns: Vec<_> = table.columns.iter().filter(|column| TIMES.contains(&column.name)).collect();
        let frame = located.found.source.read(&context, table, &columns).ok()?.frame;
        let times = [col(TIMES[0]).filter(col(TIMES[0]).gt(lit(0))).min(), col(TIMES[1]).max()];
        let found = frame.select(times).collect().ok()?;
        let time = |name: &str| found.column(name).ok()?.i64().ok()?.get(0);
        Some((time(TIMES[0])?, time(TIMES[1])?))
    };
    let spans = TABLES.iter().filter_map(of_table);
    spans.reduce(|(start, end), (other_start, other_end)| (start.min(other_start), end.max(other_end)))
}

/// Tables with the activity of a process, and their time columns.
const TABLES: [&str; 4] = ["kernels", "memory_copies", "memory_allocations", "regions"];
const TIMES: [&str; 2] = ["start_ns", "end_ns"];

/// Process id, start and machine of a process.
type Run = (i64, Option<i64>, String);

fn run(facts: &ProcessFacts) -> Run {
    (facts.pid, facts.start_ns, facts.machine_key.clone())
}

/// The common identity of files with the same capture: format, run, and the guid or otherwise the content.
type Capture = (String, Run, Option<String>, String);

fn capture(facts: &ProcessFacts) -> Option<Capture> {
    let content = if facts.guid.is_some() { String::new() } else { facts.content_hash.clone() };
    let known = facts.guid.is_some() || !content.is_empty();
    known.then(|| (facts.format.clone(), run(facts), facts.guid.clone(), content))
}

/// Drops the processes of merged files that are also passed as files of their own.
pub(crate) fn drop_merged(found: &mut Vec<Located>, notes: &mut Vec<Anomaly>) {
    let key = |facts: &ProcessFacts| facts.work_key.clone().map(|key| (facts.format.clone(), facts.pid, key));
    let own = |located: &Located| Some(&located.found.facts).filter(|facts| !facts.is_merged).and_then(key);
    let known: BTreeMap<_, String> =
        found.iter().filter_map(|located| Some((own(located)?, located.found.facts.path.clone()))).collect();
    found.retain(|candidate| {
        let facts = &candidate.found.facts;
        let other = if facts.is_merged { key(facts).and_then(|key| known.get(&key)) } else { None };
        if let Some(other) = other {
            let detail = format!(
                "the trace of process {} in a merged file is also passed by itself, as {other}, which is read instead",
                facts.pid
            );
            notes.push(note_about("repeated_format", Severity::Info, facts, &detail));
        }
        other.is_none()
    });
}

/// Drops merged files whose parts are all passed too. Programs that merge traces keep all activities and their durations, so that the
/// totals of the merged file are the sums over its parts. Each part called the runtime by itself: there are at most as many parts as
/// callers.
pub(crate) fn drop_sums(found: &mut Vec<Located>, notes: &mut Vec<Anomaly>) {
    let mut files: Vec<Option<FileWork>> = found.iter().map(|located| FileWork::new(&located.found.facts)).collect();
    while let Some(sum) = next_sum(&files) {
        files.remove(sum);
        let detail = "merged trace of the other files; its parts are read instead";
        notes.push(note_about("repeated_format", Severity::Info, &found.remove(sum).found.facts, detail));
    }
}

/// The work of a file that is not known to be merged.
struct FileWork {
    format: String,
    folder: Option<PathBuf>,
    /// Number of activities, and the sum of their durations.
    work: (u64, i64),
    callers: usize,
}

impl FileWork {
    /// `None` for a process of a merged file, and without activities.
    fn new(facts: &ProcessFacts) -> Option<Self> {
        let (activities, duration_ns) = facts.work_key.as_deref().filter(|_| !facts.is_merged)?.split_once('/')?;
        Some(Self {
            format: facts.format.clone(),
            folder: Path::new(&facts.path).parent().map(Path::to_path_buf),
            work: (activities.parse().ok()?, duration_ns.parse().ok()?),
            callers: facts.callers,
        })
    }

    /// Whether it is the sum of its parts.
    fn is_sum<'a>(&self, parts: impl Iterator<Item = &'a Self>) -> bool {
        let (mut count, mut sum) = (0, (0_u64, 0_i64));
        for part in parts {
            count += 1;
            sum = (sum.0.saturating_add(part.work.0), sum.1.saturating_add(part.work.1));
        }
        (MIN_PARTS..=self.callers).contains(&count) && sum == self.work && sum.1 > 0
    }
}

/// Minimum number of parts of a merged file: the sum of one part is a copy.
const MIN_PARTS: usize = 2;

/// The first file that is the sum of all others of its format, or of those in its folder. Another merged file of the same parts is none of
/// the parts.
fn next_sum(files: &[Option<FileWork>]) -> Option<usize> {
    files.iter().enumerate().position(|(at, file)| {
        let Some(file) = file.as_ref().filter(|file| file.callers >= MIN_PARTS) else { return false };
        let others = || {
            let all = files.iter().enumerate().filter(move |(other, _)| *other != at);
            let all = all.filter_map(|(_, other)| other.as_ref()).filter(move |other| other.format == file.format);
            all.filter(move |other| other.work != file.work || other.callers < MIN_PARTS)
        };
        file.is_sum(others()) || file.is_sum(others().filter(|other| other.folder == file.folder))
    })
}

/// Drops a process that is also passed in a preferred format: JSON next to rocpd, CSV next to either of them, and a Perfetto trace next to
/// any other format. rocprofv3 can write all of them side by side, and `convert` writes Perfetto traces and analysis databases next to
/// their sources. The analysis of a workload is dropped next to its counters.
pub(crate) fn drop_other_formats(found: &mut Vec<Located>, notes: &mut Vec<Anomaly>) {
    let facts_of = |formats: &[&str]| -> Vec<ProcessFacts> {
        let facts = found.iter().map(|located| &located.found.facts);
        facts.filter(|facts| formats.contains(&facts.format.as_str())).cloned().collect()
    };
    let databases: BTreeMap<Run, String> =
        facts_of(&[ROCPD]).into_iter().map(|facts| (run(&facts), facts.format)).collect();
    let csv = found.iter().any(|located| located.found.facts.format == rocprofv3_csv::FORMAT);
    let known = if csv { facts_of(&[ROCPD, rocprofv3_json::FORMAT]) } else { Vec::new() };
    let has_perfetto = found.iter().any(|located| located.found.facts.format == perfetto::FORMAT);
    let has_analysis = found.iter().any(|located| located.found.facts.format == compute_database::FORMAT);
    let all = found.iter().map(|located| &located.found.facts).filter(|facts| facts.format != perfetto::FORMAT);
    let beside: Vec<ProcessFacts> = if has_perfetto || has_analysis { all.cloned().collect() } else { Vec::new() };
    found.retain(|candidate| {
        let facts = &candidate.found.facts;
        let other = if facts.format == rocprofv3_json::FORMAT && facts.pid >= 0 && facts.start_ns.is_some() {
            databases.get(&run(facts))
        } else if facts.format == rocprofv3_csv::FORMAT {
            known.iter().find(|other| rocprofv3_csv::is_same_run(facts, other)).map(|other| &other.format)
        } else if facts.format == perfetto::FORMAT {
            beside.iter().find(|other| perfetto::is_same_run(facts, other)).map(|other| &other.format)
        } else if facts.format == compute_database::FORMAT {
            let others = || beside.iter().filter(|other| other.format != compute_database::FORMAT);
            others().find(|other| compute_database::is_same_run(facts, other)).map(|other| &other.format)
        } else {
            None
        };
        if let Some(other) = other {
            let format = match other.as_str() {
                rocprof_compute::FORMAT => "counters of rocprofiler-compute",
                ROCPD => "a rocpd database",
                rocprofv3_json::FORMAT => "rocprofv3 JSON",
                other => other,
            };
            let detail = format!("the same process is also passed as {format}, which is read instead");
            notes.push(note_about("repeated_format", Severity::Info, facts, &detail));
        }
        other.is_none()
    });
}

/// An anomaly of a process as a whole.
pub(crate) fn note_about(check_id: &'static str, severity: Severity, facts: &ProcessFacts, detail: &str) -> Anomaly {
    Anomaly::of_file(check_id, severity, 1, &facts.path, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_folder_may_have_merged_files() {
        let file = |path: &str, work: &str, callers: usize| {
            let (path, work_key) = (path.to_owned(), Some(work.to_owned()));
            FileWork::new(&ProcessFacts { path, work_key, callers, ..ProcessFacts::default() })
        };
        let mut files = vec![
            file("a/0.json", "2/30", 1),
            file("a/1.json", "3/40", 1),
            file("a/all.json", "5/70", 2),
            file("a/all_again.json", "5/70", 2),
            file("b/0.json", "1/10", 1),
            file("b/1.json", "1/11", 1),
            file("b/all.json", "2/21", 2),
        ];
        let mut sums = Vec::new();
        while let Some(sum) = next_sum(&files) {
            sums.push(sum);
            files[sum] = None;
        }
        assert_eq!(sums, [2, 3, 6]);
        let copies = [file("a/0.json", "2/30", 2), file("a/1.json", "2/30", 2)];
        assert_eq!(next_sum(&copies), None, "the sum of one part is a copy");
    }
}
