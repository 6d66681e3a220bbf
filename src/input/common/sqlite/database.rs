//! Opens a database and tells which tables and columns it really has.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};

use super::uri::read_only_uri;

/// Opens a database without creating, locking or writing anything, and reads on where its last pages are missing.
///
/// # Errors
/// When the file is no SQLite database that can be opened.
pub fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(read_only_uri(path)?, flags)
        .with_context(|| format!("cannot open {} as a SQLite database", path.display()))?;
    // Without this SQLite refuses a database that is shorter than its header says; nothing can be written anyhow.
    connection.execute_batch("PRAGMA writable_schema=ON; PRAGMA mmap_size=1073741824;")?;
    Ok(connection)
}

/// A physical table.
#[derive(Clone, Debug)]
pub struct TableShape {
    /// Name in the database.
    pub name: String,
    /// Columns in order with the upper-case declared type.
    pub columns: BTreeMap<String, String>,
}

impl TableShape {
    /// Whether the table has that column.
    pub fn has(&self, column: &str) -> bool {
        self.columns.contains_key(column)
    }
}

/// Names of all tables of a database.
///
/// # Errors
/// When the schema cannot be read.
pub fn table_names(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(include_str!("sql/table_names.sql"))?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// The columns of a table.
///
/// # Errors
/// When they cannot be read.
pub fn shape(connection: &Connection, name: &str) -> Result<TableShape> {
    let mut statement = connection.prepare(include_str!("sql/table_columns.sql"))?;
    let columns = statement.query_map([name], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let columns =
        columns.collect::<rusqlite::Result<_>>().with_context(|| format!("cannot read the columns of {name}"))?;
    Ok(TableShape { name: name.to_owned(), columns })
}

/// Tags and values of a table of metadata, as far as they are texts.
///
/// # Errors
/// When the table cannot be read.
pub fn metadata(connection: &Connection, table: &TableShape) -> Result<BTreeMap<String, String>> {
    let mut statement = connection.prepare(&format!(include_str!("sql/metadata.sql"), table = quoted(&table.name)))?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    Ok(rows.filter_map(Result::ok).collect())
}

/// Whether a table has any row.
pub fn exists(connection: &Connection, table: &TableShape) -> bool {
    let sql = format!(include_str!("sql/exists.sql"), table = quoted(&table.name));
    connection.query_row(&sql, [], |_| Ok(())).is_ok()
}

/// A name as SQL identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
