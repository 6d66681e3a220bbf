//! A database while it is recognised and opened. Pages tell what is in a healthy one; SQLite, which takes longer to open a
//! small database than all of it takes to read, is opened only when they do not.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use regex::{Captures, Regex};
use rusqlite::Connection;

use super::column::{Columns, Wanted, text};
use super::condition::Condition;
use super::database::{TableShape, declarations, metadata, open, shape};
use super::file::DatabaseFile;
use super::page_file::PageFile;
use super::pages::SchemaEntry;
use super::store::{Reader, Store};
use super::table::Selection;
use crate::ablation::{Optimization, is_on};

/// Lists and declarations that are remembered: many more than there are dialects.
const MOST_KNOWN: usize = 1_024;

/// A table and the statement that declares it.
pub(crate) type Declaration = (String, String);

/// A database that is being opened.
pub(crate) struct OpeningDatabase {
    /// The file.
    pub file: Arc<DatabaseFile>,
    /// How its rows are read.
    pub store: Arc<Store>,
    declarations: Vec<Declaration>,
    connection: OnceCell<Connection>,
}

impl OpeningDatabase {
    /// Lists the tables of a file.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub(crate) fn new(file: Arc<DatabaseFile>, reader: Reader) -> Result<Self> {
        let store = Arc::new(Store::new(file.path(), reader));
        // SQLite is addressed by texts.
        let pages = file.path().to_str().and_then(|_| store.pages());
        let schema = pages.and_then(PageFile::schema).map(|entries| (without_guids(&entries), entries));
        let opening =
            |declarations| Self { file, store: Arc::clone(&store), declarations, connection: OnceCell::new() };
        match schema {
            Some((key, entries)) if is_on(Optimization::Pages) && ACCEPTED.knows(&key) => {
                Ok(opening(tables_of(entries)))
            }
            schema => {
                let connection = open(store.path())?;
                let opened = opening(declarations(&connection)?);
                let _ = opened.connection.set(connection);
                schema.into_iter().for_each(|(key, _)| ACCEPTED.add(key));
                Ok(opened)
            }
        }
    }

    /// Names of all tables and the statements that declare them, by name.
    pub(crate) fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// Whether there is a table of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.declarations.iter().any(|(table, _)| table == name)
    }

    /// Whether the name of a table begins like this.
    pub(crate) fn has_any(&self, prefix: &str) -> bool {
        self.declarations.iter().any(|(table, _)| table.starts_with(prefix))
    }

    /// The database in SQLite.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn connection(&self) -> Result<&Connection> {
        if self.connection.get().is_none() {
            let _ = self.connection.set(open(self.store.path())?);
        }
        self.connection.get().context("the database is not open, which is a defect")
    }

    /// The columns of a table, looked up once for all tables that are declared alike but for the guid of the capture.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn shape(&self, name: &str, declaration: &str) -> Result<TableShape> {
        let lock = || SHAPES.lock();
        if let Some(known) = lock().get(declaration) {
            return Ok(TableShape { name: name.to_owned(), ..known.clone() });
        }
        let shape = shape(self.connection()?, name)?;
        let mut known = lock();
        // What SQLite does not understand may be due to another entry of the list.
        if !shape.columns.is_empty() && known.len() < MOST_KNOWN {
            known.insert(declaration.to_owned(), shape.clone());
        }
        Ok(shape)
    }

    /// Columns of a whole table without a value that is odd; `None` if only SQLite can read them.
    pub(crate) fn plain_columns(&self, table: &TableShape, wanted: &[Wanted]) -> Option<Columns> {
        let present: Vec<Wanted> = wanted.iter().copied().filter(|wanted| table.has(wanted.name)).collect();
        let selection = Selection { table, key: "id", condition: &Condition::all() };
        let columns = self.store.pages()?.read(selection, &present, 1).ok()?;
        (columns.damage.is_none() && columns.type_mismatches.is_empty()).then_some(columns)
    }

    /// Whether pages tell that a table has no rows.
    pub(crate) fn is_empty(&self, table: &TableShape) -> bool {
        let selection = Selection { table, key: "id", condition: &Condition::all() };
        self.store.pages().and_then(|pages| pages.has_rows(selection)) == Some(false)
    }

    /// Tags and values of a table of metadata, as far as they are texts.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub(crate) fn metadata(&self, table: &TableShape) -> Result<BTreeMap<String, String>> {
        let Some(columns) = self.plain_columns(table, &[text("tag"), text("value")]) else {
            return metadata(self.connection()?, table);
        };
        let (tags, values) = (columns.texts("tag"), columns.texts("value"));
        let pairs = tags.iter().zip(values.iter()).filter_map(|(tag, value)| tag.zip(value));
        Ok(pairs.map(|(tag, value)| (tag.to_owned(), value.to_owned())).collect())
    }
}

