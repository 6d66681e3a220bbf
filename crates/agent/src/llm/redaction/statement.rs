//! Tokens in statements and patterns of a model: replaced with names, or with the tokens as texts.

use std::sync::LazyLock;

use regex::Regex;

use super::map::TokenMap;

/// Tokens of a model that are escaped for a pattern.
static ESCAPED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\\\[([A-Z]+_[0-9]+)\\\]").ok());

/// The place of a name in a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamePlace {
    Code,
    /// Within single quotes.
    Text,
    /// Within double quotes.
    Name,
    Comment,
}

/// A statement with its tokens replaced by `put`, quoted for their place. `put` gets the token and its name. A token
/// outside of quotes becomes a text.
pub(crate) fn statement_with(text: &str, map: &TokenMap, put: &dyn Fn(&str, &str) -> String) -> String {
    map.replaced(text, |before, token, original| {
        let put = put(token, original);
        let as_text = put.replace('\'', "''");
        match place(before) {
            NamePlace::Text => as_text,
            NamePlace::Name => put.replace('"', "\"\""),
            NamePlace::Code => format!("'{as_text}'"),
            // A line break would end it.
            NamePlace::Comment => String::new(),
        }
    })
}

/// A regular expression that matches the results of `put` literally in place of its tokens.
pub(crate) fn pattern_with(text: &str, map: &TokenMap, put: &dyn Fn(&str, &str) -> String) -> String {
    let plain = ESCAPED.as_ref().map(|escaped| escaped.replace_all(text, "[$1]").into_owned());
    let plain = plain.as_deref().unwrap_or(text);
    map.replaced(plain, |_, token, original| regex::escape(&put(token, original)))
}

/// The lexical place at the end of a statement's start. A doubled quote ends a text and starts it again.
fn place(before: &str) -> NamePlace {
    let mut place = NamePlace::Code;
    let mut last = ' ';
    for letter in before.chars() {
        place = match (place, letter) {
            (NamePlace::Code, '\'') => NamePlace::Text,
            (NamePlace::Code, '"') => NamePlace::Name,
            (NamePlace::Code, '-') if last == '-' => NamePlace::Comment,
            (NamePlace::Text, '\'') | (NamePlace::Name, '"') | (NamePlace::Comment, '\n') => NamePlace::Code,
            (other, _) => other,
        };
        last = letter;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> TokenMap {
        let mut map = TokenMap::default();
        map.name("KERNEL", "it's<a \"b\">");
        map.name("KERNEL", "gemm(int)");
        map
    }

    #[test]
    fn names_are_quoted_as_their_place_asks() {
        for (text, with_names, with_tokens) in [
            ("name = '[KERNEL_1]'", "name = 'it''s<a \"b\">'", "name = '[KERNEL_1]'"),
            (
                "name LIKE '%[KERNEL_1]%' OR x = ''",
                "name LIKE '%it''s<a \"b\">%' OR x = ''",
                "name LIKE '%[KERNEL_1]%' OR x = ''",
            ),
            ("name = [KERNEL_1]", "name = 'it''s<a \"b\">'", "name = '[KERNEL_1]'"),
            (
                "name = KERNEL_2 AND 'a''b' = '[KERNEL_2]'",
                "name = 'gemm(int)' AND 'a''b' = 'gemm(int)'",
                "name = '[KERNEL_2]' AND 'a''b' = '[KERNEL_2]'",
            ),
            ("SELECT 1 AS \"[KERNEL_1]\"", "SELECT 1 AS \"it's<a \"\"b\"\">\"", "SELECT 1 AS \"[KERNEL_1]\""),
            ("1 -- it's [KERNEL_1]\n, [KERNEL_2]", "1 -- it's \n, 'gemm(int)'", "1 -- it's \n, '[KERNEL_2]'"),
            ("name = '[KERNEL_9]'", "name = '[KERNEL_9]'", "name = '[KERNEL_9]'"),
        ] {
            assert_eq!(statement_with(text, &map(), &|_, name| name.to_owned()), with_names, "{text}");
            assert_eq!(statement_with(text, &map(), &|token, _| token.to_owned()), with_tokens, "{text}");
        }
    }

    #[test]
    fn patterns_match_names_literally() {
        for text in ["^[KERNEL_2]$", "^\\[KERNEL_2\\]$", "^KERNEL_2$"] {
            assert_eq!(pattern_with(text, &map(), &|_, name| name.to_owned()), "^gemm\\(int\\)$", "{text}");
            assert_eq!(pattern_with(text, &map(), &|token, _| token.to_owned()), "^\\[KERNEL_2\\]$", "{text}");
        }
    }
}
