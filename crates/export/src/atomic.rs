//! Files that appear whole or not at all.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tempfile::{Builder, TempDir};

use super::stream::write_stream;
use super::target::{Target, again, as_others, keep_owner, own_cause, parent, temporary_for, through_links};
use wavesieve_input::{AtInterruption, UNFINISHED, hold, is_unfinished, sweep};

/// Writes a file through a temporary file next to it, which is renamed once it is complete. A FIFO or a device is
/// written directly. [`Target`] decides which.
///
/// # Errors
/// When the path cannot be written, or `write` fails; then nothing is left behind.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let place = match Target::resolve(path)? {
        Target::File(place) => place,
        Target::Stream(place) => {
            let out = OpenOptions::new().write(true).open(place).with_context(failed)?;
            return write_stream(out, write).with_context(failed);
        }
        Target::Open(number) => return write_stream(again(number).with_context(failed)?, write).with_context(failed),
    };
    let file = temporary_for(&place, fs::metadata(&place).ok().as_ref())?;
    let _removed = removed_at_interruption(file.path());
    write_stream(file.as_file(), write).with_context(failed)?;
    file.persist(&place).map_err(|failed| failed.error).with_context(failed)?;
    Ok(())
}

/// Writes a file that only its owner may read, through a temporary file next to it.
///
/// # Errors
/// When the path cannot be written; then nothing is left behind.
pub fn write_private_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let place = through_links(path).with_context(failed)?;
    // By default, only the owner may read temporary files.
    sweep(parent(&place), UNFINISHED);
    let mut file = Builder::new().prefix(UNFINISHED).tempfile_in(parent(&place)).with_context(failed)?;
    let _ = file.as_file().try_lock();
    let _removed = removed_at_interruption(file.path());
    file.write_all(bytes).with_context(failed)?;
    file.as_file().sync_all().with_context(failed)?;
    file.persist(&place).map_err(|failed| failed.error).with_context(failed)?;
    Ok(())
}

/// Creates a directory and its missing parents. Links are followed, even to a directory that does not exist yet.
/// Dropping the returned value removes those of the created directories that are still empty.
///
/// # Errors
/// When it cannot be made.
pub fn make_directory(path: &Path) -> Result<MadeDirectories> {
    let failed = || format!("cannot create {}", path.display());
    let place = through_links(path).with_context(failed)?;
    let missing = place.ancestors().take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists());
    let made = MadeDirectories(missing.map(Path::to_owned).collect());
    fs::create_dir_all(&place).with_context(failed)?;
    Ok(made)
}

/// Created directories, the innermost first. Dropping removes those that are still empty.
#[derive(Debug)]
pub struct MadeDirectories(Vec<PathBuf>);

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        // `remove_dir` removes only empty directories.
        self.0.iter().for_each(|directory| drop(fs::remove_dir(directory)));
    }
}

/// Removes a file or a directory if a signal ends the program while the returned value is alive.
pub fn removed_at_interruption(path: &Path) -> AtInterruption {
    let path = path.to_owned();
    AtInterruption::new(move || {
        // Other threads may still write into a directory, so removal is retried.
        let mut attempts = 0..100;
        while path.symlink_metadata().is_ok() && attempts.next().is_some() {
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    })
}

/// Fills a directory under a temporary name and renames it once everything is written. An existing directory keeps its
/// owner and permissions, and its parent need not be writable. Links are followed, even to a directory that does not
/// exist yet.
///
/// # Errors
/// When the directory exists and is not empty, cannot be created, or `fill` fails; then nothing is left behind.
pub fn write_directory<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    if path.is_dir() {
        let is_occupied = !names(path)?.is_empty();
        ensure!(!is_occupied, "cannot replace {}, it is not empty", path.display());
        return replace_directory(path, fill);
    }
    let place = through_links(path).with_context(|| format!("cannot write {}", path.display()))?;
    let directory = parent(&place);
    let _made = make_directory(directory)?;
    let mut builder = Builder::new();
    as_others(&mut builder, 0o777);
    let temporary = temporary_directory(&mut builder, directory)?;
    let removed = removed_at_interruption(temporary.path());
    let _held = hold(temporary.path());
    let result = fill(temporary.path())?;
    fs::rename(temporary.path(), &place).with_context(|| format!("cannot write {}", path.display()))?;
    // The directory was renamed, so there is nothing left to remove.
    let _ = temporary.keep();
    drop(removed);
    Ok(result)
}

/// Fills a directory and replaces the content of an existing one. If the system can exchange two directories, this is
/// atomic: a killed program leaves all of the old or all of the new content. If the parent is not writable, or the
/// owner would change, the content is moved through a directory inside the existing one.
///
/// # Errors
/// When the directory cannot be written to, or `fill` fails; then its content stays as it was.
pub fn replace_directory<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    replace(path, &|_, _, _| true, fill)
}

