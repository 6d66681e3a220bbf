//! Target of a path that is to be written as a file: one rule for every output.
//!
//! Links are followed, even to a file that does not exist yet. A regular file is replaced as a whole, by a file with
//! the same owner, group and mode. FIFOs, character devices and open files of this process (`/dev/stdout`) are written
//! into. Directories, block devices and sockets are refused.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use thiserror::Error;

use wavesieve_input::{UNFINISHED, sweep};

/// Maximum number of links that are followed before they count as a circle, as in Linux.
const MAX_LINKS: usize = 40;

/// Why a path is not written.
#[derive(Debug, Error)]
pub enum Refused {
    #[error("{0} is a directory; name a file with -o")]
    Directory(String),
    /// It is a block device or a socket.
    #[error("{0} is a {1}, which is never written; name a file with -o")]
    Kind(String, &'static str),
    /// The directory of what is to be written does not exist.
    #[error("the directory of {0} does not exist; create it or name another")]
    NoDirectory(String),
    /// The file must not be written.
    #[error("cannot write {0}: {1}; name another file with -o")]
    File(String, io::Error),
    /// The directory must not be written.
    #[error("cannot create a file in {0}: {1}; name a file elsewhere, or -o - and redirect standard output")]
    Place(String, io::Error),
    /// The replacement of the file would have another owner.
    #[error("cannot keep the owner of {0}: {1}; name another file, or -o - and redirect standard output")]
    Owner(String, io::Error),
}

/// Target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A regular file, existing or new, by its resolved path.
    File(PathBuf),
    /// A FIFO or a character device.
    Stream(PathBuf),
    /// A file that this process has open, by its number.
    Open(i32),
}

impl Target {
    /// Resolves the target of a path.
    ///
    /// # Errors
    /// When it is nothing that can be written as a file.
    pub fn resolve(path: &Path) -> Result<Self, Refused> {
        let shown = || path.display().to_string();
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(Refused::Directory(shown()));
        }
        let place = through_links(path).map_err(|error| Refused::File(shown(), error))?;
        if let Some(number) = open_file(&place) {
            return Ok(Self::Open(number));
        }
        match fs::metadata(&place).map(|metadata| metadata.file_type()) {
            Ok(kind) if kind.is_file() => Ok(Self::File(place)),
            Ok(kind) if kind.is_dir() => Err(Refused::Directory(shown())),
            Ok(kind) if is_stream(kind) => Ok(Self::Stream(place)),
            Ok(kind) => Err(Refused::Kind(shown(), word(kind))),
            Err(_) if parent(&place).is_dir() => Ok(Self::File(place)),
            Err(_) => Err(Refused::NoDirectory(shown())),
        }
    }

    /// Resolves the target of a path, if it can be written now. Nothing is changed.
    ///
    /// # Errors
    /// When it is nothing that can be written as a file, or the system does not let it be written.
    pub fn writable(path: &Path) -> Result<Self, Refused> {
        let target = Self::resolve(path)?;
        if let Self::File(place) = &target {
            let before = fs::metadata(place).ok();
            if before.is_some() {
                let opened = OpenOptions::new().write(true).open(place);
                opened.map_err(|error| Refused::File(path.display().to_string(), error))?;
            }
            temporary_for(place, before.as_ref())?;
        }
        Ok(target)
    }

    /// Whether it is written into and not replaced.
    pub fn is_stream(&self) -> bool {
        !matches!(self, Self::File(_))
    }
}

/// A new file next to `place` with the owner, the group and the mode of the existing file. If there is none, the new
/// file has the usual ones.
pub(crate) fn temporary_for(place: &Path, before: Option<&Metadata>) -> Result<NamedTempFile, Refused> {
    let directory = parent(place);
    sweep(directory, UNFINISHED);
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED);
    if before.is_none() {
        as_others(&mut builder, 0o666);
    }
    let file = builder.tempfile_in(directory);
    let file = file.map_err(|error| Refused::Place(directory.display().to_string(), own_cause(error)))?;
    // Until it is closed; without locks, no program removes it either.
    let _ = file.as_file().try_lock();
    if let Some(before) = before {
        keep_owner(file.as_file(), before).map_err(|error| Refused::Owner(place.display().to_string(), error))?;
    }
    Ok(file)
}

/// Gives what is created the mode that the umask allows, not a mode for its owner alone.
#[cfg(unix)]
pub fn as_others(builder: &mut Builder<'_, '_>, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
pub fn as_others(_builder: &mut Builder<'_, '_>, _mode: u32) {}

/// Gives a file the owner, the group and the mode of another.
///
/// # Errors
/// When the system does not let it.
#[cfg(unix)]
pub fn keep_owner(file: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let now = file.metadata()?;
    let differing = |now: u32, before: u32| (now != before).then_some(before);
    let (owner, group) = (differing(now.uid(), before.uid()), differing(now.gid(), before.gid()));
    if owner.is_some() || group.is_some() {
        fchown(file, owner, group)?;
    }
    // A change of the owner takes some bits of the mode away.
    file.set_permissions(fs::Permissions::from_mode(before.mode() & 0o7777))
}

#[cfg(not(unix))]
pub fn keep_owner(file: &File, before: &Metadata) -> io::Result<()> {
    file.set_permissions(before.permissions())
}

/// Follows the links of the last part of a path, even to a file that does not exist yet. An open file of this process
/// is a link to where it was opened, and is not followed.
///
/// # Errors
/// When links lead in a circle.
pub fn through_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&place) {
            Ok(target) if open_file(&place).is_none() => place = parent(&place).join(target),
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// The number of the open file of this process that a path stands for, as `/dev/fd/1` does.
#[cfg(unix)]
fn open_file(path: &Path) -> Option<i32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let directory = parent(path).canonicalize().ok()?;
    let own = format!("/proc/{}/fd", std::process::id());
    (directory == Path::new(&own) || directory == Path::new("/dev/fd")).then_some(number)
}

