//! From inputs to the logical trace.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use regex::Regex;

use super::cache::{Cache, Miss};
use super::captures::is_archive;
use super::common::csv::CsvFile;
use super::common::sqlite::Reader;
use super::dataset;
use super::discover::{Candidate, Problem, discover};
use super::error::InputError;
use super::files::{files_of, memory_bytes};
use super::naming::{Promise, promise};
use super::recognise::{Recognised, recognise};
use super::repeated::{drop_other_formats, drop_repeated, note_about};
use super::twins::read_twice;
use super::{att, rocpd, rocprof_compute, rocprofv3_csv, rocprofv3_json, rpd};
use crate::analysis::categories::Categories;
use crate::columns::requests::Request;
use crate::schema::anomaly::{Anomaly, Damage, Severity};
use crate::schema::facts::{ProcessFacts, Role};
use crate::text::causes::with_causes;
use crate::trace::identity::assign;
use crate::trace::jobs::Jobs;
use crate::trace::observer::{Observer, watched};
use crate::trace::source::Source;
use crate::trace::{Member, Trace};

/// What is said of a directory in which nothing was found.
const NO_TRACES: &str = "a directory without traces: rocpd or RPD databases, rocprofv3 JSON or CSV, stats_*.csv of \
     --att, counters of rocprofiler-compute, or a dataset";

/// The check that names links to documents that are gone.
pub const DEAD_LINK: &str = "dead_link";

/// What is said of an archive beside traces.
const ARCHIVE: &str = "an archive, which is not read; unpack it if it holds traces";

/// What is said of an input in which nothing was recorded.
const NO_PROCESS: &str = "a trace without any process; collect again";

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
    /// Columns that will be read soon: a reader that has to look through all of a file may take them on the way.
    pub ahead: Request,
    /// Who reads databases.
    pub reader: Reader,
    /// How many files and processes are read at the same time.
    pub jobs: Jobs,
    /// Where files are looked for that were converted before.
    pub cache: Option<Cache>,
    /// Is told how many files and processes were read.
    pub observer: Option<Arc<dyn Observer>>,
    /// A directory that is no input though it lies in one, as an output does that is written again.
    pub exclude: Option<PathBuf>,
}

/// A process with the files that it is read from.
pub(super) struct Located {
    /// The process.
    pub(super) found: Found,
    files: Arc<[PathBuf]>,
    memory_bytes: u64,
    cached: Option<CachedAs>,
}

/// The role that a process had when it was put into the cache, and where to read it if it has another one now.
struct CachedAs {
    role: Role,
    place: Place,
}

/// What the processes of a capture are read from.
#[derive(Clone)]
enum Place {
    File(Candidate),
    Group(Group),
}

/// Files that are read together.
#[derive(Clone)]
enum Group {
    Csv(rocprofv3_csv::Group),
    Compute(rocprof_compute::Workload),
}

impl Group {
    fn shown(&self) -> &str {
        match self {
            Self::Csv(group) => &group.shown,
            Self::Compute(workload) => &workload.shown,
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Csv(group) => group.files.iter().map(|file| file.path.clone()).collect(),
            Self::Compute(workload) => {
                workload.files.iter().chain(&workload.system).map(|file| file.path.clone()).collect()
            }
        }
    }

    /// Files that are not read, as others hold the same.
    fn repeated(&self) -> &[String] {
        match self {
            Self::Csv(group) => &group.repeated,
            Self::Compute(workload) => &workload.repeated,
        }
    }

    fn find(&self) -> Result<Opened> {
        match self {
            Self::Csv(group) => rocprofv3_csv::find(group),
            Self::Compute(workload) => rocprof_compute::find(workload),
        }
    }
}

/// Processes of the same files.
fn located(processes: Vec<Found>, files: Vec<PathBuf>, cached: Option<(Vec<Role>, Place)>) -> Vec<Located> {
    let files: Arc<[PathBuf]> = files.into();
    let bytes: u64 = files.iter().filter_map(|path| Some(path.metadata().ok()?.len())).sum();
    let share = bytes / (processes.len() as u64).max(1);
    let locate = |(at, found): (usize, Found)| {
        let by_size = || memory_bytes(&found.facts.format, &files, share);
        let memory_bytes = found.source.memory_bytes().unwrap_or_else(by_size);
        let role = cached.as_ref().and_then(|(roles, place)| Some((*roles.get(at)?, place.clone())));
        let cached = role.map(|(role, place)| CachedAs { role, place });
        Located { found, files: Arc::clone(&files), memory_bytes, cached }
    };
    processes.into_iter().enumerate().map(locate).collect()
}

/// What is in a file if it is a capture by itself, and else what it is.
struct Looked {
    other: Option<Recognised>,
    opened: Option<Result<Opened>>,
    kept: Kept,
}

