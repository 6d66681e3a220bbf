//! Tables and columns that a database really has.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::Connection;

use super::tables::{Expected, FORMER_NAMES, Known, tables};
use crate::common::sqlite::{TableShape, declarations, shape};

/// The prefix of all table names.
pub const PREFIX: &str = "compute_";

/// A known table of a database.
#[derive(Clone, Debug)]
pub(crate) struct KnownTable {
    pub shape: TableShape,
    /// Its key, or the row id if it lacks the key or no table refers to it.
    pub key: &'static str,
}

/// The tables of a database.
#[derive(Clone, Debug, Default)]
pub(crate) struct Container {
    pub unknown_tables: Vec<String>,
    /// Unknown columns of known tables, as `table.column`.
    pub unknown_columns: Vec<String>,
    /// Names of known tables that are missing.
    pub missing_tables: Vec<String>,
    tables: BTreeMap<&'static str, KnownTable>,
}

impl Container {
    /// Lists the tables.
    pub fn read(connection: &Connection) -> Result<Self> {
        let mut container = Self::default();
        let declared = declarations(connection)?;
        for (name, sql) in &declared {
            let Some(known) = name.strip_prefix(PREFIX).and_then(known) else {
                if !name.starts_with("sqlite_") {
                    container.unknown_tables.push(name.clone());
                }
                continue;
            };
            // A table under its former name is not read if its successor is present.
            let is_former = name.strip_prefix(PREFIX) != Some(known.name.as_str());
            if is_former && declared.iter().any(|(name, _)| name.strip_prefix(PREFIX) == Some(known.name.as_str())) {
                container.unknown_tables.push(name.clone());
                continue;
            }
            let shape = shape(connection, name)?;
            let is_known = |column: &str| column == known.key || known.columns.iter().any(|known| known == column);
            let unknown = shape.columns.keys().filter(|column| !is_known(column));
            container.unknown_columns.extend(unknown.map(|column| format!("{name}.{column}")));
            let has_row_ids = !sql.to_uppercase().contains("WITHOUT ROWID");
            let is_keyed = shape.has(&known.key) && (known.is_referred_to || !has_row_ids);
            container
                .tables
                .insert(&known.name, KnownTable { shape, key: if is_keyed { &known.key } else { "rowid" } });
        }
        let missing = tables().iter().filter(|known| !container.has(&known.name) && container.expects(known));
        container.missing_tables = missing.map(|known| format!("{PREFIX}{}", known.name)).collect();
        Ok(container)
    }

    fn has(&self, name: &str) -> bool {
        self.tables.contains_key(name)
    }

    fn expects(&self, known: &Known) -> bool {
        match &known.expected {
            Expected::Always => true,
            Expected::Never => false,
            Expected::UnlessAny(others) => !others.iter().any(|other| self.has(other)),
            Expected::IfAny(others) => others.iter().any(|other| self.has(other)),
            Expected::IfColumn(table, column) => self.table(table).is_some_and(|table| table.shape.has(column)),
        }
    }

    /// The table with a name without [`PREFIX`], if there is one.
    pub fn table(&self, base: &str) -> Option<&KnownTable> {
        self.tables.get(base)
    }

    /// All known tables.
    pub fn tables(&self) -> impl Iterator<Item = &KnownTable> {
        self.tables.values()
    }
}

/// The table with a name without [`PREFIX`], which may be a former name.
fn known(name: &str) -> Option<&'static Known> {
    let name = FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, now)| now);
    tables().iter().find(|known| known.name == name)
}