#[cfg(not(unix))]
fn open_file(_path: &Path) -> Option<i32> {
    None
}

/// Opens an open file of this process again, at the position of its next byte.
///
/// # Errors
/// When no open file has the number.
#[cfg(unix)]
pub fn again(number: i32) -> io::Result<File> {
    use std::os::fd::BorrowedFd;
    fs::metadata(format!("/dev/fd/{number}"))?;
    // SAFETY: a file is open under the number, as was just seen, and nothing here closes one that it did not open.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    Ok(File::from(file.try_clone_to_owned()?))
}

#[cfg(not(unix))]
pub fn again(_number: i32) -> io::Result<File> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_kind: FileType) -> bool {
    false
}

#[cfg(unix)]
fn word(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_block_device() { "block device" } else { "socket" }
}

#[cfg(not(unix))]
fn word(_kind: FileType) -> &'static str {
    "special file"
}

/// The error without the path of the temporary file, which is of no use to users.
pub fn own_cause(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((cause, _)) => io::Error::new(error.kind(), cause.to_owned()),
        None => error,
    }
}

/// The absolute path, without links in the existing part.
pub fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = |ancestor: &Path| {
        let (real, rest) = (ancestor.canonicalize().ok()?, absolute.strip_prefix(ancestor).ok()?);
        // Joining an empty path would add a slash at the end.
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    };
    absolute.ancestors().find_map(known).unwrap_or_else(|| absolute.clone())
}

/// Returns whether paths lead to the same file, or to the same place for a new one.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(found), Ok(known)) => is_same_content(one, &found, other, &known),
        (Err(_), Err(_)) => one == other || place(one).is_some_and(|one| place(other) == Some(one)),
        _ => false,
    }
}

/// The place of a new file.
fn place(path: &Path) -> Option<PathBuf> {
    let path = through_links(path).ok()?;
    Some(parent(&path).canonicalize().ok()?.join(path.file_name()?))
}

/// Special files such as `/dev/null` accept several outputs.
#[cfg(unix)]
fn is_same_content(_: &Path, found: &fs::Metadata, _: &Path, known: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.is_file() && (found.dev(), found.ino()) == (known.dev(), known.ino())
}

#[cfg(not(unix))]
fn is_same_content(one: &Path, _: &fs::Metadata, other: &Path, _: &fs::Metadata) -> bool {
    one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// The directory of a path.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn links_are_followed_to_what_may_not_be_there_yet() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        symlink("deep/second", at("first")).unwrap();
        symlink("../target", at("deep/second")).unwrap();
        assert_eq!(through_links(&at("first")).unwrap(), at("deep/../target"));
        assert_eq!(Target::resolve(&at("first")).unwrap(), Target::File(at("deep/../target")));
        fs::write(at("target"), "").unwrap();
        assert_eq!(Target::writable(&at("first")).unwrap(), Target::File(at("deep/../target")));
        symlink("circle", at("circle")).unwrap();
        assert!(matches!(Target::resolve(&at("circle")), Err(Refused::File(..))));
        symlink("missing/file", at("nowhere")).unwrap();
        assert!(matches!(Target::resolve(&at("nowhere")), Err(Refused::NoDirectory(_))));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 5, "nothing is left");
    }

    #[test]
    fn what_is_not_there_yet_lies_where_its_folder_leads_to() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        fs::create_dir(root.join("there")).unwrap();
        symlink(root.join("there"), root.join("link")).unwrap();
        assert_eq!(resolved(&root.join("link/new/deep")), root.join("there/new/deep"));
        assert_eq!(resolved(&root.join("there/./new/")), root.join("there/new"));
        assert_eq!(resolved(&root.join("link")).as_os_str(), root.join("there").as_os_str());
    }

    #[test]
    fn kinds_are_distinguished() {
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert!(matches!(Target::resolve(&socket), Err(Refused::Kind(_, "socket"))));
        assert!(matches!(Target::resolve(place.path()), Err(Refused::Directory(_))));
        assert!(matches!(Target::resolve(&place.path().join("new/")), Err(Refused::Directory(_))));
        assert_eq!(Target::resolve(Path::new("/dev/null")).unwrap(), Target::Stream("/dev/null".into()));
        assert_eq!(Target::resolve(Path::new("/dev/stdout")).unwrap(), Target::Open(1));
        assert!(again(1).is_ok() && again(-1).is_err() && again(1_000_000).is_err());
    }

    #[test]
    fn a_new_file_is_as_readable_as_others_and_one_that_is_replaced_as_before() {
        let place = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let (usual, own) = (place.path().join("usual"), place.path().join("own"));
        fs::write(&usual, "").unwrap();
        let new = temporary_for(&own, None).unwrap();
        assert_eq!(mode(new.path()), mode(&usual));
        fs::set_permissions(&usual, fs::Permissions::from_mode(0o640)).unwrap();
        let again = temporary_for(&usual, fs::metadata(&usual).ok().as_ref()).unwrap();
        assert_eq!(mode(again.path()), 0o640);
    }
}
