//! From files, directories and patterns to candidate files, in a fixed order and without duplicates.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index_file::{index_in, is_index, listed_files};
use super::naming::promise;
use crate::dataset::{is_dataset, without_manifest};
use crate::error::InputError;
use crate::stores::{Address, Mirror};
use wavesieve_model::text::bytes::text_of_name;
use wavesieve_model::text::natural_order::natural_key;

/// A file or dataset directory to inspect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// Whether the user named it; otherwise it was found in a directory.
    pub named: bool,
    /// The reason why it cannot be inspected.
    pub problem: Option<Problem>,
    /// The dataset in a store that the path stands for.
    pub mirror: Option<Arc<Mirror>>,
}

impl Candidate {
    /// Its path as given or found.
    pub fn shown(&self) -> String {
        self.mirror.as_ref().map_or_else(|| text_of_name(&self.path), |mirror| mirror.shown().to_owned())
    }

    /// The last part of the shown path.
    pub fn name(&self) -> String {
        name_of(Path::new(&self.shown()))
    }
}

/// Reason why a path cannot be inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Traces may be missing: a directory cannot be listed, or a link with the name of a trace leads nowhere.
    Lost(String),
    /// A dangling link to some other document: nothing indicates that it was a trace.
    DeadLink(String),
}

/// Start of the names of files and directories that are being written.
pub const UNFINISHED: &str = ".wavesieve-";

/// Whether a file or directory of this name is being written, or was left unfinished by its writer.
pub fn is_unfinished(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(UNFINISHED)
}

/// Finds the candidates of all inputs. A directory is searched recursively, through links to directories as well. A dataset is one
/// candidate; a package of rocpd gives the databases that its index lists. The directory `exclude` and outputs that are being written are
/// left out unless they are named. Paths that cannot be searched or followed become candidates with a problem.
///
/// # Errors
/// [`InputError::NoSuchFile`] for an input that matches nothing.
pub fn discover(inputs: &[String], exclude: Option<&Path>) -> Result<Vec<Candidate>, InputError> {
    let exclude = exclude.and_then(|path| path.canonicalize().ok());
    let mut search = Search { exclude, seen: BTreeSet::new(), links: VecDeque::new(), candidates: Vec::new() };
    let mut local = Vec::new();
    for input in inputs {
        match Address::parse(input).map_err(|error| InputError::Address(error.to_string()))? {
            Some(address) => search.candidates.push(in_store(&address)?),
            None => local.push(input.clone()),
        }
    }
    for path in named(&local)? {
        let index = if is_index(&path) && path.is_file() { Some(path.clone()) } else { index_in(&path) };
        match index {
            Some(index) => search.named_index(&index)?,
            None => search.visit(&path, true),
        }
    }
    while let Some(link) = search.links.pop_front() {
        search.visit(&link, false);
    }
    let mut candidates = search.candidates;
    let mut seen = BTreeSet::new();
    candidates.sort_by_cached_key(|candidate| (natural_key(&candidate.shown()), !candidate.named));
    candidates
        .retain(|candidate| seen.insert(fs::canonicalize(&candidate.path).unwrap_or_else(|_| candidate.path.clone())));
    Ok(candidates)
}

/// The dataset at an address.
fn in_store(address: &Address) -> Result<Candidate, InputError> {
    let mirror = Mirror::open(address)?;
    Ok(Candidate { path: mirror.path().to_owned(), named: true, problem: None, mirror: Some(mirror) })
}

/// The files and directories that inputs name: the paths themselves, or the matches of patterns. Directories that a pattern cannot search
/// are included.
///
/// # Errors
/// [`InputError::NoSuchFile`] for an input that matches nothing.
pub fn named(inputs: &[String]) -> Result<Vec<PathBuf>, InputError> {
    let mut paths = Vec::new();
    for input in inputs {
        if Address::is_meant(input) {
            let advice =
                "runs of a batch are named by their paths; copy the dataset, or name one address without --batch";
            return Err(InputError::Address(format!("{input}: {advice}")));
        }
        let nothing = || InputError::NoSuchFile { path: input.clone() };
        let path = Path::new(input);
        let is_locked = path.try_exists().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
        if path.exists() || path.is_symlink() || is_locked {
            paths.push(PathBuf::from(input));
            continue;
        }
        let matches = glob::glob(input).map_err(|_| nothing())?;
        let matches: Vec<PathBuf> = matches.map(|path| path.unwrap_or_else(|error| error.path().to_owned())).collect();
        if matches.is_empty() {
            return Err(nothing());
        }
        paths.extend(matches);
    }
    Ok(paths)
}

/// Identifies a directory, whatever path leads to it: device and inode.
type Identity = (u64, u64);

struct Search {
    exclude: Option<PathBuf>,
    /// Directories that were searched.
    seen: BTreeSet<Identity>,
    /// Links to directories. They are visited last, so that a file that is reached both ways keeps its own path.
    links: VecDeque<PathBuf>,
    candidates: Vec<Candidate>,
}

