//! From inputs to the logical trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use super::cache::Miss;
use super::common::csv::CsvFile;
use super::duplicate_processes::read_twice;
use super::error::InputError;
use super::file_kind::{CachedCapture, CaptureOrigin, FileKind, inspect_group, look};
use super::files::memory_bytes;
use super::load_options::LoadOptions;
use super::perfetto::OtherProgram;
use super::recognition::discover::{Candidate, discover};
use super::recognition::format::{Opened, ProcessInput, Shared};
use super::recognition::formats::FORMATS;
use super::recognition::skipped::{Class, Skipped, note_of_other_json};
use super::recognition::unread_content::{SkipReason, UnreadContent};
use super::repeated::{drop_merged, drop_other_formats, drop_repeated, drop_sums, note_about};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::facts::{ProcessFacts, Role};
use wavesieve_model::text::causes::with_causes;
use wavesieve_tables::trace::identities::assign;
use wavesieve_tables::trace::observer::watched;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// The message about a directory in which nothing was found.
const NO_TRACES: &str = "a directory without traces: rocpd or RPD databases, rocprofv3 JSON or CSV, PyTorch or Perfetto traces, \
     stats_*.csv of --att, counters of rocprofiler-compute, or a dataset";

/// The message about an input in which nothing was recorded.
const NO_PROCESS: &str = "a trace without any process; collect again";

/// A process with the files that it is read from.
pub(super) struct Located {
    pub(super) found: ProcessInput,
    files: Arc<[PathBuf]>,
    memory_bytes: u64,
    cached: Option<CachedAs>,
}

/// The role that a process had when it was cached, and the origin to read it from if its role is now different.
struct CachedAs {
    role: Role,
    place: CaptureOrigin,
}

/// Processes of the same files.
fn located(processes: Vec<ProcessInput>, place: &CaptureOrigin, roles: Option<&[Role]>) -> Vec<Located> {
    let files: Arc<[PathBuf]> = place.files().into();
    let bytes: u64 = files.iter().filter_map(|path| Some(path.metadata().ok()?.len())).sum();
    let share = bytes / (processes.len() as u64).max(1);
    let locate = |(at, found): (usize, ProcessInput)| {
        let by_size = || memory_bytes(&found.facts.format, &files, share);
        let memory_bytes = found.source.memory_bytes().unwrap_or_else(by_size);
        let role = roles.and_then(|roles| roles.get(at));
        let cached = role.map(|role| CachedAs { role: *role, place: place.clone() });
        Located { found, files: Arc::clone(&files), memory_bytes, cached }
    };
    processes.into_iter().enumerate().map(locate).collect()
}

/// Finds, recognizes and opens all inputs. If any input is a trace, other files are left out. Files that the user named are then listed in
/// the damage of the trace.
///
/// # Errors
/// See `InputError`.
pub fn load(inputs: &[String], options: LoadOptions) -> Result<Trace, InputError> {
    load_with_cache(inputs, options).map(|(trace, _)| trace)
}

/// Works like [`load`], and also returns the captures that the cache does not hold.
///
/// # Errors
/// See [`InputError`].
pub fn load_with_cache(inputs: &[String], options: LoadOptions) -> Result<(Trace, Vec<Miss>), InputError> {
    let candidates = discover(inputs, options.exclude.as_deref())?;
    load_candidates(inputs, candidates, options)
}

