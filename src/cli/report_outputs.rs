//! The files of a batch of documents, none of which may be anything else.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::document_output::DocumentFormat;
use super::exit::Failure;
use crate::report::batch::{Run, file_stems, listed_files};
use crate::report::folder::{self, Place};

/// How every page of this program says where it is from.
const GENERATOR: &str = "<meta name=\"generator\" content=\"wavesieve ";
/// Where a page says so, at the latest.
const HEAD_BYTES: u64 = 4096;

/// Where the documents of runs and the index go.
pub struct Outputs {
    /// The page.
    pub index_page: PathBuf,
    /// The same for scripts.
    pub index_json: PathBuf,
    /// The documents, in the order of the runs.
    pub documents: Vec<PathBuf>,
}

impl Outputs {
    /// Those in a directory.
    ///
    /// # Errors
    /// [`Failure::Usage`] when the directory is none, a file of it would be an input, or is there and was not written by an
    /// earlier report.
    pub fn of(directory: &Path, runs: &[Run], format: DocumentFormat) -> Result<Self, Failure> {
        let refuse = |path: &Path, reason: &str| Err(Failure::Usage(format!("{} {reason}", path.display())));
        if directory.exists() && !directory.is_dir() {
            return refuse(directory, "is no directory; name another one with -d");
        }
        let stems = file_stems(runs.iter().map(|run| run.name.as_str()));
        let name = |stem: &String| {
            directory.join(if format.is_folder() { stem.clone() } else { format!("{stem}.{}", format.extension()) })
        };
        let outputs = Self {
            index_page: directory.join("index.html"),
            index_json: directory.join("index.json"),
            documents: stems.iter().map(name).collect(),
        };
        let candidates = runs.iter().flat_map(|run| &run.candidates);
        let inputs: BTreeSet<PathBuf> = candidates.filter_map(|candidate| candidate.path.canonicalize().ok()).collect();
        let earlier = fs::read_to_string(&outputs.index_json).ok();
        let listed: BTreeSet<PathBuf> =
            listed_files(earlier.as_deref().unwrap_or_default()).into_iter().map(|file| directory.join(file)).collect();
        let has_index = earlier.is_none_or(|text| crate::report::batch::is_index(&text));
        for path in outputs.documents.iter().chain([&outputs.index_page, &outputs.index_json]) {
            if path.canonicalize().is_ok_and(|path| inputs.iter().any(|input| input.starts_with(&path))) {
                return refuse(path, "is an input, which is never written; name another directory with -d");
            }
            let is_own = match path {
                path if *path == outputs.index_json => has_index,
                path if path.is_dir() => folder::place(path).is_ok_and(|place| !matches!(place, Place::Foreign(_))),
                path => listed.contains(path) || is_page(path),
            };
            if path.exists() && !is_own {
                return refuse(path, "is there and no earlier report; move it away, or name another directory with -d");
            }
        }
        Ok(outputs)
    }
}

/// Whether a file is a page of this program.
fn is_page(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}
