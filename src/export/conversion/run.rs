//! Converts what has to be converted, takes over the rest, and publishes both at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

use super::partial::Partial;
use super::record::{CONVERSION, Conversion, Earlier, Key, Record, identity, inputs};
use super::recording_source::RecordingSource;
use super::target::refuse_foreign;
use crate::derive;
use crate::export::convert::{Observer, TableFormat, Written};
use crate::export::convert_process::{kept_tables, write_process};
use crate::export::dataset::{self, Kept, Layout, Place, companions, manifest, write_files};
use crate::input::{FileIdentity, MANIFEST, StoredFile, StoredProcess, StoredTable, part_path};
use crate::schema::Table;
use crate::trace::{Trace, TraceProcess};

/// The tables of a dataset by name.
type Tables = BTreeMap<String, StoredTable>;

/// Where to write, and what of an earlier conversion may be used.
pub(crate) struct Plan<'a> {
    /// Directory to write.
    pub output: &'a Path,
    /// Format of the files.
    pub format: TableFormat,
    /// Tables made on demand that are kept too, in the order of their declaration.
    pub with: Vec<&'static Table>,
    /// Convert everything and replace whatever conversion is there.
    pub overwrite: bool,
    /// Bytes of a file that processes share.
    pub pack_bytes: u64,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outcome {
    /// What the output holds.
    pub written: Written,
    /// Processes that were taken over.
    pub reused: usize,
    /// Processes that were converted.
    pub converted: usize,
    /// Whether the output was left as it is, because it is what would have been written.
    pub up_to_date: bool,
}

/// Why an output cannot be written or brought up to date.
#[derive(Debug, Error)]
pub(crate) enum Refused {
    /// It is a file.
    #[error("{0} is a file; name a directory")]
    File(String),
    /// It is neither a file nor a directory.
    #[error("{0} is no directory; name one")]
    NoDirectory(String),
    /// Something else is there.
    #[error("{0} is not empty; name another directory")]
    NotEmpty(String),
    /// A dataset is there, without a record of its conversion.
    #[error("{0} holds a dataset and not what it was made from; name another directory or add --overwrite")]
    NoConversion(String),
    /// Something is in it that no conversion wrote, and that would be lost.
    #[error("{0} holds {1}, which convert did not write; move it elsewhere or name another directory")]
    Foreign(String, String),
    /// It was made from something else.
    #[error("{0} was converted from other inputs; name another directory or add --overwrite")]
    OtherInputs(String),
    /// It was made in another way.
    #[error("{0} was converted with other filters or to another format; name another directory or add --overwrite")]
    OtherKind(String),
}

/// A process with what decides whether it can be taken over.
struct Candidate<'a> {
    member: &'a TraceProcess,
    identity: String,
    inputs: Vec<FileIdentity>,
    /// Whether something of it is known to be damaged.
    damaged: bool,
}

impl Candidate<'_> {
    fn is_as_in(&self, record: &Record) -> bool {
        !self.damaged && self.identity == record.identity && self.inputs == record.inputs
    }

    fn number(&self) -> i64 {
        self.member.process.process
    }
}

