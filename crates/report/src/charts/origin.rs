//! Marks charts of this program, so that their files can be distinguished from others.

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
    let has = |head: &[u8], mark: &[u8]| head.windows(mark.len()).any(|bytes| bytes == mark);
    let marks = [SVG_MARK.as_bytes(), PNG_MARK, JPEG_MARK];
    regular::head(path, HEAD_BYTES).is_ok_and(|head| marks.iter().any(|mark| has(&head, mark)))
}
