//! Source files below a directory.

use std::io;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

/// Directories with build results or third-party code. Directories that start with a dot are skipped as well.
const SKIPPED_DIRECTORIES: [&str; 14] = [
    "build",
    "_build",
    "__pycache__",
    "node_modules",
    "vendor",
    "dist",
    "site-packages",
    "CMakeFiles",
    "CMakeCache",
    "third_party",
    "thirdparty",
    "extern",
    "venv",
    "env",
];

/// Language of a file, inferred from its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    C,
    /// HIP or CUDA, by file extension.
    Gpu,
    /// OpenCL C.
    OpenCl,
    /// Python or Cython.
    Python,
}

/// The reason why a named path cannot be scanned, with advice.
pub fn refusal(path: &Path) -> Option<&'static str> {
    match path.is_dir() {
        false if !is_source(path) => Some(
            "is not a source file by its extension; name one in C, C++, HIP, CUDA, OpenCL or Python, or a directory",
        ),
        false if !path.is_file() => Some(NO_FILE),
        _ => None,
    }
}

/// The message for pipes, sockets and devices, which may be endless.
const NO_FILE: &str = "is not a regular file; name a source file, or a directory";

/// Returns whether a scan treats a file of this name as source code.
pub fn is_source(path: &Path) -> bool {
    Language::from_path(path).is_some()
}

impl Language {
    /// The language of a path's extension; `None` if it is not a source file.
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "hip" | "cu" | "cuh" => Self::Gpu,
            "c" | "cc" | "cpp" | "cxx" | "c++" | "h" | "hh" | "hpp" | "hxx" | "h++" | "inl" | "ipp" | "tpp" => Self::C,
            "cl" | "clh" => Self::OpenCl,
            "py" | "pyx" => Self::Python,
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path.
    pub path: PathBuf,
    /// Its path relative to the scanned directory.
    pub below: PathBuf,
    /// Its programming language.
    pub language: Language,
    /// Its size.
    pub bytes: u64,
}

/// Limits of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of files, in path order.
    pub files: usize,
    /// Maximum bytes of a file; larger files are not read.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { files: 500, file_bytes: 512 * 1024 }
    }
}

/// The files below a directory.
#[derive(Debug, Default)]
pub struct Listing {
    /// Files to scan, in path order.
    pub files: Vec<SourceFile>,
    /// Number of source files beyond the limit.
    pub beyond: usize,
    /// Source files that are too large.
    pub large: Vec<PathBuf>,
    /// Paths that could not be read, with the reasons.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Number of links. They are not followed: their targets inside the directory are found anyway.
    pub links: usize,
}

/// Lists the source files below a directory, or a single named file.
///
/// # Errors
/// When the directory itself cannot be read.
pub fn list(named: &Path, limits: Limits) -> io::Result<Listing> {
    let root = named.canonicalize()?;
    let mut listing = Listing::default();
    if root.is_file() {
        let (Some(language), Some(name)) = (Language::from_path(named), named.file_name()) else { return Ok(listing) };
        let (bytes, below) = (root.metadata()?.len(), PathBuf::from(name));
        if bytes > limits.file_bytes {
            listing.large.push(below);
        } else {
            listing.files.push(SourceFile { path: root, below, language, bytes });
        }
        return Ok(listing);
    }
    let is_entered = |entry: &DirEntry| entry.depth() == 0 || !entry.file_type().is_dir() || !is_skipped(entry.path());
    let below_root = |path: &Path| path.strip_prefix(&root).unwrap_or(path).to_owned();
    let mut found = Vec::new();
    for entry in WalkDir::new(&root).into_iter().filter_entry(is_entered) {
        match entry {
            Ok(entry) if entry.path_is_symlink() => listing.links += 1,
            Ok(entry) if entry.file_type().is_file() => {
                found.extend(Language::from_path(entry.path()).map(|language| (below_root(entry.path()), language)));
            }
            Ok(entry) if !entry.file_type().is_dir() && is_source(entry.path()) => {
                listing.unreadable.push((below_root(entry.path()), NO_FILE.to_owned()));
            }
            Ok(_) => {}
            Err(error) if error.depth() == 0 => return Err(error.into()),
            Err(error) => {
                let below = below_root(error.path().unwrap_or(&root));
                let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                listing.unreadable.push((below, reason));
            }
        }
    }
    found.sort();
    for (below, language) in found {
        if listing.files.len() >= limits.files {
            listing.beyond += 1;
            continue;
        }
        let path = root.join(&below);
        match path.symlink_metadata() {
            Ok(metadata) if metadata.len() > limits.file_bytes => listing.large.push(below),
            Ok(metadata) => listing.files.push(SourceFile { path, below, language, bytes: metadata.len() }),
            Err(error) => listing.unreadable.push((below, error.to_string())),
        }
    }
    listing.unreadable.sort();
    Ok(listing)
}

fn is_skipped(directory: &Path) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with('.') || SKIPPED_DIRECTORIES.contains(&name)
}

/// A path for display: with `/`, and without characters that a terminal would take as commands.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.chars().map(|letter| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter }).collect()
}
