//! The place of a document. A place that cannot be written is rejected before anything is read.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::input::InputArguments;
use crate::cli::exit::{Failure, refuse};
use crate::cli::output::delivery::{check_file, unknown_extension};
use crate::cli::output::document_output::{DocumentFormat, DocumentOutput};
use crate::invocation::is_stdout_terminal;
use wavesieve_export::target::Target;
use wavesieve_report::folder;
use wavesieve_report::folder::FolderPlace;

impl DocumentOutput {
    /// The file or folder to write, named `stem` if only a directory is given; `None` for standard output.
    ///
    /// # Errors
    /// [`Failure::Usage`] when the file or its directory cannot be written as named, or when the file is an input.
    pub(crate) fn file(
        &self,
        input: &InputArguments,
        format: DocumentFormat,
        stem: &str,
    ) -> Result<Option<PathBuf>, Failure> {
        let refuse = |path: &Path, reason: &str| Err(Failure::Usage(format!("{} {reason}", path.display())));
        if self.output.as_ref().is_some_and(|output| output.as_os_str() == "-") {
            return match &self.directory {
                Some(directory) => refuse(directory, "takes no standard output; leave out -d, or name a file with -o"),
                None => check_stream(format),
            };
        }
        let mut path = match (&self.directory, &self.output) {
            (None, None) => return check_stream(format),
            (Some(directory), None) if format.of_folder().is_some() => return check_folder(directory, input),
            (Some(directory), _) if directory.exists() && !directory.is_dir() => {
                return refuse(directory, "is not a directory; name one with -d, or the file with -o");
            }
            (Some(_), Some(output)) if output.is_absolute() => {
                return refuse(output, "is absolute, which leaves -d nothing to say; leave -d out");
            }
            (Some(directory), Some(output)) => directory.join(output),
            (Some(directory), None) => directory.join(format!("{stem}.{}", format.extension())),
            (None, Some(output)) => output.clone(),
        };
        let missing = |parent: &Path| !parent.as_os_str().is_empty() && !parent.is_dir();
        let is_nowhere = self.directory.is_none() && path.parent().is_some_and(missing);
        let nowhere = "is in a directory that does not exist; create it, or name it with -d";
        if format.of_folder().is_some() {
            return if is_nowhere { refuse(&path, nowhere) } else { check_folder(&path, input) };
        }
        if self.format.is_none()
            && path.extension().is_some_and(|extension| extension == "csv" || extension == "parquet")
        {
            return refuse(
                &path,
                "would be a folder as a document; name a folder with -o, and --format csv or parquet",
            );
        }
        if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return refuse(&path, "is a directory; name it with -d, or a file in it with -o");
        }
        if self.format.is_none() && names_no_format(&path) {
            return Err(unknown_extension(&path, "documents", &DocumentFormat::extensions()));
        }
        // A link, a FIFO or a device keeps its name.
        let is_special = path.symlink_metadata().is_ok_and(|there| !there.is_file() && !there.is_dir());
        let is_open = Target::resolve(&path).is_ok_and(|target| target.is_stream());
        if !is_special && !is_open && DocumentFormat::of_extension(&path) != Some(format) {
            path.as_mut_os_string().push(format!(".{}", format.extension()));
        }
        if path.is_dir() {
            return refuse(&path, "is a directory; name another file with -o");
        }
        if is_nowhere {
            return refuse(&path, nowhere);
        }
        if path.exists() && input.contain(&path) {
            return refuse(&path, "is an input, which is never written; name another file with -o");
        }
        // With -d the directory may be created later.
        if !path.parent().is_some_and(missing) {
            check_file(&path)?;
        }
        Ok(Some(path))
    }
}

/// Returns whether a file has an extension that no document has.
fn names_no_format(path: &Path) -> bool {
    path.extension().is_some_and(|extension| !extension.is_empty()) && DocumentFormat::of_extension(path).is_none()
}

/// Rejects standard output if the format cannot go there.
fn check_stream(format: DocumentFormat) -> Result<Option<PathBuf>, Failure> {
    if format.of_folder().is_some() {
        let word = format.extension();
        refuse!("a document in {word} is a folder with several files; name one with -o");
    }
    if matches!(format, DocumentFormat::Xlsx | DocumentFormat::Pdf) && is_stdout_terminal() {
        refuse!("a workbook does not go to a terminal; name a file with -o");
    }
    Ok(None)
}

/// Rejects a folder with foreign files, or a folder that is an input.
fn check_folder(path: &Path, input: &InputArguments) -> Result<Option<PathBuf>, Failure> {
    let shown = path.display();
    if path.exists() && input.contain(path) {
        refuse!("{shown} is an input, which is never written; name another folder with -o");
    }
    match folder::place(path).with_context(|| format!("cannot read {shown}"))? {
        FolderPlace::Free | FolderPlace::Ours => Ok(Some(path.to_owned())),
        FolderPlace::Foreign(None) => {
            refuse!("{shown} is not a folder, and the document is one; name another with -o")
        }
        FolderPlace::Foreign(Some(name)) => refuse!(
            "{shown} holds {name}, which is not from an earlier analysis; name a new or an empty folder with -o"
        ),
    }
}
