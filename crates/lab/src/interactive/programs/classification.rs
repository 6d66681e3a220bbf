//! Classifies an application by the words of its command.

use super::kind::ApplicationKind;
use super::starters::{base_name, started};
use super::tables::tables;

/// The kind of a command without variables in front, and whether it starts several processes.
pub(super) fn classified(words: &[String]) -> (ApplicationKind, bool) {
    let found = started(words);
    let Some((program, arguments)) = found.program.split_first() else {
        return (found.launcher.unwrap_or(ApplicationKind::Unknown), found.launcher.is_some());
    };
    if let Some(kind) = found.launcher {
        return (kind, true);
    }
    let name = base_name(program);
    let table = tables();
    let is_interpreter = is_interpreter(name);
    if !is_interpreter && !table.python.endings.iter().any(|ending| name.ends_with(ending.as_str())) {
        let is_named = |(_, names): &(&ApplicationKind, &Vec<String>)| names.iter().any(|known| known == name);
        let kind = table.programs.iter().find(is_named).map_or(ApplicationKind::HipCompute, |(kind, _)| *kind);
        return (kind, false);
    }
    let code = if is_interpreter { code(arguments) } else { found.program };
    let is_module = code.first().is_some_and(|word| word == "-m");
    let modules = code.get(1).filter(|_| is_module);
    if modules.is_some_and(|module| table.python.launchers.contains(module)) {
        return (ApplicationKind::Distributed, true);
    }
    let tokens: Vec<String> = code.iter().flat_map(|word| tokens(word)).collect();
    let has = |word: &String| {
        let parts: Vec<&str> = word.split('.').collect();
        tokens.windows(parts.len()).any(|window| window.iter().zip(&parts).all(|(token, part)| is_same(token, part)))
    };
    let of_words = table.words.iter().find(|kind| kind.words.iter().any(has)).map(|kind| kind.kind);
    let has_many = table.many_processes.words.iter().any(has);
    (of_words.unwrap_or(ApplicationKind::Python), has_many)
}

/// Returns whether a program is a Python interpreter of any version.
fn is_interpreter(name: &str) -> bool {
    let is_version = |rest: &str| rest.chars().all(|character| character.is_ascii_digit() || character == '.');
    tables().python.interpreters.iter().filter_map(|known| name.strip_prefix(known.as_str())).any(is_version)
}

/// The words from the script or module on, without the options of the interpreter.
fn code(arguments: &[String]) -> &[String] {
    let mut rest = arguments;
    while let Some((word, behind)) = rest.split_first() {
        if word == "-m" || word == "-c" || word == "-" || !word.starts_with('-') {
            break;
        }
        let values = usize::from(tables().python.one.contains(word));
        rest = behind.get(values..).unwrap_or_default();
    }
    rest
}

/// The words of an argument. Leading folders of an absolute or `./` path are ignored: they are a place, not a program.
fn tokens(word: &str) -> Vec<String> {
    let (name, value) = word.split_once('=').unwrap_or(("", word));
    let is_path = ["/", "./", "../", "~"].iter().any(|start| value.starts_with(start));
    let value = if is_path { base_name(value.trim_end_matches('/')) } else { value };
    let split = |text: &str| {
        let lower = text.to_lowercase();
        let parts = lower.split(|character: char| !character.is_alphanumeric());
        parts.filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    split(name).into_iter().chain(split(value)).collect()
}

/// Returns whether a word is a known one, ignoring its version and a plural.
fn is_same(token: &str, known: &str) -> bool {
    let name = token.trim_end_matches(|character: char| character.is_ascii_digit());
    [token, name, name.strip_suffix('s').unwrap_or(name)].contains(&known)
}
