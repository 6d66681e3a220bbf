//! Divides inputs into runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use thiserror::Error;

use super::names::run_names;
use wavesieve_input::{Candidate, InputError, discover, is_archive, is_capture, is_dataset, named};
use wavesieve_model::text::natural_order::natural_key;

/// Rule that combines files into one run.
#[derive(Clone, Debug)]
pub enum Grouping {
    /// The folder of the files; a dataset is a run by itself.
    Folder,
    /// The input in which they were found.
    Input,
    /// The match of this expression in their paths: its first group, otherwise the whole match.
    Pattern(Regex),
}

/// Inputs of one document.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its name, unique among the runs.
    pub name: String,
    /// Its folder or its files, for messages.
    pub places: Vec<String>,
    /// The files and datasets to read.
    pub candidates: Vec<Candidate>,
}

/// The runs of inputs.
#[derive(Clone, Debug, Default)]
pub struct Grouped {
    /// The runs. Runs of inputs are in the order of the inputs, others in natural order of their names.
    pub runs: Vec<Run>,
    /// Traces, and archives that may hold some, that belong to no run.
    pub unmatched: Vec<PathBuf>,
}

/// Why inputs cannot be divided.
#[derive(Debug, Error)]
pub enum GroupingError {
    /// The inputs cannot be searched.
    #[error(transparent)]
    Input(#[from] InputError),
    /// There are traces, but the expression matches none.
    #[error("{pattern} matches none of {count} paths of traces, such as {example}; write an expression that does")]
    NothingMatches {
        /// The expression.
        pattern: String,
        /// How many traces there are.
        count: usize,
        example: String,
    },
}

/// Divides the files found in inputs into runs; the directory `exclude` is not an input.
///
/// # Errors
/// See [`GroupingError`]; inputs without any trace give no run.
pub fn runs(inputs: &[String], exclude: Option<&Path>, grouping: &Grouping) -> Result<Grouped, GroupingError> {
    match grouping {
        Grouping::Folder => by_folder(inputs, exclude),
        Grouping::Input => by_input(inputs, exclude),
        Grouping::Pattern(pattern) => by_pattern(inputs, exclude, pattern),
    }
}

/// Makes runs of folders, with their names.
fn of_folders(folders: Vec<(PathBuf, Vec<Candidate>)>) -> Vec<Run> {
    let names = run_names(&folders.iter().map(|(folder, _)| folder.as_path()).collect::<Vec<&Path>>());
    let run = |((folder, candidates), name): ((PathBuf, Vec<Candidate>), String)| Run {
        name,
        places: vec![folder.to_string_lossy().into_owned()],
        candidates,
    };
    folders.into_iter().zip(names).map(run).collect()
}

fn by_folder(inputs: &[String], exclude: Option<&Path>) -> Result<Grouped, GroupingError> {
    let mut folders: BTreeMap<PathBuf, Vec<Candidate>> = BTreeMap::new();
    for candidate in discover(inputs, exclude)? {
        let folder = if candidate.path.is_dir() {
            candidate.path.clone()
        } else {
            candidate.path.parent().map_or_else(PathBuf::new, Path::to_owned)
        };
        folders.entry(folder).or_default().push(candidate);
    }
    let others: Vec<Candidate> = folders
        .extract_if(.., |_, candidates| !candidates.iter().any(is_capture))
        .flat_map(|(_, others)| others)
        .collect();
    // A run that wrote nothing left an empty folder, which must not be overlooked.
    for input in named(inputs)?.iter().filter(|input| input.is_dir() && !is_dataset(input)) {
        let Ok(entries) = fs::read_dir(input) else { continue };
        let below = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
        for folder in below.filter(|folder| is_empty(folder)) {
            folders.entry(folder).or_default();
        }
    }
    let mut folders: Vec<(PathBuf, Vec<Candidate>)> = folders.into_iter().collect();
    folders.sort_by_cached_key(|(folder, _)| natural_key(&folder.to_string_lossy()));
    Ok(Grouped { runs: of_folders(folders), unmatched: archives(others).collect() })
}

/// The archives among files without a run.
fn archives(others: Vec<Candidate>) -> impl Iterator<Item = PathBuf> {
    others.into_iter().filter(is_archive).map(|candidate| candidate.path)
}

/// Whether a folder holds no file at any depth.
fn is_empty(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_empty(&entry.path()))
}

