//! Index of a folder, as JSON: every file with its columns, their units and their meanings.

use serde_json::{Value, json};

use crate::document::Document;
use crate::full_tables::FullTable;
use crate::json;
use wavesieve_engine::ColumnUnit;
use wavesieve_export::unit::TimeUnit;

/// Name of the file.
pub const INDEX: &str = "tables.json";
/// Name of the file with the whole document.
pub(crate) const DOCUMENT: &str = "document.json";
/// Name of the schema, which distinguishes the file from other files.
pub const SCHEMA: &str = "wavesieve-tables";
/// Version of the schema. The first number changes when a field is removed or changes its meaning.
const SCHEMA_VERSION: &str = "1.1";

/// The file of a table, as its path in the folder.
pub fn file_of(table: &FullTable, extension: &str) -> String {
    let name = format!("{}.{extension}", table.name);
    if table.section.is_empty() { name } else { format!("{}/{name}", table.section) }
}

/// The index of the folder.
pub fn index(document: &Document, tables: &[FullTable], extension: &str, unit: TimeUnit, has_document: bool) -> Value {
    json!({
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "version": env!("CARGO_PKG_VERSION"),
        "document": has_document.then_some(DOCUMENT),
        "views": document.views.all().iter().map(json::view).collect::<Vec<Value>>(),
        "unit_of_work": document.views.unit().map(json::unit_of_work),
        "tables": tables.iter().map(|table| entry(table, extension, unit)).collect::<Vec<Value>>(),
    })
}

fn entry(table: &FullTable, extension: &str, unit: TimeUnit) -> Value {
    let columns = table.columns.iter().map(|column| {
        let converted = unit.scale().map(|(_, suffix)| suffix).filter(|_| column.unit == ColumnUnit::Nanoseconds);
        json!({ "name": column.name, "unit": converted.unwrap_or(column.unit.word()), "doc": column.doc })
    });
    json!({
        "file": file_of(table, extension),
        "section": table.section,
        "name": table.name,
        "title": table.title,
        "about": table.about,
        "command": table.command,
        "rows": table.frame.height(),
        "total_rows": table.total_rows,
        "columns": columns.collect::<Vec<Value>>(),
    })
}
