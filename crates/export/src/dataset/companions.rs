//! Files that other programs need next to the tables: their columns, views, whole numbers and files without rows.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::parquet::file::{described_columns, part_writer, write_rising};
use wavesieve_engine::{NUMBERS, numbers};
use wavesieve_input::{NUMBERS_FILE, SCHEMAS, StoredTable};
use wavesieve_model::schema::{Origin, Table, table};

const DUCKDB: (&str, &str) = ("views.sql", data!("templates/dataset/views.sql"));
const DATAFUSION: (&str, &str) = ("views.datafusion.sql", data!("templates/dataset/views.datafusion.sql"));
/// The file that describes all tables.
const TABLES: &str = "tables.json";
/// The names of the files that other programs read.
pub(crate) const COMPANIONS: [&str; 3] = [TABLES, DUCKDB.0, DATAFUSION.0];

/// The files, by their paths below the dataset.
///
/// # Errors
/// When one cannot be made.
pub fn companions(tables: &BTreeMap<String, StoredTable>) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let known: Vec<(&'static Table, &StoredTable)> =
        tables.iter().filter_map(|(name, stored)| Some((table(name)?, stored))).collect();
    let mut files = Vec::new();
    for (table, _) in &known {
        let writer = part_writer(table, Vec::new())?;
        files.push((schema_path(table), writer.into_inner()?));
    }
    let mut content = Vec::new();
    write_rising(&numbers()?.collect()?, &mut content)?;
    files.push((NUMBERS_FILE.into(), content));
    let described: Vec<Value> = known.iter().map(|(table, stored)| describe(table, stored)).collect();
    files.push((TABLES.into(), (serde_json::to_string_pretty(&described)? + "\n").into_bytes()));
    for (name, template) in [DUCKDB, DATAFUSION] {
        let views: Vec<Value> = known
            .iter()
            .map(|(table, stored)| {
                let has_rows = !stored.parts.is_empty();
                json!({"name": table.name, "about": table.about, "has_rows": has_rows, "schemas": SCHEMAS})
            })
            .collect();
        let numbers = json!({"name": NUMBERS, "file": NUMBERS_FILE});
        let text = Environment::new()
            .render_str(template, Serde(json!({"views": views, "numbers": numbers})))
            .with_context(|| format!("internal: {name} cannot be made"))?;
        files.push((name.into(), text.into_bytes()));
    }
    Ok(files)
}

fn schema_path(table: &Table) -> PathBuf {
    PathBuf::from(SCHEMAS).join(format!("{}.parquet", table.name))
}

fn describe(table: &'static Table, stored: &StoredTable) -> Value {
    let origin = match table.origin {
        Origin::Source => "source",
        Origin::Derived => "derived",
        Origin::OnDemand => "on demand",
    };
    json!({
        "name": table.name,
        "about": table.about,
        "origin": origin,
        "key": table.key,
        "sorted_by": table.sort,
        "rows": stored.rows.iter().sum::<u64>(),
        "files": stored.parts.len(),
        "columns": described_columns(table),
    })
}
