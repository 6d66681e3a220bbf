//! Tables and columns that a database really has.

use std::collections::BTreeMap;

use anyhow::Result;
use rusqlite::Connection;

use crate::common::sqlite::{TableShape, declarations, metadata, shape};

/// Tables that are read, or that hold nothing for a canonical table, without the prefix `rocpd_`.
const KNOWN_TABLES: &[&str] = &[
    "metadata",
    "string",
    "ustring",
    "api",
    "op",
    "api_ops",
    "kernelapi",
    "copyapi",
    "monitor",
    "stackframe",
    "barrierop",
    "kernelcodeobject",
    "op_inputSignals",
];

#[derive(Clone, Debug)]
pub(crate) struct Container {
    pub schema_version: Option<String>,
    pub unknown_tables: Vec<String>,
    tables: BTreeMap<String, TableShape>,
}

impl Container {
    pub fn read(connection: &Connection) -> Result<Self> {
        let mut container = Self { schema_version: None, unknown_tables: Vec::new(), tables: BTreeMap::new() };
        for (name, _) in declarations(connection)? {
            match name.strip_prefix("rocpd_").filter(|base| KNOWN_TABLES.contains(base)) {
                Some(base) => {
                    let shape = shape(connection, &name)?;
                    container.tables.insert(base.to_owned(), shape);
                }
                None if name.starts_with("sqlite_") => {}
                None => container.unknown_tables.push(name),
            }
        }
        let metadata = container.table("metadata").and_then(|table| metadata(connection, table).ok());
        container.schema_version = metadata.and_then(|metadata| metadata.get("schema_version").cloned());
        Ok(container)
    }

    /// The table of a base name such as `kernelapi`, if there is one.
    pub fn table(&self, base: &str) -> Option<&TableShape> {
        self.tables.get(base)
    }

    pub fn tables(&self) -> impl Iterator<Item = &TableShape> {
        self.tables.values()
    }

    /// Base name of the table that holds arguments and marker texts: schema 3 keeps texts that do not recur in a separate table.
    pub(crate) fn args_table(&self) -> &'static str {
        if self.tables.contains_key("ustring") { "ustring" } else { "string" }
    }
}
