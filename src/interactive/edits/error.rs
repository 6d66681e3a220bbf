//! Why files are not changed.

use std::path::PathBuf;

use thiserror::Error;

/// Why an edit cannot be read, applied or taken back. Files are then as they were.
#[derive(Debug, Error)]
pub(crate) enum EditError {
    /// The root is no directory that can be read.
    #[error("cannot open the source folder {}: {reason}; name another with --source-dir", root.display())]
    Root { root: PathBuf, reason: String },
}
