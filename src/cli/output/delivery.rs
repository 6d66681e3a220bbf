//! Writes a text to a file that appears only when complete, or to standard output.

use std::io::Write;
use std::path::Path;

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

/// The requested format, or the one of `formats` that the extension of the file names; without either, the default.
pub(crate) fn format_of<F: Copy>(
    requested: Option<F>,
    path: Option<&Path>,
    default: F,
    of: &str,
    formats: &[(&str, F)],
) -> Result<F, Failure> {
    let named = path.and_then(|path| Some((path, extension_of(path)?)));
    match (requested, named) {
        (Some(format), _) => Ok(format),
        (None, None) => Ok(default),
        (None, Some((path, extension))) => {
            let format = formats.iter().find(|(known, _)| *known == extension).map(|(_, format)| *format);
            let known = || formats.iter().map(|(known, _)| *known).collect::<Vec<&str>>();
            format.ok_or_else(|| unknown_extension(path, of, &known()))
        }
    }
}

/// Reports that a file or folder was written.
pub(crate) fn print_written(path: &Path, global: &GlobalArguments) {
    global.outbox.add(path);
    note!(global, "wrote {}", path.display());
}

/// Writes a document as JSON, with a line break at its end.
pub(crate) fn write_json(document: &impl Serialize, out: &mut dyn Write) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    Ok(writeln!(out)?)
}
