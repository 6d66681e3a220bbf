//! Which tables and columns a statement mentions, so that no more is read than it needs.

use std::collections::BTreeSet;

use crate::trace::Request;
use crate::trace::schema::{Origin, Table, tables};

/// The columns to read for a statement: of every table whose name occurs in it, the columns whose names occur in it,
/// or all of them when it selects `*`. This may be too much, never too little.
pub fn mentioned(sql: &str) -> Request {
    let (words, star) = scan(sql);
    tables()
        .iter()
        .filter(|table| words.contains(table.name))
        .map(|table| (table.name, columns_of(table, &words, star)))
        .collect()
}

/// Whether a table's name occurs in a statement.
pub fn mentions(sql: &str, table: &str) -> bool {
    scan(sql).0.contains(table)
}

fn columns_of(table: &'static Table, words: &BTreeSet<String>, star: bool) -> BTreeSet<&'static str> {
    let mut columns: BTreeSet<&'static str> =
        table.column_names().filter(|name| star || table.origin == Origin::Derived || words.contains(*name)).collect();
    // A column of its own gives a frame its height, even when only rows are counted.
    columns.extend(table.column_names().nth(2));
    columns
}

/// Lower-case words of a statement outside of texts and comments, and whether a `*` stands where columns are listed.
fn scan(sql: &str) -> (BTreeSet<String>, bool) {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut star = false;
    // What came last, to tell `SELECT *` and `k.*` from a product and from `COUNT(*)`.
    let mut before = String::new();
    let mut characters = sql.chars().peekable();
    let mut finish = |word: &mut String, before: &mut String| {
        if !word.is_empty() {
            let lower = word.to_lowercase();
            before.clone_from(&lower);
            words.insert(lower);
            word.clear();
        }
    };
    while let Some(character) = characters.next() {
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        finish(&mut word, &mut before);
        match character {
            '\'' => {
                for inner in characters.by_ref() {
                    if inner == '\'' {
                        break;
                    }
                }
                before = "'".to_owned();
            }
            '-' if characters.peek() == Some(&'-') => {
                for inner in characters.by_ref() {
                    if inner == '\n' {
                        break;
                    }
                }
            }
            '*' => {
                star |= matches!(before.as_str(), "select" | "distinct" | "all" | "," | ".");
                before = "*".to_owned();
            }
            other if other.is_whitespace() || other == '"' => {}
            other => before = other.to_string(),
        }
    }
    finish(&mut word, &mut before);
    (words, star)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(sql: &str, table: &str) -> Vec<&'static str> {
        mentioned(sql).get(table).map(|columns| columns.iter().copied().collect()).unwrap_or_default()
    }

    #[test]
    fn only_what_is_mentioned() {
        let sql = "SELECT COUNT(*), SUM(duration_ns * 2) FROM Kernels WHERE short_name = 'gpu' -- stream_id";
        assert_eq!(columns(sql, "kernels"), ["dispatch_id", "duration_ns", "short_name"]);
        assert_eq!(mentioned(sql).len(), 1);
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
    fn rows_can_be_counted_without_columns() {
        assert_eq!(columns("SELECT COUNT(*) FROM queues", "queues"), ["queue_id"]);
    }
}
