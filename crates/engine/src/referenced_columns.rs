//! The tables and columns that a statement mentions, so that only these are read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{ObjectName, ObjectNamePart, visit_relations};
use sqlparser::dialect::GenericDialect;
use sqlparser::tokenizer::{Token, Tokenizer};

use super::depth::parse;
use super::parsed::ParsedStatement;
use wavesieve_model::schema::{Table, tables};
use wavesieve_tables::columns::requests::Request;

/// Words that refer to unnamed columns: `NATURAL JOIN`, `COLUMNS('…')`, `TABLE kernels`.
const MEANS_ALL_COLUMNS: &[&str] = &["natural", "columns", "table"];

/// Words that may refer to a table outside of FROM clauses.
const NAMES_TABLES: &[&str] = &["table", "show", "describe", "explain"];

/// The columns to read for a statement: for each table that it reads, the columns whose names occur in it, or all columns if it selects
/// `*`. This may be too much, never too little.
pub fn referenced_columns(statement: &ParsedStatement) -> Request {
    let Words { words, star } = statement.words();
    let mut named: Vec<&'static Table> = tables().iter().copied().filter(|table| words.contains(table.name)).collect();
    // Columns may have the names of tables, and some of these are costly to build.
    if !named.is_empty()
        && !words.iter().any(|word| NAMES_TABLES.contains(&word.as_str()))
        && let Some(relations) = relations(statement)
    {
        named.retain(|table| relations.contains(table.name));
    }
    named.into_iter().map(|table| (table.name, columns_of(table, words, *star))).collect()
}

/// Last words of the names in FROM clauses in lower case; `None` if the statement cannot be parsed.
fn relations(statement: &ParsedStatement) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut take = |name: &ObjectName| match name.0.last() {
        Some(ObjectNamePart::Identifier(word)) => {
            names.insert(word.value.to_lowercase());
            ControlFlow::Continue(())
        }
        _ => ControlFlow::Break(()),
    };
    let complete = match statement.query() {
        Some(query) => visit_relations(query, &mut take),
        None => visit_relations(&parse(&GenericDialect {}, statement.sql()).ok()?, &mut take),
    };
    complete.is_continue().then_some(names)
}

fn columns_of(table: &'static Table, words: &BTreeSet<String>, star: bool) -> BTreeSet<&'static str> {
    let mut columns: BTreeSet<&'static str> =
        table.column_names().filter(|name| star || words.contains(*name)).collect();
    // A column other than the identity gives a frame its height, even if only rows are counted.
    columns.extend(table.column_names().nth(2));
    columns
}

/// Words in a statement.
#[derive(Default)]
pub struct Words {
    /// Its words in lower case, outside of texts and comments.
    pub words: BTreeSet<String>,
    /// Whether it refers to columns without naming them.
    pub star: bool,
}

impl Words {
    pub fn of(sql: &str) -> Self {
        let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
        let mut found = Self::default();
        // Whether a star after the token means columns, as in `SELECT *` and `k.*`, and not a product or `COUNT(*)`.
        let mut may_be_columns = false;
        for token in tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))) {
            found.star |= may_be_columns && token == Token::Mul;
            may_be_columns = matches!(token, Token::Comma | Token::Period);
            if let Token::Word(word) = token {
                let word = word.value.to_lowercase();
                found.star |= MEANS_ALL_COLUMNS.contains(&word.as_str());
                may_be_columns = matches!(word.as_str(), "select" | "distinct" | "all");
                found.words.insert(word);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(sql: &str, table: &str) -> Vec<&'static str> {
        referenced_columns(&sql.into()).get(table).map(|columns| columns.iter().copied().collect()).unwrap_or_default()
    }

    #[test]
    fn only_what_is_mentioned() {
        let sql = "SELECT COUNT(*), SUM(duration_ns * 2) FROM Kernels WHERE short_name = 'gpu' -- stream_id";
        assert_eq!(columns(sql, "kernels"), ["dispatch_id", "duration_ns", "short_name"]);
        assert_eq!(referenced_columns(&sql.into()).len(), 1);
    }

    #[test]
    fn columns_with_the_names_of_tables_are_no_tables() {
        let tables = |sql: &str| referenced_columns(&sql.into()).into_keys().collect::<Vec<_>>();
        let sql = "WITH d AS (SELECT launched AS launches FROM Dispatch_Launches) \
                   SELECT launches, (SELECT MAX(gpu) FROM graphs.ranges) FROM d";
        assert_eq!(tables(sql), ["dispatch_launches", "ranges"]);
        for sql in ["TABLE launches", "SELECT 1 FROM launches WHERE (", "SELECT 1 FROM (SELECT 2 FROM \"launches\")"] {
            assert_eq!(tables(sql), ["launches"], "{sql}");
        }
    }

    #[test]
    fn a_star_is_everything() {
        for sql in [
            "SELECT * FROM queues",
            "select q.* from queues q",
            "SELECT 1, * FROM queues",
            "SELECT DISTINCT\n*FROM queues",
        ] {
            assert_eq!(columns(sql, "queues"), ["name", "process", "queue_id", "rank"], "{sql}");
        }
    }

    #[test]
    fn quotes_in_comments_and_names_hide_nothing() {
        for sql in [
            "SELECT /* don't */ duration_ns FROM kernels",
            "SELECT duration_ns AS \"it's\" FROM kernels",
            "SELECT duration_ns, 'a''b' FROM \"kernels\" -- it's",
        ] {
            assert_eq!(columns(sql, "kernels"), ["dispatch_id", "duration_ns"], "{sql}");
        }
        assert!(referenced_columns(&"SELECT 'kernels' AS a -- FROM kernels".into()).is_empty());
    }

    #[test]
    fn columns_that_are_not_named() {
        for sql in ["SELECT COUNT(*) FROM queues NATURAL JOIN agents", "SELECT COLUMNS('id$') FROM queues"] {
            assert_eq!(columns(sql, "queues"), ["name", "process", "queue_id", "rank"], "{sql}");
        }
    }

    #[test]
    fn rows_can_be_counted_without_columns() {
        assert_eq!(columns("SELECT COUNT(*) FROM queues", "queues"), ["queue_id"]);
    }
}
