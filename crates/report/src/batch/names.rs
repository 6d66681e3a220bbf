//! Names of runs, and of their files.

use std::collections::BTreeSet;
use std::path::{Component, Path};

/// Longest name of a file without its extension, in bytes.
const LONGEST: usize = 100;
/// Name of the index; files of runs do not get it.
const INDEX: &str = "index";

/// The names of runs by folder, without the leading directories that all share. If nothing is left, the name is the
/// last part of the path.
pub(crate) fn run_names(folders: &[&Path]) -> Vec<String> {
    let parts: Vec<Vec<String>> = folders.iter().map(|folder| components(folder)).collect();
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let is_common = |place: &usize| {
        let first = parts.first().and_then(|parts| parts.get(*place));
        parts.iter().all(|parts| parts.get(*place) == first)
    };
    let common = (0..shortest).take_while(is_common).count();
    let name = |parts: &Vec<String>| match parts.get(common..) {
        Some(rest) if !rest.is_empty() => rest.join("/"),
        _ => parts.last().cloned().unwrap_or_else(|| ".".to_owned()),
    };
    let names: Vec<String> = parts.iter().map(name).collect();
    let is_unique = names.iter().collect::<BTreeSet<&String>>().len() == names.len();
    if is_unique { names } else { parts.iter().map(|parts| parts.join("/")).collect() }
}

fn components(path: &Path) -> Vec<String> {
    let meaningful = path.components().filter(|component| *component != Component::CurDir);
    let parts: Vec<String> = meaningful.map(|component| component.as_os_str().to_string_lossy().into_owned()).collect();
    match (parts.is_empty(), std::env::current_dir()) {
        (true, Ok(directory)) => {
            directory.file_name().map(|name| name.to_string_lossy().into_owned()).into_iter().collect()
        }
        _ => parts,
    }
}

/// File names of runs, without extension: letters, digits, `.`, `_` and `-` of their names. Names that differ only in
/// case get a number, as some file systems ignore case.
pub fn file_stems<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::from([INDEX.to_owned()]);
    let unique = |name: &str| {
        let stem = stem(name);
        let numbered = (1_u64..).map(|number| if number == 1 { stem.clone() } else { format!("{stem}-{number}") });
        let mut free = numbered.skip_while(|stem| taken.contains(&stem.to_lowercase()));
        let stem = free.next().unwrap_or_else(|| stem.clone());
        drop(free);
        taken.insert(stem.to_lowercase());
        stem
    };
    names.into_iter().map(unique).collect()
}

/// A name with a hyphen for every run of characters that file names should not have.
fn stem(name: &str) -> String {
    let mut stem = String::new();
    for character in name.chars() {
        let is_safe = character.is_alphanumeric() || matches!(character, '.' | '_' | '-');
        if stem.len() + character.len_utf8() > LONGEST {
            break;
        }
        match is_safe {
            true => stem.push(character),
            false if stem.ends_with('-') => {}
            false => stem.push('-'),
        }
    }
    let stem = stem.trim_matches(|character| matches!(character, '-' | '.'));
    if stem.is_empty() { "run".to_owned() } else { stem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_by_what_tells_them_apart() {
        let names = |folders: &[&str]| run_names(&folders.iter().map(Path::new).collect::<Vec<&Path>>());
        assert_eq!(names(&["data/runs/a/node0", "data/runs/b/node0"]), ["a/node0", "b/node0"]);
        assert_eq!(names(&["./data/a", "data/b"]), ["a", "b"]);
        assert_eq!(names(&["data/a"]), ["a"]);
        assert_eq!(names(&["data", "data/b"]), ["data", "b"]);
        assert_eq!(names(&["data", "data/data"]), ["data", "data/data"]);
        assert_eq!(names(&[]), Vec::<String>::new());
    }

    #[test]
    fn files_have_names_that_every_file_system_takes() {
        let stems = file_stems(["a/node0", "A-node0", "a node0", "<i>&\"x\"", "..", "index", "größe", "v1.2"]);
        assert_eq!(stems, ["a-node0", "A-node0-2", "a-node0-3", "i-x", "run", "index-2", "größe", "v1.2"]);
        assert!(file_stems(["x".repeat(400).as_str()]).iter().all(|stem| stem.len() <= LONGEST));
    }
}
