//! Notes about a workload: files that are not read or missing, and unknown columns and tables.

use std::path::Path;

use super::counter_file::{CounterFile, stem};
use super::survey::{Survey, databases};
use super::workload::{Workload, pass_name};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};

/// Folder of the requests of passes: each pass has the name of its request.
const REQUESTS: &str = "perfmon";

pub fn note(check_id: &'static str, table_name: &str, count: usize, path: &str, detail: String) -> Anomaly {
    Anomaly::new(check_id, Severity::Info, table_name, count, detail).first(Some(path))
}

/// Reports unknown columns, repeated files, and content that is not read.
pub fn notes(workload: &Workload, survey: &Survey) -> Vec<Anomaly> {
    let unknown = survey.files.iter().filter(|file| !file.header.unknown.is_empty()).map(|surveyed| {
        let names = &surveyed.header.unknown;
        let detail = format!("unknown columns were ignored: {}", names.join(", "));
        note("unknown_column", super::PART, names.len(), &surveyed.file.file().shown, detail)
    });
    let repeated = workload.repeated.iter().map(|path| {
        let detail = "another file of the workload has the same data, which is read instead".to_owned();
        note("repeated_capture", "processes", 1, path, detail)
    });
    let shared = (survey.renumbered > 0).then(|| {
        let detail =
            "processes of one pass have the same dispatch ids; they are numbered in the order of processes".to_owned();
        note("renumbered_dispatches", "kernels", survey.renumbered, &workload.shown, detail)
    });
    unknown.chain(repeated).chain(shared).chain(missing_passes(workload)).chain(unread_tables(survey)).collect()
}

/// Reports that databases hold content that is not read, or that they hold only two tables.
fn unread_tables(survey: &Survey) -> Vec<Anomaly> {
    let of_database = databases(survey).flat_map(|database| {
        let detail = if database.has_base_tables() {
            "a database of a pass is read for counters, dispatches and ranges only; for its API calls and copies, name it \
             outside the folder of sysinfo.csv"
        } else {
            "the database has only counters_collection and regions: API calls, copies and counter instances are missing"
        };
        let reduced = note("reduced_database", super::PART, 1, &database.file.shown, detail.to_owned());
        let log = database.opened().ok().and_then(|opened| opened.note(&database.file.shown));
        std::iter::once(reduced).chain(log)
    });
    of_database.collect()
}

/// Reports passes that were requested, but have no file.
fn missing_passes(workload: &Workload) -> Option<Anomaly> {
    let is_joined = workload.files.iter().all(|file| matches!(file, CounterFile::Csv(_)));
    let folder = workload.files.first().filter(|_| !is_joined)?.file().path.parent()?.join(REQUESTS);
    let is_there = |name: &str| workload.files.iter().any(|file| pass_name(&file.stem()) == name);
    let is_request = |path: &Path| path.extension().is_some_and(|extension| extension == "yaml");
    let mut missing: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_request(path))
        .map(|path| stem(&path.with_extension("")))
        .filter(|name| !is_there(name))
        .collect();
    missing.sort();
    let first = missing.first()?;
    let detail = format!("passes that were requested have no file, the first {first}; their counters are missing");
    let anomaly = note("missing_pass", super::PART, missing.len(), &workload.shown, detail);
    Some(Anomaly { severity: Severity::Warning, ..anomaly })
}