/// What the cache has of a capture.
enum Kept {
    /// Its processes, which had these roles.
    Here(Vec<Role>),
    /// Nothing yet; the entry belongs there.
    Not(PathBuf),
    /// It cannot be kept.
    Never,
}

/// Looks for a capture in the cache, if there is one.
fn cached(options: &LoadOptions, shown: &str, files: &[PathBuf]) -> (Option<Opened>, Kept) {
    // A file that cannot be read has no entry; its reader will say why.
    let place = options.cache.as_ref().map(|cache| cache.place(shown, files, &options.categories));
    let Some(Ok(entry)) = place else { return (None, Kept::Never) };
    match Cache::open(&entry) {
        Some((opened, roles)) => (Some(opened), Kept::Here(roles)),
        None => (None, Kept::Not(entry)),
    }
}

/// Files of decompressed text, one for each thread that opens files.
type Spools = Mutex<Vec<rocprofv3_json::Spool>>;

fn look(candidate: &Candidate, options: &LoadOptions, spools: &Spools, events: &Arc<rocpd::EventCache>) -> Looked {
    let (path, name) = (&candidate.path, file_name(candidate));
    let shown = shown(candidate);
    let recognised = match &candidate.problem {
        Some(Problem::Lost(reason)) => Recognised::Damaged(reason.clone()),
        Some(Problem::DeadLink(reason)) => Recognised::DeadLink(reason.clone()),
        None => recognise(path),
    };
    let is_file = matches!(
        recognised,
        Recognised::Rocpd(..) | Recognised::RocprofJson | Recognised::Rpd(_) | Recognised::AttStatistics
    );
    let (opened, kept) = if is_file { cached(options, &shown, &files_of(path)) } else { (None, Kept::Never) };
    if let Some(opened) = opened {
        return Looked { other: None, opened: Some(Ok(opened)), kept };
    }
    let opened = match recognised {
        Recognised::Rocpd(file, connection, partitions) => {
            rocpd::find(&file, &connection, &partitions, &shown, &name, options.reader, events)
        }
        Recognised::RocprofJson => {
            let lock = || spools.lock().unwrap_or_else(PoisonError::into_inner);
            let mut spool = lock().pop().unwrap_or_default();
            let opened = rocprofv3_json::find(path, &shown, &name, &mut spool, &options.ahead);
            lock().push(spool);
            opened
        }
        Recognised::Rpd(file) => rpd::find(&file, &shown, &name, options.reader),
        Recognised::AttStatistics => att::find(path, &shown, &name),
        Recognised::Dataset => dataset::find(path, &shown, &options.categories),
        other => return Looked { other: Some(other), opened: None, kept },
    };
    Looked { other: None, opened: Some(opened), kept }
}

/// Finds, recognises and opens all inputs. Files that are no traces are left out as long as one is; those the user
/// named are listed in the damage of the trace.
///
/// # Errors
/// See [`InputError`].
pub fn load(inputs: &[String], options: LoadOptions) -> Result<Trace, InputError> {
    load_with_cache(inputs, options).map(|(trace, _)| trace)
}

/// As [`load`], with the captures that the cache has not.
///
/// # Errors
/// See [`InputError`].
pub fn load_with_cache(inputs: &[String], options: LoadOptions) -> Result<(Trace, Vec<Miss>), InputError> {
    let candidates = discover(inputs, options.exclude.as_deref())?;
    load_candidates(inputs, candidates, options)
}

