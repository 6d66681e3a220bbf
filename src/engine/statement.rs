//! What must be known of a statement before it is run.

use sqlparser::dialect::GenericDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::numbers::NUMBERS;
use crate::schema;

/// The first common table expression, at any depth, that has the name of a table: the engine would read the table where
/// the expression is meant.
pub(crate) fn hidden_table(sql: &str) -> Option<String> {
    expression_named(sql, &|name| schema::table(name).is_some())
}

/// Whether a statement has its own numbers, as those that are shown have.
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
pub(crate) fn is_query(sql: &str) -> bool {
    let Some(tokens) = tokens(sql) else { return true };
    let first = tokens.iter().find(|token| **token != Token::LParen);
    matches!(first.and_then(keyword), Some(Keyword::SELECT | Keyword::WITH))
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

/// Where the name stands that ends a text, or that columns in parentheses at its end belong to.
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
