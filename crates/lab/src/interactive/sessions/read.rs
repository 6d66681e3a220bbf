//! Reads session files.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::error::SessionError;
use super::names::is_valid;
use super::others::adopt;
use super::session::{FORMAT, Session};
use wavesieve_files::regular;

const LIMIT_BYTES: u64 = 64 << 20;

/// Reads a session of this program or of rocpd.
pub(super) fn read(path: &Path) -> Result<Session, SessionError> {
    let failed = |error| SessionError::Read { path: path.to_owned(), error };
    let malformed = |reason: String| SessionError::Malformed { path: path.to_owned(), reason };
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(malformed("not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    regular::open(path).map_err(failed)?.take(LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(malformed(format!("larger than {} MiB", LIMIT_BYTES >> 20)));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(malformed("empty".to_owned()));
    }
    let mut session: Session = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
    if session.format > FORMAT {
        return Err(SessionError::Newer { path: path.to_owned(), format: session.format, known: FORMAT });
    }
    // Any JSON object could be read as a session.
    let is_known = ["history", "state", "context", "conversation", "persistent_menu_items", "app_command"];
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if session.session_id.is_empty() {
        session.session_id = stem.into_owned();
        let fields: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| malformed(error.to_string()))?;
        if !is_known.iter().any(|name| fields.get(name).is_some()) {
            return Err(malformed("no session_id".to_owned()));
        }
    }
    if !is_valid(&session.session_id) {
        return Err(malformed(format!("invalid session_id `{}`", session.session_id)));
    }
    if session.format == 0 {
        adopt(&mut session);
    }
    Ok(session)
}