/// Works like [`load_with_cache`], on files that were found already.
///
/// # Errors
/// See [`InputError`].
pub fn load_candidates(
    inputs: &[String],
    candidates: Vec<Candidate>,
    options: LoadOptions,
) -> Result<(Trace, Vec<Miss>), InputError> {
    let shared = Shared::default();
    let looked = watched(
        options.observer.as_deref(),
        "files",
        options.jobs,
        false,
        &candidates,
        |_| 0,
        |candidate| Ok::<_, InputError>(look(candidate, &options, &shared)),
    )?;
    let mut loaded = Loaded::default();
    let mut parts: Vec<(usize, CsvFile)> = Vec::new();
    let mut beside: Vec<(usize, Candidate, UnreadContent)> = Vec::new();
    for (candidate, looked) in candidates.into_iter().zip(looked) {
        match looked {
            FileKind::Capture(opened, kept) => loaded.take(opened, &kept, CaptureOrigin::File(candidate)),
            FileKind::Part(format) => parts.push((format, CsvFile { shown: candidate.shown(), path: candidate.path })),
            FileKind::Unread(format, unread) => beside.push((format, candidate, unread)),
            FileKind::UnreadContent(unread) => loaded.skipped.extend(Skipped::from_candidate(&candidate, unread)),
        }
    }
    for (format, candidate, unread) in beside.into_iter().filter(|(_, candidate, _)| candidate.named) {
        let is_in_same_folder =
            |(other, part): &(usize, CsvFile)| *other == format && part.path.parent() == candidate.path.parent();
        if !parts.iter().any(is_in_same_folder) {
            loaded.skipped.extend(Skipped::from_candidate(&candidate, unread));
        }
    }
    let files_of = |at| parts.iter().filter(move |(format, _)| *format == at).map(|(_, file)| file.clone()).collect();
    let groups: Vec<_> = FORMATS.iter().enumerate().flat_map(|(at, format)| format.grouped(files_of(at))).collect();
    let opened = options.jobs.run(&groups, |_| 0, |group| Ok::<_, InputError>(inspect_group(&**group, &options)))?;
    for (group, (opened, kept)) in groups.into_iter().zip(opened) {
        loaded.take(opened, &kept, CaptureOrigin::Group(group));
    }
    loaded.into_trace(inputs, options)
}

/// Processes and notes that were loaded from the inputs.
#[derive(Default)]
struct Loaded {
    found: Vec<Located>,
    notes: Vec<Anomaly>,
    damage: Vec<Damage>,
    skipped: Vec<Skipped>,
    misses: Vec<Miss>,
}

impl Loaded {
    /// Adds the content of a capture.
    fn take(&mut self, opened: Result<Opened>, kept: &CachedCapture, place: CaptureOrigin) {
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                let skipped = match (&place, error.downcast_ref::<OtherProgram>()) {
                    (CaptureOrigin::File(candidate), Some(other)) => {
                        Skipped::from_candidate(candidate, UnreadContent::new(SkipReason::Other, other.to_string()))
                    }
                    _ => Some(Skipped::new(place.shown(), with_causes(&error), Class::Damaged)),
                };
                return self.skipped.extend(skipped);
            }
        };
        let is_empty = opened.processes.is_empty();
        if !is_empty {
            self.misses.extend(kept.miss(&place.shown(), &opened));
        }
        // For files without processes, this is enough.
        if !is_empty || matches!(place, CaptureOrigin::File(_)) {
            self.damage.extend(opened.damage);
        }
        if is_empty {
            return self.skipped.push(Skipped::new(place.shown(), NO_PROCESS, Class::Named));
        }
        self.notes.extend(opened.notes);
        self.found.extend(located(opened.processes, &place, kept.roles()));
    }

    /// The trace of all processes, with notes and damage that name what was skipped.
    fn into_trace(mut self, inputs: &[String], options: LoadOptions) -> Result<(Trace, Vec<Miss>), InputError> {
        self.skipped.sort_by_key(|skipped| skipped.class);
        if self.found.is_empty() {
            return Err(nothing_found(inputs, self.skipped));
        }
        let (mut found, mut notes, mut damage) = (self.found, self.notes, self.damage);
        let noted = |is_noted: fn(Class) -> bool| {
            self.skipped.iter().filter(move |skipped| is_noted(skipped.class)).filter_map(Skipped::note)
        };
        notes.extend(noted(|class| class == Class::Summary));
        drop_repeated(&mut found, &mut notes, &options);
        drop_merged(&mut found, &mut notes);
        drop_sums(&mut found, &mut notes);
        drop_other_formats(&mut found, &mut notes);
        notes.extend(noted(|class| class != Class::Summary));
        notes.extend(note_of_other_json(&self.skipped));
        let unreadable = self.skipped.iter().filter(|skipped| skipped.is_damage());
        damage.extend(unreadable.map(|skipped| Damage {
            path: skipped.path.clone(),
            part: String::new(),
            cause: skipped.reason.clone(),
        }));
        let mut words = inputs.to_vec();
        words.extend(options.rank_from.iter().flat_map(|pattern| ["--rank-from".to_owned(), pattern.to_string()]));
        Ok((assemble(found, notes, damage, options).named(words), self.misses))
    }
}

