//! Parses lines in shell syntax, without the parts that need a shell.

use wavesieve_model::analysis::counter_plan::words;

use super::error::ProgramError;

/// The words of a line.
///
/// # Errors
/// When the line needs a shell, or a quote is left open.
pub fn words_of_line(line: &str) -> Result<Vec<String>, ProgramError> {
    if let Some(what) = needs_shell(line) {
        return Err(ProgramError::Shell { line: line.trim().to_owned(), what });
    }
    words(line).ok_or_else(|| ProgramError::Quoting(line.trim().to_owned()))
}

/// The first part of a line that needs a shell.
fn needs_shell(line: &str) -> Option<String> {
    let mut characters = line.trim().chars().peekable();
    let mut begins_word = true;
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match character {
            '\\' => {
                characters.next();
            }
            '\'' => skip_to(&mut characters, '\'', false),
            '$' if next == Some('\'') => {
                characters.next();
                skip_to(&mut characters, '\'', true);
            }
            '"' => {
                if let Some(found) = expanded_in_quotes(&mut characters) {
                    return Some(found);
                }
            }
            '`' => return Some("`".to_owned()),
            '$' => {
                if let Some(found) = expansion(next) {
                    return Some(found);
                }
            }
            '|' | '&' if next == Some(character) => return Some(format!("{character}{character}")),
            '|' | '&' | ';' | '<' | '>' | '*' | '?' | '[' | '(' | ')' | '\n' => {
                return Some(if character == '\n' { "a second line".to_owned() } else { character.to_string() });
            }
            '{' if is_brace_list(characters.clone()) => return Some("{".to_owned()),
            '~' | '#' if begins_word => return Some(character.to_string()),
            _ => {}
        }
        begins_word = matches!(character, ' ' | '\t');
    }
    None
}

/// The expansion that a dollar sign starts, by the character after it.
fn expansion(next: Option<char>) -> Option<String> {
    match next {
        Some('(') => Some("$(".to_owned()),
        Some(next) if next.is_alphanumeric() || "_{?$!@*#-".contains(next) => Some(format!("${next}")),
        _ => None,
    }
}

fn skip_to(characters: &mut impl Iterator<Item = char>, end: char, escapes: bool) {
    while let Some(character) = characters.next() {
        if character == end {
            return;
        }
        if escapes && character == '\\' {
            characters.next();
        }
    }
}

/// The first expansion up to the closing double quote.
fn expanded_in_quotes(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    while let Some(character) = characters.next() {
        match character {
            '"' => return None,
            '\\' => {
                characters.next();
            }
            '`' => return Some("`".to_owned()),
            '$' => {
                if let Some(found) = expansion(characters.peek().copied()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a brace starts a list or a range, which a shell expands into several words.
fn is_brace_list(characters: impl Iterator<Item = char>) -> bool {
    let inner: String = characters.take_while(|character| !character.is_whitespace()).collect();
    inner.split_once('}').is_some_and(|(inner, _)| inner.contains(',') || inner.contains(".."))
}