/// Replaces entries as [`replace_directory`] does, but keeps other entries of the directory. Entries that `fill` writes
/// replace those with the same names, and entries in `stale` are removed. Without other entries this is atomic;
/// otherwise entries are moved one by one once all are written. Files and folders keep their owners and permissions. A
/// folder with foreign files, by `is_foreign`, is not replaced.
///
/// # Errors
/// Those of [`replace_directory`].
pub fn replace_entries<T>(
    path: &Path,
    stale: &BTreeSet<OsString>,
    is_foreign: &dyn Fn(&Path) -> bool,
    fill: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let is_own = |name: &OsStr, before: &Path, written: &Path| {
        (stale.contains(name) || written.join(name).exists()) && !is_foreign(&before.join(name))
    };
    replace(path, &is_own, |directory| {
        let result = fill(directory)?;
        for name in names(directory)? {
            let (before, written) = (path.join(&name), directory.join(&name));
            if let Ok(facts) = before.symlink_metadata().and_then(|facts| like(facts, &written)) {
                let kept = fs::File::open(&written).and_then(|file| keep_owner(&file, &facts));
                kept.with_context(|| format!("cannot keep the owner of {}", before.display()))?;
            }
        }
        Ok(result)
    })
}

/// Returns the metadata of an entry if its replacement is of the same kind.
fn like(facts: fs::Metadata, written: &Path) -> io::Result<fs::Metadata> {
    let is_alike = facts.file_type() == written.symlink_metadata()?.file_type();
    is_alike.then_some(facts).ok_or_else(|| io::Error::other("of another kind"))
}

/// Whether the entry of this name in the first directory gives way to the content of the second one.
type IsOwn<'a> = &'a dyn Fn(&OsStr, &Path, &Path) -> bool;

fn replace<T>(path: &Path, is_own: IsOwn<'_>, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    #[cfg(target_os = "linux")]
    if let Some((place, other)) = exchange::other_like(path) {
        let removed = removed_at_interruption(other.path());
        let _held = hold(other.path());
        let result = fill(other.path())?;
        // Other programs may have written into it meanwhile.
        let has_others = exchange::entries(&place)?.iter().any(|name| !is_own(name, &place, other.path()));
        if !has_others && swap(other.path(), &place).is_ok() {
            // The temporary directory now holds the old content, and anything that other programs added in between.
            drop(removed);
            let come = exchange::entries(other.path())?.into_iter().filter(|name| !is_own(name, other.path(), &place));
            if let Err(error) = move_all(other.path(), &place, &come.collect::<Vec<OsString>>()) {
                let kept = other.keep();
                return Err(error).with_context(|| format!("what others wrote meanwhile is in {}", kept.display()));
            }
            // Content that cannot be removed keeps its temporary name.
            let _ = other.close();
            return Ok(result);
        }
        // The file system may not support the exchange.
        return replace_with(path, is_own, |new| {
            move_all(other.path(), new, &names(other.path())?)?;
            drop(removed);
            Ok(result)
        });
    }
    replace_with(path, is_own, fill)
}

/// Fills a directory inside the existing one, then moves the old content out and the new content in.
fn replace_with<T>(path: &Path, is_own: IsOwn<'_>, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let temporary = temporary_directory(&mut Builder::new(), path)?;
    let removed = removed_at_interruption(temporary.path());
    let _held = hold(temporary.path());
    let (old, new) = (temporary.path().join("old"), temporary.path().join("new"));
    for directory in [&old, &new] {
        fs::create_dir(directory).with_context(|| format!("cannot create a directory in {}", path.display()))?;
    }
    let result = fill(&new)?;
    // From now on it may hold the earlier content, which an interruption must not remove.
    drop(removed);
    let mut before = names(path)?;
    before.retain(|name| is_own(name, path, &new));
    let moved = move_all(path, &old, &before).and_then(|()| move_all(&new, path, &names(&new)?));
    if let Err(error) = moved {
        let failed = Err(error).with_context(|| format!("cannot write {}", path.display()));
        if names(&old).and_then(|names| move_all(&old, path, &names)).is_err() {
            let kept = temporary.keep();
            return failed.with_context(|| format!("what was there before is in {}", kept.join("old").display()));
        }
        return failed;
    }
    temporary.close().with_context(|| format!("cannot remove what was in {} before", path.display()))?;
    Ok(result)
}

#[cfg(target_os = "linux")]
mod exchange {
    use std::ffi::OsString;
    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::listxattr;
    use rustix::io::Errno;
    use tempfile::{Builder, TempDir};

