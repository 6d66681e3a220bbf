//! Errors of captures.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Reason why a capture cannot be read or written. Each names the file.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The directory does not exist.
    #[error("no capture at {}: there is no such directory; name one that holds dispatch.json", path.display())]
    NoDirectory { path: PathBuf },
    /// A file that every capture has is missing.
    #[error("{} is missing: the directory holds no whole capture; capture again", path.display())]
    NoFile { path: PathBuf },
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    /// A file is not JSON, or JSON of something else.
    #[error("{} is not that of a capture: {reason}; capture again", path.display())]
    OtherJson { path: PathBuf, reason: String },
    /// A newer version wrote it.
    #[error("{} has version {version} of captures, and this program reads up to {known}; update it", path.display())]
    NewerVersion { path: PathBuf, version: u32, known: u32 },
    /// A file is shorter or longer than recorded.
    #[error("{} has {found} bytes, not the {recorded} recorded: it is truncated or of another capture; copy or capture again", path.display())]
    WrongLength { path: PathBuf, found: u64, recorded: u64 },
    /// Bytes differ from the bytes that were written.
    #[error("{}: the bytes from {offset} do not fit their hash: the file is damaged; copy or capture again", path.display())]
    WrongHash { path: PathBuf, offset: u64 },
    /// A compressed chunk cannot be read.
    #[error("{}: the bytes from {offset} cannot be decompressed: {reason}; copy or capture again", path.display())]
    NotDecompressed { path: PathBuf, offset: u64, reason: String },
    /// A value is impossible.
    #[error("{}: {reason}; capture again", path.display())]
    Impossible { path: PathBuf, reason: String },
    /// Memory cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Memory { path: PathBuf, reason: String },
}
