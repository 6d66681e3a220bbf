//! Splits a line into simple commands, as a shell would.

/// Redirections that only join or drop output.
const HARMLESS_REDIRECTIONS: [&str; 8] =
    ["2>&1", "1>&2", ">&2", "&>/dev/null", "2>/dev/null", ">/dev/null", "> /dev/null", "2> /dev/null"];

/// The simple commands of a line in order, separated by `;`, `&`, `|` and line ends. Quoted parts are kept together. A
/// word in angle brackets, such as `<app>`, is a placeholder for the reader.
///
/// # Errors
/// The reason why it cannot be split, or runs commands that are not visible here.
pub(crate) fn simple_commands(line: &str) -> Result<Vec<String>, &'static str> {
    let mut found = vec![String::new()];
    let mut quote = None;
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let mut length = letter.len_utf8();
        let is_substitution = letter == '`' || rest.starts_with("$(");
        if quote != Some('\'') && is_substitution {
            return Err("it puts in what another command prints");
        }
        let is_start = found.last().is_none_or(|last| last.is_empty() || last.ends_with([' ', '\t']));
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some('"') | None, '\\') => length += rest.chars().nth(1).map_or(0, char::len_utf8),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, '#') if is_start => break,
            (None, _) => {
                if let Some(harmless) = HARMLESS_REDIRECTIONS.iter().find(|one| is_start && rest.starts_with(**one)) {
                    rest = rest.get(harmless.len()..).unwrap_or_default();
                    continue;
                }
                if let Some(placeholder) = placeholder(rest) {
                    push(&mut found, "APP");
                    rest = rest.get(placeholder..).unwrap_or_default();
                    continue;
                }
                match letter {
                    '<' | '>' => return Err("it reads from or writes to a file by < or >"),
                    '(' | ')' => return Err("it groups commands by brackets"),
                    ';' | '&' | '|' | '\n' => {
                        found.push(String::new());
                        rest = rest.get(length..).unwrap_or_default();
                        continue;
                    }
                    _ => {}
                }
            }
        }
        push(&mut found, rest.get(..length).unwrap_or_default());
        rest = rest.get(length..).unwrap_or_default();
    }
    if quote.is_some() {
        return Err("its quotes do not close");
    }
    Ok(found.iter().map(|command| command.trim().to_owned()).filter(|command| !command.is_empty()).collect())
}

fn push(found: &mut [String], text: &str) {
    if let Some(last) = found.last_mut() {
        last.push_str(text);
    }
}

/// The length of a placeholder in angle brackets at the start.
fn placeholder(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('<')?;
    let (word, _) = inner.split_once('>')?;
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' ' | '.' | '…');
    let is_one = word.chars().next().is_some_and(char::is_alphabetic) && word.chars().all(is_word);
    is_one.then_some(word.len() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_divided_as_a_shell_does() {
        for (line, expected) in [
            ("a --x; b && c || d | e & f", vec!["a --x", "b", "c", "d", "e", "f"]),
            ("a 'x; y' \"| z\" \\; b", vec!["a 'x; y' \"| z\" \\; b"]),
            ("a -- <your app> 2>&1 >/dev/null # rm", vec!["a -- APP"]),
            ("a '$(x)'", vec!["a '$(x)'"]),
            ("  ", vec![]),
        ] {
            assert_eq!(simple_commands(line), Ok(expected.into_iter().map(ToOwned::to_owned).collect()), "{line}");
        }
        for line in ["a $(b)", "a \"`b`\"", "a > b", "a < b", "a >> b", "(a)", "a 'b", "a <(b)", "a 2> b"] {
            assert!(simple_commands(line).is_err(), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_divided_or_not(line in "[a-z \"'`$();|&<>\\\\#ä\n-]{0,40}") {
            let _ = simple_commands(&line);
        }
    }
}
