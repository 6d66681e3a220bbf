//! Opens a database in SQLite and reads its actual tables and columns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::json_text::text_of_blob;
use super::pages::{FieldRule, Layout, Stored, guid_of};
use super::uri::read_only_uri;
use wavesieve_model::text::bytes::text_of_bytes;

/// Opens a database without creating, locking or writing anything, also if its last pages are missing.
pub fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(read_only_uri(path)?, flags)
        .with_context(|| format!("cannot open {} as a SQLite database", path.display()))?;
    // Without this, SQLite refuses a database that is shorter than its header claims; the database is read-only in any case.
    connection.execute_batch("PRAGMA writable_schema=ON; PRAGMA mmap_size=1073741824;")?;
    Ok(connection)
}

/// A physical table.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableShape {
    pub name: String,
    /// Columns with the upper-case declared type.
    pub columns: Arc<BTreeMap<String, String>>,
    /// Storage places of the columns, if the pages of the table can be read without SQLite.
    pub stored: Option<Arc<BTreeMap<String, Stored>>>,
    /// The layout of its records, in that case.
    pub layout: Option<Arc<Layout>>,
}

impl TableShape {
    /// Whether the table has that column.
    pub fn has(&self, column: &str) -> bool {
        self.columns.contains_key(column)
    }

    /// The same columns in a table of another name.
    pub fn named(&self, name: &str) -> Self {
        let layout = self.layout.as_ref().map(|layout| Arc::new(layout.of(name)));
        Self { name: name.to_owned(), layout, ..self.clone() }
    }
}

/// Names of all tables of a database, and the statements that declare them.
pub fn declarations(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut statement = connection.prepare(include_str!("sql/declarations.sql"))?;
    let tables =
        statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?.unwrap_or_default())))?;
    Ok(tables.collect::<rusqlite::Result<_>>()?)
}

/// The columns of a table.
pub fn shape(connection: &Connection, name: &str) -> Result<TableShape> {
    let mut statement = connection.prepare(include_str!("sql/table_columns.sql"))?;
    let declared = statement.query_map([name], |row| {
        Ok(Declared {
            position: row.get(0)?,
            name: row.get(1)?,
            declared_type: row.get(2)?,
            has_default: row.get(3)?,
            in_key: row.get::<_, i64>(4)? > 0,
            hidden: row.get(5)?,
            is_required: row.get(6)?,
        })
    })?;
    let declared: Vec<Declared> =
        declared.collect::<rusqlite::Result<_>>().with_context(|| format!("cannot read the columns of {name}"))?;
    let kind: Option<(Option<bool>, i64)> =
        connection.query_row(include_str!("sql/table_kind.sql"), [name], |row| Ok((row.get(0)?, row.get(1)?))).ok();
    let stored = match kind {
        Some((Some(false), key_indexes)) => stored(&declared, key_indexes > 0),
        _ => None,
    };
    let has_captures = captures(connection) > 1;
    let layout = stored.as_ref().map(|stored| {
        let layout = Layout::new(rules(&declared, stored), name);
        Arc::new(if has_captures { layout } else { layout.with_any_guid() })
    });
    let visible = declared.into_iter().filter(|column| column.hidden != HIDDEN);
    let columns = Arc::new(visible.map(|column| (column.name, column.declared_type)).collect());
    Ok(TableShape { name: name.to_owned(), columns, stored: stored.map(Arc::new), layout })
}

/// Number of captures with tables in a file, by the guids in the table names.
fn captures(connection: &Connection) -> usize {
    let Ok(mut statement) = connection.prepare(include_str!("sql/table_names.sql")) else { return 0 };
    let names = statement.query_map([], |row| row.get::<_, String>(0));
    let guids: BTreeSet<_> = names.into_iter().flatten().flatten().filter_map(|name| guid_of(&name)).collect();
    guids.len()
}

/// Mark of columns that cannot be requested.
const HIDDEN: i64 = 1;

/// The column with the guid of the capture in every row.
const GUID: &str = "guid";

/// A column as declared.
struct Declared {
    position: usize,
    name: String,
    declared_type: String,
    has_default: bool,
    in_key: bool,
    hidden: i64,
    is_required: bool,
}

/// Storage places of the columns of a table with row ids; `None` if some columns are computed. A single integer key is the row id itself,
/// except in old special cases in which it has its own index.
fn stored(declared: &[Declared], has_key_index: bool) -> Option<BTreeMap<String, Stored>> {
    let is_row_id = |column: &Declared| column.in_key && column.declared_type == "INTEGER" && !has_key_index;
    if declared.iter().any(|column| column.hidden != 0) {
        return None;
    }
    let stored = declared.iter().map(|column| {
        let field = Stored::Field {
            position: column.position,
            is_real: is_real(&column.declared_type),
            has_default: column.has_default,
        };
        (column.name.clone(), if is_row_id(column) { Stored::RowId } else { field })
    });
    Some(stored.collect())
}

/// Rules for the fields of records, one for each column of a table.
fn rules(declared: &[Declared], stored: &BTreeMap<String, Stored>) -> Vec<FieldRule> {
    let rule = |column: &Declared| FieldRule {
        is_row_id: stored.get(&column.name) == Some(&Stored::RowId),
        is_required: column.is_required,
        is_text: is_text(&column.declared_type),
        has_default: column.has_default,
        is_guid: column.name == GUID,
    };
    declared.iter().map(rule).collect()
}

/// Whether SQLite keeps numbers of a column of this type as texts, by its rules in their order.
fn is_text(declared_type: &str) -> bool {
    let has = |word: &&str| declared_type.contains(*word);
    !has(&"INT") && ["CHAR", "CLOB", "TEXT"].iter().any(has)
}

/// Whether SQLite keeps numbers of a column of this type as reals, by its rules in their order.
fn is_real(declared_type: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| declared_type.contains(word));
    !has(&["INT", "CHAR", "CLOB", "TEXT", "BLOB"]) && has(&["REAL", "FLOA", "DOUB"])
}

/// Tags and values of a table of metadata.
pub fn metadata(connection: &Connection, table: &TableShape) -> Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare(&format!(include_str!("sql/metadata.sql"), table = quoted(&table.name)))?;
    let rows = statement.query_map([], |row| Ok(printed(row.get_ref(0)?).zip(printed(row.get_ref(1)?))))?;
    Ok(rows.filter_map(Result::ok).flatten().collect())
}

/// A value as text, in the form of the page reader.
pub fn printed(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(integer) => Some(integer.to_string()),
        ValueRef::Real(real) => Some(real.to_string()),
        ValueRef::Text(bytes) => Some(text_of_bytes(bytes).into_owned()),
        ValueRef::Blob(bytes) => text_of_blob(bytes),
    }
}

/// Whether a table has a row that meets a condition. The condition starts with `WHERE`, or is empty for any row.
pub fn exists(connection: &Connection, table: &TableShape, condition: &str) -> bool {
    let sql = format!(include_str!("sql/exists.sql"), table = quoted(&table.name), condition = condition);
    connection.query_row(&sql, [], |_| Ok(())).is_ok()
}

/// A name as SQL identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
