//! Files that appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::Builder;

/// Writes a file through a temporary one beside it, which takes its name when everything is written.
///
/// # Errors
/// When the directory cannot be written to, or `write` fails; then nothing is left behind.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let directory = parent(path);
    let mut file = Builder::new()
        .prefix(".wavesieve-")
        .tempfile_in(directory)
        .with_context(|| format!("cannot create a file in {}", directory.display()))?;
    write(&mut file).with_context(|| format!("cannot write {}", path.display()))?;
    file.flush().with_context(|| format!("cannot write {}", path.display()))?;
    let file = file.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    set_usual_mode(&file);
    Ok(())
}

/// A temporary file is readable by its owner only; an output should be as readable as any other new file.
#[cfg(unix)]
fn set_usual_mode(file: &fs::File) {
    use std::os::unix::fs::PermissionsExt;
    // Failure leaves a stricter mode, which harms nothing.
    let _ = file.set_permissions(fs::Permissions::from_mode(0o644));
}

#[cfg(not(unix))]
fn set_usual_mode(_file: &fs::File) {}

/// Fills a directory under a temporary name beside it, which it loses when everything is written.
///
/// # Errors
/// When the directory exists and is not empty, cannot be created, or `fill` fails; then nothing is left behind.
pub fn write_directory<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let directory = parent(path);
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let temporary = Builder::new()
        .prefix(".wavesieve-")
        .tempdir_in(directory)
        .with_context(|| format!("cannot create a directory in {}", directory.display()))?;
    let result = fill(temporary.path())?;
    if path.exists() {
        // An empty directory was made for the output; anything else is refused before the work starts.
        fs::remove_dir(path).with_context(|| format!("cannot replace {}, it is not empty", path.display()))?;
    }
    let written = temporary.keep();
    if let Err(error) = fs::rename(&written, path) {
        let _ = fs::remove_dir_all(&written);
        return Err(error).with_context(|| format!("cannot write {}", path.display()));
    }
    set_directory_mode(path);
    Ok(result)
}

/// Fills a directory under a temporary name, then lets it take the place of one that is there.
///
/// # Errors
/// As [`write_directory`].
pub fn replace_directory<T>(path: &Path, fill: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let name = path.file_name().context("the output has no name")?.to_string_lossy().into_owned();
    let old = path.with_file_name(format!(".{name}.replaced"));
    let new = path.with_file_name(format!(".{name}.new"));
    for leftover in [&old, &new] {
        if leftover.exists() {
            fs::remove_dir_all(leftover).with_context(|| format!("cannot remove {}", leftover.display()))?;
        }
    }
    let result = write_directory(&new, fill)?;
    fs::rename(path, &old).with_context(|| format!("cannot move {} aside", path.display()))?;
    fs::rename(&new, path).with_context(|| format!("cannot write {}", path.display()))?;
    fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    Ok(result)
}

#[cfg(unix)]
fn set_directory_mode(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
}

#[cfg(not(unix))]
fn set_directory_mode(_path: &Path) {}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
