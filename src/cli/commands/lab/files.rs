//! The files of a command: no output is also an input, or written twice.

use std::path::Path;

use crate::cli::exit::{Failure, refuse};
use wavesieve_export::target::is_same_file;

/// An option with its file.
pub(super) type Named<'a> = (&'static str, &'a Path);

/// Rejects outputs that are an input or another output, also through links.
pub(super) fn check_apart(inputs: &[Named<'_>], outputs: &[Named<'_>]) -> Result<(), Failure> {
    for (place, (option, path)) in outputs.iter().enumerate() {
        let shown = path.display();
        let is_same = |other: &&Named<'_>| is_same_file(path, other.1);
        if let Some((input, _)) = inputs.iter().find(is_same) {
            let reason = format!("{option} {shown} is the file of {input}, which is never written; name another file");
            refuse!("{reason}");
        }
        if let Some((other, _)) = outputs.iter().take(place).find(is_same) {
            refuse!("{other} and {option} are the same file, {shown}; name two files");
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn links_to_one_file_are_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("other"), "").unwrap();
        symlink("deep/second", at("first")).unwrap();
        symlink("../file", at("deep/second")).unwrap();
        symlink(".", at("folder")).unwrap();
        let names = ["file", "./file", "deep/../file", "first", "deep/second", "folder/file", "hard"];
        let refused = |inputs: &[Named<'_>], outputs: &[Named<'_>]| check_apart(inputs, outputs).is_err();
        for is_there in [false, true] {
            if is_there {
                fs::write(at("file"), "").unwrap();
                fs::hard_link(at("file"), at("hard")).unwrap();
            }
            let names = names.iter().filter(|name| is_there || **name != "hard").map(|name| at(name));
            let names: Vec<PathBuf> = names.collect();
            for one in &names {
                for two in &names {
                    assert!(refused(&[("--space", one)], &[("-o", two)]), "{one:?} {two:?}");
                    assert!(refused(&[], &[("--state", one), ("--chart", &at("new")), ("-o", two)]), "{one:?} {two:?}");
                }
                for other in [at("other"), at("new"), at("missing/file"), PathBuf::from("/dev/null")] {
                    assert!(!refused(&[("--space", &other)], &[("-o", one)]), "{one:?} {other:?}");
                    assert!(!refused(&[], &[("--state", one), ("-o", &other)]), "{one:?} {other:?}");
                }
            }
        }
        let stream = Path::new("/dev/null");
        assert!(!refused(&[("--space", stream)], &[("-o", stream), ("--chart", stream)]));
    }
}
