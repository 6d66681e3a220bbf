//! Converts new and changed processes, reuses the others, and publishes both at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::partial::Partial;
use super::record::{CONVERSION, Conversion, Described, Earlier, Key, Record, identity, inputs, with_others};
use super::recording_source::RecordingSource;
use super::refused::Refused;
use super::shards::{SHARD, ShardPlan, ShardRecord, joint};
use super::target::refuse_foreign;
use crate::convert::{Observer, TableFormat, Written};
use crate::convert_process::{kept_tables, write_process};
use crate::dataset::{self, About, Kept, Layout, RowsPlace, companions, manifest, write_files};
use wavesieve_input::{FileIdentity, MANIFEST, StoredFile, StoredProcess, StoredTable, part_path};
use wavesieve_model::schema::Table;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// The tables of a dataset by name.
type Tables = BTreeMap<String, StoredTable>;

/// Output of a conversion, and what it may reuse.
pub struct Plan<'a> {
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
    /// The shard that is converted; `None` for everything.
    pub shard: Option<ShardPlan<'a>>,
}

impl Plan<'_> {
    /// The tables made on demand that are written process by process. For shards, tables over all processes are written
    /// at the end.
    fn with_alone(&self) -> Vec<&'static Table> {
        let is_alone = |table: &&'static Table| self.shard.is_none() || !joint::is_joint(table);
        self.with.iter().copied().filter(is_alone).collect()
    }

    /// The tables over all processes, of which a shard writes the part of each process.
    fn with_joint(&self) -> Vec<&'static Table> {
        let is_joint = |table: &&'static Table| self.shard.is_some() && joint::is_joint(table);
        self.with.iter().copied().filter(is_joint).collect()
    }
}

/// Result of a conversion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Rows and files that the output holds.
    pub written: Written,
    /// Reused processes.
    pub reused: usize,
    /// Converted processes.
    pub converted: usize,
    /// Whether the output was already up to date and was left as it is.
    pub up_to_date: bool,
}

/// A process with the facts that decide whether it can be reused.
struct Candidate<'a> {
    member: &'a TraceProcess,
    described: Described,
    /// Whether something of it is known to be damaged.
    damaged: bool,
}

impl Candidate<'_> {
    fn is_as_in(&self, record: &Record) -> bool {
        !self.damaged && self.described == (record.identity.clone(), record.inputs.clone())
    }

    fn number(&self) -> i64 {
        self.member.process.process
    }
}

/// Writes every table of every process to a directory, which appears or changes when everything is written.
///
/// # Errors
/// [`Refused`], or when a file cannot be written. Processes that were finished until then are kept for the next time.
pub fn convert(trace: &Trace, plan: &Plan<'_>, observer: &dyn Observer) -> Result<Outcome> {
    let key = Key::new(trace.categories(), trace.choice(), plan.format, &plan.with);
    let own: Vec<&TraceProcess> = trace.own_members().collect();
    let describe = |member: &&TraceProcess| -> Result<Described> { Ok((identity(trace, member)?, inputs(member)?)) };
    let mut described = trace.jobs().run(&own, |_| 0, describe)?;
    let shard = plan.shard.as_ref().map(|shard| ShardRecord::new(trace, &key, shard, &own, &described));
    let shard = shard.transpose()?;
    if shard.is_none() {
        with_others(&mut described, &plan.with);
    }
    let written = write_all(trace, plan, &key, own.into_iter().zip(described), shard.as_ref(), observer);
    // Another program may have converted the same share meanwhile.
    let is_there = |shard: &&ShardRecord| ShardRecord::read(plan.output).as_ref() == Some(*shard);
    match shard.as_ref().filter(|shard| written.is_err() && is_there(shard)) {
        Some(_) => Ok(Outcome { up_to_date: true, ..outcome_of(plan.output) }),
        None => written,
    }
}

