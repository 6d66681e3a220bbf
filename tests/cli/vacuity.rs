//! Checks that no test passes without having checked anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::common::listing;

const IGNORED: &str = "#[cfg_attr(not(shared_data), ignore = \"real traces are absent; set WAVESIEVE_DATA\")]";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of every file below a directory of the project that is one, with its path.
fn texts(directory: &str) -> Vec<(PathBuf, String)> {
    let files = listing(&root().join(directory)).into_iter().map(|(path, _)| path);
    files.filter_map(|path| Some((path.clone(), fs::read_to_string(path).ok()?))).collect()
}

fn sources_of_tests() -> Vec<(PathBuf, String)> {
    texts("tests/cli").into_iter().filter(|(path, _)| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

/// Only tests ask for real traces, not functions that several share, so that the attribute stands where the question is.
#[test]
fn tests_that_need_real_traces_are_ignored_without_them() {
    let head = Regex::new(r"(?m)^ *(pub )?fn (\w+)").unwrap();
    let asks = Regex::new(r"\breal\(|\(real\)").unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (path, text) in sources_of_tests().iter().filter(|(path, _)| !path.ends_with("common.rs")) {
        let mut starts: Vec<usize> = head.find_iter(text).map(|found| found.start()).collect();
        starts.push(text.len());
        for part in starts.windows(2) {
            let (before, body) = (text.get(..part[0]).unwrap(), text.get(part[0]..part[1]).unwrap());
            let attributes: Vec<&str> =
                before.lines().rev().take_while(|line| line.trim().starts_with("#[")).map(str::trim).collect();
            let is_ignored = attributes == [IGNORED, "#[test]"];
            count += usize::from(is_ignored);
            if asks.is_match(body) != is_ignored {
                let name = &head.captures(body).unwrap()[2];
                wrong.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these ask for real traces without being ignored if they are absent, or the reverse: {wrong:#?}"
    );
    assert!(count > 30, "{count}");
}

/// Indexing JSON with a key that it has not gives null, of which many an assertion is true.
#[test]
fn keys_that_tests_read_are_written_somewhere() {
    let word = Regex::new(r"\w+").unwrap();
    let index = Regex::new(r#"\w\["([a-z_0-9]+)"\]( = )?"#).unwrap();
    let words =
        |text: &str| -> BTreeSet<String> { word.find_iter(text).map(|found| found.as_str().to_owned()).collect() };
    let mut written = BTreeSet::new();
    for directory in ["src", "crates", "queries", "share", "templates"] {
        texts(directory).iter().for_each(|(_, text)| written.extend(words(text)));
    }
    let (mut unknown, mut count) = (Vec::new(), 0);
    for (path, text) in sources_of_tests() {
        // A column may have a name that a test gave it.
        let own = words(&index.replace_all(&text, ""));
        let read = index.captures_iter(&text).filter(|found| found.get(2).is_none());
        for key in read.map(|found| found[1].to_owned()) {
            count += 1;
            if !written.contains(&key) && !own.contains(&key) {
                unknown.push(format!("{}: {key}", path.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "nothing writes these: {unknown:#?}");
    assert!(count > 500, "{count}");
}
