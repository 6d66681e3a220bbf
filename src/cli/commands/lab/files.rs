//! The files of a command: none is written that is read, and none twice.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::exit::Failure;
use crate::export::target::{parent, through_links};

/// An option with the file that it names.
pub(super) type Named<'a> = (&'static str, &'a Path);

/// Refuses outputs that are an input or another output, also through links.
///
/// # Errors
/// [`Failure::Usage`] with the options that name the same file.
pub(super) fn check_apart(inputs: &[Named<'_>], outputs: &[Named<'_>]) -> Result<(), Failure> {
    for (place, (option, path)) in outputs.iter().enumerate() {
        let shown = path.display();
        let is_same = |other: &&Named<'_>| is_same_file(path, other.1);
        if let Some((input, _)) = inputs.iter().find(is_same) {
            let reason = format!("{option} {shown} is the file of {input}, which is never written; name another file");
            return Err(Failure::Usage(reason));
        }
        if let Some((other, _)) = outputs.iter().take(place).find(is_same) {
            return Err(Failure::Usage(format!("{other} and {option} are the same file, {shown}; name two files")));
        }
    }
    Ok(())
}

/// Whether paths lead to the same file, or to the same place for a new one.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(found), Ok(known)) => is_same(one, &found, other, &known),
        (Err(_), Err(_)) => one == other || place(one).is_some_and(|one| place(other) == Some(one)),
        _ => false,
    }
}

/// Where a new file would be.
fn place(path: &Path) -> Option<PathBuf> {
    let path = through_links(path).ok()?;
    Some(parent(&path).canonicalize().ok()?.join(path.file_name()?))
}

/// Streams take several outputs, as `/dev/null` does.
#[cfg(unix)]
fn is_same(_: &Path, found: &fs::Metadata, _: &Path, known: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.is_file() && (found.dev(), found.ino()) == (known.dev(), known.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Path, _: &fs::Metadata, other: &Path, _: &fs::Metadata) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}
