//! Promises about any bytes of a request.

use std::sync::Arc;

use serde_json::Value;
use wavesieve_report::timeline::model::Slices;

use crate::api::{Asked, asked, complete};
use crate::http::{Guard, Head, MAX_HEAD_BYTES, Method, parse};
use crate::lanes::{AskedGroup, LanesRequest, Part, lanes};
use crate::statements::Statement;

/// Reads bytes as a request. Any bytes are understood or refused, and bytes after the head do not change how it is read. Parameters
/// are within their bounds, or refused, and an answer about events keeps to its limits.
///
/// # Panics
/// When a promise is broken.
pub fn http_request(bytes: &[u8]) {
    let (head, length) = match parse(bytes) {
        Ok(Some(parsed)) => parsed,
        Ok(None) => {
            assert!(bytes.len() < MAX_HEAD_BYTES);
            return;
        }
        Err(status) => {
            assert!((400..500).contains(&status.0));
            return;
        }
    };
    assert!(length <= bytes.len() && length <= MAX_HEAD_BYTES);
    assert!(head.target.path.starts_with('/') && (head.method == Method::Post || head.body_bytes == 0));
    let (shown, rest) = bytes.split_at(length);
    assert!(parse(shown).is_ok_and(|again| again.is_some_and(|(_, again)| again == length)));
    // A token that no request can guess.
    assert!(Guard::new("\n".to_owned()).check(&head, false).is_err() || head.target.get("token") == Some("\n"));
    range(&head);
    words(&head);
    let body = rest.get(..head.body_bytes.min(rest.len())).unwrap_or_default();
    if let Err(error) = Statement::parse(body) {
        assert!((400..500).contains(&error.0.0));
    }
}

/// The range of events that a request asks for.
fn range(head: &Head) {
    let Asked { request, ids, .. } = match asked(head) {
        Ok(asked) => asked,
        Err(error) => {
            assert_eq!(error.0.0, 400);
            return;
        }
    };
    assert!(request.start_ns < request.end_ns && request.pixels > 0 && request.most > 0 && !ids.is_empty());
    assert!(request.pixel_ns() >= 0);
    // Half of the events are inside a range of any length.
    let middle_ns = request.start_ns + (request.end_ns - request.start_ns) / 2;
    let part = Arc::new(Part::example(middle_ns));
    let group = AskedGroup { id: "r0g0".to_owned(), gpu: Some(0), member: 0, part };
    for most in [0, 3, request.most] {
        let answer = lanes(std::slice::from_ref(&group), LanesRequest { most, ..request });
        let slices: usize = answer.lanes.iter().map(|lane| lane.slices.id.len()).sum();
        assert!(slices <= most);
        for lane in &answer.lanes {
            assert!(are_in_order(request.start_ns, &lane.slices));
        }
    }
}

/// Whether slices of a row follow each other without overlaps.
fn are_in_order(mut start_ns: i64, slices: &Slices) -> bool {
    let mut end_ns = i64::MIN;
    slices.start_ns.iter().zip(&slices.length_ns).all(|(step_ns, length_ns)| {
        start_ns = start_ns.saturating_add(*step_ns);
        let follows = start_ns >= end_ns;
        end_ns = start_ns.saturating_add(*length_ns);
        follows && *length_ns >= 0
    })
}

/// The words that continue a statement.
fn words(head: &Head) {
    if let Ok(answer) = complete(head) {
        let prefix = head.target.get("prefix").unwrap_or_default();
        assert!(answer.get("begun").and_then(Value::as_str).is_some_and(|begun| prefix.ends_with(begun)));
        assert!(answer.get("words").and_then(Value::as_array).is_some_and(|words| words.len() <= 60));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_understood_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            http_request(&bytes);
        }

        #[test]
        fn requests_with_faults_are_understood_or_refused(
            target in "/[a-z/?&=%+0-9.#\\-]{0,40}", header in "[ -~\\r\\n\\t]{0,60}", cut in 0_usize..200, at in 0_usize..200,
            byte in any::<u8>(),
        ) {
            let text =
                format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nX: {header}\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n");
            let mut bytes = text.into_bytes();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(cut.max(1));
            http_request(&bytes);
        }

        #[test]
        fn ranges_and_bodies_are_within_bounds_or_refused(
            groups in "[a-z0-9,]{0,12}", start_ns in any::<i64>(), length_ns in any::<u64>(), pixels in -1_i64..70_000, shift in 0_u32..64,
            body in "[{}\": a-z0-9,]{0,40}", prefix in "[ -~é]{0,30}",
        ) {
            let length_ns = i64::try_from(length_ns >> shift).unwrap_or(i64::MAX);
            let (start_ns, end_ns) = (start_ns >> (shift / 2), (start_ns >> (shift / 2)).saturating_add(length_ns));
            let encoded: String = prefix.bytes().map(|byte| format!("%{byte:02x}")).collect();
            for target in [
                format!("/api/lanes?groups={groups}&start_ns={start_ns}&end_ns={end_ns}&pixels={pixels}&path=1"),
                format!("/api/complete?prefix={encoded}"),
            ] {
                http_request(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
            }
            let length = body.len();
            http_request(format!("POST /api/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes());
        }
    }
}
