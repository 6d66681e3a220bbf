//! Depth of the syntax tree of a statement, known before it is parsed. Code that walks or drops a tree recurses, and a stack overflow ends
//! the process.

use std::thread;

use sqlparser::ast::{Query, Statement};
use sqlparser::dialect::{Dialect, GenericDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, Tokenizer};

use super::error::QueryError;

/// The deepest statement that is parsed. The parser itself limits brackets, but not operators in a row, each of which is a level.
pub const DEEPEST: usize = 500;
/// Up to this depth a statement runs on any stack.
const SHALLOW: usize = 50;
/// Enough for the deepest statement in a build without optimizations, which takes a quarter of it.
const STACK_BYTES: usize = 64 << 20;

/// Whether a statement or condition is deeper than any that is parsed.
pub fn is_too_deep(sql: &str) -> bool {
    depth(sql) > DEEPEST
}

/// Parses statements that are not too deep.
///
/// # Errors
/// When the text is not SQL, or too deep.
pub(super) fn parse(dialect: &dyn Dialect, sql: &str) -> Result<Vec<Statement>, ParserError> {
    if is_too_deep(sql) { Err(ParserError::RecursionLimitExceeded) } else { Parser::parse_sql(dialect, sql) }
}

/// The query of the only statement; `None` if there are more, or it is not a query.
pub(super) fn only_query(statements: Vec<Statement>) -> Option<Box<Query>> {
    match <[Statement; 1]>::try_from(statements) {
        Ok([Statement::Query(query)]) => Some(query),
        _ => None,
    }
}

/// Runs a statement: a deep one on a larger stack.
///
/// # Errors
/// The error of the statement, or when there is no memory for the stack.
pub(super) fn with_stack_for<T: Send>(
    sql: &str,
    run: impl FnOnce() -> Result<T, QueryError> + Send,
) -> Result<T, QueryError> {
    // A pool thread that waits for another thread would be missing in its pool.
    if depth(sql) <= SHALLOW || rayon::current_thread_index().is_some() {
        return run();
    }
    thread::scope(|scope| {
        let started = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run);
        let started =
            started.map_err(|error| anyhow::anyhow!("cannot start a thread for a deep statement: {error}"))?;
        started.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause))
    })
}

/// Content between two brackets, so far.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Tables that are joined and SELECTs that are united, each a level of the plan.
    relations: usize,
    /// The deepest expression that has ended.
    ended: usize,
    /// AND and OR of the present expression.
    logic: usize,
    /// The deepest part of the present expression between them.
    deepest_part: usize,
    /// Other operators of the present part.
    operators: usize,
    /// The deepest bracket in it.
    inside: usize,
}

impl Level {
    fn end_part(&mut self) {
        self.deepest_part = self.deepest_part.max(self.operators + self.inside);
        (self.operators, self.inside) = (0, 0);
    }

    fn end_expression(&mut self) {
        self.end_part();
        self.ended = self.ended.max(self.logic + self.deepest_part);
        (self.logic, self.deepest_part) = (0, 0);
    }

    fn depth(mut self) -> usize {
        self.end_expression();
        self.relations + self.ended
    }
}

/// An upper bound of the depth of the syntax tree, without the levels that the parser itself limits.
fn depth(sql: &str) -> usize {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let mut outer: Vec<Level> = Vec::new();
    let mut level = Level::default();
    for token in &tokens {
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => outer.push(std::mem::take(&mut level)),
            Token::RParen | Token::RBracket | Token::RBrace => {
                let inside = level.depth() + 1;
                level = outer.pop().unwrap_or_default();
                level.inside = level.inside.max(inside);
                // A subscript is an operator, unlike a list.
                level.operators += usize::from(*token == Token::RBracket);
            }
            Token::Comma | Token::SemiColon => level.end_expression(),
            Token::Word(word) => match word.keyword {
                Keyword::AND | Keyword::OR | Keyword::XOR => {
                    level.end_part();
                    level.logic += 1;
                }
                Keyword::JOIN | Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::MINUS => {
                    level.end_expression();
                    level.relations += 1;
                }
                Keyword::WHEN => level.end_expression(),
                keyword if is_operator(keyword) => level.operators += 1,
                _ => {}
            },
            token => level.operators += usize::from(is_sign(token)),
        }
    }
    // An unclosed bracket counts as deep too; the parser will refuse it.
    while let Some(mut around) = outer.pop() {
        around.inside = around.inside.max(level.depth() + 1);
        level = around;
    }
    level.depth()
}

fn is_operator(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::NOT
            | Keyword::IS
            | Keyword::IN
            | Keyword::LIKE
            | Keyword::ILIKE
            | Keyword::SIMILAR
            | Keyword::RLIKE
            | Keyword::REGEXP
            | Keyword::BETWEEN
            | Keyword::COLLATE
            | Keyword::AT
            | Keyword::INTERVAL
            | Keyword::DIV
            | Keyword::OVERLAPS
    )
}

/// Whether a token is a sign such as `+` or `::`, and not a name, number, text or point.
fn is_sign(token: &Token) -> bool {
    let is_sign = |letter: char| letter.is_ascii_punctuation() && !matches!(letter, '\'' | '"' | '`' | '.' | '_' | '$');
    !matches!(token, Token::Whitespace(_)) && token.to_string().starts_with(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{QueryOptions, Registry, render};

    #[test]
    fn operators_in_a_row_are_levels_and_lists_are_not() {
        let of = |text: String| depth(&format!("SELECT {text} FROM kernels"));
        assert_eq!(of("1 + ".repeat(900) + "1"), 900);
        assert_eq!(of(["a = 1"; 900].join(" OR ")), 900);
        assert_eq!(of(["a + 1"; 900].join(", ")), 1);
        assert_eq!(of(format!("a IN ({})", ["1"; 900].join(", "))), 2);
        assert_eq!(of("(1 + 1) * ".repeat(900) + "1"), 902);
        assert_eq!(of("(1 + ".repeat(40) + "1" + &")".repeat(40)), 80);
        assert_eq!(of(format!("a{}", "::BIGINT".repeat(900))), 900);
        assert!(depth(&["SELECT 1"; 900].join(" UNION ALL ")) >= 899);
        assert!(depth(&"(((1 + ".repeat(900)) >= 900);
        assert_eq!(depth("SELECT 'a + b + c', \"d-e-f\", 1.5 -- + + +"), 0);
    }

    #[test]
    fn named_queries_are_far_from_the_limit() {
        for query in Registry::builtin().unwrap().iter() {
            let sql = render(query, &QueryOptions::default()).unwrap();
            assert!(depth(&sql) < DEEPEST / 2, "{}: {}", query.name, depth(&sql));
        }
    }
}
