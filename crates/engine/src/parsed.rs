//! A statement that is parsed only once.

use std::sync::OnceLock;

use sqlparser::ast::Query;
use sqlparser::dialect::GenericDialect;

use super::depth::{only_query, parse};
use super::dialect::bind;
use super::numbers::NUMBERS;
use super::referenced_columns::Words;
use super::statement::has_own_numbers;
use super::steps::Steps;

/// A statement as text and as a syntax tree.
pub struct ParsedStatement {
    sql: String,
    query: Option<Box<Query>>,
    words: OnceLock<Words>,
}

impl ParsedStatement {
    /// Parses a statement. A statement that cannot be parsed stays text, so that the engine reports the error.
    pub fn new(sql: String) -> Self {
        let mut statements = parse(&GenericDialect {}, &sql).unwrap_or_default();
        let is_bound = bind(&mut statements);
        let query = only_query(statements);
        let sql = query.as_ref().filter(|_| is_bound).map_or(sql, ToString::to_string);
        Self { sql, query, words: OnceLock::new() }
    }

    /// The statement of a query.
    pub fn of_query(query: Box<Query>) -> Self {
        Self { sql: query.to_string(), query: Some(query), words: OnceLock::new() }
    }

    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The query; `None` if the statement is not a query, or cannot be parsed.
    pub fn query(&self) -> Option<&Query> {
        self.query.as_deref()
    }

    /// The words of the statement.
    pub fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(&self.sql))
    }

    /// The statement in steps; steps that are named in `tables` are always computed.
    pub fn prepare(self, tables: &[String]) -> PreparedStatement {
        let steps = Steps::new(&self, tables);
        let needs_numbers = self.mentions(NUMBERS) && !has_own_numbers(&self.sql);
        PreparedStatement { sql: self.sql, steps, needs_numbers }
    }

    /// Whether the name of a table occurs in the statement.
    pub fn mentions(&self, table: &str) -> bool {
        self.words().words.contains(table)
    }
}

/// A statement that is ready to run.
pub struct PreparedStatement {
    pub sql: String,
    /// Its steps; `None` if it is run as a whole.
    pub steps: Option<Steps>,
    /// Whether it reads integers from the table of numbers, without defining its own.
    pub needs_numbers: bool,
}

impl From<&str> for ParsedStatement {
    fn from(sql: &str) -> Self {
        Self::new(sql.to_owned())
    }
}
