//! The patch that brings a candidate into the sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::interactive::edits::{Edit, FileEdit};

/// Name of the patch.
const NAME: &str = "optimized.patch";

/// A change of one file.
pub(super) fn change(path: &Path, before: &str, after: &str) -> Edit {
    let (before, after) = (Some(before.to_owned()), Some(after.to_owned()));
    Edit { files: vec![FileEdit { path: path.to_owned(), before, after, ..FileEdit::default() }] }
}

/// The same as `git apply` takes it.
pub(crate) fn diff(path: &Path, before: &str, after: &str) -> String {
    change(path, before, after).diff()
}

/// Writes the patch, and lets git check that it applies to the sources as they are.
///
/// # Errors
/// When it cannot be written, or git refuses it.
pub(super) fn promote(diff: &str, root: &Path, directory: &Path) -> Result<PathBuf> {
    let path = directory.join(NAME);
    let temporary = directory.join(format!("{NAME}.tmp"));
    fs::write(&temporary, diff).with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(&temporary, &path).with_context(|| format!("cannot write {}", path.display()))?;
    let git = |words: &[&str]| Command::new("git").arg("-C").arg(root).args(words).stdin(Stdio::null()).output().ok();
    // Without git or a repository, the user's program that applies it decides.
    if git(&["rev-parse", "--is-inside-work-tree"]).is_some_and(|output| output.status.success()) {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let checked = git(&["-c", "apply.whitespace=nowarn", "apply", "--check", &real.to_string_lossy()]);
        if let Some(output) = checked.filter(|output| !output.status.success()) {
            let reported = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            bail!("git does not apply {}: {reported}; did the sources change meanwhile?", path.display());
        }
    }
    Ok(path)
}
