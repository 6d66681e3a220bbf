//! Promises about any bytes of a request.

use proptest::prelude::*;

use crate::http::{MAX_HEAD_BYTES, parse};

/// Reads bytes as the head of a request. Any bytes are understood or refused, and more bytes of a longer head do not change
/// what was refused.
fn requests(bytes: &[u8]) {
    match parse(bytes) {
        Ok(Some((head, length))) => {
            assert!(length <= bytes.len() && length <= MAX_HEAD_BYTES);
            assert!(head.target.path.starts_with('/'));
            let shown = bytes.get(..length).unwrap_or_default();
            assert!(parse(shown).is_ok_and(|again| again.is_some_and(|(_, again)| again == length)));
        }
        Ok(None) => assert!(bytes.len() < MAX_HEAD_BYTES),
        Err(status) => assert!((400..500).contains(&status.0)),
    }
}

proptest! {
    #[test]
    fn any_bytes_are_understood_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        requests(&bytes);
    }

    #[test]
    fn requests_with_faults_are_understood_or_refused(
        target in "/[a-z/?&=%+0-9.#\\-]{0,40}", header in "[ -~\\r\\n\\t]{0,60}", cut in 0_usize..200, at in 0_usize..200,
        byte in any::<u8>(),
    ) {
        let text = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nX: {header}\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n");
        let mut bytes = text.into_bytes();
        let length = bytes.len();
        bytes[at % length] = byte;
        bytes.truncate(cut.max(1));
        requests(&bytes);
    }
}
