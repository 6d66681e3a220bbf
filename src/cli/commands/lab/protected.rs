//! Protects the inputs of a command from its outputs.

use std::fs;
use std::path::Path;

use crate::cli::exit::{Failure, refuse};
use wavesieve_export::target::{Target, is_same_file, resolved, through_links};

/// Rejects an output that is one of the inputs, or lies in an input directory, whatever their spelling.
pub(super) fn refuse_input<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    // A link is written through, even if its target does not exist yet.
    let place = match Target::resolve(output) {
        Ok(Target::File(place)) => place,
        Ok(Target::Stream(_) | Target::Open(_)) => return Ok(()),
        Err(_) => through_links(output).unwrap_or_else(|_| output.to_owned()),
    };
    let place = resolved(&place);
    for input in inputs {
        let own = resolved(input);
        if place.starts_with(&own) || is_same_file(&place, &own) || holds(&own, &place) {
            let (output, input) = (output.display(), input.display());
            let within = if place == own { String::new() } else { format!(" ({input})") };
            refuse!("{output} is an input{within}, which is never written; name another place for the output");
        }
    }
    Ok(())
}

/// Returns whether a directory has a link to the place among its files.
fn holds(directory: &Path, place: &Path) -> bool {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| is_same_file(&entry.path(), place))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn inputs_are_not_written_however_they_are_spelled() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("capture/memory")).unwrap();
        for name in ["code.hsaco", "other.hsaco", "capture/dispatch.json"] {
            fs::write(at(name), "x").unwrap();
        }
        symlink(at("code.hsaco"), at("link")).unwrap();
        symlink(at("capture"), at("linked")).unwrap();
        symlink(at("capture/new"), at("dangling")).unwrap();
        symlink(at("other.hsaco"), at("capture/kernel.hsaco")).unwrap();
        fs::hard_link(at("code.hsaco"), at("hard")).unwrap();
        let inputs = [at("code.hsaco"), at("capture")];
        let refused = |name: &str| refuse_input(&at(name), inputs.iter().map(std::path::PathBuf::as_path)).is_err();
        for name in [
            "code.hsaco",
            "capture/../code.hsaco",
            "link",
            "hard",
            "capture",
            "linked/dispatch.json",
            "capture/new/deep",
            "dangling",
            "other.hsaco",
        ] {
            assert!(refused(name), "{name}");
        }
        assert!(!refused("new") && !refused("capture.json") && !refused("new/deep"));
    }
}
