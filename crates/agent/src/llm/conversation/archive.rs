//! The history of a conversation: every turn is recorded when it happens, and stays recorded.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::json;

use super::state::Kept;

/// Appends the messages of a turn, each as a JSON line.
pub(super) fn append(path: &Path, messages: &[&Kept], turn: u64, time: Option<&str>) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    // An incomplete line of an earlier run stays separate.
    let mut text = if ends_within_line(&mut file)? { "\n".to_owned() } else { String::new() };
    for message in messages {
        let mut line = json!({ "role": message.role.word(), "content": message.content, "turn": turn });
        if let (Some(fields), Some(time)) = (line.as_object_mut(), time) {
            fields.insert("ts".to_owned(), time.into());
        }
        text.push_str(&format!("{line}\n"));
    }
    file.write_all(text.as_bytes())
}

fn ends_within_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
