//! Small files of a capture, read and written whole.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CaptureError;
use wavesieve_files::regular;

/// Maximum bytes of JSON: the chunks of 1 TB take 50 MB.
const MOST_JSON: u64 = 512 << 20;

/// Reads a file of at most `most_bytes` bytes.
pub fn read_file(path: &Path, most_bytes: u64) -> Result<Vec<u8>, CaptureError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => CaptureError::NoFile { path: path.to_owned() },
        _ => CaptureError::Io { path: path.to_owned(), error },
    };
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(CaptureError::Impossible { path: path.to_owned(), reason: "it is not a file".to_owned() });
    }
    let file = regular::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(most_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most_bytes {
        let reason = format!("it is larger than {most_bytes} bytes");
        return Err(CaptureError::Impossible { path: path.to_owned(), reason });
    }
    Ok(bytes)
}

/// Reads JSON. A comma before a closing bracket is ignored: rocm-perf-lab leaves one if memory could not be copied.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, CaptureError> {
    parse_json(&read_file(path, MOST_JSON)?).map_err(|reason| CaptureError::OtherJson { path: path.to_owned(), reason })
}

pub(super) fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).or_else(|error| {
        let mended = without_trailing_commas(bytes).ok_or_else(|| error.to_string())?;
        serde_json::from_slice(&mended).map_err(|_| error.to_string())
    })
}

/// JSON without trailing commas; `None` if it has no trailing comma.
fn without_trailing_commas(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut kept: Vec<u8> = Vec::with_capacity(bytes.len());
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in bytes {
        if is_text {
            is_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
        } else if *byte == b'"' {
            is_text = true;
        } else if matches!(byte, b']' | b'}') {
            let end = kept.iter().rposition(|kept| !kept.is_ascii_whitespace());
            if let Some(end) = end.filter(|end| kept.get(*end) == Some(&b',')) {
                kept.remove(end);
            }
        }
        kept.push(*byte);
    }
    (kept.len() < bytes.len()).then_some(kept)
}

/// Writes a file whole or not at all.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), CaptureError> {
    let failed = |error| CaptureError::Io { path: path.to_owned(), error };
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let unfinished = PathBuf::from(unfinished);
    let written = File::create(&unfinished).and_then(|mut file| file.write_all(bytes));
    written.and_then(|()| fs::rename(&unfinished, path)).map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        failed(error)
    })
}

/// Writes JSON whole or not at all.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), CaptureError> {
    let text = serde_json::to_vec_pretty(value)
        .map_err(|error| CaptureError::Io { path: path.to_owned(), error: io::Error::other(error) })?;
    write_file(path, &[text.as_slice(), b"\n"].concat())
}

/// The path of a file of a capture, if its recorded name stays inside the capture.
pub(super) fn inside(directory: &Path, name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_inside && !name.is_empty()).then(|| directory.join(path))
}
