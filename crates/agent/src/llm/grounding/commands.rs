//! Finds the commands of a text, and checks whether their programs accept them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::command_check::{Checks, problem};
use super::shell::simple_commands;
use super::table::words;

static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"`([^`\n]+)`").ok());
static VARIABLES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(?:[A-Za-z_][A-Za-z0-9_]*=\S* +)+").ok());
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\S+").ok());
static OPTION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\s--?[A-Za-z]").ok());

/// A command, with the reason if it is not confirmed.
#[derive(Clone, Debug)]
pub struct Found {
    pub place: Range<usize>,
    pub line: String,
    /// The reason for its mark; `None` if it is confirmed.
    pub problem: Option<String>,
}

/// Finds commands in backticks, after `$`, at the start of lines, and in sentences.
pub fn commands(text: &str, checks: &Checks<'_>) -> Vec<Found> {
    let Some(code) = CODE.as_ref() else { return Vec::new() };
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut found = Vec::new();
    for part in code.captures_iter(text).filter_map(|found| found.get(1)) {
        spans.push(part.range());
        let line = part.as_str().trim().trim_start_matches("$ ").trim();
        if is_command(line) {
            found.push(Found { place: part.range(), problem: problem(line, false, checks), line: line.to_owned() });
        }
    }
    for place in in_sentences(text, &spans) {
        let line = text.get(place.clone()).unwrap_or_default().trim().to_owned();
        let is_whole = text.get(..place.start).is_some_and(|before| before.ends_with("$ "));
        found.push(Found { place, problem: problem(&line, !is_whole, checks), line });
    }
    found
}

/// Returns whether code is a command. It starts with a known program, or with a word followed by options, or a known
/// program follows an operator. A profiler name alone is not a command.
fn is_command(line: &str) -> bool {
    let table = &words().commands;
    let bare = VARIABLES.as_ref().map_or(line.into(), |variables| variables.replace(line, ""));
    let first = bare.split_whitespace().next().unwrap_or_default();
    let has_more = line.split_whitespace().nth(1).is_some();
    if table.outdated.iter().any(|known| known == first) {
        return true;
    }
    let is_program =
        |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.+/~$".contains(letter));
    let begins = first.starts_with(|letter: char| letter.is_ascii_lowercase() || "/.~$".contains(letter));
    let has_options = OPTION.as_ref().is_some_and(|option| option.is_match(&bare));
    if has_more && begins && is_program(first) && (has_options || is_known(first)) {
        return true;
    }
    let parts = match simple_commands(line) {
        Ok(parts) => parts,
        // A line that cannot be split is a command if it names one.
        Err(_) => line.split([';', '|', '&', '(', '`']).map(|part| part.trim().to_owned()).collect(),
    };
    let firsts = parts.iter().filter_map(|part| part.split_whitespace().next());
    parts.len() > 1 && firsts.into_iter().any(is_known)
}

fn is_known(program: &str) -> bool {
    let table = &words().commands;
    let name = program.rsplit('/').next().unwrap_or_default();
    let lists = [&table.profilers, &table.outdated, &table.harmful, &table.launchers, &table.unchecked];
    let is_monitor = table.monitor.iter().any(|monitor| monitor.name == name);
    is_monitor || name == table.own || lists.into_iter().flatten().any(|known| known == name)
}

/// Finds commands in sentences or on separate lines, outside of code.
fn in_sentences(text: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let Some(word) = WORD.as_ref() else { return Vec::new() };
    let all: Vec<Range<usize>> = word.find_iter(text).map(|found| found.range()).collect();
    let at = |place: usize| all.get(place).and_then(|range| text.get(range.clone())).unwrap_or_default();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut next = 0;
    while next < all.len() {
        let first = next;
        next += 1;
        let Some(start) = all.get(first).cloned() else { break };
        let is_code = spans.iter().any(|span| span.start <= start.start && start.start < span.end);
        let head = at(first).trim_start_matches(['(', '"', '“']);
        if is_code || !is_known(head) {
            continue;
        }
        let last = last_word(&all, first, spans, &at);
        let begin = start.end - head.len();
        let end = all.get(last).map_or(start.end, |range| range.start + trimmed(at(last)).len());
        let line = text.get(begin..end).unwrap_or_default();
        let before = if first == 0 { "" } else { at(first - 1) };
        if is_meant(head, line, before) {
            // Variables before it are a part of it.
            let begin =
                (0..first).rev().map(at).take_while(|word| is_variable(word)).fold(begin, |begin, word| {
                    text.get(..begin).and_then(|before| before.rfind(word)).unwrap_or(begin)
                });
            found.push(begin..end);
            next = last + 1;
        }
    }
    found
}

fn is_variable(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_' || letter.is_ascii_digit())
    })
}

/// Returns whether a program in a sentence is meant to be run: it has options, or a verb comes before it and a word
/// after it.
fn is_meant(program: &str, line: &str, before: &str) -> bool {
    let table = &words().commands;
    let second = line.split_whitespace().nth(1).unwrap_or_default();
    if second.is_empty() {
        return false;
    }
    let is_harmful = table.harmful.iter().any(|known| known == program);
    let has_operator = line.contains(['|', '>']) || line.contains("://") || second.starts_with(['/', '~', '.', '$']);
    let is_monitor = table.monitor.iter().any(|monitor| monitor.name == program);
    if is_harmful || is_monitor || table.unchecked.iter().any(|known| known == program) {
        return has_operator || OPTION.as_ref().is_some_and(|option| option.is_match(line));
    }
    let verb = before.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let is_mark =
        before.trim_end_matches(['.', ')']).chars().all(|letter| letter.is_ascii_digit() || "-*$•".contains(letter));
    let is_called = table.verbs.contains(&verb) || is_mark || before.ends_with([':', '$']);
    // Prose starts with this program's name too; a profiler needs options to do anything.
    let has_options = OPTION.as_ref().is_some_and(|option| option.is_match(line));
    second.starts_with('-') || has_operator || is_called && (has_options || program == table.own)
}

/// The last word of a command that starts in a sentence.
fn last_word<'a>(all: &[Range<usize>], first: usize, spans: &[Range<usize>], at: &impl Fn(usize) -> &'a str) -> usize {
    let table = &words().commands;
    let is_operator = |word: &str| matches!(word, "|" | "||" | "&&" | ";" | "&" | ">" | ">>" | "<");
    let mut last = first;
    let mut open = quotes(at(first));
    for place in first + 1..all.len() {
        let word = at(place);
        let is_code = all.get(place).is_some_and(|range| spans.iter().any(|span| span.contains(&range.start)));
        let is_end = table.ends.contains(word) || is_code || word.starts_with(['(', '—', '–']);
        if !open && is_end {
            break;
        }
        // After a semicolon, prose is more likely than a command.
        let previous = at(place - 1);
        let is_of_prose = previous.ends_with(';') && !is_known(word);
        if !open && (is_of_prose || previous.ends_with([',', '.', ':', '!', '?', ')']) && previous.len() > 1) {
            break;
        }
        open ^= quotes(word);
        last = place;
    }
    while last > first && is_operator(at(last)) {
        last -= 1;
    }
    last
}

/// Returns whether a word opens or closes quotes.
fn quotes(word: &str) -> bool {
    word.matches(['\'', '"']).count() % 2 == 1
}

/// A word without trailing punctuation.
fn trimmed(word: &str) -> &str {
    let bare = word.trim_end_matches([',', '.', ':', ';', '!', '?', ')', '”']);
    // Three dots stand for further words.
    if bare.is_empty() || word.ends_with("...") { word } else { bare }
}
