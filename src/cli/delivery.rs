//! Where a text goes: to a file that appears whole, or to standard output.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::arguments::GlobalArguments;
use super::exit::Failure;
use super::messages;
use crate::export::atomic::write_file;

/// Writes to a file and says so, or to standard output where none is named; then `write` learns what it needs to know of a
/// terminal.
///
/// # Errors
/// When writing fails.
pub fn deliver(
    path: Option<&Path>,
    global: &GlobalArguments,
    write: impl FnOnce(Option<&GlobalArguments>, &mut dyn Write) -> anyhow::Result<()>,
) -> Result<(), Failure> {
    let Some(path) = path else {
        let mut out = io::BufWriter::new(io::stdout().lock());
        write(Some(global), &mut out)?;
        return Ok(out.flush()?);
    };
    write_file(path, |out| write(None, out))?;
    say_written(path, global);
    Ok(())
}

/// Says that a file or folder is there.
pub fn say_written(path: &Path, global: &GlobalArguments) {
    if !global.quiet {
        messages::say(format_args!("wrote {}", path.display()));
    }
}

/// The path from the root, without links as far as it is there already.
pub fn resolved(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = |ancestor: &Path| Some(ancestor.canonicalize().ok()?.join(absolute.strip_prefix(ancestor).ok()?));
    absolute.ancestors().find_map(known).unwrap_or_else(|| absolute.clone())
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
    }
}
