//! Writes a checkpoint into a folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::process::Child;

use super::error::GitError;
use super::reading::TreeEntry;
use super::repository::{Repository, path_of};
use wavesieve_export::atomic::write_directory;

const TASK: &str = "export a checkpoint";

impl Repository {
    /// Writes all files of a commit into a folder that is empty or does not exist; returns their number. Bytes are the
    /// same as in git: line ends are not converted, filters do not run. Links are written last, submodules as empty
    /// folders.
    ///
    /// # Errors
    /// When the folder is not empty, or cannot be written. Nothing is left behind then.
    pub fn export(&self, commit: &str, folder: &Path) -> Result<usize, GitError> {
        let entries = self.tree(&self.commit_of(commit)?)?;
        let written = write_directory(folder, |place| self.write_entries(&entries, place).map_err(anyhow::Error::from));
        written.map_err(|error| match error.downcast::<GitError>() {
            Ok(error) => error,
            Err(error) => GitError::failed(TASK, format!("{error:#}")),
        })
    }

    fn write_entries(&self, entries: &[TreeEntry], folder: &Path) -> Result<usize, GitError> {
        let mut ids = String::new();
        let has_contents = |entry: &&TreeEntry| entry.mode != "160000";
        entries.iter().filter(has_contents).for_each(|entry| ids.extend([entry.id.as_str(), "\n"]));
        let mut git = self.git(TASK).args(["cat-file", "--batch"]).input(ids.as_bytes())?.spawn()?;
        let written = write_from(&mut git, entries, folder);
        // After a failure, closing the output ends git too.
        let ended = git.wait().map_err(|error| GitError::failed(TASK, error))?;
        match written {
            Ok(written) if ended.success() => Ok(written),
            Ok(_) => Err(GitError::failed(TASK, format!("git ended with {ended}"))),
            Err((path, error)) => Err(GitError::failed(TASK, format!("{}: {error}", path.display()))),
        }
    }
}

fn write_from(git: &mut Child, entries: &[TreeEntry], folder: &Path) -> Result<usize, (PathBuf, io::Error)> {
    let output = git.stdout.take().ok_or_else(|| (folder.to_owned(), io::Error::other("git prints nothing")))?;
    let mut output = BufReader::new(output);
    let mut links = Vec::new();
    for entry in entries {
        let failed = |error| (entry.path.clone(), error);
        let place = place_of(folder, &entry.path).map_err(failed)?;
        if entry.mode == "160000" {
            fs::create_dir_all(place).map_err(failed)?;
            continue;
        }
        if let Some(above) = place.parent() {
            fs::create_dir_all(above).map_err(failed)?;
        }
        let mut contents = contents_of(&mut output).map_err(failed)?;
        if entry.mode == "120000" {
            let mut target = Vec::new();
            contents.read_to_end(&mut target).map_err(failed)?;
            links.push((entry.path.clone(), place, path_of(&target)));
        } else {
            let mut file = new_file(&place, entry.mode == "100755").map_err(failed)?;
            io::copy(&mut contents, &mut file).map_err(failed)?;
        }
        let mut end = [0];
        if contents.limit() > 0 || output.read_exact(&mut end).is_err() {
            return Err(failed(io::Error::from(io::ErrorKind::UnexpectedEof)));
        }
    }
    // Links come last, so that no file is written through one of them.
    for (path, place, target) in links {
        link(&target, &place).map_err(|error| (path, error))?;
    }
    Ok(entries.iter().filter(|entry| entry.mode != "160000").count())
}

/// The next object that `cat-file --batch` prints.
fn contents_of(output: &mut impl BufRead) -> io::Result<io::Take<&mut impl BufRead>> {
    let mut header = String::new();
    output.read_line(&mut header)?;
    let size = match header.split_whitespace().collect::<Vec<_>>().as_slice() {
        [_, "blob", size] => size.parse().ok(),
        _ => None,
    };
    let size = size.ok_or_else(|| io::Error::other("the repository does not have its contents"))?;
    Ok(output.take(size))
}

/// A path inside the folder: names in trees may be anything.
fn place_of(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    let is_inside = path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    });
    if is_inside { Ok(folder.join(path)) } else { Err(io::Error::other("its name leads out of the folder")) }
}

fn new_file(place: &Path, is_executable: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create_new(true).mode(if is_executable { 0o777 } else { 0o666 }).open(place)
}

fn link(target: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}
