//! JSON texts that a draft of schema 4 stores compressed.

use std::io::Read;

const LZ4_FRAME: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// Maximum length of a text; a frame that claims to be longer is not trusted.
const LONGEST: u64 = 256 << 20;

/// The text in a blob: an LZ4 frame is decompressed, other bytes are the text itself. `None` if a frame is damaged.
pub(crate) fn text_of_blob(bytes: &[u8]) -> Option<String> {
    if !bytes.starts_with(&LZ4_FRAME) {
        return Some(String::from_utf8_lossy(bytes).into_owned());
    }
    let mut text = Vec::new();
    let mut decoder = lz4::Decoder::new(bytes).ok()?;
    decoder.by_ref().take(LONGEST).read_to_end(&mut text).ok()?;
    // A truncated frame ends like a complete one; only `finish` reveals the difference.
    decoder.finish().1.ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn frames_are_decompressed() {
        let mut encoder = lz4::EncoderBuilder::new().build(Vec::new()).unwrap();
        encoder.write_all(b"{\"message\":\"step\"}").unwrap();
        let (frame, result) = encoder.finish();
        result.unwrap();
        assert_eq!(text_of_blob(&frame).as_deref(), Some("{\"message\":\"step\"}"));
        assert_eq!(text_of_blob(&frame[..frame.len() - 9]), None);
        assert_eq!(text_of_blob(b"plain").as_deref(), Some("plain"));
    }
}
