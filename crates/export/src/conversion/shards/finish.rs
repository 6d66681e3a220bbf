//! Puts the shards of a conversion together, byte-identical to what one program would have written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::check::{check, named};
use super::found::{Shard, Shards, directory};
use super::joint;
use super::record::ShardProcess;
use crate::conversion::Refused;
use crate::conversion::partial::Partial;
use crate::conversion::record::{CONVERSION, Conversion, Described, Earlier, Key, Record, with_others};
use crate::conversion::run::{Outcome, outcome_of};
use crate::conversion::target::refuse_foreign;
use crate::convert::Written;
use crate::convert_process::{is_timed, kept_tables};
use crate::dataset::{self, About, Kept, Layout, RowsPlace, companions, manifest, write_files};
use wavesieve_input::{Candidate, FileIdentity, SharedFiles, StoredProcess, StoredTable};
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::{Table, table};

/// Shards to put together, and the output.
pub struct FinishPlan<'a> {
    /// Directory to write.
    pub output: &'a Path,
    /// Facts that all shards have in common.
    pub key: Key,
    /// Tables made on demand that are kept too, in the order of their declaration.
    pub with: Vec<&'static Table>,
    /// Bytes of a file that processes share.
    pub pack_bytes: u64,
    /// Whether shards may be missing.
    pub partial: bool,
    /// Whether whatever conversion is there is replaced.
    pub overwrite: bool,
    /// Candidates found in the inputs.
    pub candidates: &'a [Candidate],
    /// The pattern that takes ranks from paths.
    pub rank_from: Option<&'a str>,
    /// The effective definitions of metrics.
    pub metrics: &'a EffectiveDefinitions,
}

/// Result of putting shards together.
#[derive(Debug, Default)]
pub struct Finished {
    pub outcome: Outcome,
    /// Processes of the output.
    pub processes: usize,
    /// Shards that they come from.
    pub shards: usize,
    /// Data that could not be read when the shards were converted, and data that is missing.
    pub damage: Vec<Damage>,
    /// The filters that match nothing, in sentences.
    pub unmatched: Vec<String>,
}

/// Writes the dataset that the shards of an output make up, and removes the shards.
///
/// # Errors
/// [`Refused`] if a shard is missing or does not fit, or when a file cannot be read or written.
pub fn finish(plan: &FinishPlan<'_>) -> Result<Finished> {
    let Some(shards) = Shards::read(plan.output)? else { return without_shards(plan) };
    if !shards.missing.is_empty() && !plan.partial {
        let shown = plan.output.display().to_string();
        return Err(Refused::MissingShards(named(&shards.missing), shown).into());
    }
    check(&shards, plan)?;
    refuse_other(plan, &shards)?;
    let partial = Partial::open(plan.output, &plan.key, true)?;
    let place = partial.dataset()?;
    let (files, mut processes) = processes(&shards)?;
    write_joint(plan, &shards, &partial.tables(), &mut processes)?;
    let kept: Vec<Kept<'_>> = processes.iter().map(|(stored, place)| Kept { stored, place: *place }).collect();
    let layout = Layout { processes: &partial.tables(), earlier: files, pack_bytes: plan.pack_bytes };
    let tables = dataset::write(&place, &layout, &kept_tables(&plan.with).collect::<Vec<_>>(), &kept)?;
    let processes: Vec<StoredProcess> = processes.into_iter().map(|(stored, _)| stored).collect();
    let finished = Finished {
        outcome: outcome(&processes, &tables),
        processes: processes.len(),
        shards: shards.found.len(),
        damage: damage(&shards, processes.len())?,
        unmatched: unmatched(&shards),
    };
    write_files(&place, &closing(plan, &shards, tables, &processes, finished.damage.clone())?)?;
    refuse_foreign(plan.output)?;
    partial.publish(&place)?;
    if shards.missing.is_empty() {
        remove(&shards.directory)?;
    }
    Ok(finished)
}

/// Refuses to replace a conversion of something else.
fn refuse_other(plan: &FinishPlan<'_>, shards: &Shards) -> Result<()> {
    let Some(there) = Conversion::read(plan.output).filter(|_| !plan.overwrite) else { return Ok(()) };
    let shown = plan.output.display().to_string();
    if (there.key.format, &there.key.selection) != (plan.key.format, &plan.key.selection) {
        return Err(Refused::OtherKind(shown).into());
    }
    let processes = shards.found.iter().flat_map(|shard| &shard.record.processes);
    let inputs: Vec<Vec<FileIdentity>> = processes.map(|process| process.inputs.clone()).collect();
    if there.shares_input(&inputs) { Ok(()) } else { Err(Refused::OtherInputs(shown).into()) }
}

