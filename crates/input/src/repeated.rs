//! Captures that occur more than once among the inputs: copies of a file, and the same process in several formats.

use std::collections::BTreeMap;

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
    for ((at, candidate), is_kept) in found.iter().enumerate().zip(&mut is_kept) {
        let facts = &candidate.found.facts;
        let Some(capture) = capture(facts) else { continue };
        let known = seen.entry(capture).or_default();
        let others = || known.iter().filter_map(|other| found.get(*other));
        *is_kept = known.is_empty() || (facts.guid.is_some() && is_apart(candidate, others(), options));
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

/// Whether the activity of a process lies before or after the activity of each other process.
fn is_apart<'a>(candidate: &Located, mut others: impl Iterator<Item = &'a Located>, options: &LoadOptions) -> bool {
    let Some((start, end)) = activity(candidate, options) else { return false };
    others.all(|other| activity(other, options).is_some_and(|(first, last)| end < first || last < start))
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

/// Drops a merged file if all its parts are passed too. Programs that merge traces keep all activities and their durations, so that the
/// totals of the merged file are the sums over its parts. Each part called the runtime by itself: there are at most as many parts as
/// callers.
pub(crate) fn drop_sums(found: &mut Vec<Located>, notes: &mut Vec<Anomaly>) {
    let folder = |facts: &ProcessFacts| std::path::Path::new(&facts.path).parent().map(std::path::Path::to_path_buf);
    let works: Vec<_> = found
        .iter()
        .map(|located| {
            let facts = &located.found.facts;
            (!facts.is_merged).then(|| Some((facts.format.clone(), folder(facts), work(facts)?))).flatten()
        })
        .collect();
    let callers: Vec<usize> = found.iter().map(|located| located.found.facts.callers).collect();
    let is_sum = |at: usize| {
        let Some(Some((format, folder, own))) = works.get(at) else { return false };
        let others = || {
            let all = works.iter().enumerate().filter(move |(other, _)| *other != at);
            all.filter_map(|(_, work)| work.as_ref()).filter(move |(other, _, _)| other == format)
        };
        let beside = || others().filter(|(_, other, _)| other == folder);
        let most = callers.get(at).copied().unwrap_or_default();
        has_sum(others().map(|(_, _, work)| *work), *own, most)
            || has_sum(beside().map(|(_, _, work)| *work), *own, most)
    };
    let Some(sum) = (0..found.len()).find(|at| is_sum(*at)) else { return };
    let detail =
        "the file has the work of all the others, into which a program merged them; its parts are read instead";
    notes.push(note_about("repeated_format", Severity::Info, &found.remove(sum).found.facts, detail));
}

/// Number of activities of a process, and the sum of their durations; `None` without activities.
fn work(facts: &ProcessFacts) -> Option<(u64, i64)> {
    let (activities, duration_ns) = facts.work_key.as_deref()?.split_once('/')?;
    Some((activities.parse().ok()?, duration_ns.parse().ok()?))
}

/// Minimum number of parts of a merged file: the sum of one part is a copy.
const MIN_PARTS: usize = 2;

/// Whether a whole is the sum of its parts, of which there are at most `most`.
fn has_sum(parts: impl Iterator<Item = (u64, i64)>, whole: (u64, i64), most: usize) -> bool {
    let (mut count, mut sum) = (0, (0_u64, 0_i64));
    for (activities, duration_ns) in parts {
        count += 1;
        sum = (sum.0.saturating_add(activities), sum.1.saturating_add(duration_ns));
    }
    (MIN_PARTS..=most).contains(&count) && sum == whole && whole.1 > 0
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
