//! Confirms commands: checks every simple command by the tables of options, counters and programs.

use super::counters::Counters;
use super::effects::effect;
use super::own::cannot_run;
use super::shell::simple_commands;
use super::table::{Monitor, words};
use wavesieve_engine::Registry;
use wavesieve_model::analysis::counter_plan::{check, words as split_words};

/// Returns why this program rejects one of its own commands; `None` if it accepts it.
pub(crate) type CheckOwn<'a> = &'a dyn Fn(&[String]) -> Option<String>;

/// The knowledge for checking commands.
pub struct Checks<'a> {
    pub own: CheckOwn<'a>,
    pub counters: Counters,
    /// The queries, for further checks of this program's commands.
    pub registry: Option<&'a Registry>,
}

/// The reason why a line is not confirmed. In a sentence, a profiler command may lack its program.
pub fn problem(line: &str, is_sentence: bool, checks: &Checks<'_>) -> Option<String> {
    match simple_commands(line) {
        Ok(commands) => commands.iter().find_map(|command| of_command(command, is_sentence, checks)),
        Err(reason) => Some(reason.to_owned()),
    }
}

fn of_command(command: &str, is_sentence: bool, checks: &Checks<'_>) -> Option<String> {
    let table = &words().commands;
    let has = |list: &[String], word: &str| list.iter().any(|known| known == word);
    let Some(all) = split_words(command) else { return Some("its quotes do not close".to_owned()) };
    let mut rest = all.as_slice();
    while let Some((first, others)) = rest.split_first() {
        if first == "$" || first == "export" {
            rest = others;
        } else if let Some((name, _)) = first.split_once('=').filter(|(name, _)| is_name(name)) {
            if !is_variable_known(name) {
                return Some(format!("it sets {name}, of which nothing is known"));
            }
            rest = others;
        } else if has(&table.launchers, first) {
            rest = match behind_launcher(others) {
                Ok(rest) => rest,
                Err(word) => return Some(format!("{word} is not confirmed for {first}")),
            };
        } else {
            break;
        }
    }
    let program = rest.first()?.as_str();
    let name = program.rsplit('/').next().unwrap_or_default();
    if name == table.own {
        let problem = (checks.own)(rest).or_else(|| effect(rest, &table.own_reads));
        return problem.or_else(|| cannot_run(rest, checks.registry));
    }
    if let Some(monitor) = table.monitor.iter().find(|monitor| monitor.name == name) {
        return of_monitor(monitor, rest).or_else(|| effect(rest, &[]));
    }
    if has(&table.unchecked, name) {
        return effect(rest, &[]);
    }
    // A read-only mode has its own options.
    let is_mode = |mode: &&Monitor| rest.get(1).is_some_and(|word| mode.name == format!("{name} {word}"));
    if let Some(mode) = table.reader.iter().find(is_mode) {
        return of_monitor(mode, rest).or_else(|| effect(rest, &table.own_reads));
    }
    if !has(&table.profilers, name) {
        let instead = if has(&table.outdated, name) { "; rocprofv3 replaces it" } else { "" };
        return Some(format!("{program} is not a known profiler{instead}"));
    }
    if rest.len() == 1 {
        return None;
    }
    let mut whole = rest.to_vec();
    if is_sentence && !whole.iter().any(|word| word == "--") {
        whole.extend(["--".to_owned(), "APP".to_owned()]);
    }
    if let Some(problem) = check(&whole).first() {
        return Some(problem.to_string());
    }
    if let Some(problem) = effect(&whole, &[]) {
        return Some(problem);
    }
    if let Some(problem) = checks.counters.problem(&whole) {
        return Some(problem);
    }
    let profiled = whole.iter().skip_while(|word| *word != "--").nth(1)?;
    let is_harmful = profiled.rsplit('/').next().is_some_and(|name| has(&table.harmful, name));
    is_harmful.then(|| format!("it would run {profiled}"))
}

/// The reason why a monitoring program rejects a command.
fn of_monitor(monitor: &Monitor, command: &[String]) -> Option<String> {
    let has = |list: &[String], word: &str| {
        list.iter().any(|known| known == word || known.ends_with('*') && word.starts_with(known.trim_end_matches('*')))
    };
    let (_, rest) = command.split_first()?;
    let verb = rest.first().filter(|_| !monitor.verbs.is_empty());
    let wrong = verb.filter(|verb| !has(&monitor.verbs, verb)).or_else(|| {
        let mut options = rest.iter().filter(|word| word.starts_with('-') && !monitor.options.is_empty());
        options.find(|word| !has(&monitor.options, word.split('=').next().unwrap_or(word)))
    });
    wrong.map(|word| format!("{word} is not confirmed for {}", monitor.name))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_variable_known(name: &str) -> bool {
    is_listed(&words().commands.variables, name)
}

/// Returns whether a variable exists, whether or not a command may set it.
pub(super) fn is_variable(name: &str) -> bool {
    is_variable_known(name) || is_listed(&words().commands.named_variables, name)
}

fn is_listed(known: &[String], name: &str) -> bool {
    known.iter().any(|known| known == name || known.ends_with('_') && name.starts_with(known.as_str()))
}

/// The command of a launcher: the words after its options, each of which takes a number.
fn behind_launcher(words_of: &[String]) -> Result<&[String], String> {
    let options = &words().commands.launcher_options;
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit());
    let mut rest = words_of;
    while let Some((first, others)) = rest.split_first().filter(|(first, _)| first.starts_with('-')) {
        let (name, joined) = first.split_once('=').map_or((first.as_str(), None), |(name, value)| (name, Some(value)));
        if !options.iter().any(|option| option == name) {
            return Err(first.clone());
        }
        rest = match (joined, others.split_first()) {
            (Some(value), _) if is_number(value) => others,
            (None, Some((value, others))) if is_number(value) => others,
            _ => return Err(first.clone()),
        };
    }
    Ok(rest)
}
