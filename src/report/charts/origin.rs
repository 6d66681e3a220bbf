//! Charts say where they are from, so that their files are inferred from others.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// What an SVG file says after its first element.
pub(crate) const SVG_MARK: &str = "<!-- Generator: wavesieve -->";
/// What a PNG file says after its header, as text of the standard keyword.
pub(crate) const PNG_MARK: &[u8] = b"Software\0wavesieve";
/// Where a file states so at the latest: before it an SVG tells its main numbers.
const HEAD_BYTES: u64 = 65_536;

/// Whether a file is a chart of this program.
pub(crate) fn is_chart(path: &Path) -> bool {
    // To open a FIFO would wait for somebody who writes.
    if !path.is_file() {
        return false;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let has = |mark: &[u8]| head.windows(mark.len()).any(|bytes| bytes == mark);
    read.is_ok() && (has(SVG_MARK.as_bytes()) || has(PNG_MARK))
}
