//! Checks paths of captures before anything runs.

use std::fs;
use std::path::Path;

use crate::cli::exit::{Failure, refuse};
use wavesieve_captures::captures::DISPATCH;
use wavesieve_files::regular;
use wavesieve_model::text::natural_order::natural_key;

/// Maximum number of captures in a message.
const NAMED: usize = 5;

/// Rejects a path that is not a directory, or a directory of captures in place of a single capture.
pub(super) fn check_capture(path: &Path) -> Result<(), Failure> {
    check_directory(path, "a capture", "name a directory that holds dispatch.json")?;
    if path.join(DISPATCH).exists() {
        return Ok(());
    }
    let captures = captures_in(path);
    let Some(first) = captures.first() else { return Ok(()) };
    let shown = path.display();
    let named = captures.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match captures.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let example = path.join(first);
    refuse!(
        "{shown} is a directory of captures ({named}{more}); name one or more of them, such as {}",
        example.display()
    )
}

/// Rejects a path that is not a directory.
pub(super) fn check_directory(path: &Path, what: &str, advice: &str) -> Result<(), Failure> {
    let shown = path.display();
    let reason = match fs::metadata(path) {
        Ok(information) if information.is_dir() => return Ok(()),
        Ok(_) => "it is not a directory".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "there is no such directory".to_owned(),
        Err(error) => error.to_string(),
    };
    refuse!("no directory of {what} at {shown}: {reason}; {advice}")
}

/// Rejects a file of an option that cannot be read as a file.
pub(super) fn check_readable(path: &Path, option: &str) -> Result<(), Failure> {
    let shown = path.display();
    let reason = match fs::metadata(path) {
        Ok(information) if information.is_file() => match regular::open(path) {
            Ok(_) => return Ok(()),
            Err(error) => error.to_string(),
        },
        Ok(_) => "it is not a regular file".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "it does not exist".to_owned(),
        Err(error) => error.to_string(),
    };
    refuse!("{option} {shown}: {reason}; name a code object")
}

/// Rejects an existing path for a new directory.
pub(super) fn check_new(path: &Path, option: &str) -> Result<(), Failure> {
    let is_free = match fs::symlink_metadata(path) {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(_) => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
    };
    if is_free {
        return Ok(());
    }
    let shown = path.display();
    refuse!("{option} {shown}: it is neither new nor an empty directory; name a new one")
}

/// Names of captures in a directory, in numerical order.
fn captures_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_capture = |entry: &fs::DirEntry| entry.path().join(DISPATCH).is_file();
    let mut names: Vec<String> =
        entries.filter(is_capture).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_by_cached_key(|name| natural_key(name));
    names
}