/// Writes every table of every process to a directory, which appears or changes when everything is written.
///
/// # Errors
/// [`Refused`], or when a file cannot be written. Processes that were finished until then are kept for the next time.
pub(crate) fn convert(trace: &Trace, plan: &Plan<'_>, observer: &dyn Observer) -> Result<Outcome> {
    let key = Key::new(trace, plan.format, &plan.with);
    let known_damage: Vec<String> = trace.damage().into_iter().map(|damage| damage.path).collect();
    let describe = |member: &TraceProcess| -> Result<(String, Vec<FileIdentity>)> {
        Ok((identity(trace, member)?, inputs(member)?))
    };
    let mut described = trace.jobs().run(trace.members(), |_| 0, describe)?;
    if plan.with.iter().any(|table| derive::is_joint(table.name)) {
        // Some rows of a process depend on all processes.
        let all = xxh3_128(format!("{described:?}").as_bytes());
        described.iter_mut().for_each(|(identity, _)| identity.push_str(&format!(" {all:032x}")));
    }
    let candidates: Vec<Candidate<'_>> = trace
        .members()
        .iter()
        .zip(described)
        .map(|(member, (identity, inputs))| {
            // A damaged part of a dataset counts for all ranks of it: they are written again.
            let is_in = |file: &PathBuf, path: &Path| {
                let dataset = file.parent().filter(|_| file.ends_with(MANIFEST));
                file == path || dataset.is_some_and(|dataset| path.starts_with(dataset))
            };
            let is_of = |path: &String| {
                *path == member.process.facts.path || member.files.iter().any(|file| is_in(file, Path::new(path)))
            };
            Candidate { member, identity, inputs, damaged: known_damage.iter().any(is_of) }
        })
        .collect();
    let earlier = if plan.overwrite { None } else { earlier(plan, &key, &candidates)? };
    let partial = Partial::open(plan.output, &key, plan.overwrite)?;
    let finished = partial.finished();
    let mut taken: BTreeMap<i64, Record> = BTreeMap::new();
    let mut here: BTreeMap<i64, Record> = BTreeMap::new();
    for candidate in &candidates {
        let number = candidate.number();
        if let Some(record) = finished.get(&number).filter(|record| candidate.is_as_in(record)) {
            here.insert(number, record.clone());
        } else if let Some((_, records)) = &earlier
            && let Some(record) = records.get(&number)
            && candidate.is_as_in(record)
        {
            taken.insert(number, record.clone());
        }
    }
    let earlier = earlier.map(|(earlier, _)| earlier);
    let unchanged = taken.len() == candidates.len();
    if unchanged && is_up_to_date(trace, plan, &key, &taken, earlier.as_ref())? {
        let files = earlier.and_then(|earlier| earlier.dataset);
        let files = files.map(|(manifest, _)| manifest.tables);
        partial.discard()?;
        return Ok(Outcome { reused: taken.len(), up_to_date: true, ..outcome(taken.values(), files.as_ref()) });
    }
    partial.keep_only(&here)?;
    let reused = here.len() + taken.len();
    let is_missing = |candidate: &&Candidate<'_>| {
        !here.contains_key(&candidate.number()) && !taken.contains_key(&candidate.number())
    };
    let missing: Vec<&Candidate<'_>> = candidates.iter().filter(is_missing).collect();
    for candidate in candidates.iter().filter(|candidate| !is_missing(candidate)) {
        observer.reused(candidate.member);
    }
    let write = |candidate: &&Candidate<'_>| write_one(trace, candidate, &partial, plan, observer);
    let written = trace.jobs().run(&missing, |candidate| candidate.member.memory_bytes, write);
    let written = match written {
        Ok(written) => written,
        Err(error) => return Err(interrupted(error, partial)),
    };
    let converted = written.len();
    let mut damaged: BTreeMap<i64, Record> = BTreeMap::new();
    for (candidate, (record, is_damaged)) in missing.iter().zip(written) {
        if is_damaged { &mut damaged } else { &mut here }.insert(candidate.number(), record);
    }
    let whole = here.values().chain(taken.values()).map(|record| (record.number, record.clone()));
    let whole: BTreeMap<i64, Record> = whole.collect();
    let conversion = Conversion { key, processes: whole.into_values().collect() };
    let (place, tables) = match plan.format {
        TableFormat::Parquet => {
            let own = here.values().chain(damaged.values());
            put_together(plan, &partial, earlier.as_ref(), own, taken.values())?
        }
        _ => {
            for record in taken.values() {
                partial.take(record, plan.output)?;
            }
            (partial.tables(), None)
        }
    };
    let all: BTreeMap<i64, &Record> =
        here.values().chain(taken.values()).chain(damaged.values()).map(|record| (record.number, record)).collect();
    let total = outcome(all.values().copied(), tables.as_ref());
    write_files(&place, &closing(trace, plan, &conversion, all.values().copied(), tables)?)?;
    // Others may have put something there meanwhile.
    refuse_foreign(plan.output)?;
    partial.publish(&place)?;
    Ok(Outcome { reused, converted, ..total })
}

/// Puts the row groups of all processes into the files of a dataset; returns where it is, and its tables.
fn put_together<'a>(
    plan: &Plan<'_>,
    partial: &Partial,
    earlier: Option<&Earlier>,
    own: impl Iterator<Item = &'a Record>,
    taken: impl Iterator<Item = &'a Record>,
) -> Result<(PathBuf, Option<Tables>)> {
    let place = partial.dataset()?;
    let own = own.map(|record| (record, Place::Own));
    let taken = taken.map(|record| {
        let kept = earlier.and_then(|earlier| earlier.place(record.number));
        (record, kept.map_or(Place::Own, Place::Kept))
    });
    let mut processes: Vec<Kept<'_>> =
        own.chain(taken).filter_map(|(record, place)| Some(Kept { stored: record.process.as_ref()?, place })).collect();
    processes.sort_by_key(|kept| kept.stored.process);
    let files = earlier.and_then(|earlier| earlier.dataset.as_ref()).map(|(_, files)| files);
    let layout = Layout { processes: &partial.tables(), earlier: files, pack_bytes: plan.pack_bytes };
    let kept: Vec<&'static Table> = kept_tables(&plan.with).collect();
    let tables = dataset::write(&place, &layout, &kept, &processes)?;
    Ok((place, Some(tables)))
}