/// As [`load_with_cache`], of files that were found already.
///
/// # Errors
/// See [`InputError`].
pub fn load_candidates(
    inputs: &[String],
    candidates: Vec<Candidate>,
    options: LoadOptions,
) -> Result<(Trace, Vec<Miss>), InputError> {
    let mut misses: Vec<Miss> = Vec::new();
    let mut found: Vec<Located> = Vec::new();
    let mut notes: Vec<Anomaly> = Vec::new();
    let mut damaged: Vec<(String, String)> = Vec::new();
    let mut inherited: Vec<Damage> = Vec::new();
    let mut others: Vec<(String, String)> = Vec::new();
    let mut unnamed: Vec<(String, String)> = Vec::new();
    let mut dead_links: Vec<(String, String)> = Vec::new();
    let mut lost: Vec<(String, String)> = Vec::new();
    let mut summaries: Vec<(String, String)> = Vec::new();
    let mut csv_files: Vec<CsvFile> = Vec::new();
    let mut compute_files: Vec<CsvFile> = Vec::new();
    let mut systems: Vec<(PathBuf, String, String)> = Vec::new();
    let (spools, events) = (Spools::default(), Arc::<rocpd::EventCache>::default());
    let looked: Vec<Looked> = watched(
        options.observer.as_deref(),
        "files",
        options.jobs,
        &candidates,
        |_| 0,
        |candidate| Ok::<_, InputError>(look(candidate, &options, &spools, &events)),
    )?;
    for (candidate, looked) in candidates.into_iter().zip(looked) {
        let shown = shown(&candidate);
        if let Some(other) = looked.other {
            match other {
                Recognised::Rocpd(..)
                | Recognised::RocprofJson
                | Recognised::Rpd(_)
                | Recognised::AttStatistics
                | Recognised::Dataset => {}
                Recognised::RocprofCsv => {
                    csv_files.push(CsvFile { path: candidate.path.clone(), shown: shown.clone() })
                }
                Recognised::ComputeCounters => {
                    compute_files.push(CsvFile { path: candidate.path.clone(), shown: shown.clone() })
                }
                Recognised::ComputeSystem(reason) if candidate.named => {
                    systems.push((candidate.path.clone(), shown.clone(), reason))
                }
                Recognised::ComputeSystem(_) => {}
                Recognised::CsvSummary(reason) => summaries.push((shown.clone(), reason)),
                Recognised::Other(reason) if candidate.named => others.push((shown.clone(), reason)),
                Recognised::Other(reason) => unnamed.push((shown.clone(), reason)),
                Recognised::Lost(reason) | Recognised::Foreign(reason) | Recognised::OtherJson(reason)
                    if candidate.named =>
                {
                    others.push((shown.clone(), reason))
                }
                Recognised::Lost(_) | Recognised::Foreign(_) | Recognised::OtherJson(_) if is_archive(&candidate) => {
                    unnamed.push((shown.clone(), ARCHIVE.to_owned()))
                }
                Recognised::DeadLink(reason) => dead_links.push((shown.clone(), reason)),
                // Other programs write JSON too, and many files of it.
                Recognised::OtherJson(_) => {}
                Recognised::Foreign(_) if promise(&file_name(&candidate)) == Some(Promise::Csv) => {
                    let reason = "its name is one of a trace, but its header is not known; copy it again or rename it";
                    lost.push((shown.clone(), reason.to_owned()));
                }
                Recognised::Lost(reason) | Recognised::Foreign(reason) => match promise(&file_name(&candidate)) {
                    Some(Promise::Database | Promise::Json | Promise::Csv) => lost.push((shown.clone(), reason)),
                    Some(Promise::Statistics) => {
                        let reason = "named like the statistics of `rocprofv3 --att`, but its header is not known";
                        unnamed.push((shown.clone(), reason.to_owned()));
                    }
                    None => {}
                },
                Recognised::Damaged(reason) => damaged.push((shown.clone(), reason)),
            }
        }
        match looked.opened {
            None => {}
            Some(Ok(opened)) => {
                inherited.extend(opened.damage.iter().cloned());
                if opened.processes.is_empty() {
                    others.push((shown, NO_PROCESS.to_owned()));
                } else {
                    misses.extend(looked.kept.miss(&shown, &opened));
                    notes.extend(opened.notes);
                    let kept = looked.kept.roles().map(|roles| (roles, Place::File(candidate.clone())));
                    found.extend(located(opened.processes, files_of(&candidate.path), kept));
                }
            }
            Some(Err(error)) => damaged.push((shown, with_causes(&error))),
        }
    }
    let is_beside = |path: &Path| compute_files.iter().any(|file| file.path.parent() == path.parent());
    others.extend(systems.into_iter().filter(|(path, ..)| !is_beside(path)).map(|(_, shown, reason)| (shown, reason)));
    let workloads = rocprof_compute::grouped(compute_files).into_iter().map(Group::Compute);
    let groups: Vec<Group> = rocprofv3_csv::grouped(csv_files).into_iter().map(Group::Csv).chain(workloads).collect();
    let opened = options.jobs.run(&groups, |_| 0, |group| Ok::<_, InputError>(look_at_group(group, &options)))?;
    for (group, (opened, kept)) in groups.iter().zip(opened) {
        match opened {
            Ok(opened) if opened.processes.is_empty() => {
                others.push((group.shown().to_owned(), NO_PROCESS.to_owned()));
            }
            Ok(opened) => {
                misses.extend(kept.miss(group.shown(), &opened));
                let kept = kept.roles().map(|roles| (roles, Place::Group(group.clone())));
                found.extend(located(opened.processes, group.files(), kept));
                notes.extend(opened.notes);
                inherited.extend(opened.damage);
            }
            Err(error) => damaged.push((group.shown().to_owned(), with_causes(&error))),
        }
    }
    if found.is_empty() {
        others.extend(summaries);
        if [&damaged, &others, &unnamed, &lost].into_iter().all(Vec::is_empty) {
            let directories = inputs.iter().filter(|input| Path::new(input).is_dir());
            others.extend(directories.map(|path| (path.clone(), NO_TRACES.to_owned())));
        }
        let is_damaged = !damaged.is_empty();
        let reasons = [damaged, others, lost, unnamed, dead_links].concat();
        return Err(if is_damaged { InputError::Damaged { reasons } } else { InputError::NoTrace { reasons } });
    }
    let about = |check_id, severity, files: Vec<(String, String)>| {
        files.into_iter().map(move |(path, detail)| Anomaly {
            check_id,
            severity,
            table_name: "processes".to_owned(),
            count: 1,
            first_key: Some(path),
            detail,
        })
    };
    notes.extend(about("derived_summary", Severity::Info, summaries));
    drop_repeated(&mut found, &mut notes);
    drop_other_formats(&mut found, &mut notes);
    notes.extend(about("skipped_file", Severity::Warning, unnamed));
    notes.extend(about(DEAD_LINK, Severity::Info, dead_links));
    let unreadable = [damaged, others, lost].concat().into_iter();
    let unreadable = unreadable.map(|(path, cause)| Damage { path, part: String::new(), cause });
    let damage = inherited.into_iter().chain(unreadable).collect();
    Ok((assemble(found, notes, damage, options), misses))
}

