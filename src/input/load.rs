//! From inputs to the logical trace.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use rayon::prelude::*;
use regex::Regex;

use super::dataset;
use super::discover::{Candidate, discover};
use super::error::InputError;
use super::recognise::{Recognised, recognise};
use super::twins::read_twice;
use super::{rocpd, rocprofv3_csv, rocprofv3_json, rpd};
use crate::trace::categories::Categories;
use crate::trace::facts::ProcessFacts;
use crate::trace::identity::assign;
use crate::trace::source::{Anomaly, Damage, Severity, Source};
use crate::trace::{Member, Trace};

/// Format of rocpd databases in [`ProcessFacts`].
const ROCPD: &str = "rocpd";

/// What is said of a directory in which nothing was found.
const NO_TRACES: &str = "a directory without traces: rocpd or RPD databases, rocprofv3 JSON or CSV, or a dataset";

/// A process found in an input.
pub struct Found {
    /// What the input says about it.
    pub facts: ProcessFacts,
    /// Reads its tables.
    pub source: Arc<dyn Source>,
}

/// What a file holds.
pub struct Opened {
    /// Its processes.
    pub processes: Vec<Found>,
    /// Anomalies of the file as a whole.
    pub notes: Vec<Anomaly>,
    /// Parts of it that cannot be read.
    pub damage: Vec<Damage>,
}

/// How to read inputs.
pub struct LoadOptions {
    /// Takes the rank from the path.
    pub rank_from: Option<Regex>,
    /// Category rules.
    pub categories: Categories,
    /// Threads one read may use.
    pub threads: usize,
}

