//! Identifiers of sessions.

use std::path::Path;
use std::time::SystemTime;

use super::session::SessionKind;
use wavesieve_model::text::time::utc;

/// Maximum characters of a folder name in an identifier.
const NAME_CHARACTERS: usize = 24;

/// An identifier from the time and the folder name; the identifier of a workflow starts with `workflow_`.
pub(super) fn identifier(kind: SessionKind, root: &Path, now: SystemTime) -> String {
    let time: String = utc(now).trim_end_matches('Z').chars().map(in_time).collect();
    let kind = if kind == SessionKind::Workflow { "workflow_" } else { "" };
    format!("{kind}{time}_{}", name(root))
}

fn in_time(character: char) -> char {
    match character {
        'T' => '_',
        ':' => '-',
        other => other,
    }
}

/// The folder name as a part of an identifier.
fn name(root: &Path) -> String {
    let resolved = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let name = resolved.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kept: String = name.chars().map(|one| if is_plain(one) { one } else { '_' }).take(NAME_CHARACTERS).collect();
    if kept.is_empty() { "session".to_owned() } else { kept }
}

/// Returns whether an identifier is a plain file name.
pub(super) fn is_valid(id: &str) -> bool {
    !id.is_empty() && id.len() <= 200 && !id.starts_with(['.', '-']) && id.chars().all(is_plain)
}

/// Returns whether [`identifier`] can make this name.
pub(super) fn is_identifier(name: &str) -> bool {
    is_valid(name) && super::instant(name.strip_prefix("workflow_").unwrap_or(name)).is_some()
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn identifiers_have_the_time_and_the_folder() {
        let now = UNIX_EPOCH + Duration::from_secs(1_767_225_599);
        let of = |kind, root: &str| identifier(kind, Path::new(root), now);
        assert_eq!(of(SessionKind::Interactive, "/no where/my app"), "2025-12-31_23-59-59_my_app");
        assert_eq!(of(SessionKind::Workflow, "/nowhere/größe"), "workflow_2025-12-31_23-59-59_gr__e");
        assert_eq!(of(SessionKind::Interactive, "/"), "2025-12-31_23-59-59_session");
        assert_eq!(of(SessionKind::Interactive, &format!("/x/{}", "a".repeat(99))).len(), 20 + NAME_CHARACTERS);
    }

    #[test]
    fn identifiers_do_not_lead_elsewhere() {
        for id in ["", ".", "..", ".hidden", "-x", "a/b", "a\\b", "a b", "a\nb", "ä", &"x".repeat(201)] {
            assert!(!is_valid(id), "{id:?}");
        }
        assert!(is_valid("workflow_2025-12-31_23-59-59_gr__e-2") && is_valid("a..b"));
    }
}