/// Columns of tables by their declarations. SQLite compiles every view of a database before it lists a table.
static SHAPES: Mutex<BTreeMap<String, TableShape>> = Mutex::new(BTreeMap::new());

/// Lists of tables that SQLite understands. All ranks of a run have the same list but for the guids in it.
static ACCEPTED: AcceptedSchemas = AcceptedSchemas(Mutex::new(BTreeSet::new()));

struct AcceptedSchemas(Mutex<BTreeSet<String>>);

impl AcceptedSchemas {
    fn knows(&self, key: &str) -> bool {
        self.0.lock().contains(key)
    }

    fn add(&self, key: String) {
        let mut known = self.0.lock();
        if known.len() < MOST_KNOWN {
            known.insert(key);
        }
    }
}

fn tables_of(entries: Vec<SchemaEntry>) -> Vec<Declaration> {
    let tables = entries.into_iter().filter(SchemaEntry::is_table);
    let mut tables: Vec<Declaration> = tables.map(|entry| (entry.name, entry.sql.unwrap_or_default())).collect();
    tables.sort_unstable();
    tables
}

/// A list of tables as a text in which each guid is replaced by its place among those of the list.
fn without_guids(entries: &[SchemaEntry]) -> String {
    let mut text = String::new();
    for SchemaEntry { kind, name, table, sql, .. } in entries {
        for part in [Some(kind), Some(name), Some(table), sql.as_ref()] {
            text.push_str(part.map_or("\u{1}", String::as_str));
            text.push('\0');
        }
    }
    let Some(guid) = GUID.as_ref() else { return text };
    let mut seen: Vec<String> = Vec::new();
    let place = |found: &Captures<'_>| {
        let digits = found.get(0).map_or("", |guid| guid.as_str()).replace(['-', '_'], "");
        let known = seen.iter().position(|known| *known == digits);
        let place = known.unwrap_or(seen.len());
        if known.is_none() {
            seen.push(digits);
        }
        format!("\u{2}{place}")
    };
    guid.replace_all(&text, place).into_owned()
}

/// A guid as in names of tables and in their defaults.
static GUID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}")
        .ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, sql: &str) -> SchemaEntry {
        let (kind, name) = ("table".to_owned(), name.to_owned());
        SchemaEntry { kind, table: name.clone(), name, root: 2, sql: Some(sql.to_owned()) }
    }

    #[test]
    fn lists_of_captures_differ_in_nothing_but_guids() {
        let one = "00000096_88a3_7a7f_b5ae_0242ac120002";
        let other = "00000097_88a3_7a7f_b5ae_0242ac120002";
        let of = |guid: &str| {
            let name = format!("rocpd_event_{guid}");
            let sql = format!("CREATE TABLE {name} (id INTEGER, guid TEXT DEFAULT '{}')", guid.replace('_', "-"));
            entry(&name, &sql)
        };
        assert_eq!(without_guids(&[of(one)]), without_guids(&[of(other)]));
        assert_ne!(without_guids(&[of(one), of(one)]), without_guids(&[of(one), of(other)]), "a table is there twice");
        assert_ne!(without_guids(&[of(one)]), without_guids(&[entry("rocpd_event", "CREATE TABLE rocpd_event (id)")]));
        let unnamed = SchemaEntry { sql: None, ..entry("a", "") };
        assert_ne!(without_guids(&[unnamed]), without_guids(&[entry("a", "")]));
    }
}
