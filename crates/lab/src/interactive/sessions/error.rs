//! Reasons why a session cannot be used.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Reasons why a session cannot be used.
#[derive(Debug, Error)]
pub enum SessionError {
    /// No directory for sessions is known.
    #[error("no directory for sessions: HOME is not set; name one with --sessions")]
    NoPlace,
    /// No session has this name.
    #[error("no session `{id}` in {}; `wavesieve sessions list` lists all", .place.display())]
    NotFound { id: String, place: PathBuf },
    /// The name could lead out of the directory of sessions.
    #[error(
        "invalid session id `{0}`: expected letters, digits, `.`, `_` and `-`; `wavesieve sessions list` lists all"
    )]
    InvalidId(String),
    /// The file is not a session.
    #[error("{} is not a session: {reason}; remove the file", .path.display())]
    Malformed { path: PathBuf, reason: String },
    /// The file is of a later version of this program.
    #[error("{} has session format {format}, this version reads up to {known}; update wavesieve", .path.display())]
    Newer { path: PathBuf, format: u32, known: u32 },
    /// Another process uses the session.
    #[error("session `{0}` is in use by another process; end that one first")]
    InUse(String),
    /// The session belongs to another program.
    #[error("session `{id}` belongs to another program, in {}; remove it there", .path.display())]
    Foreign { id: String, path: PathBuf },
    /// A file cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    /// A file cannot be written.
    #[error("cannot write {}: {reason}; name another directory with --sessions", .path.display())]
    Write { path: PathBuf, reason: String },
    /// A file cannot be removed.
    #[error("cannot remove {}: {error}", .path.display())]
    Remove { path: PathBuf, error: io::Error },
}
