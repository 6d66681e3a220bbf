//! Opens files that the program looks for by itself: only regular files, and only up to a size limit.
//!
//! A pipe in place of a file would block, a device has no end, and a file with holes can have any size without disk space. Files that the
//! user names may be pipes; they are opened where they are read.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Maximum bytes of a small file: settings, lists and records of a few lines.
pub const SMALL_BYTES: u64 = 1 << 24;
/// Maximum bytes of a file that describes many others: manifests, indexes and facts of thousands of ranks.
pub const LARGE_BYTES: u64 = 1 << 30;

/// Opens a regular file to read it.
///
/// # Errors
/// When it cannot be opened, or is not a regular file. It never blocks.
pub fn open(path: &Path) -> Result<File> {
    // Opening some devices has side effects.
    is_regular(&path.metadata()?)?;
    let file = not_waiting().open(path)?;
    is_regular(&file.metadata()?)?;
    Ok(file)
}

/// Content of a regular file of at most `limit` bytes.
///
/// # Errors
/// When [`open`] fails, or the file is larger.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    let bytes = file.metadata()?.len();
    if bytes > limit {
        return Err(Error::other(format!("it has {bytes} bytes, more than the {limit} that such a file may have")));
    }
    let mut content = Vec::new();
    // Bytes that are written to the file meanwhile count too.
    file.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

/// The first bytes of a regular file, at most `limit`.
///
/// # Errors
/// When [`open`] fails, or the file cannot be read.
pub fn head(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    open(path)?.take(limit).read_to_end(&mut head)?;
    Ok(head)
}

/// Text of a regular file of at most `limit` bytes.
///
/// # Errors
/// When [`read`] fails, or the text is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|error| Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

fn is_regular(metadata: &Metadata) -> Result<()> {
    match (metadata.is_file(), metadata.is_dir()) {
        (true, _) => Ok(()),
        (_, true) => Err(Error::new(ErrorKind::IsADirectory, "it is a directory")),
        _ => Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file but a pipe or a device")),
    }
}

/// Options that open a pipe without waiting for its other end, in case it has replaced a file.
fn not_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = (rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY).bits();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.cast_signed());
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_limited_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "text").unwrap();
        assert_eq!((read_text(&path, 4).unwrap().as_str(), read(&path, 3).is_err()), ("text", true));
        assert_eq!(read(folder.path(), 9).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(read(&folder.path().join("b"), 9).unwrap_err().kind(), ErrorKind::NotFound);
        assert!(open(Path::new("/dev/zero")).is_err());
        std::fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 4).is_err());
        // A file with a hole in it.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read(&path, LARGE_BYTES).is_err());
        #[cfg(unix)]
        {
            let pipe = folder.path().join("pipe");
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
            assert!(open(&pipe).is_err());
            assert!(is_regular(&not_waiting().open(&pipe).unwrap().metadata().unwrap()).is_err());
        }
    }
}
