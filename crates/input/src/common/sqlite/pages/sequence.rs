//! The last row ids that SQLite stores for tables that never reuse ids. No row of such a table has a greater id.

use std::collections::BTreeMap;

use super::fault::{Fault, UnreadablePage};
use super::format::Pages;
use super::layout::{FieldRule, Layout};
use super::schema::SchemaEntry;
use super::tree::last_row_id;
use super::whole::whole_table;

/// The table of these ids, and its columns: the name of a table and its last row id.
const NAME: &str = "sqlite_sequence";
const COLUMNS: usize = 2;

/// Tables with exchanged rows: each ends with the stored last row id of the other table. Changes by a user can also make ids differ from
/// the stored one, but not equal to the id of another table. Returns the root of each.
pub(crate) fn overrun(pages: Pages<'_>, entries: &[SchemaEntry]) -> Vec<UnreadablePage> {
    let Some(root) = entries.iter().find(|entry| entry.name == NAME).and_then(SchemaEntry::table_root) else {
        return Vec::new();
    };
    let Some(last_ids) = last_ids(pages, root) else {
        return vec![UnreadablePage { page: root, fault: Fault::OtherTable }];
    };
    // SQLite allows a user to empty the table; then it does not limit any ids.
    if last_ids.is_empty() {
        return Vec::new();
    }
    let has_sequence = |entry: &&SchemaEntry| entry.sql.as_ref().is_some_and(|sql| is_autoincrement(sql));
    let found = |entry: &SchemaEntry| {
        let root = entry.table_root()?;
        let stated = last_ids.get(&entry.name).copied().unwrap_or(0).max(0);
        Some(Ends { root, stated, found: last_row_id(pages, root)? })
    };
    let all: Vec<Ends> = entries.iter().filter(has_sequence).filter_map(found).collect();
    let is_exchanged = |one: &&Ends| {
        let mut others = all.iter().filter(|other| other.root != one.root);
        one.found != one.stated && others.any(|other| (other.stated, other.found) == (one.found, one.stated))
    };
    all.iter().filter(is_exchanged).map(|ends| UnreadablePage { page: ends.root, fault: Fault::OtherTable }).collect()
}

/// The stored last row id of a table, and the actual last id of its rows.
struct Ends {
    root: u32,
    stated: i64,
    found: i64,
}

/// Whether the key of a table has the keyword that prevents reuse of ids. Names and texts may have the word in other places.
fn is_autoincrement(sql: &str) -> bool {
    let sql = sql.to_ascii_uppercase();
    let words: Vec<&str> = sql.split_whitespace().collect();
    words.windows(2).any(|pair| match pair {
        [before, word] => {
            let follows_key =
                matches!(*before, "KEY" | "ASC" | "DESC" | "ROLLBACK" | "ABORT" | "FAIL" | "IGNORE" | "REPLACE");
            follows_key && word.trim_end_matches([',', ')', ';']) == "AUTOINCREMENT"
        }
        _ => false,
    })
}

/// The last row ids by table; `None` if they cannot be read.
fn last_ids(pages: Pages<'_>, root: u32) -> Option<BTreeMap<String, i64>> {
    let layout = Layout::new(vec![FieldRule::default(); COLUMNS], NAME);
    let whole = whole_table(pages, root, COLUMNS, 1, layout)?;
    let names = whole.texts.first()?.texts().take(whole.rows).map(str::to_owned);
    Some(names.zip(whole.integers.iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_counts_behind_a_key_only() {
        for (sql, expected) in [
            ("CREATE TABLE a (id integer PRIMARY KEY AUTOINCREMENT, b)", true),
            ("CREATE TABLE a (id integer not null primary key asc autoincrement)", true),
            ("CREATE TABLE a (id INTEGER PRIMARY KEY ON CONFLICT ABORT AUTOINCREMENT)", true),
            ("CREATE TABLE a (id INTEGER PRIMARY KEY, autoincrement TEXT)", false),
            ("CREATE TABLE a (id INTEGER PRIMARY KEY, b TEXT DEFAULT 'AUTOINCREMENT')", false),
        ] {
            assert_eq!(is_autoincrement(sql), expected, "{sql}");
        }
    }
}
