//! The patch that applies a candidate to the sources.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::interactive::checkpoints::{Git, reason_of};
use crate::interactive::edits::{Edit, FileEdit};
use wavesieve_export::atomic::write_file;

const NAME: &str = "optimized.patch";

pub(super) fn change(path: &Path, before: &str, after: &str) -> Edit {
    let (before, after) = (Some(before.to_owned()), Some(after.to_owned()));
    Edit { files: vec![FileEdit { path: path.to_owned(), before, after, ..FileEdit::default() }] }
}

/// A diff that `git apply` accepts.
pub fn diff(path: &Path, before: &str, after: &str) -> String {
    change(path, before, after).diff()
}

/// Writes the patch, and lets git check that it applies to the original sources. The check runs in a separate folder,
/// so that no settings of the user's repository run programs.
pub(super) fn promote(edit: &Edit, root: &Path, directory: &Path) -> Result<PathBuf> {
    let path = directory.join(NAME);
    write_file(&path, |out| Ok(out.write_all(edit.diff().as_bytes())?))?;
    let sources = tempfile::tempdir().context("cannot create a folder for the sources that are changed")?;
    let place = sources.path().canonicalize().context("cannot find the folder for the sources that are changed")?;
    for file in &edit.files {
        let copy = place.join(&file.path);
        // A missing or unreadable file is missing for git too.
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let _ = fs::copy(root.join(&file.path), &copy);
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    let check = Git::new(&place, "check the patch").without_repository(&place);
    let check = check.args(["-c", "apply.whitespace=nowarn", "apply", "--check"]).args([&real]);
    // Without git, the program that applies the patch decides.
    if let Some(output) = check.output().ok().filter(|output| !output.status.success()) {
        let reported = reason_of(&output);
        bail!("git does not apply {}: {reported}; did the sources change meanwhile?", path.display());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repository with settings that run a program for every file that git reads.
    #[test]
    fn settings_of_a_repository_run_nothing() {
        let place = tempfile::tempdir().unwrap();
        let (root, out) = (place.path().join("code"), place.path().join("out"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&out).unwrap();
        let git = |words: &[&str]| Git::new(&root, "test").args(words).output().unwrap();
        assert!(git(&["init", "-q"]).status.success());
        let marker = place.path().join("ran");
        let run = format!("sh -c 'touch {}; cat'", marker.display());
        for name in ["filter.own.clean", "filter.own.smudge", "core.fsmonitor", "core.sshCommand", "diff.external"] {
            assert!(git(&["config", name, &run]).status.success());
        }
        fs::write(root.join(".gitattributes"), "* filter=own\n").unwrap();
        fs::write(root.join("k.hip"), "one\ntwo\n").unwrap();
        let path = Path::new("k.hip");
        let patch = promote(&change(path, "one\ntwo\n", "one\nthree\n"), &root, &out).unwrap();
        assert_eq!(fs::read_to_string(patch).unwrap(), diff(path, "one\ntwo\n", "one\nthree\n"));
        assert!(!marker.exists());
        // A patch that does not fit is noticed.
        fs::write(root.join("k.hip"), "other\n").unwrap();
        let error = promote(&change(path, "one\ntwo\n", "one\nthree\n"), &root, &out).unwrap_err();
        assert!(error.to_string().contains("did the sources change"), "{error}");
        assert!(!marker.exists());
    }
}