    use super::{UNFINISHED, is_unfinished, parent, sweep};

    /// The attribute by which SELinux labels files.
    const LABEL: &[u8] = b"security.selinux";

    /// Returns the resolved path of a directory, and a new directory next to it with the same owner, group and mode.
    /// `None` if there can be none, or if another program is writing into the directory.
    pub(super) fn other_like(path: &Path) -> Option<(PathBuf, TempDir)> {
        let place = path.canonicalize().ok()?;
        let (found, above) = (place.metadata().ok()?, parent(&place).metadata().ok()?);
        // Otherwise the user's shell could stand in a removed directory.
        let stands_in_it = std::env::current_dir().and_then(|here| here.canonicalize());
        if stands_in_it.is_ok_and(|here| here.starts_with(&place)) {
            return None;
        }
        let mut inside = fs::read_dir(&place).ok()?;
        let is_used = inside.any(|entry| entry.is_ok_and(|entry| is_unfinished(&entry.file_name())));
        // A mount point must stay, and so must access lists and other attributes.
        if is_used || found.dev() != above.dev() || has_attributes(&place) {
            return None;
        }
        sweep(parent(&place), UNFINISHED);
        let other = Builder::new().prefix(UNFINISHED).tempdir_in(parent(&place)).ok()?;
        fs::set_permissions(other.path(), found.permissions()).ok()?;
        let made = other.path().metadata().ok()?;
        let of = |facts: &fs::Metadata| (facts.uid(), facts.gid(), facts.mode());
        (of(&made) == of(&found)).then_some((place, other))
    }

    /// Whether a directory has attributes that a new one would lack. Labels do not count, as they follow from the
    /// location.
    fn has_attributes(place: &Path) -> bool {
        let mut names = vec![0; 1 << 12];
        match listxattr(place, &mut names) {
            Ok(length) => {
                let names = names.get(..length).unwrap_or_default().split(|byte| *byte == 0);
                names.filter(|name| !name.is_empty()).any(|name| name != LABEL)
            }
            Err(Errno::OPNOTSUPP) => false,
            Err(_) => true,
        }
    }

    /// All entries of a directory, including unfinished ones.
    pub(super) fn entries(directory: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect()
    }
}

