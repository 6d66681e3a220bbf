//! Inputs that another program cuts while they are read: no signal ends the program, what is missing is said, and nothing stays behind.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::{listing, program};
use crate::generated::generated;

/// Verbs that read all of a trace, with what they write.
const VERBS: [&[&str]; 4] = [
    &["table", "kernel_summary", "INPUT"],
    &["report", "INPUT", "-o", "OUTPUT.html"],
    &["convert", "INPUT", "-o", "OUTPUT"],
    &["analyze", "INPUT", "-o", "OUTPUT.json"],
];

/// A trace whose files are some megabytes.
fn trace() -> PathBuf {
    generated(&["--ranks", "1", "--dispatches", "40000", "--regions", "80000", "--format", "rocpd,dataset"])
}

fn largest(folder: &Path, extension: &str) -> PathBuf {
    let files =
        listing(folder).into_iter().filter(|(path, _)| path.extension().is_some_and(|found| found == extension));
    files.max_by_key(|(path, _)| fs::metadata(path).unwrap().len()).unwrap().0
}

/// Runs verbs on copies of which a file loses its end after a while, and returns how many said so.
fn cut(input: &Path, extension: &str) -> usize {
    let mut damaged = 0;
    for (attempt, verb) in VERBS.iter().enumerate() {
        let place = tempfile::tempdir().unwrap();
        let copy = place.path().join("in");
        for (path, _) in listing(input) {
            let target = copy.join(path.strip_prefix(input).unwrap());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(path, target).unwrap();
        }
        let temporary = place.path().join("temporary");
        fs::create_dir(&temporary).unwrap();
        let output = place.path().join("out");
        let words: Vec<String> = verb
            .iter()
            .map(|word| word.replace("INPUT", copy.to_str().unwrap()).replace("OUTPUT", output.to_str().unwrap()))
            .collect();
        let mut command = program(&words.iter().map(String::as_str).collect::<Vec<_>>());
        command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        sleep(Duration::from_millis(60 * (attempt as u64 + 1)));
        let file = largest(&copy, extension);
        let bytes = fs::metadata(&file).unwrap().len();
        OpenOptions::new().write(true).open(&file).unwrap().set_len(bytes / 5).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let code = ended.status.code().unwrap_or_else(|| panic!("{words:?} ended by {}: {said}", ended.status));
        assert!(matches!(code, 0 | 1 | 5), "{words:?} ended with {code}: {said}");
        assert!(!said.contains("panicked"), "{words:?}: {said}");
        // It may end with an error of what cannot be decoded.
        damaged += usize::from(code != 0);
        assert_eq!(listing(&temporary).len(), 0, "{words:?} left files behind");
        let beside = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let beside: Vec<String> = beside.filter(|name| name.starts_with('.')).collect();
        assert!(beside.is_empty(), "{words:?} left {beside:?}");
    }
    damaged
}

#[test]
fn a_database_that_is_cut_while_it_is_read_is_damage() {
    let folder = trace();
    let database = largest(&folder, "db");
    assert!(cut(database.parent().unwrap(), "db") > 0);
}

#[test]
fn a_dataset_that_is_cut_while_it_is_read_is_damage() {
    assert!(cut(&trace().join("dataset"), "parquet") > 0);
}
