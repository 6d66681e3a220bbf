//! Names of references, and ids of objects.

use super::error::GitError;

pub(super) const ROOT: &str = "refs/wavesieve/";
const NUMBER: &str = "cp-";

/// The path of a session's references, with a slash at the end. Characters that git forbids in names of references are
/// written as `%` and two hexadecimal digits.
pub(super) fn folder_of(session: &str) -> Result<String, GitError> {
    if session.is_empty() {
        return Err(GitError::NoSession);
    }
    let bytes = session.as_bytes();
    // Git forbids dots at the start and the end, double dots, and `.lock`.
    let is_plain = |at: usize, byte: u8| match byte {
        b'.' => {
            let next = bytes.get(at + 1);
            at > 0 && next.is_some_and(|next| *next != b'.') && bytes.get(at..) != Some(b".lock")
        }
        byte => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
    };
    let encoded: String = bytes
        .iter()
        .enumerate()
        .map(|(at, byte)| if is_plain(at, *byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    Ok(format!("{ROOT}{encoded}/"))
}

pub(super) fn reference_of(session: &str, id: u64) -> Result<String, GitError> {
    Ok(format!("{}{NUMBER}{id}", folder_of(session)?))
}

/// The session and the id of a reference; `None` for a foreign one.
pub(super) fn parsed(reference: &str) -> Option<(String, u64)> {
    let (session, number) = reference.strip_prefix(ROOT)?.split_once('/')?;
    let id = number.strip_prefix(NUMBER)?.parse().ok()?;
    let session = decoded(session)?;
    // Users may write references here too: only names that this program would write are its own.
    (reference_of(&session, id).ok()? == reference).then_some((session, id))
}

fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Checks that a text is the id of an object: nothing else is passed to git in place of one.
pub(super) fn object_id(text: &str) -> Result<&str, GitError> {
    let is_id = matches!(text.len(), 40 | 64) && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_id { Ok(text) } else { Err(GitError::NotACommit { name: text.to_owned() }) }
}