/// Exchanges two directories atomically, if the system can.
#[cfg(target_os = "linux")]
pub(crate) fn swap(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn swap(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn temporary_directory(builder: &mut Builder<'_, '_>, directory: &Path) -> Result<TempDir> {
    sweep(directory, UNFINISHED);
    let temporary = builder.prefix(UNFINISHED).tempdir_in(directory);
    temporary.map_err(own_cause).with_context(|| format!("cannot create a directory in {}", directory.display()))
}

/// Names of the entries of a directory in order, without unfinished ones.
fn names(directory: &Path) -> Result<Vec<OsString>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<OsString>>>()?;
    names.retain(|name| !is_unfinished(name));
    names.sort();
    Ok(names)
}

/// Moves entries of a directory into another; puts them back when one cannot be moved.
fn move_all(from: &Path, to: &Path, names: &[OsString]) -> Result<()> {
    for (place, name) in names.iter().enumerate() {
        if let Err(error) = fs::rename(from.join(name), to.join(name)) {
            for moved in names.iter().take(place) {
                let _ = fs::rename(to.join(moved), from.join(moved));
            }
            return Err(error.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;
    use wavesieve_input::sweep_now;

    fn listed(directory: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn fill(directory: &Path) -> Result<()> {
        fs::create_dir(directory.join("part"))?;
        fs::write(directory.join("part/table"), "new")?;
        Ok(fs::write(directory.join("index"), "new")?)
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_is_there_is_filled_and_stays_the_same() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let place = tempfile::tempdir().unwrap();
        let (directory, link) = (place.path().join("out"), place.path().join("link"));
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o2770)).unwrap();
        symlink(&directory, &link).unwrap();
        let before = directory.metadata().unwrap();
        write_directory(&link, fill).unwrap();
        assert_eq!(listed(&directory), ["index", "part"]);
        fs::write(directory.join("old"), "").unwrap();
        assert!(write_directory(&directory, fill).is_err(), "it is not empty");
        replace_directory(&link, fill).unwrap();
        assert_eq!(listed(&directory), ["index", "part"]);
        let after = directory.metadata().unwrap();
        let facts = |facts: &fs::Metadata| (facts.uid(), facts.gid(), facts.mode());
        assert_eq!(facts(&before), facts(&after));
        assert_eq!(listed(place.path()), ["link", "out"]);
    }

    #[test]
    fn entries_are_replaced_and_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        fs::create_dir(&directory).unwrap();
        let stale = BTreeSet::from(["gone", "unlisted"].map(OsString::from));
        let is_foreign = |path: &Path| path.ends_with("unlisted");
        let replaced = |fill: &dyn Fn(&Path) -> Result<()>| replace_entries(&directory, &stale, &is_foreign, fill);
        for others in [&[][..], &["mine", "unlisted"]] {
            fs::write(directory.join("gone"), "").unwrap();
            others.iter().for_each(|name| fs::write(directory.join(name), "").unwrap());
            replaced(&fill).unwrap();
            let mut expected = [&["index", "part"][..], others].concat();
            expected.sort_unstable();
            assert_eq!(listed(&directory), expected);
            assert!(replaced(&|new| fill(new).and_then(|()| -> Result<()> { anyhow::bail!("no room") })).is_err());
            assert_eq!(listed(&directory), expected);
        }
        fs::remove_file(directory.join("mine")).unwrap();
        fs::remove_file(directory.join("unlisted")).unwrap();
        replaced(&|new| fill(new).and_then(|()| Ok(fs::write(directory.join("later"), "")?))).unwrap();
        assert_eq!(listed(&directory), ["index", "later", "part"]);
        assert_eq!(listed(place.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_replaced_keeps_its_rights() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        write_directory(&directory, fill).unwrap();
        for (name, mode) in [("index", 0o600), ("part", 0o700)] {
            fs::set_permissions(directory.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        replace_entries(&directory, &BTreeSet::new(), &|_| false, fill).unwrap();
        let mode = |name: &str| fs::metadata(directory.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("index"), mode("part")), (0o600, 0o700));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_looks_meanwhile_finds_all_of_the_old_or_all_of_the_new() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("out");
        let fill = |version: usize| {
            move |directory: &Path| -> Result<()> {
                (0..40).try_for_each(|file| Ok(fs::write(directory.join(format!("{version}-{file}")), "")?))
            }
        };
        write_directory(&directory, fill(0)).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looks = scope.spawn(|| {
                let mut looks = 0;
                while !is_over.load(Ordering::Relaxed) {
                    // A handle stays with one directory, even if its name leads elsewhere meanwhile.
                    let Ok(entries) = fs::read_dir(&directory) else { continue };
                    let names: Vec<String> =
                        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
                    let versions: std::collections::BTreeSet<&str> =
                        names.iter().filter_map(|name| Some(name.split_once('-')?.0)).collect();
                    assert!(versions.len() < 2, "{names:?}");
                    looks += 1;
                }
                looks
            });
            for version in 1..60 {
                replace_directory(&directory, fill(version)).unwrap();
                assert_eq!(listed(&directory).len(), 40);
            }
            is_over.store(true, Ordering::Relaxed);
            assert!(looks.join().unwrap() > 0);
        });
        assert_eq!(listed(place.path()), ["out"]);
    }

    #[test]
    fn what_fails_leaves_what_was_there() {
        let place = tempfile::tempdir().unwrap();
        let directory: PathBuf = place.path().join("out");
        write_directory(&directory, fill).unwrap();
        let fails = |directory: &Path| -> Result<()> {
            fs::write(directory.join("half"), "")?;
            anyhow::bail!("no more")
        };
        assert!(replace_directory(&directory, fails).is_err());
        assert!(write_directory(&place.path().join("other"), fails).is_err());
        assert_eq!(listed(&directory), ["index", "part"]);
        assert_eq!(listed(place.path()), ["out"]);
    }

    /// Makes a file old, as if a killed program had left it.
    fn age(path: &Path) {
        let before = SystemTime::now() - Duration::from_secs(7200);
        File::open(path).unwrap().set_modified(before).unwrap();
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    /// Every way to write into a directory sweeps it, and removes nothing that is being written.
    #[test]
    fn writers_sweep_and_hold() {
        let write = |place: &Path, way: usize| match way {
            0 => write_file(&place.join("out"), |out| {
                let own = names(place).into_iter().find(|name| name.starts_with(UNFINISHED)).unwrap();
                age(&place.join(&own));
                sweep_now(place, UNFINISHED);
                assert!(place.join(own).exists());
                Ok(out.write_all(b"x")?)
            }),
            1 => write_directory(&place.join("out"), |folder| {
                age(folder);
                sweep_now(place, UNFINISHED);
                Ok(fs::write(folder.join("x"), "x")?)
            }),
            _ => write_private_file(&place.join("out"), b"x"),
        };
        for way in 0..3 {
            let place = tempfile::tempdir().unwrap();
            let left = place.path().join(".wavesieve-aB3dE6");
            fs::write(&left, "x").unwrap();
            age(&left);
            write(place.path(), way).unwrap();
            assert_eq!(names(place.path()), ["out"], "{way}");
        }
    }
}
