//! The directory in which a conversion grows. It lies next to the output, outlives an interruption, and is not a dataset.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use walkdir::WalkDir;

use super::record::{Key, Record};
use crate::atomic::swap;
use crate::target::through_links;
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_input::{AtInterruption, UNFINISHED};

/// Name of the directory of records.
const DONE: &str = "done";
/// Name of the directory of tables.
const TABLES: &str = "tables";
/// Name of the file that states what kind of conversion it is.
const KEY: &str = "key.json";
/// Name of the file that a program locks while it fills a directory that has one name for all programs.
const LOCK: &str = "lock";

/// A conversion that is not finished: `tables/` will be the output, `done/` holds a record of every finished process.
pub struct Partial {
    root: PathBuf,
    output: PathBuf,
    /// Start of the paths of the directories that other programs fill for the same output, if several programs may.
    others: Option<PathBuf>,
    /// Removes the directory at an interruption if there is nothing to resume from. `None` once it may hold the former
    /// output.
    removed: Option<AtInterruption>,
    /// Held while this conversion runs, so that two conversions to the same output do not mix.
    _lock: Option<File>,
}

impl Partial {
    /// Opens or creates the directory of an output. Removes what another kind of conversion left, and everything with
    /// `afresh`.
    pub fn open(output: &Path, key: &Key, afresh: bool) -> Result<Self> {
        // A link to the output stays a link.
        let (output, root) = places(output)?;
        fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let lock = root.join(LOCK);
        let lock = File::create(&lock).with_context(|| format!("cannot create {}", lock.display()));
        // `remove_dir` removes only an empty directory.
        let lock = lock.inspect_err(|_| drop(fs::remove_dir(&root)))?;
        // A file system without locks cannot keep another conversion out.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            bail!("another conversion writes {}; wait for its end or name another directory", output.display());
        }
        Self::fill(root, output, Some(lock), None, key, afresh)
    }

    /// Creates a directory that no other program uses. Several programs may convert to the same output at the same
    /// time, even without locks: the first to finish writes it. Reuses what the others finished, except with `afresh`.
    pub(crate) fn open_own(output: &Path, key: &Key, afresh: bool) -> Result<Self> {
        let (output, shared) = places(output)?;
        let parent = shared.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        let start = own_start(&shared);
        let name = start.file_name().unwrap_or_default();
        let root = tempfile::Builder::new().prefix(name).rand_bytes(DRAWN).tempdir_in(parent);
        let root = root.with_context(|| format!("cannot create a directory in {}", parent.display()))?.keep();
        let partial = Self::fill(root, output, None, Some(start.clone()), key, false)?;
        for other in own_of(&start).into_iter().filter(|other| !afresh && *other != partial.root) {
            partial.adopt(&other, key)?;
        }
        Ok(partial)
    }

    fn fill(
        root: PathBuf,
        output: PathBuf,
        lock: Option<File>,
        others: Option<PathBuf>,
        key: &Key,
        afresh: bool,
    ) -> Result<Self> {
        let unfinished = root.clone();
        let removed = AtInterruption::new(move || {
            // Other threads still write into the directory and may recreate it, so it must stay away for some time.
            let mut times_gone = 0;
            for _ in 0..200 {
                if times_gone == 25 || count_finished(&unfinished) > 0 {
                    return;
                }
                times_gone = if unfinished.exists() { 0 } else { times_gone + 1 };
                let _ = fs::remove_dir_all(&unfinished);
                thread::sleep(Duration::from_millis(2));
            }
        });
        let partial = Self { root, output, others, removed: Some(removed), _lock: lock };
        let kind = partial.root.join(KEY);
        let wanted = serde_json::to_string(key)?;
        if afresh || regular::read_text(&kind, LARGE_BYTES).ok().as_ref() != Some(&wanted) {
            let unfinished = ["dataset", "replaced"].map(|name| partial.root.join(name));
            for left in [partial.done(), partial.tables(), kind.clone()].into_iter().chain(unfinished) {
                remove(&left)?;
            }
        }
        for directory in [partial.done(), partial.tables()] {
            fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
        }
        write_whole(&kind, &wanted)?;
        Ok(partial)
    }

    /// Reuses what another program finished. Files that go away meanwhile are converted again.
    fn adopt(&self, other: &Path, key: &Key) -> Result<()> {
        if regular::read_text(&other.join(KEY), LARGE_BYTES).ok().as_ref() != Some(&serde_json::to_string(key)?) {
            return Ok(());
        }
        for (number, record) in noted_in(other) {
            if self.take(&record, &other.join(TABLES)).is_ok() {
                self.finish(number, &record)?;
            }
        }
        Ok(())
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Folder of the tables of processes.
    pub fn tables(&self) -> PathBuf {
        self.root.join(TABLES)
    }

    /// Creates the empty folder in which a dataset is put together from the tables.
    pub fn dataset(&self) -> Result<PathBuf> {
        let dataset = self.root.join("dataset");
        remove(&dataset)?;
        fs::create_dir_all(&dataset).with_context(|| format!("cannot create {}", dataset.display()))?;
        Ok(dataset)
    }

    fn done(&self) -> PathBuf {
        self.root.join(DONE)
    }

    /// The processes that were finished before, by their numbers.
    pub fn finished(&self) -> BTreeMap<i64, Record> {
        noted_in(&self.root).filter(|(_, record)| record.is_as_written(&self.tables())).collect()
    }

    /// Notes that a process is finished.
    pub fn finish(&self, process: i64, record: &Record) -> Result<()> {
        write_whole(&self.done().join(format!("{process}.json")), &serde_json::to_string(record)?)
    }

    /// Removes all files of `tables/` and all notes, except those of the reused processes.
    pub(crate) fn keep_only(&self, records: &BTreeMap<i64, Record>) -> Result<()> {
        let tables = self.tables();
        let kept: BTreeSet<PathBuf> =
            records.values().flat_map(|record| record.parts.keys()).map(|path| tables.join(path)).collect();
        prune(&tables, &kept)?;
        let notes: BTreeSet<PathBuf> =
            records.keys().map(|number| self.done().join(format!("{number}.json"))).collect();
        prune(&self.done(), &notes)?;
        fs::create_dir_all(&tables)?;
        fs::create_dir_all(self.done())?;
        Ok(())
    }

    /// Links or copies the files of a process from a finished conversion.
    pub fn take(&self, record: &Record, from: &Path) -> Result<()> {
        for path in record.parts.keys() {
            let (source, target) = (from.join(path), self.tables().join(path));
            if let Some(directory) = target.parent() {
                fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
            }
            remove(&target)?;
            if fs::hard_link(&source, &target).is_err() {
                fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
            }
        }
        Ok(())
    }

    /// Replaces the output with what was written, and removes the rest.
    pub(crate) fn publish(mut self, written: &Path) -> Result<()> {
        drop(self.removed.take());
        let output = &self.output;
        if written == self.tables() {
            // From here on the directory may hold the former output, which the notes do not cover.
            remove(&self.done())?;
        }
        let occupied = output.is_dir() && fs::read_dir(output)?.next().is_some();
        // Another program that wrote the output has cleared this directory away.
        ensure!(self.root.join(KEY).is_file(), "another conversion wrote {} meanwhile", output.display());
        if occupied {
            exchange(written, output, &self.root.join("replaced"))?;
        } else {
            if output.exists() {
                fs::remove_dir(output).with_context(|| format!("cannot replace {}", output.display()))?;
            }
            fs::rename(written, output).with_context(|| format!("cannot write {}", output.display()))?;
        }
        let others = self.others.iter().flat_map(|start| own_of(start));
        others.filter(|other| *other != self.root).for_each(|other| clear(&other));
        remove(&self.root)
    }

    /// Removes the whole directory.
    pub(crate) fn discard(self) -> Result<()> {
        remove(&self.root)
    }
}

