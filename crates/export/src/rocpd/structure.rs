//! The tables, indexes and views of an attached database, with their declarations.

use anyhow::{Context, Result};
use rusqlite::Connection;

use wavesieve_input::{PartitionFacts, RocpdFile};

/// Name under which an input is attached.
pub(super) const SOURCE: &str = "source";

/// The tables of one capture.
pub(super) struct Partition {
    /// Facts that identify it.
    pub facts: PartitionFacts,
    /// Its tables in the order of their declarations.
    pub tables: Vec<SourceTable>,
}

impl Partition {
    /// The table of a base name such as `event`.
    pub(super) fn table(&self, base: &str) -> Option<&SourceTable> {
        self.tables.iter().find(|table| table.base == base)
    }
}

/// A physical table.
pub(super) struct SourceTable {
    /// Name without `rocpd_` and the suffix.
    pub base: String,
    pub name: String,
    /// The statement that declares it.
    pub sql: String,
    /// Its columns in order, without computed ones.
    pub columns: Vec<SourceColumn>,
    /// Whether all columns are stored, so that whole rows can be copied.
    pub is_plain: bool,
    /// Statements of its indexes with their names.
    pub indexes: Vec<Declared>,
}

impl SourceTable {
    /// Whether it has a column.
    pub(super) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    /// Whether it has all of these columns.
    pub(super) fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }
}

/// A column that can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceColumn {
    pub name: String,
    /// Default as in SQL.
    pub default: Option<String>,
}

/// A name and the statement that declares it.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub name: String,
    pub sql: String,
}

/// Content of an attached database.
pub(super) struct Structure {
    /// Its captures.
    pub partitions: Vec<Partition>,
    pub views: Vec<Declared>,
    /// Names of tables of no capture.
    pub other_tables: Vec<String>,
}

/// Reads the structure of the attached database.
pub(super) fn structure(connection: &Connection, file: &RocpdFile) -> Result<Structure> {
    let mut partitions: Vec<Partition> =
        file.partitions.iter().map(|facts| Partition { facts: facts.clone(), tables: Vec::new() }).collect();
    let (mut views, mut indexes, mut other_tables) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries(connection)? {
        let (kind, starts) = (entry.kind.as_str(), |words| starts_with(&entry.sql, words));
        let declared = Declared { name: entry.name.clone(), sql: entry.sql.clone() };
        match kind {
            "view" if starts(&["CREATE", "VIEW"]) => views.push(declared),
            "index" if starts(&["CREATE", "INDEX"]) || starts(&["CREATE", "UNIQUE", "INDEX"]) => {
                indexes.push((entry.table, declared));
            }
            "table" if !entry.name.starts_with("sqlite_") => {
                let base = |partition: &Partition| base_of(&entry.name, &partition.facts.suffix).map(str::to_owned);
                let place = partitions.iter_mut().find_map(|partition| base(partition).map(|base| (partition, base)));
                match place.filter(|_| starts(&["CREATE", "TABLE"])) {
                    Some((partition, base)) => partition.tables.push(table(connection, declared, base)?),
                    None => other_tables.push(entry.name),
                }
            }
            _ => {}
        }
    }
    for (of, index) in indexes {
        let mut tables = partitions.iter_mut().flat_map(|partition| &mut partition.tables);
        if let Some(table) = tables.find(|table| table.name == of) {
            table.indexes.push(index);
        }
    }
    Ok(Structure { partitions, views, other_tables })
}

struct SchemaEntry {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

fn entries(connection: &Connection) -> Result<Vec<SchemaEntry>> {
    let mut statement = connection.prepare(include_str!("sql/schema.sql").trim_end())?;
    let entry = |row: &rusqlite::Row<'_>| {
        Ok(SchemaEntry { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    };
    Ok(statement.query_map([], entry)?.collect::<rusqlite::Result<_>>()?)
}

fn table(connection: &Connection, declared: Declared, base: String) -> Result<SourceTable> {
    let mut statement = connection.prepare(include_str!("sql/columns.sql").trim_end())?;
    let column = |row: &rusqlite::Row<'_>| {
        Ok((SourceColumn { name: row.get(0)?, default: row.get(1)? }, row.get::<_, i64>(2)? == 0))
    };
    let columns: Vec<(SourceColumn, bool)> = statement
        .query_map([&declared.name], column)?
        .collect::<rusqlite::Result<_>>()
        .with_context(|| format!("cannot read the columns of {}", declared.name))?;
    let is_plain = columns.iter().all(|(_, is_stored)| *is_stored);
    let columns = columns.into_iter().filter(|(_, is_stored)| *is_stored).map(|(column, _)| column).collect();
    Ok(SourceTable { base, name: declared.name, sql: declared.sql, columns, is_plain, indexes: Vec::new() })
}

/// The base name of a table of a partition.
fn base_of<'a>(name: &'a str, suffix: &str) -> Option<&'a str> {
    name.strip_prefix("rocpd_")?.strip_suffix(suffix).filter(|base| !base.is_empty())
}

/// Whether a statement starts with these words. Other statements, as in a damaged list of tables, are never run.
fn starts_with(sql: &str, words: &[&str]) -> bool {
    let mut found = sql.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.iter().all(|word| found.next().is_some_and(|found| found.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_declarations_are_run() {
        assert!(starts_with("create table\n`a` (id)", &["CREATE", "TABLE"]));
        assert!(!starts_with("CREATE VIRTUAL TABLE a USING b", &["CREATE", "TABLE"]));
        assert!(!starts_with("ATTACH 'x' AS y", &["CREATE", "TABLE"]));
    }

    #[test]
    fn names_are_split_at_the_suffix() {
        let suffix = "_00000096_88a3_78a3_98ca_18ea8b796f0d";
        assert_eq!(base_of(&format!("rocpd_info_agent{suffix}"), suffix), Some("info_agent"));
        assert_eq!(base_of(&format!("rocpd_{suffix}"), suffix), None);
        assert_eq!(base_of("rocpd_string", suffix), None);
    }
}
