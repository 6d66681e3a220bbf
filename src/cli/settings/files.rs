//! The files of settings: where they are and what is in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::sources::File;
use super::text::parse;
use crate::cli::exit::Failure;

/// Name of a project's file.
const PROJECT_FILE: &str = "wavesieve.toml";

/// The files that are there, in rising order: of the nearest directory that has one, then of the user.
pub(crate) fn paths() -> Vec<PathBuf> {
    let directory = std::env::current_dir().unwrap_or_default();
    let project = directory.ancestors().map(|directory| directory.join(PROJECT_FILE)).find(|path| path.is_file());
    let set = |name: &str| std::env::var_os(name).filter(|value: &OsString| Path::new(value).is_absolute());
    let configuration =
        set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    let user = configuration.map(|path| path.join("wavesieve/config.toml")).filter(|path| path.is_file());
    project.into_iter().chain(user).collect()
}

/// Reads a file.
///
/// # Errors
/// When it cannot be read or is no TOML.
pub(crate) fn read(path: PathBuf) -> Result<File, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::Usage(format!("{shown}: cannot be read: {error}; make it readable or move it away"))
    })?;
    let table =
        parse(&text).map_err(|(line, reason)| Failure::Usage(format!("{shown}:{line}: {reason}; write TOML")))?;
    Ok(File { path, table })
}

/// Paths in a file are relative to its directory.
pub(crate) fn relative_to(file: &Path, values: Vec<String>) -> Vec<String> {
    let directory = file.parent().unwrap_or(Path::new("."));
    values.into_iter().map(|value| directory.join(value).to_string_lossy().into_owned()).collect()
}
