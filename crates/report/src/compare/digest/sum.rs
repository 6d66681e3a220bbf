//! The sum of a digest over its own bytes. It is in the metadata, after a mark by which it is found, and counts as
//! zeros itself.

use anyhow::{Context, Result, ensure};
use memchr::memmem;
use xxhash_rust::xxh3::Xxh3;

/// Text in front of the sum.
const MARK: &str = "xxh3-128 of the file with these digits as zeros: ";
/// Digits of a sum.
const DIGITS: usize = 32;

/// The text of a sum that is not known yet.
pub(super) fn unknown() -> String {
    format!("{MARK}{:0DIGITS$}", 0)
}

/// Place of the digits of the sum. Texts of a run may also hold the mark, but come before it.
fn place(content: &[u8]) -> Option<usize> {
    let found = memmem::rfind(content, MARK.as_bytes())? + MARK.len();
    content.get(found..found + DIGITS).map(|_| found)
}

fn sum(content: &[u8], digits_at: usize) -> Option<String> {
    let mut hash = Xxh3::new();
    hash.update(content.get(..digits_at)?);
    hash.update(&[b'0'; DIGITS]);
    hash.update(content.get(digits_at + DIGITS..)?);
    Some(format!("{:0DIGITS$x}", hash.digest128()))
}

/// Puts the sum into a file that was written with an unknown one.
///
/// # Errors
/// When the file has no place for it, which is a defect.
pub(super) fn set(content: &mut [u8]) -> Result<()> {
    let at = place(content).context("the digest has no place for its sum, which is a defect")?;
    let sum = sum(content, at).unwrap_or_default();
    for (digit, of_sum) in content.iter_mut().skip(at).zip(sum.bytes()) {
        *digit = of_sum;
    }
    Ok(())
}

/// Compares the sum with the bytes. Files of older versions have none.
pub(super) fn check(content: &[u8], is_required: bool) -> Result<()> {
    let Some(at) = place(content) else {
        ensure!(!is_required, "its sum is missing");
        return Ok(());
    };
    let found = sum(content, at);
    let is_equal = found.is_some_and(|found| content.get(at..at + DIGITS) == Some(found.as_bytes()));
    ensure!(is_equal, "its bytes differ from its sum");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_is_noticed() {
        let mut content = format!("what was saved {} and its end", unknown()).into_bytes();
        set(&mut content).unwrap();
        check(&content, true).unwrap();
        for at in 0..content.len() {
            let mut changed = content.clone();
            changed[at] ^= 1;
            assert!(check(&changed, true).is_err(), "{at}");
        }
        assert!(check(b"of an older version", false).is_ok() && check(b"of this version", true).is_err());
    }
}
