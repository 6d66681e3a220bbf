//! A scan of a directory, from files to conclusions.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::c_scan::{self, KernelMacros};
use super::commands::Target;
use super::file_matches::FileMatches;
use super::files::{Language, Limits, SourceFile, list, shown};
use super::patterns::Patterns;
use super::python_scan;
use super::summary::{FileFound, SourceScan, summarize};
use wavesieve_files::regular;

/// An observer of a scan's progress.
pub trait Observer: Sync {
    /// Reading starts, with this many files.
    fn begin(&self, _files: usize) {}
    fn read(&self, _file: &Path) {}
}

/// An observer that ignores everything.
impl Observer for () {}

/// A scan, with the omitted files.
#[derive(Debug)]
pub struct TreeScan {
    /// The findings.
    pub scan: SourceScan,
    /// Number of source files beyond the limit.
    pub beyond: usize,
    /// Source files that are too large.
    pub large: Vec<PathBuf>,
    /// Paths that could not be read, with the reasons.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Scans the source files below a directory, or a single file. The result does not depend on the number of threads.
///
/// # Errors
/// When the directory itself cannot be read.
pub fn scan(directory: &Path, limits: Limits, target: &Target, observer: &dyn Observer) -> io::Result<TreeScan> {
    let mut listing = list(directory, limits)?;
    observer.begin(listing.files.len());
    let patterns = Patterns::builtin();
    let macros: KernelMacros = listing
        .files
        .par_iter()
        .filter(|file| file.language != Language::Python)
        .filter_map(|file| read(file, limits).ok())
        .map(|bytes| c_scan::kernel_macros(&bytes))
        .reduce(KernelMacros::new, |mut all, more| {
            all.extend(more);
            all
        });
    let scanned: Vec<Result<FileFound, (PathBuf, String)>> = listing
        .files
        .par_iter()
        .map(|file| {
            let bytes = read(file, limits).map_err(|error| (file.below.clone(), error.to_string()))?;
            let found = scan_bytes(&bytes, file.language, &macros, patterns);
            observer.read(&file.below);
            Ok(FileFound { name: shown(&file.below), language: file.language, found })
        })
        .collect();
    let mut files = Vec::with_capacity(scanned.len());
    for one in scanned {
        match one {
            Ok(file) => files.push(file),
            Err(unreadable) => listing.unreadable.push(unreadable),
        }
    }
    listing.unreadable.sort();
    let skipped = listing.beyond + listing.large.len() + listing.unreadable.len();
    let mut scan = summarize(shown(directory), &files, skipped, patterns, target);
    if listing.beyond > 0 {
        let (read, beyond) = (files.len(), listing.beyond);
        scan.risk_areas
            .push(format!("only the first {read} source files were read; {beyond} more are not part of this"));
    }
    Ok(TreeScan { scan, beyond: listing.beyond, large: listing.large, unreadable: listing.unreadable })
}

/// Reads at most the allowed bytes of a file, even if it has grown.
fn read(file: &SourceFile, limits: Limits) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(file.bytes).unwrap_or(0).min(1 << 24));
    regular::open(&file.path)?.take(limits.file_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Finds the patterns in the bytes of a file.
pub(crate) fn scan_bytes(bytes: &[u8], language: Language, macros: &KernelMacros, patterns: &Patterns) -> FileMatches {
    match language {
        Language::Python => python_scan::scan(bytes, patterns),
        _ => c_scan::scan(bytes, language == Language::OpenCl, macros, patterns),
    }
}
