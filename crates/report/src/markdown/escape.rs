//! Texts that cannot break Markdown.

use wavesieve_engine::findings::pieces;
use wavesieve_model::text::hidden::escape_hidden;

/// A text for Markdown in one line, with the special characters of Markdown escaped.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in escape_hidden(text).chars() {
        match character {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// A text of a finding, with its code parts as code.
pub fn prose(text: &str) -> String {
    pieces(text).map(|(is_code, piece)| if is_code { code(piece) } else { escaped(piece) }).collect()
}

/// A text as code in a line, in more backticks than it has in a row.
pub fn code(text: &str) -> String {
    let text = escape_hidden(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    if text.starts_with('`') || text.ends_with('`') {
        format!("{ticks} {text} {ticks}")
    } else {
        format!("{ticks}{text}{ticks}")
    }
}

/// A block of code, whose fence is longer than any fence in it.
pub fn fenced(text: &str, language: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(escaped("a|b<c>`*_\n#"), "a\\|b\\<c\\>\\`\\*\\_␊\\#");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`a"), "`` `a ``");
        assert_eq!(fenced("x ``` y", "sh"), "````sh\nx ``` y\n````");
    }
}
