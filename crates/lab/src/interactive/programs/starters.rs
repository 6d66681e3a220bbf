//! Looks through words that start a program: variables, wrappers, launchers.

use super::kind::ApplicationKind;
use super::tables::{Starter, tables};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Started<'a> {
    /// The first launcher.
    pub launcher: Option<ApplicationKind>,
    /// The words from the program on; empty if there is no program.
    pub program: &'a [String],
    /// Number of words before the place of rocprofv3.
    pub before_profiler: usize,
}

/// Name and value in a word that sets a variable.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    (begins && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')).then_some((name, value))
}

pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Follows the words up to the program.
///
/// rocprofv3 has to come after MPI launchers, whose processes may be on other nodes and do not inherit its variables,
/// and after an `env` that clears them. If some options of a launcher are unknown, or it starts several programs,
/// rocprofv3 comes first: then the processes of this node are traced.
pub(super) fn started(words: &[String]) -> Started<'_> {
    let mut found = Started { launcher: None, program: &[], before_profiler: 0 };
    let mut rest = words;
    let mut is_clear = true;
    while let Some(first) = rest.first() {
        let name = base_name(first);
        if name == "env" {
            let (behind, has_options) = behind_env(rest);
            rest = behind;
            if has_options && is_clear {
                found.before_profiler = words.len() - rest.len();
            }
            continue;
        }
        if let Some(launcher) = starter(&tables().launcher, rest) {
            let mpi = launcher.kind == Some(ApplicationKind::Mpi);
            found.launcher = found.launcher.or(launcher.kind);
            let (behind, is_known) = behind_options(launcher, rest);
            is_clear &= is_known && mpi && !rest.iter().any(|word| word == ":");
            rest = behind;
            if is_clear {
                found.before_profiler = words.len() - rest.len();
            }
            continue;
        }
        let Some(wrapper) = starter(&tables().wrapper, rest) else { break };
        rest = behind_options(wrapper, rest).0;
    }
    found.program = rest;
    if rest.is_empty() {
        found.before_profiler = 0;
    }
    found
}

/// The starter named by the first word.
fn starter<'a>(starters: &'a [Starter], words: &[String]) -> Option<&'a Starter> {
    let name = base_name(words.first()?);
    let found = starters.iter().find(|starter| starter.names.iter().any(|known| known == name))?;
    let has_subcommand = || words.get(1).is_some_and(|word| found.subcommands.contains(word));
    (found.subcommands.is_empty() || has_subcommand()).then_some(found)
}

/// The words after a starter and its options, and whether all options are known.
fn behind_options<'a>(starter: &Starter, words: &'a [String]) -> (&'a [String], bool) {
    let own = 1 + usize::from(!starter.subcommands.is_empty());
    let mut rest = words.get(own..).unwrap_or_default();
    let mut positionals = starter.positionals;
    let mut is_known = true;
    while let Some((word, behind)) = rest.split_first() {
        if word == "--" {
            rest = behind.get(positionals..).unwrap_or_default();
            break;
        }
        let mut values = 0;
        if let Some((count, known)) = option(starter, word) {
            values = count;
            is_known &= known;
        } else if positionals > 0 {
            positionals -= 1;
        } else {
            break;
        }
        rest = behind.get(values..).unwrap_or_default();
    }
    (rest, is_known)
}

/// The number of values of an option, and whether it is known; `None` if the word is not an option.
fn option(starter: &Starter, word: &str) -> Option<(usize, bool)> {
    let has = |list: &[String], word: &str| list.iter().any(|known| known == word);
    if !word.starts_with('-') || word == "-" {
        return None;
    }
    if has(&starter.one, word) {
        return Some((1, true));
    }
    if has(&starter.two, word) {
        return Some((2, true));
    }
    // A value may be joined: `--np=4`, `-n4`.
    let is_joined = word.starts_with("--") && word.contains('=');
    let is_attached = !word.starts_with("--") && word.get(..2).is_some_and(|short| has(&starter.one, short));
    Some((0, is_joined || is_attached || has(&starter.none, word)))
}

/// The words after `env` with its options and variables, and whether it has options.
fn behind_env(words: &[String]) -> (&[String], bool) {
    let mut rest = words.get(1..).unwrap_or_default();
    let mut has_options = false;
    while let Some((word, behind)) = rest.split_first() {
        rest = match word.as_str() {
            "-u" | "--unset" | "-C" | "--chdir" => behind.get(1..).unwrap_or_default(),
            "--" => return (behind, has_options),
            option if option.starts_with('-') => behind,
            other if assignment(other).is_some() => {
                rest = behind;
                continue;
            }
            _ => return (rest, has_options),
        };
        has_options = true;
    }
    (rest, has_options)
}
