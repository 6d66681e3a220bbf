//! The settings files: their paths and content.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::sources::File;
use super::text::parse;
use super::trust::foreign_owner;
use crate::cli::exit::Failure;
use wavesieve_files::regular::{self, SMALL_BYTES};

/// Name of a project's file.
const PROJECT_FILE: &str = "wavesieve.toml";

/// The existing files, in rising order of precedence.
pub(crate) struct Paths {
    /// The file of the nearest directory that has one.
    pub project: Option<PathBuf>,
    /// The project file, if another user owns it, with the id of that user: it is ignored.
    pub foreign: Option<(PathBuf, u32)>,
    /// The file of the user.
    pub user: Option<PathBuf>,
}

/// Looks for the files.
pub(crate) fn paths() -> Paths {
    let directory = std::env::current_dir().unwrap_or_default();
    let project = directory.ancestors().map(|directory| directory.join(PROJECT_FILE)).find(|path| path.is_file());
    let owner = project.as_ref().and_then(|path| foreign_owner(&path.metadata().ok()?));
    let (project, foreign) = match owner {
        Some(owner) => (None, project.map(|path| (path, owner))),
        None => (project, None),
    };
    let set = |name: &str| std::env::var_os(name).filter(|value: &OsString| Path::new(value).is_absolute());
    let configuration =
        set("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    let user = configuration.map(|path| path.join("wavesieve/config.toml")).filter(|path| path.is_file());
    Paths { project, foreign, user }
}

pub(crate) fn read(path: PathBuf, is_of_project: bool) -> Result<File, Failure> {
    let shown = path.display();
    let text = regular::read_text(&path, SMALL_BYTES).map_err(|error| {
        Failure::Usage(format!("{shown}: cannot be read: {error}; make it readable or move it away"))
    })?;
    let table =
        parse(&text).map_err(|(line, reason)| Failure::Usage(format!("{shown}:{line}: {reason}; write TOML")))?;
    Ok(File { path, table, is_of_project })
}

/// Paths in a file are relative to its directory.
pub(crate) fn relative_to(file: &Path, values: Vec<String>) -> Vec<String> {
    let directory = file.parent().unwrap_or(Path::new("."));
    values.into_iter().map(|value| directory.join(value).to_string_lossy().into_owned()).collect()
}
