//! The list of tables of a file, with their root pages.

use super::format::Pages;
use super::layout::{FieldRule, Layout};
use super::whole::whole_table;

/// The type of list entries that are tables.
const TABLE: &str = "table";

/// The page of the root of the list itself.
const LIST: u32 = 1;

/// An entry of the list: a table, an index, a view or a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaEntry {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The table that it belongs to.
    pub table: String,
    /// The page of its root; 0 if it has none.
    pub root: i64,
    /// The statement that declares it; `None` for the index of a key.
    pub sql: Option<String>,
}

impl SchemaEntry {
    /// Whether its kind is known.
    pub fn is_known(&self) -> bool {
        [TABLE, "index", "view", "trigger"].contains(&self.kind.as_str())
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.kind == TABLE
    }

    /// Whether it has its own pages, like tables and indexes.
    pub fn is_stored(&self) -> bool {
        let is_virtual = || self.sql.as_ref().is_some_and(|sql| sql.starts_with("CREATE VIRTUAL"));
        self.kind == "index" || self.is_table() && !is_virtual()
    }

    /// The page of the root of a table.
    pub(crate) fn table_root(&self) -> Option<u32> {
        u32::try_from(self.root).ok().filter(|page| self.is_table() && *page > LIST)
    }
}

/// Names and roots of all entries of the list, whose root is the first page of the file; `None` if the list is damaged.
pub(crate) fn named_entries(pages: Pages<'_>) -> Option<Vec<SchemaEntry>> {
    entries(pages, 4).map(|(entries, _)| entries)
}

/// All entries with their statements; `None` if any part of the list is damaged or has an unexpected type.
pub(crate) fn declared_entries(pages: Pages<'_>) -> Option<Vec<SchemaEntry>> {
    entries(pages, 5).filter(|(_, is_plain)| *is_plain).map(|(entries, _)| entries)
}

/// The layout of entries in the list.
fn layout() -> Layout {
    let text = FieldRule { is_text: true, ..FieldRule::default() };
    Layout::new(vec![text, text, text, FieldRule::default(), text], "")
}

/// The first columns of the list, and whether all their values have the expected types.
fn entries(pages: Pages<'_>, columns: usize) -> Option<(Vec<SchemaEntry>, bool)> {
    let whole = whole_table(pages, LIST, columns, 3, layout())?;
    let [kinds, names, tables, statements @ ..] = whole.texts.as_slice() else { return None };
    let texts = kinds.texts().zip(names.texts()).zip(tables.texts()).take(whole.rows);
    let entry = |((kind, name), table): ((&str, &str), &str)| SchemaEntry {
        kind: kind.to_owned(),
        name: name.to_owned(),
        table: table.to_owned(),
        root: 0,
        sql: None,
    };
    let mut entries: Vec<SchemaEntry> = texts.map(entry).collect();
    if let [statements] = statements {
        let declared = entries.iter_mut().zip(statements.optional_texts());
        declared.for_each(|(entry, sql)| entry.sql = sql.map(str::to_owned));
    }
    entries.iter_mut().zip(whole.integers).for_each(|(entry, root)| entry.root = root);
    Some((entries, whole.is_plain))
}
