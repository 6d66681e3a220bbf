//! Facts about a statement that are needed before it is run.

use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::numbers::NUMBERS;
use wavesieve_model::schema;

/// The first common table expression, at any depth, that has the name of a table: the engine would read the table instead of the
/// expression.
pub(crate) fn hidden_table(sql: &str) -> Option<String> {
    expression_named(sql, &|name| schema::table(name).is_some())
}

/// Whether a statement defines its own numbers, as shown statements do.
pub(crate) fn has_own_numbers(sql: &str) -> bool {
    expression_named(sql, &|name| name == NUMBERS).is_some()
}

fn expression_named(sql: &str, is_meant: &dyn Fn(&str) -> bool) -> Option<String> {
    let tokens = tokens(sql)?;
    let mut ends = tokens.iter().enumerate().filter(|(_, token)| keyword(token) == Some(Keyword::AS));
    ends.find_map(|(at, _)| {
        let (before, after) = (tokens.get(..at)?, tokens.get(at + 1..)?);
        let body = after.iter().find(|token| !is_hint(token))?;
        let Token::Word(name) = before.get(name_at(before)?)? else { return None };
        (*body == Token::LParen && is_meant(&name.value)).then(|| name.value.clone())
    })
}

/// Whether a statement starts like a query. If a text in it is unterminated, the engine reports that.
pub fn is_query(sql: &str) -> bool {
    let Some(tokens) = tokens(sql) else { return true };
    let first = tokens.iter().find(|token| **token != Token::LParen);
    matches!(first.and_then(keyword), Some(Keyword::SELECT | Keyword::WITH))
}

/// Splits a text into statements at its semicolons, except semicolons in quotes and comments. A text with one statement stays as it is, as
/// does an unterminated text, which the engine reports.
pub fn statements(sql: &str) -> Vec<String> {
    let whole = || vec![sql.to_owned()];
    let Ok(located) = Tokenizer::new(&GenericDialect {}, sql).tokenize_with_location() else { return whole() };
    let ends = located.iter().filter(|token| token.token == Token::SemiColon).map(|token| token.span.start);
    let mut ends = ends.map(|start| (start.line, start.column)).peekable();
    let mut parts = vec![String::new()];
    let (mut line, mut column) = (1, 1);
    for character in sql.chars() {
        if ends.next_if_eq(&(line, column)).is_some() {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(character);
        }
        (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    parts.retain(|part| tokens(part).is_some_and(|tokens| !tokens.is_empty()));
    if parts.len() < 2 { whole() } else { parts.iter().map(|part| part.trim().to_owned()).collect() }
}

/// The tokens of a statement, without comments; `None` if a text in it is unterminated.
fn tokens(sql: &str) -> Option<Vec<Token>> {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().ok()?;
    Some(tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect())
}

fn keyword(token: &Token) -> Option<Keyword> {
    match token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.keyword),
        _ => None,
    }
}

fn is_hint(token: &Token) -> bool {
    matches!(keyword(token), Some(Keyword::NOT | Keyword::MATERIALIZED))
}

/// The place of the name that ends the tokens, or that precedes a list of columns in parentheses at their end.
fn name_at(tokens: &[Token]) -> Option<usize> {
    let last = tokens.len().checked_sub(1)?;
    if tokens.get(last) != Some(&Token::RParen) {
        return Some(last);
    }
    tokens.iter().rposition(|token| *token == Token::LParen)?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_may_begin_with_comments() {
        for sql in ["select 1", "-- what\n/* it's */ WITH a AS (SELECT 1) SELECT 2", "((SELECT 1))"] {
            assert!(is_query(sql), "{sql}");
        }
        for sql in ["", "-- SELECT 1", "DROP TABLE kernels -- SELECT", "'SELECT'", "\"select\""] {
            assert!(!is_query(sql), "{sql}");
        }
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes_and_comments() {
        let text = "SELECT ';' AS \"a;b\"; -- one; two\n/* ; */ SELECT 'it''s\nµ;';\n;SELECT 3 ; -- end;";
        let expected = ["SELECT ';' AS \"a;b\"", "-- one; two\n/* ; */ SELECT 'it''s\nµ;'", "SELECT 3"];
        assert_eq!(statements(text), expected);
        for one in ["SELECT 1", " SELECT 1 ;; -- end", "", ";", "SELECT 1; SELECT 'open", "SELECT 1; /* SELECT 2"] {
            assert_eq!(statements(one), [one]);
        }
    }

    #[test]
    fn expressions_with_names_of_tables_are_found() {
        for sql in [
            "WITH kernels AS (SELECT 1) SELECT * FROM kernels",
            "WITH a AS (SELECT 1), \"regions\" AS NOT MATERIALIZED (SELECT 2) SELECT * FROM a",
            "SELECT * FROM (WITH agents(n) as (SELECT 3) SELECT n FROM agents)",
        ] {
            assert!(hidden_table(sql).is_some(), "{sql}");
        }
        for sql in [
            "WITH a AS (SELECT CAST(gpu AS BIGINT) AS kernels FROM kernels) SELECT kernels FROM a",
            "SELECT 'WITH kernels AS (SELECT 1)' AS text FROM kernels AS regions -- kernels AS (",
            "SELECT COUNT(*) FROM (SELECT 1) AS kernels",
            "WITH Kernels AS (SELECT 1) SELECT * FROM Kernels",
        ] {
            assert_eq!(hidden_table(sql), None, "{sql}");
        }
    }
}