/// Finds, recognises and opens all inputs. Files that are no traces are left out as long as one is; those the user
/// named are listed in the damage of the trace.
///
/// # Errors
/// See [`InputError`].
pub fn load(inputs: &[String], options: LoadOptions) -> Result<Trace, InputError> {
    let mut found: Vec<Found> = Vec::new();
    let mut notes: Vec<Anomaly> = Vec::new();
    let mut damaged: Vec<(String, String)> = Vec::new();
    let mut inherited: Vec<Damage> = Vec::new();
    let mut others: Vec<(String, String)> = Vec::new();
    let mut unnamed: Vec<(String, String)> = Vec::new();
    let mut lost: Vec<(String, String)> = Vec::new();
    let mut spool = rocprofv3_json::Spool::default();
    let mut summaries: Vec<(String, String)> = Vec::new();
    let mut csv_files: Vec<rocprofv3_csv::CsvFile> = Vec::new();
    for candidate in discover(inputs)? {
        let shown = candidate.path.to_string_lossy().into_owned();
        let opened = match recognise(&candidate.path) {
            Recognised::Rocpd(file) => rocpd::find(&file, &shown, &file_name(&candidate)).map(|opened| {
                inherited.extend(opened.damage);
                (opened.processes, opened.notes)
            }),
            Recognised::RocprofJson => {
                rocprofv3_json::find(&candidate.path, &shown, &file_name(&candidate), &mut spool).map(|opened| {
                    inherited.extend(opened.damage);
                    (opened.processes, opened.notes)
                })
            }
            Recognised::Rpd(file) => rpd::find(&file, &shown, &file_name(&candidate)).map(|opened| {
                inherited.extend(opened.damage);
                (opened.processes, opened.notes)
            }),
            Recognised::Dataset => dataset::find(&candidate.path, &options.categories).map(|found| {
                let (processes, damage, selection) = found;
                inherited.extend(damage);
                (processes, note_selection(&shown, &selection).into_iter().collect())
            }),
            Recognised::RocprofCsv => {
                csv_files.push(rocprofv3_csv::CsvFile { path: candidate.path, shown });
                continue;
            }
            Recognised::CsvSummary(reason) => {
                summaries.push((shown, reason));
                continue;
            }
            Recognised::Other(reason) => {
                if candidate.named {
                    others.push((shown, reason))
                } else {
                    unnamed.push((shown, reason))
                }
                continue;
            }
            Recognised::Empty(reason) => {
                if candidate.named {
                    others.push((shown, reason));
                } else if is_named_like(
                    &candidate,
                    &[".db", ".db.gz", ".rpd", ".rpd.gz", "_results.json", "_results.json.gz"],
                ) || rocprofv3_csv::is_named_like_capture(&file_name(&candidate))
                {
                    lost.push((shown, reason));
                }
                continue;
            }
            Recognised::Foreign(reason) => {
                // Other programs write JSON too, and many files of it.
                if candidate.named {
                    others.push((shown, reason));
                } else if is_named_like(&candidate, &[".db", ".db.gz"]) || is_packed_trace(&candidate) {
                    lost.push((shown, reason));
                } else if rocprofv3_csv::is_named_like_capture(&file_name(&candidate)) {
                    unnamed.push((shown, "named like rocprofv3 CSV, but its header is not known".to_owned()));
                }
                continue;
            }
            Recognised::Damaged(reason) => {
                damaged.push((shown, reason));
                continue;
            }
        };
        match opened {
            Ok((processes, _)) if processes.is_empty() => {
                others.push((shown, "a trace without any process; collect again".to_owned()));
            }
            Ok((processes, of_file)) => {
                found.extend(processes);
                notes.extend(of_file);
            }
            Err(error) => damaged.push((shown, format!("{error:#}"))),
        }
    }
    let groups = rocprofv3_csv::grouped(csv_files);
    let opened: Vec<_> = groups.par_iter().map(rocprofv3_csv::find).collect();
    for (group, opened) in groups.iter().zip(opened) {
        match opened {
            Ok(opened) => {
                found.extend(opened.processes);
                notes.extend(opened.notes);
                inherited.extend(opened.damage);
            }
            Err(error) => damaged.push((group.shown.clone(), format!("{error:#}"))),
        }
    }
    if found.is_empty() {
        others.extend(summaries);
        if [&damaged, &others, &unnamed, &lost].into_iter().all(Vec::is_empty) {
            let directories = inputs.iter().filter(|input| Path::new(input).is_dir());
            others.extend(directories.map(|path| (path.clone(), NO_TRACES.to_owned())));
        }
        return Err(match (damaged.is_empty(), others.is_empty() && unnamed.is_empty() && lost.is_empty()) {
            (false, true) => InputError::Damaged { reasons: damaged },
            _ => InputError::NoTrace { reasons: [damaged, others, lost, unnamed].concat() },
        });
    }
    notes.extend(summaries.into_iter().map(|(path, reason)| Anomaly {
        check_id: "derived_summary",
        severity: Severity::Info,
        table_name: "processes".to_owned(),
        count: 1,
        first_key: Some(path),
        detail: reason,
    }));
    drop_repeated(&mut found, &mut notes);
    drop_other_formats(&mut found, &mut notes);
    notes.extend(unnamed.into_iter().map(|(path, reason)| Anomaly {
        check_id: "skipped_file",
        severity: Severity::Warning,
        table_name: "processes".to_owned(),
        count: 1,
        first_key: Some(path),
        detail: reason,
    }));
    let trace = assemble(found, notes, [damaged, others, lost].concat(), options);
    trace.report_damage(inherited);
    Ok(trace)
}

/// Says that a dataset holds a part of a trace.
fn note_selection(path: &str, selection: &[String]) -> Option<Anomaly> {
    (!selection.is_empty()).then(|| Anomaly {
        check_id: "selected_dataset",
        severity: Severity::Warning,
        table_name: "processes".to_owned(),
        count: 1,
        first_key: Some(path.to_owned()),
        detail: format!("the dataset holds what {} chose, not the whole trace", selection.join(" ")),
    })
}

