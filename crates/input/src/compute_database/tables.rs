//! The tables of analysis databases of every schema, from `share/analysis_database.toml`.

use std::sync::OnceLock;

use serde::Deserialize;

const FILE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../share/analysis_database.toml"));

/// Tables of schemas before 1.3, and the names of their successors.
pub(super) const FORMER_NAMES: [(&str, &str); 2] =
    [("metric_value", "kernel_metric_value"), ("roofline_data", "kernel_roofline_data")];

/// Condition under which a table is expected.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expected {
    /// In every database.
    #[default]
    Always,
    /// Unless one of these tables is present; they hold the same.
    UnlessAny(Vec<String>),
    /// If one of these tables is present; they belong to it.
    IfAny(Vec<String>),
    /// If that table has that column; it refers to this table.
    IfColumn(String, String),
    /// Never: newer tables hold the same.
    Never,
}

/// A table, with its name without the prefix of all tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    pub name: String,
    pub key: String,
    /// Other columns, of all schemas.
    pub columns: Vec<String>,
    #[serde(default)]
    pub expected: Expected,
    /// Whether rows of other tables refer to its key. For other tables, any key is enough.
    #[serde(default)]
    pub is_referred_to: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Tables {
    table: Vec<Known>,
}

/// The tables. A test parses the file, so the list is never empty.
pub(super) fn tables() -> &'static [Known] {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    &TABLES.get_or_init(|| toml::from_str(FILE).unwrap_or_default()).table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_refer_to_tables_that_are_known() {
        let tables = toml::from_str::<Tables>(FILE).unwrap().table;
        let find = |name: &str| tables.iter().find(|known| known.name == name).unwrap();
        assert!(FORMER_NAMES.iter().all(|(_, now)| !find(now).columns.is_empty()));
        for known in &tables {
            match &known.expected {
                Expected::UnlessAny(others) | Expected::IfAny(others) => {
                    others.iter().for_each(|other| _ = find(other))
                }
                Expected::IfColumn(table, column) => assert!(find(table).columns.contains(column), "{column}"),
                Expected::Always | Expected::Never => {}
            }
        }
    }
}
