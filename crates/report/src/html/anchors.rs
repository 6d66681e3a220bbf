//! Ids of elements: the targets of links to parts of the page.

use xxhash_rust::xxh3::xxh3_64;

/// Maximum length of a name that is used unchanged.
const LONGEST: usize = 80;

/// The id of a thing among others of its kind: its name if a link can contain it unchanged, otherwise a hash of it. The
/// same name has the same id in every document.
pub fn anchor(kind: &str, name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'/' | b':');
    if name.len() <= LONGEST && name.bytes().all(is_plain) {
        format!("{kind}/{name}")
    } else {
        format!("{kind}/{:016x}", xxh3_64(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_can_stand_in_links() {
        assert_eq!(anchor("time_breakdown", "rank=0/gpu=1"), "time_breakdown/rank=0/gpu=1");
        let id = anchor("finding", "hot:void f<\"x\">()");
        assert_eq!(id.len(), "finding/".len() + 16);
        assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/'));
        assert_ne!(id, anchor("finding", "hot:void f<\"y\">()"));
    }
}
