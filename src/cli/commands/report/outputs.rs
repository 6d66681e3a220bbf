//! The files of a batch of documents. They never replace foreign files.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::document_output::DocumentFormat;
use crate::cli::output::messages;
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_report::batch::{Run, file_stems, listed_files};
use wavesieve_report::folder;
use wavesieve_report::html::is_page;

/// The paths of the run documents and the index.
pub(crate) struct Outputs {
    pub index_page: PathBuf,
    /// The index for scripts.
    pub index_json: PathBuf,
    /// The documents, in the order of the runs.
    pub documents: Vec<PathBuf>,
    /// The comparisons with the baseline, in the order of the runs; empty for one run.
    pub comparisons: Vec<PathBuf>,
    /// Names of the documents without extension.
    stems: Vec<String>,
    /// Existing files that an earlier report lists, except inputs.
    listed: BTreeSet<PathBuf>,
    /// Paths of the inputs.
    inputs: BTreeSet<PathBuf>,
    /// The directory as the user named it.
    named: PathBuf,
}

/// The path of a run's document.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The file or folder.
    pub document: &'a Path,
    /// Its file name without extension.
    pub stem: &'a str,
}

impl Outputs {
    /// Determines the files in a directory.
    ///
    /// # Errors
    /// [`Failure::Usage`] when the path is not a directory, or when one of the files is an input, or exists but was not
    /// written by an earlier report.
    pub(crate) fn new(directory: &Path, runs: &[Run], format: DocumentFormat) -> Result<Self, Failure> {
        let refuse = |path: &Path, reason: &str| Err(Failure::Usage(format!("{} {reason}", path.display())));
        if directory.exists() && !directory.is_dir() {
            return refuse(directory, "is not a directory; name another one with -d");
        }
        let stems = file_stems(runs.iter().map(|run| run.name.as_str()));
        let name = |stem: &String| {
            directory.join(if format.is_folder() { stem.clone() } else { format!("{stem}.{}", format.extension()) })
        };
        let candidates = runs.iter().flat_map(|run| &run.candidates);
        let inputs: BTreeSet<PathBuf> = candidates.filter_map(|candidate| candidate.path.canonicalize().ok()).collect();
        let index_json = directory.join("index.json");
        let earlier = regular::read_text(&index_json, LARGE_BYTES).ok();
        let files = listed_files(earlier.as_deref().unwrap_or_default()).into_iter();
        let listed = files.filter(|file| is_name(file)).map(|file| directory.join(file));
        let documents: Vec<PathBuf> = stems.iter().map(name).collect();
        let comparison = |stem: &String| {
            let mut path = directory.join(format!("{stem}.compared.html"));
            while documents.contains(&path) {
                path.as_mut_os_string().push(".html");
            }
            path
        };
        let mut outputs = Self {
            index_page: directory.join("index.html"),
            comparisons: if stems.len() > 1 { stems.iter().map(comparison).collect() } else { Vec::new() },
            documents,
            stems,
            listed: BTreeSet::new(),
            inputs,
            index_json,
            named: directory.to_owned(),
        };
        let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
        outputs.listed = listed.filter(|path| is_there(path) && !outputs.is_input(path)).collect();
        let has_index = earlier.is_some_and(|text| wavesieve_report::batch::is_index(&text));
        for path in outputs.all() {
            if outputs.is_input(path) {
                return refuse(path, "is an input, which is never written; name another directory with -d");
            }
            let is_own = match path {
                path if *path == outputs.index_json => has_index,
                path if path.is_dir() => {
                    folder::place(path).is_ok_and(|place| !matches!(place, folder::FolderPlace::Foreign(_)))
                }
                path => path.is_file() && (outputs.listed.contains(path) || is_page(path)),
            };
            if path.exists() && !is_own {
                return refuse(path, "is there and no earlier report; move it away, or name another directory with -d");
            }
        }
        Ok(outputs)
    }

    /// The files of the runs, in their order.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place<'_>> {
        let places = self.documents.iter().zip(&self.stems);
        places.map(|(document, stem)| Place { document, stem })
    }

    /// Returns whether a path is an input, or contains one.
    pub(crate) fn is_input(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| self.inputs.iter().any(|input| input.starts_with(&path)))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        let documents = self.documents.iter().chain(&self.comparisons);
        documents.chain([&self.index_page, &self.index_json]).map(PathBuf::as_path)
    }

    /// The same files in another directory.
    pub(crate) fn within(&self, directory: &Path) -> Self {
        let moved = |path: &PathBuf| directory.join(path.file_name().unwrap_or_default());
        Self {
            index_page: moved(&self.index_page),
            index_json: moved(&self.index_json),
            documents: self.documents.iter().map(moved).collect(),
            comparisons: self.comparisons.iter().map(moved).collect(),
            stems: self.stems.clone(),
            listed: BTreeSet::new(),
            inputs: BTreeSet::new(),
            named: self.named.clone(),
        }
    }

    /// Names of documents that an earlier report lists.
    pub(crate) fn listed_names(&self) -> BTreeSet<OsString> {
        self.listed.iter().filter_map(|path| path.file_name()).map(OsStr::to_owned).collect()
    }

    /// A message with the directory as the user named it, in place of the actual one.
    pub(crate) fn as_named(&self, message: &str) -> String {
        let written = self.index_page.parent().map(|written| written.display().to_string()).unwrap_or_default();
        if written.is_empty() {
            message.to_owned()
        } else {
            message.replace(&written, &self.named.display().to_string())
        }
    }

    /// Returns whether a file is a link, which is written through.
    pub(crate) fn has_link(&self) -> bool {
        self.all().any(Path::is_symlink)
    }

    /// Removes documents that an earlier report lists but this one does not: their runs are gone, or failed this time.
    pub(crate) fn remove_stale(&self, written: &BTreeSet<&Path>, global: &GlobalArguments) {
        let is_index = |path: &Path| path == self.index_page || path == self.index_json;
        let mut lines = Vec::new();
        for path in self.listed.iter().filter(|path| !written.contains(path.as_path()) && !is_index(path)) {
            let shown = path.display();
            match remove(path) {
                Ok(()) => {
                    lines.push(format!("note: removed {shown}, which an earlier report wrote and this one did not"))
                }
                Err(error) => lines.push(format!("note: {shown} is of an earlier report and stays: {error}")),
            }
        }
        if !global.quiet {
            messages::print_notes(&lines, "note: ", global);
        }
    }
}

/// Returns whether a path is a folder with foreign files, or cannot be read.
pub(crate) fn is_foreign(path: &Path) -> bool {
    path.is_dir() && !matches!(folder::place(path), Ok(folder::FolderPlace::Free | folder::FolderPlace::Ours))
}

/// Returns whether a text is a plain file name.
fn is_name(text: &str) -> bool {
    let mut components = Path::new(text).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// Removes a document if it still exists.
fn remove(path: &Path) -> io::Result<()> {
    let Ok(facts) = path.symlink_metadata() else { return Ok(()) };
    if !facts.is_dir() {
        return fs::remove_file(path);
    }
    match folder::place(path)? {
        folder::FolderPlace::Foreign(name) => {
            let name = name.unwrap_or_default();
            Err(io::Error::other(format!("it holds {name}, which is not from there; move that away")))
        }
        folder::FolderPlace::Free | folder::FolderPlace::Ours => fs::remove_dir_all(path),
    }
}
