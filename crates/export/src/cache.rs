//! Fills the cache with the files that it lacks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::Builder;

use super::atomic::{make_directory, removed_at_interruption};
use super::conversion::RecordingSource;
use super::convert::{Observer, TableFormat};
use super::convert_process::write_process;
use wavesieve_input::{
    CacheEntry, CachedProcess, Miss, UNFINISHED, cached_source, describe_entry, hold, part_path, sweep,
};
use wavesieve_model::text::bytes::text_of_name;
use wavesieve_tables::derive::health::ANOMALIES;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Marks a directory as reproducible for backup programs. See <https://bford.info/cachedir/>.
const TAG: (&str, &str) = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# Converted traces of wavesieve. Deleting this directory is always safe.\n",
);

/// Converts the files of `misses` with a `wanted` rank into the cache, and makes the trace read them from there.
/// Damaged files are left out, so that their damage is reported every time. Returns messages about files that could not
/// be cached.
pub fn fill(
    trace: Trace,
    misses: &[Miss],
    wanted: impl Fn(i64) -> bool,
    observer: &dyn Observer,
) -> (Trace, Vec<String>) {
    let damaged: Vec<String> = trace.damage().into_iter().map(|damage| damage.path).collect();
    let work: Vec<(&Miss, Vec<&TraceProcess>)> = misses
        .iter()
        .map(|miss| {
            let of_miss = |member: &&TraceProcess| member.process.facts.path == miss.shown;
            (miss, trace.members().iter().filter(of_miss).collect::<Vec<_>>())
        })
        .filter(|(miss, members)| {
            // A process that was left out as a duplicate of one in another file would be missing later.
            members.len() == miss.processes
                && members.iter().any(|member| wanted(member.process.rank))
                && !damaged.contains(&miss.shown)
                && !members
                    .iter()
                    .flat_map(|member| member.files.iter())
                    .any(|file| damaged.iter().any(|path| text_of_name(&**file) == *path))
        })
        .collect();
    let cost = |(_, members): &(&Miss, Vec<&TraceProcess>)| members.iter().map(|member| member.memory_bytes).sum();
    let write = |(miss, members): &(&Miss, Vec<&TraceProcess>)| {
        Ok::<_, std::convert::Infallible>(write_entry(&trace, miss, members, observer))
    };
    let Ok(written) = trace.jobs().run(&work, cost, write);
    let mut entries: BTreeMap<i64, (PathBuf, CachedProcess)> = BTreeMap::new();
    let mut failures = Vec::new();
    for ((miss, _), written) in work.iter().zip(written) {
        match written {
            Ok(Some(processes)) => {
                let placed =
                    processes.into_iter().map(|process| (process.stored.process, (miss.entry.clone(), process)));
                entries.extend(placed);
            }
            Ok(None) => {}
            Err(error) => failures.push(format!("{} is not kept in the cache: {error:#}", miss.shown)),
        }
    }
    let trace = trace.with_members(|members| {
        members
            .into_iter()
            .map(|member| match entries.remove(&member.process.process) {
                Some((entry, process)) => {
                    let source = cached_source(&entry, process);
                    let memory_bytes = source.memory_bytes().unwrap_or(member.memory_bytes);
                    TraceProcess { source, memory_bytes, ..member }
                }
                None => member,
            })
            .collect()
    });
    (trace, failures)
}

/// Writes all processes of a file. `None` when the file turns out to be damaged.
fn write_entry(
    trace: &Trace,
    miss: &Miss,
    members: &[&TraceProcess],
    observer: &dyn Observer,
) -> Result<Option<Vec<CachedProcess>>> {
    let directory = miss.entry.parent().context("internal: an entry without a cache")?;
    let _made = make_directory(directory)?;
    let tag = directory.join(TAG.0);
    if !tag.exists() {
        fs::write(&tag, TAG.1).with_context(|| format!("cannot write {}", tag.display()))?;
    }
    sweep(directory, UNFINISHED);
    let temporary = Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(directory)
        .with_context(|| format!("cannot create a directory in {}", directory.display()))?;
    let _removed = removed_at_interruption(temporary.path());
    let _held = hold(temporary.path());
    let mut entry = CacheEntry { processes: Vec::new(), notes: miss.notes.clone(), parts: BTreeMap::new() };
    for member in members {
        let (recorded, recording) = RecordingSource::wrap(member);
        let (mut stored, _) = write_process(trace, &recorded, temporary.path(), TableFormat::Parquet, &[], observer)?;
        let heard = recording.report();
        if heard.damaged {
            return Ok(None);
        }
        // Anomalies also depend on the other inputs. They are made again from the tables and from the recorded report.
        let rank = (stored.rank, stored.process);
        stored.rows.remove(ANOMALIES);
        if stored.bytes.remove(ANOMALIES).is_some_and(|bytes| bytes > 0) {
            fs::remove_file(temporary.path().join(part_path(ANOMALIES, rank.0, rank.1)))?;
        }
        let files = stored.bytes.iter().filter(|(_, bytes)| **bytes > 0);
        entry.parts.extend(files.map(|(table, bytes)| (part_path(table, rank.0, rank.1), *bytes)));
        let anomalies = heard.anomalies.into_iter().map(|(table, of)| (table.to_owned(), of)).collect();
        entry.processes.push(CachedProcess { stored, anomalies });
    }
    describe_entry(temporary.path(), &entry)?;
    publish(temporary, &miss.entry)?;
    Ok(Some(entry.processes))
}

/// Renames an entry to its final name. An existing entry came from another program meanwhile, or is incomplete.
fn publish(temporary: tempfile::TempDir, entry: &Path) -> Result<()> {
    if fs::rename(temporary.path(), entry).is_err() {
        if wavesieve_input::Cache::open(entry).is_some() {
            return Ok(());
        }
        fs::remove_dir_all(entry).with_context(|| format!("cannot replace {}", entry.display()))?;
        fs::rename(temporary.path(), entry).with_context(|| format!("cannot write {}", entry.display()))?;
    }
    // The directory was renamed, so there is nothing left to remove.
    let _ = temporary.keep();
    Ok(())
}
