//! Distinguishes programs to run from traces to read on the command line.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::shell_line::words_of_line;
use wavesieve_files::regular;

/// First bytes of executable files: ELF, and scripts.
const HEADS: [&[u8]; 2] = [b"\x7fELF", b"#!"];

/// Returns whether a word of a command line is a program with its arguments, such as `./app --size 4`. An existing file
/// must be executable; traces and trace patterns never count.
pub fn is_program(word: &str) -> bool {
    let path = Path::new(word);
    if path.exists() {
        return can_run(path);
    }
    if glob::glob(word).is_ok_and(|mut found| found.next().is_some()) {
        return false;
    }
    let Ok(words) = words_of_line(word) else { return false };
    // Variables in front belong to the program.
    let is_variable = |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
    let Some(program) = words.iter().find(|word| !is_variable(word)) else { return false };
    match program.contains('/') {
        true => can_run(Path::new(program)),
        // A single word may be a mistyped trace name.
        false if words.len() == 1 => false,
        false => {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&folders).any(|folder| can_run(&folder.join(program)))
        }
    }
}

/// Returns whether a file is executable, and starts like a program.
fn can_run(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else { return false };
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return false;
    }
    let mut head = [0; 4];
    let read = regular::open(path).and_then(|mut file| file.read(&mut head)).unwrap_or(0);
    let head = head.get(..read).unwrap_or_default();
    HEADS.iter().any(|known| head.starts_with(known))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn programs_are_told_from_traces() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path.display().to_string()
        };
        let app = file("app", "#!/bin/sh\n", 0o755);
        let trace = file("trace.db", "SQLite format 3\0", 0o777);
        let text = file("notes", "#!/bin/sh\n", 0o644);
        for word in [app.clone(), format!("{app} --size 4"), format!("A=1 {app} x"), "sh -c 'exit 0'".to_owned()] {
            assert!(is_program(&word), "{word}");
        }
        for word in [
            trace.clone(),
            format!("{trace} x"),
            text,
            folder.path().display().to_string(),
            format!("{}/*", folder.path().display()),
            "no/such/trace".to_owned(),
            "sh".to_owned(),
            "no_such_program_at_all x".to_owned(),
            "A=1".to_owned(),
            String::new(),
        ] {
            assert!(!is_program(&word), "{word}");
        }
    }
}
