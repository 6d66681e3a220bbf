//! Command lines of other programs' sessions.

/// The words of a command line as a shell has them, without expanding anything; `None` if a quote does not end.
pub(crate) fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_of_command_lines() {
        for (line, expected) in [
            ("", vec![]),
            ("  ./app  -n 1 ", vec!["./app", "-n", "1"]),
            (r#"A='x y' ./app "a \" b" '' c\ d"#, vec!["A=x y", "./app", "a \" b", "", "c d"]),
        ] {
            assert_eq!(
                words(line).as_deref(),
                Some(expected.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref()
            );
        }
        assert_eq!(words("./app 'x"), None);
    }
}
