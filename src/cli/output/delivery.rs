//! Writes a text to a file that appears only when complete, or to standard output.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::messages::note;
use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::invocation::with_stdout;
use wavesieve_export::atomic::write_file;
use wavesieve_export::stream::write_stream;
use wavesieve_export::target::Target;

/// Writes to the named file and reports it, or by default to standard output. In that case `write` gets the global
/// arguments, which describe the terminal.
pub(crate) fn deliver(
    path: Option<&Path>,
    global: &GlobalArguments,
    write: impl FnOnce(Option<&GlobalArguments>, &mut dyn Write) -> anyhow::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path else { return to_stdout(|out| write(Some(global), out)) };
    write_file(path, |out| write(None, out))?;
    print_written(path, global);
    Ok(())
}

/// Writes to standard output.
///
/// # Errors
/// When writing fails; [`Failure::is_broken_pipe`] recognizes a closed output.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> Result<(), Failure> {
    Ok(with_stdout(|out| write_stream(out, write))?)
}

/// Rejects a file that cannot be written, before anything is read. Returns the target that the path leads to.
pub(crate) fn check_file(path: &Path) -> Result<Target, Failure> {
    Target::writable(path).map_err(Failure::usage)
}

/// The failure for a file whose extension names no format.
pub(crate) fn unknown_extension(path: &Path, of: &str, known: &[&str]) -> Failure {
    let known = known.join(", .");
    let shown = path.display();
    Failure::Usage(format!("{shown} ends in no format of {of} (.{known}); name one of them, or choose with --format"))
}

/// The extension of a file's name in lower case; `None` without one.
pub(crate) fn extension_of(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    (!extension.is_empty()).then_some(extension)
}

/// Reports that a file or folder was written.
pub(crate) fn print_written(path: &Path, global: &GlobalArguments) {
    global.outbox.add(path);
    note!(global, "wrote {}", path.display());
}

/// The absolute path, without links in the existing part.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = |ancestor: &Path| {
        let (real, rest) = (ancestor.canonicalize().ok()?, absolute.strip_prefix(ancestor).ok()?);
        // Joining an empty path would add a slash at the end.
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    };
    absolute.ancestors().find_map(known).unwrap_or_else(|| absolute.clone())
}

/// Writes a document as JSON, with a line break at its end.
pub(crate) fn write_json(document: &impl Serialize, out: &mut dyn Write) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    Ok(writeln!(out)?)
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[cfg(unix)]
    #[test]
    fn what_is_not_there_yet_lies_where_its_folder_leads_to() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("there")).unwrap();
        std::os::unix::fs::symlink(root.join("there"), root.join("link")).unwrap();
        assert_eq!(resolved(&root.join("link/new/deep")), root.join("there/new/deep"));
        assert_eq!(resolved(&root.join("there/./new/")), root.join("there/new"));
        assert_eq!(resolved(&root.join("link")).as_os_str(), root.join("there").as_os_str());
    }
}
