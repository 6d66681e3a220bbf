//! Recognizes pages of this program.

use std::io::Read;
use std::path::Path;

use wavesieve_files::regular;

/// Mark of every page of this program.
const GENERATOR: &str = "<meta name=\"generator\" content=\"wavesieve ";
/// The mark is within this number of bytes at the start.
const HEAD_BYTES: u64 = 4096;

/// Whether a file is a page of this program.
pub fn is_page(path: &Path) -> bool {
    // Opening a FIFO would block until a process writes into it.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = regular::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}