/// The error if no trace was found.
fn nothing_found(inputs: &[String], mut skipped: Vec<Skipped>) -> InputError {
    skipped.retain(|skipped| skipped.class != Class::OtherJson);
    if skipped.iter().all(|skipped| skipped.class == Class::DeadLink) {
        let directories = inputs.iter().filter(|input| Path::new(input).is_dir());
        skipped.splice(0..0, directories.map(|path| Skipped::new(path, NO_TRACES, Class::Named)));
    }
    let is_damaged = skipped.iter().any(|skipped| skipped.class == Class::Damaged);
    let reasons = skipped.into_iter().map(|skipped| (skipped.path, skipped.reason)).collect();
    if is_damaged { InputError::Damaged { reasons } } else { InputError::NoTrace { reasons } }
}

fn assemble(found: Vec<Located>, mut notes: Vec<Anomaly>, damage: Vec<Damage>, mut options: LoadOptions) -> Trace {
    options.cache = None;
    let mut facts: Vec<ProcessFacts> = found.iter().map(|located| located.found.facts.clone()).collect();
    for facts in facts.iter_mut().filter(|facts| facts.end_ns < facts.start_ns && facts.end_ns.is_some()) {
        let detail = "the process ends before it starts; both times count as unknown";
        notes.push(note_about("reversed_process", Severity::Warning, facts, detail));
        (facts.start_ns, facts.end_ns) = (None, None);
    }
    if options.ignores_process_times {
        facts.iter_mut().for_each(|facts| (facts.start_ns, facts.end_ns) = (None, None));
    }
    let mut found: Vec<Option<Located>> = found.into_iter().map(Some).collect();
    let assignment = assign(facts, options.rank_from.as_ref());
    let warnings = assignment.warnings.into_iter().map(|detail| (Severity::Warning, detail));
    let about_ranks = warnings.chain(assignment.notes.into_iter().map(|detail| (Severity::Info, detail)));
    notes.extend(
        about_ranks.map(|(severity, detail)| Anomaly::new("rank_assignment", severity, "processes", 1, detail)),
    );
    let members: Vec<TraceProcess> = assignment
        .processes
        .into_iter()
        .filter_map(|(position, process)| {
            let Located { found, files, memory_bytes, cached } = found.get_mut(position)?.take()?;
            // The role of a process depends on the other processes: a counter pass gives no kernels.
            let other_role = cached.filter(|cached| cached.role != process.role);
            let raw = other_role.and_then(|cached| cached.place.reopened(&found, &options));
            Some(TraceProcess { process, source: raw.unwrap_or(found.source), files, memory_bytes })
        })
        .collect();
    notes.extend(read_twice(&members, &options));
    Trace::new(members, options.categories, options.threads, options.jobs, notes)
        .with_observer(options.observer)
        .opened_with(damage)
}

/// Opens files, directories and glob patterns as one trace over all their ranks, as the program does without options.
///
/// # Errors
/// See [`InputError`].
pub fn open<S: Into<String>>(inputs: impl IntoIterator<Item = S>) -> Result<Trace, InputError> {
    let inputs: Vec<String> = inputs.into_iter().map(Into::into).collect();
    load(&inputs, LoadOptions::builtin())
}