/// The datasets of the shards, and all processes in order with their places.
type Processes<'a> = (Vec<&'a SharedFiles>, Vec<(StoredProcess, RowsPlace)>);

fn processes(shards: &Shards) -> Result<Processes<'_>> {
    let mut files = Vec::new();
    let mut processes = Vec::new();
    for (dataset, shard) in shards.found.iter().enumerate() {
        let (_, shared) = shard.dataset()?;
        let stored = shared.processes().iter().enumerate();
        processes
            .extend(stored.map(|(place, stored)| (StoredProcess::clone(stored), RowsPlace::Kept { dataset, place })));
        files.push(shared);
    }
    processes.sort_by_key(|(stored, _)| stored.process);
    Ok((files, processes))
}

/// Writes the tables over all processes below `directory`, and counts their rows.
fn write_joint(
    plan: &FinishPlan<'_>,
    shards: &Shards,
    directory: &Path,
    processes: &mut [(StoredProcess, RowsPlace)],
) -> Result<()> {
    let tables: Vec<&'static Table> = plan.with.iter().copied().filter(|table| joint::is_joint(table)).collect();
    if tables.is_empty() {
        return Ok(());
    }
    let stored: BTreeMap<i64, &StoredProcess> = processes.iter().map(|(stored, _)| (stored.process, stored)).collect();
    let placed = |process: &ShardProcess| -> Result<Process> {
        Ok(process.placed(stored.get(&process.number).context("a shard lacks a process; convert it again")?))
    };
    let placed_of = |shard: &Shard| -> Result<Vec<Process>> { shard.record.processes.iter().map(placed).collect() };
    let placed = shards.found.iter().map(|shard| Ok((shard.path.as_path(), placed_of(shard)?)));
    let placed: Vec<(&Path, Vec<Process>)> = placed.collect::<Result<_>>()?;
    for table in tables {
        let rows = joint::write_rows(directory, table, &placed, plan.metrics)?;
        for (stored, _) in processes.iter_mut() {
            let rows = rows.get(&stored.process).copied().unwrap_or(0);
            stored.rows.insert(table.name.to_owned(), rows);
        }
    }
    Ok(())
}

/// Data that could not be read when the shards were converted, and the processes that are missing with a shard.
fn damage(shards: &Shards, processes: usize) -> Result<Vec<Damage>> {
    let mut damage: BTreeSet<Damage> = BTreeSet::new();
    for shard in &shards.found {
        damage.extend(shard.dataset()?.0.damage.iter().cloned());
    }
    if let (false, Some(shard)) = (shards.missing.is_empty(), shards.found.first()) {
        let all = shard.record.whole.processes;
        let lost = all.saturating_sub(processes);
        let cause = format!("not converted; {lost} of {all} processes are missing, convert the shard and finish again");
        damage.insert(Damage { path: named(&shards.missing), part: String::new(), cause });
    }
    Ok(damage.into_iter().collect())
}

/// The filters that match nothing in any shard. The similar names that they suggest may differ.
fn unmatched(shards: &Shards) -> Vec<String> {
    let mut known = shards.found.iter().filter_map(|shard| shard.record.unmatched.as_deref());
    let Some(first) = known.next() else { return Vec::new() };
    let others: Vec<&[String]> = known.collect();
    let about = |sentence: &str| sentence.split(';').next().map(str::to_owned);
    let is_in = |sentence: &String, all: &[String]| all.iter().any(|other| about(other) == about(sentence));
    first.iter().filter(|sentence| others.iter().all(|all| is_in(sentence, all))).cloned().collect()
}

