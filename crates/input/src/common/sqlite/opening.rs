//! A database while it is recognized and opened. The pages of a healthy database reveal its content. SQLite is opened only if they do not,
//! because opening takes longer than reading a small database.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
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
use wavesieve_tables::ablation::{Optimization, is_on};

/// Maximum number of remembered lists of tables: many more than there are dialects.
const MAX_KNOWN: usize = 256;
/// Longer lists are left to SQLite.
const MAX_LIST_BYTES: usize = 1 << 20;

/// Columns of tables, by table name and declaration without the guid of the capture.
type Shapes = BTreeMap<String, TableShape>;

/// Lists of tables that SQLite accepts, as texts without guids, and the columns of their tables. The lists of all ranks of a run only
/// differ in their guids. They are remembered because SQLite compiles every view of a database before it lists a table.
static KNOWN: Mutex<BTreeMap<String, Arc<Shapes>>> = Mutex::new(BTreeMap::new());

/// A table and the statement that declares it.
pub type Declaration = (String, String);

/// A database that is being opened.
pub(crate) struct OpeningDatabase {
    pub file: Arc<DatabaseFile>,
    /// The reader of its rows.
    pub store: Arc<Store>,
    declarations: Vec<Declaration>,
    connection: OnceCell<Connection>,
    /// The list of tables without guids, if pages have all of it.
    list: Option<String>,
    /// Shapes that SQLite reported for the tables of an equal list.
    known: Option<Arc<Shapes>>,
    /// Shapes that SQLite reports for the tables of this list.
    learned: RefCell<Shapes>,
}

impl OpeningDatabase {
    /// Lists the tables of a file.
    pub fn new(file: Arc<DatabaseFile>, reader: Reader) -> Result<Self> {
        let store = Arc::new(Store::new(file.path(), reader));
        // SQLite needs the path as text.
        let pages = file.path().to_str().and_then(|_| store.pages());
        let entries = pages.and_then(PageFile::schema).filter(|_| is_on(Optimization::Pages));
        let list = entries.as_deref().and_then(without_guids);
        let known = list.as_ref().and_then(|list| KNOWN.lock().get(list).cloned());
        let connection = OnceCell::new();
        let declarations = match entries.filter(|_| known.is_some()) {
            Some(entries) => tables_of(entries),
            None => {
                let opened = open(store.path())?;
                let declarations = declarations(&opened)?;
                let _ = connection.set(opened);
                declarations
            }
        };
        Ok(Self { file, store, declarations, connection, list, known, learned: RefCell::default() })
    }

    /// Names of all tables and the statements that declare them, sorted by name.
    pub fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// Whether there is a table of that name.
    pub fn has(&self, name: &str) -> bool {
        self.declarations.iter().any(|(table, _)| table == name)
    }

    /// Whether the name of any table starts with a prefix.
    pub fn has_any(&self, prefix: &str) -> bool {
        self.declarations.iter().any(|(table, _)| table.starts_with(prefix))
    }

    /// The database in SQLite.
    pub fn connection(&self) -> Result<&Connection> {
        if self.connection.get().is_none() {
            let _ = self.connection.set(open(self.store.path())?);
        }
        self.connection.get().context("the database is not open, which is a defect")
    }

    /// The columns of a table. SQLite reports them, unless it already did for an equal list of tables. `key` is the name and declaration of
    /// the table without the guid of the capture.
    pub fn shape(&self, name: &str, key: &str) -> Result<TableShape> {
        if let Some(known) = self.known.as_ref().and_then(|known| known.get(key)) {
            return Ok(known.named(name));
        }
        let shape = shape(self.connection()?, name)?;
        self.learned.borrow_mut().insert(key.to_owned(), shape.clone());
        Ok(shape)
    }

    /// Remembers the columns of all tables for files with an equal list, unless SQLite does not accept one of them.
    pub fn remember(&self) {
        let Some(list) = self.list.as_ref().filter(|_| self.known.is_none()) else { return };
        let learned = self.learned.take();
        let mut known = KNOWN.lock();
        if learned.values().all(|shape| !shape.columns.is_empty()) && known.len() < MAX_KNOWN {
            known.insert(list.clone(), Arc::new(learned));
        }
    }

    /// Columns of a whole table without unexpected types; `None` if only SQLite can read them.
    pub(crate) fn plain_columns(&self, table: &TableShape, wanted: &[Wanted]) -> Option<Columns> {
        let present: Vec<Wanted> = wanted.iter().copied().filter(|wanted| table.has(wanted.name)).collect();
        let selection = Selection { table, key: "id", condition: &Condition::all() };
        let columns = self.store.pages()?.read(selection, &present, 1).ok()?;
        (columns.damage.is_none() && columns.type_mismatches.is_empty()).then_some(columns)
    }

    /// Whether the pages prove that a table has no rows.
    pub fn is_empty(&self, table: &TableShape) -> bool {
        let selection = Selection { table, key: "id", condition: &Condition::all() };
        self.store.pages().and_then(|pages| pages.has_rows(selection)) == Some(false)
    }

    /// Tags and values of a table of metadata.
    pub fn metadata(&self, table: &TableShape) -> Result<BTreeMap<String, String>> {
        let Some(columns) = self.plain_columns(table, &[text("tag"), text("value")]) else {
            return metadata(self.connection()?, table);
        };
        let (tags, values) = (columns.texts("tag"), columns.texts("value"));
        let pairs = tags.iter().zip(values.iter()).filter_map(|(tag, value)| tag.zip(value));
        Ok(pairs.map(|(tag, value)| (tag.to_owned(), value.to_owned())).collect())
    }
}

fn tables_of(entries: Vec<SchemaEntry>) -> Vec<Declaration> {
    let tables = entries.into_iter().filter(SchemaEntry::is_table);
    let mut tables: Vec<Declaration> = tables.map(|entry| (entry.name, entry.sql.unwrap_or_default())).collect();
    tables.sort_unstable();
    tables
}

/// A list of tables as a text in which each guid is replaced by its position among the guids of the list; `None` if it is very long.
fn without_guids(entries: &[SchemaEntry]) -> Option<String> {
    let mut text = String::new();
    for SchemaEntry { kind, name, table, sql, .. } in entries {
        for part in [Some(kind), Some(name), Some(table), sql.as_ref()] {
            text.push_str(part.map_or("\u{1}", String::as_str));
            text.push('\0');
        }
        if text.len() > MAX_LIST_BYTES {
            return None;
        }
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let place = |found: &Captures<'_>| {
        let guid = found.get(0).map_or("", |guid| guid.as_str());
        let digits = guid.replace(['-', '_'], "");
        let next = seen.len();
        // Table names and defaults spell a guid in two ways, which SQLite distinguishes.
        let spelling = guid.get(8..9).filter(|mark| matches!(*mark, "-" | "_")).unwrap_or_default();
        format!("\u{2}{}{spelling}", *seen.entry(digits).or_insert(next))
    };
    Some(GUID.as_ref()?.replace_all(&text, place).into_owned())
}

/// A guid in the spellings of table names and defaults.
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
        let swapped = [entry("a", "CREATE TABLE b (id)"), entry("b", "CREATE TABLE a (id)")];
        assert_ne!(without_guids(&swapped), without_guids(&[swapped[1].clone(), swapped[0].clone()]));
        assert_eq!(without_guids(&[entry("a", &"x".repeat(MAX_LIST_BYTES))]), None);
        let unnamed = SchemaEntry { sql: None, ..entry("a", "") };
        assert_ne!(without_guids(&[unnamed]), without_guids(&[entry("a", "")]));
    }
}