impl Kept {
    fn miss(&self, shown: &str, opened: &Opened) -> Option<Miss> {
        let Self::Not(entry) = self else { return None };
        let (shown, entry) = (shown.to_owned(), entry.clone());
        // What is missing of a damaged file is found again every time.
        let is_whole = opened.damage.is_empty();
        is_whole.then(|| Miss { shown, processes: opened.processes.len(), entry, notes: opened.notes.clone() })
    }

    fn roles(&self) -> Option<Vec<Role>> {
        if let Self::Here(roles) = self { Some(roles.clone()) } else { None }
    }
}

fn look_at_group(group: &Group, options: &LoadOptions) -> (Result<Opened>, Kept) {
    if !group.repeated().is_empty() {
        // What is said of files that are not read cannot be told from those that are.
        return (group.find(), Kept::Never);
    }
    match cached(options, group.shown(), &group.files()) {
        (Some(opened), kept) => (Ok(opened), kept),
        (None, kept) => (group.find(), kept),
    }
}

/// The process of a capture that another one from the cache stands for.
fn reopened(cached: &Found, place: &Place, options: &LoadOptions) -> Option<Arc<dyn Source>> {
    let opened = match place {
        Place::File(candidate) => look(candidate, options, &Spools::default(), &Arc::default()).opened?,
        Place::Group(group) => group.find(),
    };
    let same = |found: &Found| found.facts == cached.facts;
    opened.ok()?.processes.into_iter().find(same).map(|found| found.source)
}

fn shown(candidate: &Candidate) -> String {
    candidate.path.to_string_lossy().into_owned()
}

pub(super) fn file_name(candidate: &Candidate) -> String {
    candidate.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn assemble(found: Vec<Located>, mut notes: Vec<Anomaly>, damage: Vec<Damage>, mut options: LoadOptions) -> Trace {
    options.cache = None;
    let mut facts: Vec<ProcessFacts> = found.iter().map(|located| located.found.facts.clone()).collect();
    for facts in facts.iter_mut().filter(|facts| facts.end_ns < facts.start_ns && facts.end_ns.is_some()) {
        let detail = "the process ends before it starts; both times count as unknown";
        notes.push(note_about("reversed_process", Severity::Warning, facts, detail));
        (facts.start_ns, facts.end_ns) = (None, None);
    }
    let mut found: Vec<Option<Located>> = found.into_iter().map(Some).collect();
    let assignment = assign(facts, options.rank_from.as_ref());
    let warnings = assignment.warnings.into_iter().map(|detail| (Severity::Warning, detail));
    let about_ranks = warnings.chain(assignment.notes.into_iter().map(|detail| (Severity::Info, detail)));
    notes.extend(about_ranks.map(|(severity, detail)| Anomaly {
        check_id: "rank_assignment",
        severity,
        table_name: "processes".to_owned(),
        count: 1,
        first_key: None,
        detail,
    }));
    let members: Vec<Member> = assignment
        .processes
        .into_iter()
        .filter_map(|(position, process)| {
            let Located { found, files, memory_bytes, cached } = found.get_mut(position)?.take()?;
            // What a process is read for depends on those beside it: a counter pass gives no kernels.
            let other_role = cached.filter(|cached| cached.role != process.role);
            let raw = other_role.and_then(|cached| reopened(&found, &cached.place, &options));
            Some(Member { process, source: raw.unwrap_or(found.source), files, memory_bytes })
        })
        .collect();
    notes.extend(read_twice(&members, &options));
    Trace::new(members, options.categories, options.threads, options.jobs, notes)
        .with_observer(options.observer)
        .opened_with(damage)
}