impl Drop for Partial {
    /// Removes the files if the conversion failed before a process was finished.
    fn drop(&mut self) {
        if self.removed.is_some() && count_finished(&self.root) == 0 {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// The resolved path of an output, and the directory in which it grows.
fn places(output: &Path) -> Result<(PathBuf, PathBuf)> {
    beside(output, "partial")
}

/// The resolved path of an output, and a directory next to it for this use.
pub(super) fn beside(output: &Path, used_for: &str) -> Result<(PathBuf, PathBuf)> {
    let output = match output.canonicalize() {
        Ok(there) => there,
        Err(_) => through_links(output).with_context(|| format!("cannot write {}", output.display()))?,
    };
    let mut name = OsString::from(format!("{UNFINISHED}{used_for}-"));
    name.push(output.file_name().context("the output has no name")?);
    let root = output.with_file_name(name);
    Ok((output, root))
}

/// Number of finished processes of an unfinished conversion to an output.
pub fn finished_of(output: &Path) -> usize {
    let Ok((_, root)) = places(output) else { return 0 };
    let own = own_of(&own_start(&root));
    own.into_iter().chain([root]).map(|root| count_finished(&root)).max().unwrap_or(0)
}

/// Start of the paths of the directories in which programs fill the same output, one for each program.
fn own_start(root: &Path) -> PathBuf {
    let mut name = root.file_name().unwrap_or_default().to_owned();
    name.push("~");
    root.with_file_name(name)
}

/// Characters that a program draws for the name of its directory.
const DRAWN: usize = 6;

/// The directories of single programs whose paths start so, in order.
fn own_of(start: &Path) -> Vec<PathBuf> {
    let start_name = start.file_name().unwrap_or_default().as_encoded_bytes();
    // The directory of an output `NAME~abcdef` itself has a lock.
    let is_own = |path: &PathBuf| {
        let rest = path.file_name().and_then(|name| name.as_encoded_bytes().strip_prefix(start_name));
        let drawn = rest.map(|rest| rest.strip_suffix(GONE.as_bytes()).unwrap_or(rest));
        drawn.is_some_and(|drawn| drawn.len() == DRAWN && drawn.iter().all(u8::is_ascii_alphanumeric))
            && !path.join(LOCK).exists()
    };
    let entries = start.parent().and_then(|parent| fs::read_dir(parent).ok()).into_iter().flatten().flatten();
    let mut own: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_own).collect();
    own.sort();
    own
}

/// Removes the directory that another program fills for an output that is now written. A program that still fills it
/// notices this, and leftovers of a killed program are useless. The directory is renamed first, so that no program
/// publishes a part of it.
fn clear(other: &Path) {
    let mut gone = other.as_os_str().to_owned();
    gone.push(GONE);
    if other.as_os_str().as_encoded_bytes().ends_with(GONE.as_bytes()) || fs::rename(other, &gone).is_ok() {
        let _ = fs::remove_dir_all(&gone);
        let _ = fs::remove_dir_all(other);
    }
}

/// End of the names of directories that are being removed.
const GONE: &str = "~gone";

/// The notes about finished processes, by their numbers.
fn noted_in(root: &Path) -> impl Iterator<Item = (i64, Record)> {
    let entries = fs::read_dir(root.join(DONE)).into_iter().flatten();
    entries
        .filter_map(|entry| regular::read_text(&entry.ok()?.path(), LARGE_BYTES).ok())
        .filter_map(|text| serde_json::from_str::<Record>(&text).ok())
        .filter_map(|record| Some((record.process.as_ref()?.process, record)))
}

fn count_finished(root: &Path) -> usize {
    let is_note = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    fs::read_dir(root.join(DONE)).map_or(0, |notes| notes.flatten().filter(|note| is_note(&note.path())).count())
}

/// Puts a directory in the place of another, atomically if the system can. The other one is left in its place, or else
/// at `aside`.
fn exchange(new: &Path, output: &Path, aside: &Path) -> Result<()> {
    if swap(new, output).is_ok() {
        return Ok(());
    }
    remove(aside)?;
    fs::rename(output, aside).with_context(|| format!("cannot move {} aside", output.display()))?;
    let renamed = fs::rename(new, output).with_context(|| format!("cannot write {}", output.display()));
    renamed.inspect_err(|_| drop(fs::rename(aside, output)))
}

/// Removes a file or a directory with all that is in it, if it is there.
fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}

/// Removes all files below a directory except those that are kept, and then all empty directories.
fn prune(directory: &Path, kept: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in WalkDir::new(directory).contents_first(true) {
        let entry = entry.with_context(|| format!("cannot list {}", directory.display()))?;
        let path = entry.path();
        if !entry.file_type().is_dir() {
            if !kept.contains(path) {
                remove(path)?;
            }
        } else if fs::read_dir(path)?.next().is_none() {
            fs::remove_dir(path)?;
        }
    }
    Ok(())
}

fn write_whole(path: &Path, text: &str) -> Result<()> {
    let temporary = path.with_extension("new");
    fs::write(&temporary, text).with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_belongs_to_one_output() {
        let directory = tempfile::tempdir().unwrap();
        let names = ["a~0xY9zB", "a~0xY9zC~gone", "a~x", "a~x~0xY9zB", "a~locked", "a~0xY9z", "ab~0xY9zB"];
        names.iter().for_each(|name| fs::create_dir(directory.path().join(name)).unwrap());
        fs::write(directory.path().join("a~locked").join(LOCK), "").unwrap();
        let own = own_of(&own_start(&directory.path().join("a")));
        assert_eq!(own, ["a~0xY9zB", "a~0xY9zC~gone"].map(|name| directory.path().join(name)));
    }
}
