//! Properties that the parsers of database parts guarantee for any bytes.

pub use super::pages::properties::*;

use super::json_text::text_of_blob;

/// A blob that is not a frame is its own text, and no frame causes a panic.
pub fn json_text(bytes: &[u8]) {
    let text = text_of_blob(bytes);
    if !bytes.starts_with(&[0x04, 0x22, 0x4d, 0x18]) {
        assert_eq!(text.as_deref(), Some(String::from_utf8_lossy(bytes).as_ref()));
    }
}