fn by_input(inputs: &[String], exclude: Option<&Path>) -> Result<Grouped, GroupingError> {
    let mut folders: Vec<(PathBuf, Vec<Candidate>)> = Vec::new();
    let mut seen = BTreeSet::new();
    for input in named(inputs)? {
        // An input is one run, whatever its spelling and whatever links lead to it.
        if !seen.insert(input.canonicalize().unwrap_or_else(|_| input.clone())) {
            continue;
        }
        let candidates = discover(&[input.to_string_lossy().into_owned()], exclude)?;
        folders.push((input, candidates));
    }
    Ok(Grouped { runs: of_folders(folders), unmatched: Vec::new() })
}

fn by_pattern(inputs: &[String], exclude: Option<&Path>, pattern: &Regex) -> Result<Grouped, GroupingError> {
    let mut groups: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    let (mut unmatched, mut others) = (Vec::new(), Vec::new());
    for candidate in discover(inputs, exclude)? {
        let path = candidate.path.to_string_lossy().into_owned();
        let captures = pattern.captures(&path);
        let name = captures.and_then(|captures| Some(captures.get(1).or(captures.get(0))?.as_str().to_owned()));
        match name.filter(|name| !name.is_empty()) {
            Some(name) => groups.entry(name).or_default().push(candidate),
            None if is_capture(&candidate) => unmatched.push(candidate.path),
            None => others.push(candidate),
        }
    }
    let empty = groups.extract_if(.., |_, candidates| !candidates.iter().any(is_capture));
    others.extend(empty.flat_map(|(_, others)| others));
    if let (true, Some(example)) = (groups.is_empty(), unmatched.first()) {
        return Err(GroupingError::NothingMatches {
            pattern: pattern.to_string(),
            count: unmatched.len(),
            example: example.display().to_string(),
        });
    }
    unmatched.extend(archives(others));
    let mut groups: Vec<(String, Vec<Candidate>)> = groups.into_iter().collect();
    groups.sort_by_cached_key(|(name, _)| natural_key(name));
    let run = |(name, candidates): (String, Vec<Candidate>)| Run {
        name,
        places: candidates.iter().map(|candidate| candidate.path.to_string_lossy().into_owned()).collect(),
        candidates,
    };
    Ok(Grouped { runs: groups.into_iter().map(run).collect(), unmatched })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(inputs: &[&str], grouping: &Grouping) -> Vec<String> {
        let inputs: Vec<String> = inputs.iter().map(|input| (*input).to_owned()).collect();
        runs(&inputs, None, grouping).unwrap().runs.into_iter().map(|run| run.name).collect()
    }

    #[test]
    fn folders_are_runs() {
        let grouped = runs(&["../../fixtures/two_nodes".to_owned()], None, &Grouping::Folder).unwrap();
        let names: Vec<&str> = grouped.runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["node0", "node1"]);
    }

    #[test]
    fn a_run_is_what_one_says_it_is() {
        assert_eq!(
            names(&["../../fixtures/two_nodes", "../../fixtures/hostile"], &Grouping::Folder),
            ["hostile/node0", "two_nodes/node0", "two_nodes/node1"]
        );
        assert_eq!(
            names(&["../../fixtures/two_nodes", "../../fixtures/hostile"], &Grouping::Input),
            ["two_nodes", "hostile"]
        );
        assert_eq!(names(&["../../fixtures/merged/merged.db"], &Grouping::Input), ["merged.db"]);
        let pattern = Regex::new(r"node(\d+)/").unwrap();
        assert_eq!(names(&["../../fixtures/two_nodes"], &Grouping::Pattern(pattern)), ["0", "1"]);
        let whole = Regex::new(r"node\d+").unwrap();
        assert_eq!(names(&["../../fixtures/two_nodes"], &Grouping::Pattern(whole)), ["node0", "node1"]);
    }

    #[test]
    fn an_expression_that_matches_nothing_is_wrong() {
        let pattern = Grouping::Pattern(Regex::new("step").unwrap());
        let error = runs(&["../../fixtures/two_nodes".to_owned()], None, &pattern).unwrap_err().to_string();
        assert!(error.starts_with("step matches none of 4 paths"), "{error}");
    }
}
