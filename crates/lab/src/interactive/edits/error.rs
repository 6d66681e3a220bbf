//! Reasons why files are not changed.

use std::path::Path;

use thiserror::Error;

use wavesieve_model::text::hidden::escape_hidden;

/// Reasons why an edit cannot be read, applied or reverted. Files are then unchanged, except after
/// [`EditError::Stuck`].
#[derive(Debug, Error)]
pub enum EditError {
    #[error("cannot open the source folder {root}: {reason}; name another with --source-dir")]
    Root { root: String, reason: String },
    /// A path that an edit must not have.
    #[error("cannot edit {path}: {reason}; name a file inside the source folder")]
    Path { path: String, reason: &'static str },
    #[error("cannot edit {path}: it is not among the files of this step; name one of {allowed}")]
    NotAllowed { path: String, allowed: String },
    /// The file cannot be edited.
    #[error("cannot edit {path}: {reason}; edit it by hand")]
    NotEditable { path: String, reason: &'static str },
    #[error("cannot read {path}: {reason}; check its permissions")]
    Read { path: String, reason: String },
    #[error("cannot write {path}: {reason}; check permissions and free space")]
    Write { path: String, reason: String },
    #[error("cannot change {path}: it does not exist; leave the search text empty to create it")]
    MissingForAnswer { path: String },
    #[error("cannot change {path}: it does not exist; make the patch for the current source folder")]
    MissingForPatch { path: String },
    #[error("cannot create {path}: it exists; make the patch for the current source folder")]
    Exists { path: String },
    #[error("the edit changes nothing; no file would differ")]
    NothingChanges,

    #[error(
        "the answer has no edit; write `FILE: path`, then blocks of `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`"
    )]
    NoBlock,
    #[error("block {block} names no file; write a line `FILE: path` before it")]
    NoFile { block: usize },
    #[error("the answer ends in the middle of {place}; ask for the whole answer again")]
    Unfinished { place: String },
    #[error("line {line} of the answer has `{marker}` where {expected} is expected; write each block anew")]
    Marker { line: usize, marker: String, expected: &'static str },
    #[error("block {block} for {path}: the search text occurs {times} times{hint}; {advice}")]
    Search { path: String, block: usize, times: usize, hint: String, advice: &'static str },
    #[error("block {block} for {path} has no search text, which only creates files; copy the lines to replace")]
    EmptySearch { path: String, block: usize },
    #[error("blocks {first} and {second} for {path} change the same lines; join them")]
    Overlap { path: String, first: usize, second: usize },

    #[error("the patch changes no file; give a unified diff, as `git diff` prints it")]
    NoPatch,
    #[error("line {line} of the patch: {reason}; make the patch again, as `git diff` prints it")]
    Patch { line: usize, reason: String },
    #[error("the patch for {path} {what}; {advice}")]
    Unsupported { path: String, what: &'static str, advice: &'static str },
    #[error("hunk {hunk} for {path} {reason}; make the patch for the current source folder")]
    Hunk { path: String, hunk: usize, reason: String },

    #[error("{path} changed since the edit was made; nothing is written, review it and make the edit again")]
    Changed { path: String },
    /// A step failed, and the steps before it could not be reverted.
    #[error("{cause}, and then {files} could not be put back ({reason}); undo the edit again when this is repaired")]
    Stuck { cause: Box<EditError>, files: String, reason: String },
}

impl EditError {
    pub(super) fn path(path: &Path, reason: &'static str) -> Self {
        Self::Path { path: shown(path), reason }
    }

    pub(super) fn not_editable(path: &Path, reason: &'static str) -> Self {
        Self::NotEditable { path: shown(path), reason }
    }

    pub(super) fn read(path: &Path, error: &std::io::Error) -> Self {
        Self::Read { path: shown(path), reason: error.to_string() }
    }

    pub(super) fn write(path: &Path, error: &std::io::Error) -> Self {
        Self::Write { path: shown(path), reason: error.to_string() }
    }
}

pub(super) fn shown(path: &Path) -> String {
    escape_hidden(&path.to_string_lossy()).into_owned()
}