/// Whether a file in a directory was meant to be a trace: one that holds none may be a rank that was lost.
fn is_named_like(candidate: &Candidate, endings: &[&str]) -> bool {
    let name = file_name(candidate);
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Whether a file in a directory is named like a trace in an archive that is not read.
fn is_packed_trace(candidate: &Candidate) -> bool {
    let name = file_name(candidate);
    let packed =
        ["zst", "xz", "bz2", "zip"].into_iter().filter_map(|ending| name.strip_suffix(ending)?.strip_suffix('.'));
    packed.into_iter().any(|name| [".db", ".rpd", "_results.json"].iter().any(|ending| name.ends_with(ending)))
}

fn file_name(candidate: &Candidate) -> String {
    candidate.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Keeps the first of captures given twice, as when a file was copied.
fn drop_repeated(found: &mut Vec<Found>, notes: &mut Vec<Anomaly>) {
    let mut seen: Vec<ProcessFacts> = Vec::new();
    found.retain(|candidate| {
        let facts = &candidate.facts;
        let repeated = seen.iter().any(|other| is_same_capture(other, facts));
        if repeated {
            let detail = "the same capture was given more than once; it is read once";
            notes.push(note_left_out("repeated_capture", Severity::Warning, facts, detail));
        } else {
            seen.push(facts.clone());
        }
        !repeated
    });
}

fn is_same_capture(one: &ProcessFacts, other: &ProcessFacts) -> bool {
    let same_process = (one.pid, one.start_ns, &one.machine_key) == (other.pid, other.start_ns, &other.machine_key);
    let same_content = match (&one.guid, &other.guid) {
        (Some(one), Some(other)) => one == other,
        (None, None) => !one.content_hash.is_empty() && one.content_hash == other.content_hash,
        _ => false,
    };
    same_process && same_content && one.format == other.format
}

/// Leaves out the JSON of a process whose rocpd database was given too, and the CSV of one that was given in either of
/// those: rocprofv3 can write all of them side by side.
fn drop_other_formats(found: &mut Vec<Found>, notes: &mut Vec<Anomaly>) {
    let richer = |format: &str| format == ROCPD || format == rocprofv3_json::FORMAT;
    let known: Vec<ProcessFacts> =
        found.iter().filter(|found| richer(&found.facts.format)).map(|found| found.facts.clone()).collect();
    found.retain(|candidate| {
        let facts = &candidate.facts;
        let other = if facts.format == rocprofv3_json::FORMAT && facts.pid >= 0 && facts.start_ns.is_some() {
            known.iter().filter(|other| other.format == ROCPD).find(|other| {
                (other.pid, other.start_ns, &other.machine_key) == (facts.pid, facts.start_ns, &facts.machine_key)
            })
        } else if facts.format == rocprofv3_csv::FORMAT {
            known.iter().find(|other| rocprofv3_csv::is_same_run(facts, other))
        } else {
            None
        };
        if let Some(other) = other {
            let format = if other.format == ROCPD { "a rocpd database" } else { "rocprofv3 JSON" };
            let detail = format!("the same process was given as {format} too, which is read instead");
            notes.push(note_left_out("repeated_format", Severity::Info, facts, &detail));
        }
        other.is_none()
    });
}

fn note_left_out(check_id: &'static str, severity: Severity, facts: &ProcessFacts, detail: &str) -> Anomaly {
    Anomaly {
        check_id,
        severity,
        table_name: "processes".to_owned(),
        count: 1,
        first_key: Some(facts.path.clone()),
        detail: detail.to_owned(),
    }
}

fn assemble(
    found: Vec<Found>,
    mut notes: Vec<Anomaly>,
    unreadable: Vec<(String, String)>,
    options: LoadOptions,
) -> Trace {
    let (facts, mut sources): (Vec<ProcessFacts>, Vec<Option<Arc<dyn Source>>>) =
        found.into_iter().map(|found| (found.facts, Some(found.source))).unzip();
    let assignment = assign(facts, options.rank_from.as_ref());
    notes.extend(assignment.warnings.into_iter().map(|detail| Anomaly {
        check_id: "rank_assignment",
        severity: Severity::Warning,
        table_name: "processes".to_owned(),
        count: 1,
        first_key: None,
        detail,
    }));
    let members: Vec<Member> = assignment
        .processes
        .into_iter()
        .filter_map(|(position, process)| Some(Member { process, source: sources.get_mut(position)?.take()? }))
        .collect();
    notes.extend(read_twice(&members, &options));
    let trace = Trace::new(members, options.categories, options.threads, notes);
    trace.report_damage(unreadable.into_iter().map(|(path, cause)| Damage { path, part: String::new(), cause }));
    trace
}
