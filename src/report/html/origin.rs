//! Whether a page is from here.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How every page of this program says where it is from.
const GENERATOR: &str = "<meta name=\"generator\" content=\"wavesieve ";
/// Where a page states so, at the latest.
const HEAD_BYTES: u64 = 4096;

/// Whether a file is a page of this program.
pub(crate) fn is_page(path: &Path) -> bool {
    // To open a FIFO would wait for somebody who writes.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}
