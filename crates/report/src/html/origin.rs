//! Recognizes pages of this program.

use std::path::Path;

use wavesieve_files::regular;

/// Mark of every page of this program.
const GENERATOR: &str = "<meta name=\"generator\" content=\"wavesieve ";
/// The mark is within this number of bytes at the start.
const HEAD_BYTES: u64 = 4096;

/// Whether a file is a page of this program.
pub fn is_page(path: &Path) -> bool {
    regular::head(path, HEAD_BYTES).is_ok_and(|head| String::from_utf8_lossy(&head).contains(GENERATOR))
}
