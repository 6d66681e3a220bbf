//! A rocpd database as a container of partitions: which tables and columns it really has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};

use crate::input::sqlite_uri::read_only_uri;

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

/// The tables of one capture (one guid) in a database.
#[derive(Clone, Debug)]
pub struct Partition {
    /// What every table name ends in, such as `_00000096_88a3_…`, or 32 hexadecimal digits in the early spelling.
    pub suffix: String,
    /// The dashed guid.
    pub guid: Option<String>,
    /// Schema version the metadata state.
    pub schema_version: Option<String>,
    /// How the metadata say that JSON columns are compressed.
    pub compression: Option<String>,
    tables: BTreeMap<String, TableShape>,
}

/// A physical table.
#[derive(Clone, Debug)]
pub struct TableShape {
    /// Name in the database.
    pub name: String,
    /// Columns in order with the upper-case declared type.
    pub columns: BTreeMap<String, String>,
}

impl Partition {
    /// The physical table of a base name such as `kernel_dispatch`, if the partition has it.
    pub fn table(&self, base: &str) -> Option<&TableShape> {
        self.tables.get(base)
    }

    /// Base names of all tables.
    pub fn table_bases(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str)
    }
}

impl TableShape {
    /// Whether the table has that column.
    pub fn has(&self, column: &str) -> bool {
        self.columns.contains_key(column)
    }
}

/// Lists the partitions of a database, in the order of their suffixes.
///
/// # Errors
/// When the list of tables cannot be read.
pub fn partitions(connection: &Connection) -> Result<Vec<Partition>> {
    let names = table_names(connection)?;
    let suffixes: BTreeSet<&str> = names.iter().filter_map(|name| suffix_of(name)).collect();
    suffixes
        .into_iter()
        .map(|suffix| {
            let mut tables = BTreeMap::new();
            for name in &names {
                let base = name.strip_prefix("rocpd_").and_then(|rest| rest.strip_suffix(suffix));
                if let Some(base) = base {
                    tables.insert(base.to_owned(), shape(connection, name)?);
                }
            }
            let mut partition =
                Partition { suffix: suffix.to_owned(), guid: None, schema_version: None, compression: None, tables };
            let metadata = metadata(connection, &partition).unwrap_or_default();
            partition.guid = metadata.get("guid").cloned().or_else(|| guid_of_suffix(suffix));
            partition.schema_version = metadata.get("schema_version").cloned();
            partition.compression = metadata.get("compression").cloned();
            Ok(partition)
        })
        .collect()
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

/// What the table names of a partition end in, by the name of its metadata table.
pub fn suffix_of(name: &str) -> Option<&str> {
    name.strip_prefix("rocpd_metadata").filter(|suffix| is_suffix(suffix))
}

/// An underscore and a uuid whose dashes are underscores, or in the early spelling the digits of a uuid alone.
fn is_suffix(suffix: &str) -> bool {
    match suffix.strip_prefix('_') {
        Some(uuid) => uuid.len() == 36 && uuid.chars().all(|c| c == '_' || c.is_ascii_alphanumeric()),
        None => suffix.len() == 32 && suffix.chars().all(|c| c.is_ascii_hexdigit()),
    }
}

fn guid_of_suffix(suffix: &str) -> Option<String> {
    Some(suffix.strip_prefix('_').map_or_else(|| suffix.to_owned(), |guid| guid.replace('_', "-")))
}

fn shape(connection: &Connection, name: &str) -> Result<TableShape> {
    let mut statement = connection.prepare(include_str!("sql/table_columns.sql"))?;
    let columns = statement.query_map([name], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    let columns =
        columns.collect::<rusqlite::Result<_>>().with_context(|| format!("cannot read the columns of {name}"))?;
    Ok(TableShape { name: name.to_owned(), columns })
}

fn metadata(connection: &Connection, partition: &Partition) -> Result<BTreeMap<String, String>> {
    let Some(table) = partition.table("metadata") else { return Ok(BTreeMap::new()) };
    let mut statement = connection.prepare(&format!(include_str!("sql/metadata.sql"), table = quoted(&table.name)))?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    Ok(rows.filter_map(Result::ok).collect())
}

/// A name as SQL identifier.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