impl Search {
    fn add(&mut self, path: &Path, named: bool, problem: Option<Problem>) {
        self.candidates.push(Candidate { path: path.to_owned(), named, problem, mirror: None });
    }

    /// Adds a path that cannot be inspected and may hold traces.
    fn lose(&mut self, path: &Path, named: bool, reason: String) {
        self.add(path, named, Some(Problem::Lost(reason)));
    }

    fn visit(&mut self, path: &Path, named: bool) {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.lose(path, named, why_unknown(path, &error)),
        };
        if !metadata.is_dir() || is_dataset(path) {
            return self.add(path, named, None);
        }
        if !self.seen.insert((metadata.dev(), metadata.ino())) {
            return;
        }
        if let Some(index) = index_in(path) {
            return self.visit_index(&index);
        }
        let (entries, problem) = entries(path);
        if let Some(problem) = without_manifest(path, &entries) {
            return self.lose(path, named, problem);
        }
        if let Some(error) = problem {
            self.lose(path, named, format!("cannot be listed: {error}"));
        }
        entries.iter().for_each(|entry| self.visit_entry(entry));
    }

    /// Adds the databases in an index that the user named.
    fn named_index(&mut self, index: &Path) -> Result<(), InputError> {
        let shown = || index.to_string_lossy().into_owned();
        let files = listed_files(index).map_err(|reason| InputError::Damaged { reasons: vec![(shown(), reason)] })?;
        for file in &files {
            if !file.exists() {
                return Err(InputError::NotListed { index: shown(), file: file.to_string_lossy().into_owned() });
            }
            self.visit(file, true);
        }
        Ok(())
    }

    /// Adds the databases in an index that was found in a folder.
    fn visit_index(&mut self, index: &Path) {
        match listed_files(index) {
            Err(reason) => self.lose(index, false, reason),
            Ok(files) => {
                for file in &files {
                    if file.exists() {
                        self.visit(file, false);
                    } else {
                        self.lose(file, false, format!("listed in {}, but it does not exist", index.display()));
                    }
                }
            }
        }
    }

    fn visit_entry(&mut self, entry: &Path) {
        if entry.file_name().is_some_and(is_unfinished) {
            return;
        }
        let metadata = fs::metadata(entry);
        if let (Err(error), Ok(target)) = (&metadata, entry.read_link()) {
            // A link that leads nowhere may have been a rank or a folder of ranks. A link with another file extension was probably neither.
            let is_of_trace = promise(&name_of(entry)).or_else(|| promise(&name_of(&target))).is_some();
            let is_lost = error.kind() == ErrorKind::PermissionDenied || is_of_trace || entry.extension().is_none();
            let reason = why_unknown(entry, error);
            self.add(entry, false, Some(if is_lost { Problem::Lost(reason) } else { Problem::DeadLink(reason) }));
            return;
        }
        let is_directory = metadata.is_ok_and(|metadata| metadata.is_dir());
        if is_directory && self.exclude.is_some() {
            let place = entry.canonicalize().ok();
            if self.exclude.as_ref().zip(place).is_some_and(|(exclude, place)| place.starts_with(exclude)) {
                return;
            }
        }
        match is_directory && entry.is_symlink() {
            true if leads_up(entry) => {}
            true => self.links.push_back(entry.to_owned()),
            false => self.visit(entry, false),
        }
    }
}

/// The entries of a directory in a fixed order, and the error if some cannot be listed.
fn entries(directory: &Path) -> (Vec<PathBuf>, Option<io::Error>) {
    let (mut paths, mut problem) = (Vec::new(), None);
    match fs::read_dir(directory) {
        Err(error) => problem = Some(error),
        Ok(entries) => {
            for entry in entries {
                match entry {
                    Ok(entry) => paths.push(entry.path()),
                    Err(error) => problem = Some(error),
                }
            }
        }
    }
    paths.sort();
    // A directory can list its names and still deny access to all files. That is reported once, and not for every name.
    let locked = paths.iter().find_map(|path| path.symlink_metadata().err());
    if let Some(error) = locked.filter(|error| error.kind() == ErrorKind::PermissionDenied) {
        return (Vec::new(), Some(error));
    }
    (paths, problem)
}

/// Whether a link leads to a directory that contains it. Following it would find files next to the input.
fn leads_up(link: &Path) -> bool {
    let lies_in = link.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let lies_in = lies_in.and_then(|parent| parent.canonicalize().ok());
    lies_in.zip(link.canonicalize().ok()).is_some_and(|(lies_in, target)| lies_in.starts_with(target))
}

/// The reason why the target of a path is unknown.
fn why_unknown(path: &Path, error: &io::Error) -> String {
    match path.read_link() {
        Ok(target) if error.kind() == ErrorKind::NotFound => {
            format!("a link to {}, which does not exist; restore it or remove the link", target.display())
        }
        Ok(target) => format!("a link to {}, which cannot be followed: {error}", target.display()),
        Err(_) => format!("cannot be read: {error}"),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, text_of_name)
}