/// The files that close a conversion.
fn closing(
    plan: &FinishPlan<'_>,
    shards: &Shards,
    tables: BTreeMap<String, StoredTable>,
    processes: &[StoredProcess],
    damage: Vec<Damage>,
) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let all = || shards.found.iter().flat_map(|shard| &shard.record.processes);
    let described: BTreeMap<i64, Described> =
        all().map(|process| (process.number, (process.identity.clone(), process.inputs.clone()))).collect();
    let (numbers, mut described): (Vec<i64>, Vec<Described>) = described.into_iter().unzip();
    with_others(&mut described, &plan.with);
    let identities: BTreeMap<i64, String> =
        numbers.into_iter().zip(described).map(|(number, (identity, _))| (number, identity)).collect();
    let joint: Vec<&'static Table> = plan.with.iter().copied().filter(|table| joint::is_joint(table)).collect();
    let stored: BTreeMap<i64, &StoredProcess> = processes.iter().map(|stored| (stored.process, stored)).collect();
    let record = |record: &Record| {
        // The rows of tables over all processes were not known when the shard was written.
        let rows = |table: &&&'static Table| stored.get(&record.number)?.rows.get(table.name).copied();
        let more: u64 = joint.iter().filter_map(|table| rows(&table)).sum();
        let events: u64 = joint.iter().filter(|table| is_timed(table)).filter_map(|table| rows(&table)).sum();
        let identity = identities.get(&record.number).cloned().unwrap_or_default();
        Record { identity, rows: record.rows + more, events: record.events + events, ..record.clone() }
    };
    let records = shards.found.iter().flat_map(|shard| &shard.earlier.conversion.processes);
    let mut records: Vec<Record> = records.map(record).collect();
    records.sort_by_key(|record| record.number);
    let conversion = Conversion { key: plan.key.clone(), processes: records };
    let (categories_hash, selection) = (plan.key.categories_hash.clone(), plan.key.selection.clone());
    let about = About { categories_hash, selection, damage };
    let companions = companions(&tables)?;
    let mut files = vec![(CONVERSION.into(), conversion.text()?.into_bytes())];
    files.extend(manifest(about, plan.pack_bytes, tables, processes, &companions)?);
    files.extend(companions);
    Ok(files)
}

fn outcome(processes: &[StoredProcess], tables: &BTreeMap<String, StoredTable>) -> Outcome {
    let counted = |is_counted: fn(&Table) -> bool| -> u64 {
        let rows = processes.iter().flat_map(|stored| &stored.rows);
        rows.filter(|(name, _)| table(name).is_some_and(is_counted)).map(|(_, rows)| *rows).sum()
    };
    let parts = || tables.values().flat_map(|table| &table.parts);
    let (files, bytes) = (parts().count() as u64, parts().map(|part| part.bytes).sum());
    Outcome {
        written: Written { rows: counted(|_| true), bytes, files, events: counted(is_timed) },
        ..Outcome::default()
    }
}

/// Accepts an output that is already finished, as after the restart of a job.
fn without_shards(plan: &FinishPlan<'_>) -> Result<Finished> {
    let refused = || Refused::NoShards(plan.output.display().to_string());
    let conversion = Conversion::read(plan.output).with_context(refused)?;
    let there: BTreeSet<String> = plan.candidates.iter().map(Candidate::shown).collect();
    let mut inputs = conversion.processes.iter().map(|record| &record.inputs);
    let is_there = |files: &Vec<FileIdentity>| files.first().is_some_and(|file| there.contains(&file.path));
    let is_as_now = inputs.all(|files| is_there(files) && files.iter().all(FileIdentity::is_unchanged));
    if conversion.key != plan.key || !is_as_now || conversion.processes.is_empty() {
        return Err(refused().into());
    }
    // The removal of the shards may have been interrupted.
    let _ = fs::remove_dir_all(aside(&directory(plan.output)?));
    let outcome = Outcome { up_to_date: true, ..outcome_of(plan.output) };
    let damage = Earlier::read(plan.output).and_then(|earlier| earlier.dataset).map(|(manifest, _)| manifest.damage);
    let (processes, damage) = (conversion.processes.len(), damage.unwrap_or_default());
    Ok(Finished { outcome, processes, damage, ..Finished::default() })
}

/// Path of the shards while they are removed.
fn aside(directory: &Path) -> PathBuf {
    let mut name = directory.file_name().unwrap_or_default().to_owned();
    name.push("~finished");
    directory.with_file_name(name)
}

/// Removes the shards. They are renamed first, so that what an interruption leaves is not a shard.
fn remove(directory: &Path) -> Result<()> {
    let aside = aside(directory);
    let _ = fs::remove_dir_all(&aside);
    fs::rename(directory, &aside).with_context(|| format!("cannot remove {}", directory.display()))?;
    fs::remove_dir_all(&aside).with_context(|| format!("cannot remove {}", aside.display()))
}