/// The processes of the conversion that is there, if it can be brought up to date.
fn earlier(
    plan: &Plan<'_>,
    key: &Key,
    candidates: &[Candidate<'_>],
) -> Result<Option<(Earlier, BTreeMap<i64, Record>)>> {
    let Some(earlier) = Earlier::read(plan.output) else { return Ok(None) };
    let (conversion, shown) = (&earlier.conversion, || plan.output.display().to_string());
    if (conversion.key.format, &conversion.key.selection) != (key.format, &key.selection) {
        return Err(Refused::OtherKind(shown()).into());
    }
    let inputs: Vec<Vec<FileIdentity>> = candidates.iter().map(|candidate| candidate.inputs.clone()).collect();
    if !conversion.shares_input(&inputs) {
        return Err(Refused::OtherInputs(shown()).into());
    }
    // What another version or other rules made is converted again as a whole.
    let records = if conversion.key == *key { earlier.whole(plan.output) } else { BTreeMap::new() };
    Ok(Some((earlier, records)))
}

/// Writes the tables of a process, and whether it was damaged.
fn write_one(
    trace: &Trace,
    candidate: &Candidate<'_>,
    partial: &Partial,
    plan: &Plan<'_>,
    observer: &dyn Observer,
) -> Result<(Record, bool)> {
    let (member, recording) = RecordingSource::wrap(candidate.member);
    let directory = partial.tables();
    let write = || write_process(trace, &member, &directory, plan.format, &plan.with, observer);
    let (process, written) = match write() {
        // What is stored may turn out to be damaged while it is read: then the rest is written.
        Err(_) if !member.source.damage_of_content().is_empty() => {
            trace.report_damage(member.source.damage_of_content().iter().cloned());
            write()?
        }
        written => written?,
    };
    let mut parts = BTreeMap::new();
    for (table, bytes) in process.bytes.iter().filter(|(_, bytes)| **bytes > 0) {
        let path = part_path(table, process.rank, process.process).with_extension(plan.format.extension());
        parts.insert(path.to_string_lossy().into_owned(), *bytes);
    }
    let (identity, inputs) = (candidate.identity.clone(), candidate.inputs.clone());
    let (rows, events, number) = (written.rows, written.events, candidate.number());
    let record = Record { identity, inputs, number, parts, rows, events, process: Some(process) };
    let damaged = candidate.damaged || recording.report().damaged;
    if !damaged {
        partial.finish(candidate.number(), &record)?;
    }
    Ok((record, damaged))
}

/// Keeps what is finished for the next time, and nothing else.
fn interrupted(error: anyhow::Error, partial: Partial) -> anyhow::Error {
    let finished = partial.finished();
    if finished.is_empty() {
        return match partial.discard() {
            Ok(()) => error,
            Err(other) => error.context(format!("{other:#}")),
        };
    }
    let (count, path) = (finished.len(), partial.path().display().to_string());
    match partial.keep_only(&finished) {
        Ok(()) => {
            let noun = if count == 1 { "process is" } else { "processes are" };
            error.context(format!("{count} finished {noun} kept in {path} for the same command again"))
        }
        Err(other) => error.context(format!("{other:#}")),
    }
}

fn outcome<'a>(records: impl Iterator<Item = &'a Record>, tables: Option<&Tables>) -> Outcome {
    let mut written = Written::default();
    for record in records {
        let (rows, bytes, events) = (record.rows, record.bytes(), record.events);
        written.add(&Written { rows, bytes, files: record.parts.len() as u64, events });
    }
    if let Some(tables) = tables {
        let parts = || tables.values().flat_map(|table| &table.parts);
        (written.files, written.bytes) = (parts().count() as u64, parts().map(|part| part.bytes).sum());
    }
    Outcome { written, ..Outcome::default() }
}

/// The files that close a conversion: they name all of its processes.
fn closing<'a>(
    trace: &Trace,
    plan: &Plan<'_>,
    conversion: &Conversion,
    processes: impl Iterator<Item = &'a Record>,
    tables: Option<Tables>,
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = vec![(CONVERSION.into(), conversion.text()?.into_bytes())];
    if let Some(tables) = tables {
        let processes: Vec<StoredProcess> = processes.filter_map(|record| record.process.clone()).collect();
        let companions = companions(&tables)?;
        files.extend(manifest(trace, plan.pack_bytes, tables, &processes, &companions)?);
        files.extend(companions);
    }
    Ok(files)
}

/// Whether the output is to the byte what would be written, all of its processes being as they were.
fn is_up_to_date(
    trace: &Trace,
    plan: &Plan<'_>,
    key: &Key,
    records: &BTreeMap<i64, Record>,
    earlier: Option<&Earlier>,
) -> Result<bool> {
    let dataset = earlier.and_then(|earlier| earlier.dataset.as_ref());
    let count = dataset.map(|(_, files)| files.processes().len());
    let is_laid_out = dataset.is_none_or(|(manifest, _)| manifest.pack_bytes == plan.pack_bytes);
    if count.is_some_and(|count| count != records.len()) || !is_laid_out {
        return Ok(false);
    }
    let conversion = Conversion { key: key.clone(), processes: records.values().cloned().collect() };
    let tables = dataset.map(|(manifest, _)| manifest.tables.clone());
    let files = closing(trace, plan, &conversion, records.values(), tables)?;
    Ok(files.iter().all(|(name, text)| StoredFile::of(text).difference(&plan.output.join(name)).is_none()))
}
