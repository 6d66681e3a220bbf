//! The file of a conversation. It holds real names, so only its owner can read it.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::state::Conversation;
use crate::llm::error::LlmError;
use crate::llm::payload::Share;
use crate::llm::request::Role;
use crate::llm::settings::LlmOptions;
use wavesieve_export::atomic::{make_directory, write_private_file};
use wavesieve_export::target::parent;
use wavesieve_files::regular;

/// The format name in the file.
pub(super) const FORMAT: &str = "wavesieve-conversation";
pub(super) const VERSION: u32 = 1;
const MOST_BYTES: u64 = 64 << 20;
/// Suffix of the history file, after the name of the conversation file.
const HISTORY: &str = "_history.jsonl";

impl Conversation {
    /// Opens the conversation that the options name, if any. Its model is used unless the options name another.
    ///
    /// # Errors
    /// [`LlmError::Usage`] when it cannot be continued, or not at the level of the options.
    pub(crate) fn of_options(options: &mut LlmOptions) -> Result<Option<Self>, LlmError> {
        let Some(path) = &options.conversation else { return Ok(None) };
        let found = Self::open(path, options.compact_every)?;
        let (held, allowed) = (found.share(), options.share);
        if held > allowed {
            let (held, allowed) = (held.word(), allowed.word());
            return Err(LlmError::Usage(format!(
                "--llm-conversation {} holds answers of the level {held}, and {allowed} is less; give --llm-share {held}, or name another file",
                path.display()
            )));
        }
        options.prefer_model(&found.provider, &found.model);
        Ok(Some(found))
    }

    /// Opens the conversation of a file, without turns if the file is missing or empty. `compact_every` replaces the
    /// value in the file.
    ///
    /// # Errors
    /// [`LlmError::Usage`] when the file is not a conversation, or is damaged; it stays unchanged.
    pub fn open(path: &Path, compact_every: Option<u32>) -> Result<Self, LlmError> {
        let refused = |reason: String| {
            let shown = path.display();
            LlmError::Usage(format!(
                "--llm-conversation {shown}: {reason}; it is left as it is, name another file to begin a new conversation"
            ))
        };
        let bytes = read(path).map_err(refused)?;
        let mut found = if bytes.trim_ascii().is_empty() {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            Self { history: Some(format!("{stem}{HISTORY}")), ..Self::new() }
        } else {
            parsed(&bytes).map_err(refused)?
        };
        if let Some(every) = compact_every {
            found.compact_every = every.max(1);
        }
        found.path = Some(path.to_owned());
        found.before = hash(&bytes);
        Ok(found)
    }

    /// Writes the file, completely or not at all; does nothing without a file.
    ///
    /// # Errors
    /// When it cannot be written, or another program changed it after it was read.
    pub fn save(&mut self) -> Result<(), LlmError> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        let failed = |reason: String| LlmError::Conversation {
            path: path.display().to_string(),
            reason,
            history: self.history().map(|path| path.display().to_string()).unwrap_or_default(),
        };
        let present = read(&path).map_err(failed)?;
        if hash(&present) != self.before {
            return Err(failed("another program changed it meanwhile".to_owned()));
        }
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.to_string()))? + "\n";
        let _made = make_directory(parent(&path)).map_err(|error| failed(format!("{error:#}")))?;
        write_private_file(&path, text.as_bytes()).map_err(|error| failed(error.root_cause().to_string()))?;
        self.before = hash(text.as_bytes());
        Ok(())
    }
}

/// The bytes of the file; empty if it does not exist.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("it cannot be read: {error}");
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(error)),
        Ok(facts) if !facts.is_file() => return Err("it is not a file".to_owned()),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    regular::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it has more than {} MiB, as no conversation has", MOST_BYTES >> 20));
    }
    Ok(bytes)
}

fn parsed(bytes: &[u8]) -> Result<Conversation, String> {
    let foreign = "it is not a conversation of wavesieve";
    let value: Value = serde_json::from_slice(bytes).map_err(|error| match bytes.first() {
        Some(b'{') => format!("it is damaged: {error}"),
        _ => foreign.to_owned(),
    })?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(foreign.to_owned());
    }
    match value.get("version").and_then(Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => return Err(format!("it has version {version}, this program reads {VERSION}")),
        None => return Err("it is damaged: it has no version".to_owned()),
    }
    let found: Conversation = serde_json::from_value(value).map_err(|error| format!("it is damaged: {error}"))?;
    match flaw(&found) {
        Some(flaw) => Err(format!("it is damaged: {flaw}")),
        None => Ok(found),
    }
}

/// Returns the flaw in a conversation, if any.
fn flaw(found: &Conversation) -> Option<String> {
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let is_in_order = found.messages.iter().zip(roles).all(|(message, role)| message.role == role);
    if !is_in_order || !found.messages.len().is_multiple_of(2) {
        return Some("messages must be questions and answers by turns".to_owned());
    }
    if found.compact_every == 0 || found.keep_recent_turns == 0 {
        return Some("compact_every and keep_recent_turns must be at least 1".to_owned());
    }
    if Share::of_word(&found.share).is_none() {
        return Some(format!("{} is not a level", found.share));
    }
    // The history is appended to, and must not lead anywhere else.
    let history = found.history.iter();
    if let Some(name) = history.into_iter().find(|name| !name.ends_with(HISTORY) || name.contains(['/', '\\'])) {
        return Some(format!("history_path {name} is not the name of a file NAME{HISTORY}"));
    }
    let is_kind = |kind: &str| !kind.is_empty() && kind.bytes().all(|letter| letter.is_ascii_uppercase());
    let odd = found.names.iter().find(|name| !is_kind(&name.kind) || name.forms.is_empty());
    odd.map(|name| format!("{} is not a kind of names", name.kind))
}

/// A hash in hexadecimal digits.
pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
