//! Shares of bins as texts: base64 of a byte per bin, of packed bytes if that is shorter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Start of texts of packed bytes.
const PACKED: &str = "~";
/// Minimum and maximum length of a run, and maximum number of bytes that follow as they are.
const RUN: (usize, usize) = (3, 129);
const LITERALS: usize = 128;
/// The first byte of a run is its length and this, and so at least 129.
const RUN_OFFSET: usize = 126;

/// The text of a row.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let packed = packed(bytes);
    if packed.len() < bytes.len() { format!("{PACKED}{}", STANDARD.encode(packed)) } else { STANDARD.encode(bytes) }
}

/// The row of a text; empty if it is none.
pub(super) fn decoded(text: &str) -> Vec<u8> {
    match text.strip_prefix(PACKED) {
        Some(rest) => unpacked(&STANDARD.decode(rest).unwrap_or_default()),
        None => STANDARD.decode(text).unwrap_or_default(),
    }
}

/// Runs as their length and the byte, other bytes after their number.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut literals: Vec<u8> = Vec::new();
    for run in bytes.chunk_by(|one, next| one == next).flat_map(|run| run.chunks(RUN.1)) {
        let Some(first) = run.first().filter(|_| run.len() >= RUN.0) else {
            literals.extend_from_slice(run);
            continue;
        };
        flush(&mut literals, &mut packed);
        packed.push(u8::try_from(run.len() + RUN_OFFSET).unwrap_or(u8::MAX));
        packed.push(*first);
    }
    flush(&mut literals, &mut packed);
    packed
}

fn flush(literals: &mut Vec<u8>, packed: &mut Vec<u8>) {
    for some in literals.chunks(LITERALS) {
        packed.push(u8::try_from(some.len() - 1).unwrap_or(u8::MAX));
        packed.extend_from_slice(some);
    }
    literals.clear();
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = packed;
    while let Some((first, after)) = rest.split_first() {
        let length = usize::from(*first);
        if length < LITERALS {
            let (literals, after) = after.split_at(after.len().min(length + 1));
            bytes.extend_from_slice(literals);
            rest = after;
        } else {
            let Some((byte, after)) = after.split_first() else { break };
            bytes.resize(bytes.len() + length - RUN_OFFSET, *byte);
            rest = after;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn runs_are_packed_if_that_is_shorter() {
        let lead: Vec<u8> = [vec![255; 3_000], vec![1, 2, 2, 3], vec![0; 200]].concat();
        assert!(encoded(&lead).starts_with(PACKED) && encoded(&lead).len() < 100);
        assert_eq!(decoded(&encoded(&lead)), lead);
        assert_eq!(encoded(&[1, 2, 3]), STANDARD.encode([1, 2, 3]));
        assert_eq!((decoded("~"), decoded("~gg=="), decoded("?")), (vec![], vec![], vec![]));
    }

    proptest! {
        #[test]
        fn rows_come_back(runs in prop::collection::vec((any::<u8>(), 1_usize..300), 0..40)) {
            let row: Vec<u8> = runs.iter().flat_map(|(byte, length)| vec![*byte; *length]).collect();
            prop_assert_eq!(unpacked(&packed(&row)), row.clone());
            prop_assert_eq!(decoded(&encoded(&row)), row);
        }
    }
}
