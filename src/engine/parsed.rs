//! A statement that is parsed once, whoever looks at it.

use std::sync::OnceLock;

use sqlparser::ast::{Query, Statement};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::referenced_columns::Words;

/// A statement as text and as a syntax tree.
pub(crate) struct ParsedStatement {
    sql: String,
    query: Option<Box<Query>>,
    words: OnceLock<Words>,
}

impl ParsedStatement {
    /// Parses a statement. One that cannot be parsed stays a text, for the engine to report what is wrong.
    pub(crate) fn new(sql: String) -> Self {
        let statements = Parser::parse_sql(&GenericDialect {}, &sql).unwrap_or_default();
        let query = match <[Statement; 1]>::try_from(statements) {
            Ok([Statement::Query(query)]) => Some(query),
            _ => None,
        };
        Self { sql, query, words: OnceLock::new() }
    }

    /// The statement of a query.
    pub(crate) fn of_query(query: Box<Query>) -> Self {
        Self { sql: query.to_string(), query: Some(query), words: OnceLock::new() }
    }

    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    /// The query; `None` if the statement is none, or cannot be parsed.
    pub(crate) fn query(&self) -> Option<&Query> {
        self.query.as_deref()
    }

    /// The words of the statement.
    pub(crate) fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(&self.sql))
    }

    /// Whether the name of a table occurs in the statement.
    pub(crate) fn mentions(&self, table: &str) -> bool {
        self.words().words.contains(table)
    }
}

impl From<&str> for ParsedStatement {
    fn from(sql: &str) -> Self {
        Self::new(sql.to_owned())
    }
}
