//! Recognizes and opens one file, or the files of a capture, from the cache if it holds them.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;

use super::cache::{Cache, Miss};
use super::files::files_of;
use super::load_options::LoadOptions;
use super::recognition::discover::{Candidate, Problem};
use super::recognition::format::{Group, Opened, Opening, ProcessInput, Recognized, Shared};
use super::recognition::formats::recognize;
use super::recognition::unread_content::{SkipReason, UnreadContent};
use wavesieve_model::schema::facts::Role;
use wavesieve_tables::trace::source::ProcessReader;

pub(crate) enum FileKind {
    /// A complete capture, and its state in the cache.
    Capture(Result<Opened>, CachedCapture),
    /// A file of a capture, with the position of its format in the list.
    Part(usize),
    /// A file that is read only if its directory has files of a capture in that format.
    Unread(usize, UnreadContent),
    /// Content that cannot be read.
    UnreadContent(UnreadContent),
}

pub(crate) enum CachedCapture {
    /// In the cache; its processes had these roles.
    Here(Vec<Role>),
    /// Not in the cache yet; the entry belongs at this path.
    Not(PathBuf),
    /// Never cached.
    Never,
}

/// Looks for a capture in the cache, if there is one.
fn cached(options: &LoadOptions, shown: &str, files: &[PathBuf]) -> (Option<Opened>, CachedCapture) {
    // A file that cannot be read has no entry; its reader will report why.
    let place = options.cache.as_ref().map(|cache| cache.place(shown, files, &options.categories));
    let Some(Ok(entry)) = place else { return (None, CachedCapture::Never) };
    match Cache::open(&entry) {
        Some((opened, roles)) => (Some(opened), CachedCapture::Here(roles)),
        None => (None, CachedCapture::Not(entry)),
    }
}

/// Recognizes and opens a file or dataset.
pub fn look(candidate: &Candidate, options: &LoadOptions, shared: &Shared) -> FileKind {
    let (path, shown, name) = (&candidate.path, candidate.shown(), candidate.name());
    let (format, recognized) = match &candidate.problem {
        Some(Problem::Lost(reason)) => return FileKind::UnreadContent(UnreadContent::new(SkipReason::Damaged, reason)),
        Some(Problem::DeadLink(reason)) => {
            return FileKind::UnreadContent(UnreadContent::new(SkipReason::DeadLink, reason));
        }
        None => recognize(path, options.reader),
    };
    let open = match recognized {
        Recognized::Capture(open) => open,
        Recognized::Part => return FileKind::Part(format),
        Recognized::Unread(unread) => return FileKind::Unread(format, unread),
        Recognized::UnreadContent(unread) => return FileKind::UnreadContent(unread),
    };
    // A dataset already has the form of a cache entry.
    let (opened, kept) =
        if path.is_dir() { (None, CachedCapture::Never) } else { cached(options, &shown, &files_of(path)) };
    let opening = Opening {
        path,
        shown: &shown,
        name: &name,
        reader: options.reader,
        categories: &options.categories,
        ahead: &options.ahead,
        shared,
    };
    FileKind::Capture(opened.map_or_else(|| open(&opening), Ok), kept)
}

/// Opens the files of a capture.
pub(crate) fn inspect_group(group: &dyn Group, options: &LoadOptions) -> (Result<Opened>, CachedCapture) {
    if !group.repeated().is_empty() {
        // Reports about unread files cannot be derived from the files that are read, so they are never cached.
        return (group.open(), CachedCapture::Never);
    }
    let (opened, kept) = cached(options, group.shown(), &group.files());
    (opened.map_or_else(|| group.open(), Ok), kept)
}

/// The origin of a capture's processes.
#[derive(Clone)]
pub enum CaptureOrigin {
    /// A file or dataset.
    File(Candidate),
    /// Several files.
    Group(Arc<dyn Group>),
}

impl CaptureOrigin {
    /// The path that messages name.
    pub fn shown(&self) -> String {
        match self {
            Self::File(candidate) => candidate.shown(),
            Self::Group(group) => group.shown().to_owned(),
        }
    }

    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::File(candidate) => files_of(&candidate.path),
            Self::Group(group) => group.files(),
        }
    }

    /// Opens the capture again, and returns the process that a cached one stands for.
    pub(crate) fn reopened(&self, cached: &ProcessInput, options: &LoadOptions) -> Option<Arc<dyn ProcessReader>> {
        let opened = match self {
            Self::File(candidate) => match look(candidate, options, &Shared::default()) {
                FileKind::Capture(opened, _) => opened,
                _ => return None,
            },
            Self::Group(group) => group.open(),
        };
        let same = |found: &ProcessInput| found.facts == cached.facts;
        opened.ok()?.processes.into_iter().find(same).map(|found| found.source)
    }
}

impl CachedCapture {
    /// The missing cache entry, if the opened capture may be cached.
    pub fn miss(&self, shown: &str, opened: &Opened) -> Option<Miss> {
        let Self::Not(entry) = self else { return None };
        let (shown, entry) = (shown.to_owned(), entry.clone());
        // A damaged file is not cached, so that its missing parts are found again every time.
        let is_whole = opened.damage.is_empty();
        is_whole.then(|| Miss { shown, processes: opened.processes.len(), entry, notes: opened.notes.clone() })
    }

    /// The roles that the processes had when they were cached; `None` if they are not from the cache.
    pub fn roles(&self) -> Option<&[Role]> {
        if let Self::Here(roles) = self { Some(roles) } else { None }
    }
}
