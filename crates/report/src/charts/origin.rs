//! Marks charts of this program, so that their files can be distinguished from others.

use std::io::Read;
use std::path::Path;

use wavesieve_files::regular;

/// Mark of an SVG file, after its first element.
pub(crate) const SVG_MARK: &str = "<!-- Generator: wavesieve -->";
/// Mark of a PNG file, after its header: a text with the standard keyword.
pub(crate) const PNG_MARK: &[u8] = b"Software\0wavesieve";
/// Mark of a JPEG file, in a segment for applications.
pub(crate) const JPEG_MARK: &[u8] = b"Generator: wavesieve";
/// The mark is within this number of bytes at the start. In an SVG file, it follows the main numbers.
const HEAD_BYTES: u64 = 65_536;

/// Whether a file is a chart of this program.
pub fn is_chart(path: &Path) -> bool {
    // Opening a FIFO would block until a process writes into it.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = regular::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let has = |mark: &[u8]| head.windows(mark.len()).any(|bytes| bytes == mark);
    read.is_ok() && (has(SVG_MARK.as_bytes()) || has(PNG_MARK) || has(JPEG_MARK))
}
