//! Finds the library that programs load.

use std::path::{Path, PathBuf};

/// File name of the library.
pub const LIBRARY: &str = "libwavesieve_capture.so";
/// Variable with the path of the library.
pub const LIBRARY_VARIABLE: &str = "WAVESIEVE_CAPTURE_LIBRARY";

/// Directory of the library in packages, relative to the program.
const INSTALLED: &str = "../lib/wavesieve";

/// Finds the library: the named one, the one next to the program, or the one that a package installed.
///
/// # Errors
/// Returns a message with a fix when the library is missing or its path cannot be passed to the runtime.
pub fn find_library(named: Option<&Path>, program: &Path) -> Result<PathBuf, String> {
    let folder = program.parent().unwrap_or(Path::new("."));
    let found = match named {
        Some(path) if path.is_file() => path.to_owned(),
        Some(path) => return Err(format!("{} is not a file; name {LIBRARY}", path.display())),
        None => {
            let places = [folder.join(LIBRARY), folder.join(INSTALLED).join(LIBRARY)];
            places.into_iter().find(|path| path.is_file()).ok_or_else(|| {
                format!(
                    "{LIBRARY} is neither in {} nor in {INSTALLED}; build it with `cargo build -p wavesieve-capture`, or \
                     name it with --library or {LIBRARY_VARIABLE}",
                    folder.display()
                )
            })?
        }
    };
    let path = found.canonicalize().map_err(|error| format!("{}: {error}", found.display()))?;
    // The runtime reads the variable as a list of names.
    match path.to_str() {
        Some(text) if !text.contains(char::is_whitespace) => Ok(path),
        _ => Err(format!(
            "the path {} cannot be named to the HSA runtime; move it to one without spaces",
            path.display()
        )),
    }
}