fn write_all<'a>(
    trace: &'a Trace,
    plan: &Plan<'_>,
    key: &Key,
    processes: impl Iterator<Item = (&'a TraceProcess, Described)>,
    shard: Option<&ShardRecord>,
    observer: &dyn Observer,
) -> Result<Outcome> {
    let known_damage: Vec<String> = trace.damage().into_iter().map(|damage| damage.path).collect();
    let candidates: Vec<Candidate<'_>> = processes
        .map(|(member, described)| {
            // A damaged part of a dataset affects all of its ranks: they are written again.
            let is_in = |file: &PathBuf, path: &Path| {
                let dataset = file.parent().filter(|_| file.ends_with(MANIFEST));
                file == path || dataset.is_some_and(|dataset| path.starts_with(dataset))
            };
            let is_of = |path: &String| {
                *path == member.process.facts.path || member.files.iter().any(|file| is_in(file, Path::new(path)))
            };
            Candidate { member, described, damaged: known_damage.iter().any(is_of) }
        })
        .collect();
    let earlier = if plan.overwrite { None } else { earlier(plan, key, &candidates)? };
    let partial = match shard {
        Some(_) => Partial::open_own(plan.output, key, plan.overwrite)?,
        None => Partial::open(plan.output, key, plan.overwrite)?,
    };
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
    if unchanged && is_up_to_date(trace, plan, key, &taken, shard, earlier.as_ref())? {
        let files = earlier.and_then(|earlier| earlier.dataset);
        let files = files.map(|(manifest, _)| manifest.tables);
        partial.discard()?;
        return Ok(Outcome { reused: taken.len(), up_to_date: true, ..outcome(taken.values(), files.as_ref()) });
    }
    if !plan.with_joint().is_empty() {
        // A shard does not keep the parts of single processes, so they cannot be reused from it.
        taken.clear();
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
    let conversion = Conversion { key: key.clone(), processes: whole.into_values().collect() };
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
    write_files(&place, &closing(trace, plan, &conversion, all.values().copied(), tables, shard)?)?;
    // Another program may have put something there meanwhile.
    if shard.is_none() {
        refuse_foreign(plan.output)?;
    }
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
    let own: Vec<&Record> = own.collect();
    let tables = partial.tables();
    joint::pack(&tables, &place, &plan.with_joint(), own.iter().map(|record| record.number))?;
    let own = own.into_iter().map(|record| (record, RowsPlace::Own));
    let taken = taken.map(|record| {
        let kept = earlier.and_then(|earlier| earlier.place(record.number));
        (record, kept.map_or(RowsPlace::Own, |place| RowsPlace::Kept { dataset: 0, place }))
    });
    let mut processes: Vec<Kept<'_>> =
        own.chain(taken).filter_map(|(record, place)| Some(Kept { stored: record.process.as_ref()?, place })).collect();
    processes.sort_by_key(|kept| kept.stored.process);
    let files = earlier.and_then(|earlier| earlier.dataset.as_ref()).map(|(_, files)| files);
    let layout = Layout { processes: &tables, earlier: files.into_iter().collect(), pack_bytes: plan.pack_bytes };
    let kept: Vec<&'static Table> = kept_tables(&plan.with_alone()).collect();
    let tables = dataset::write(&place, &layout, &kept, &processes)?;
    Ok((place, Some(tables)))
}

/// The reusable processes of an existing conversion, if it can be brought up to date.
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
    let inputs: Vec<Vec<FileIdentity>> = candidates.iter().map(|candidate| candidate.described.1.clone()).collect();
    if plan.shard.is_none() && !conversion.shares_input(&inputs) {
        return Err(Refused::OtherInputs(shown()).into());
    }
    // Output of another version or other rules is converted again as a whole.
    let records = if conversion.key == *key { earlier.whole(plan.output) } else { BTreeMap::new() };
    Ok(Some((earlier, records)))
}

/// Writes the tables of a process. Returns its record, and whether it was damaged.
fn write_one(
    trace: &Trace,
    candidate: &Candidate<'_>,
    partial: &Partial,
    plan: &Plan<'_>,
    observer: &dyn Observer,
) -> Result<(Record, bool)> {
    let (member, recording) = RecordingSource::wrap(candidate.member);
    let directory = partial.tables();
    let with = plan.with_alone();
    let write = || write_process(trace, &member, &directory, plan.format, &with, observer);
    let (process, written) = match write() {
        // Stored content may turn out to be damaged while it is read: then the rest is written.
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
    parts.extend(joint::write_parts(trace, &member, &directory, &plan.with_joint())?);
    let (identity, inputs) = candidate.described.clone();
    let (rows, events, number) = (written.rows, written.events, candidate.number());
    let record = Record { identity, inputs, number, parts, rows, events, process: Some(process) };
    let damaged = candidate.damaged || recording.report().damaged;
    if !damaged {
        partial.finish(candidate.number(), &record)?;
    }
    Ok((record, damaged))
}

/// Keeps the finished processes for the next run, and nothing else.
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
            let noun = if count == 1 { "process" } else { "processes" };
            error.context(format!("{count} finished {noun} kept in {path}; rerun the same command to resume"))
        }
        Err(other) => error.context(format!("{other:#}")),
    }
}

/// Outcome for an output that another program wrote.
pub(super) fn outcome_of(output: &Path) -> Outcome {
    let earlier = Earlier::read(output);
    let records: Vec<Record> = earlier.iter().flat_map(|earlier| earlier.whole(output).into_values()).collect();
    let files = earlier.and_then(|earlier| earlier.dataset).map(|(manifest, _)| manifest.tables);
    Outcome { reused: records.len(), ..outcome(records.iter(), files.as_ref()) }
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
    shard: Option<&ShardRecord>,
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = vec![(CONVERSION.into(), conversion.text()?.into_bytes())];
    if let Some(shard) = shard {
        files.push((SHARD.into(), shard.text()?.into_bytes()));
    }
    if let Some(tables) = tables {
        let processes: Vec<StoredProcess> = processes.filter_map(|record| record.process.clone()).collect();
        let companions = companions(&tables)?;
        files.extend(manifest(About::trace(trace), plan.pack_bytes, tables, &processes, &companions)?);
        files.extend(companions);
    }
    Ok(files)
}

/// Whether the output is byte-identical to what would be written, given that all of its processes are unchanged.
fn is_up_to_date(
    trace: &Trace,
    plan: &Plan<'_>,
    key: &Key,
    records: &BTreeMap<i64, Record>,
    shard: Option<&ShardRecord>,
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
    if shard.is_some() && !records.is_empty() && !joint::are_there(plan.output, &plan.with_joint()) {
        return Ok(false);
    }
    let files = closing(trace, plan, &conversion, records.values(), tables, shard)?;
    Ok(files.iter().all(|(name, text)| StoredFile::of(text).difference(&plan.output.join(name)).is_none()))
}
