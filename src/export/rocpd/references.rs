//! Rows that other rows refer to: names, kernel symbols, code objects, counters and tracks.

use anyhow::Result;

use super::partition::{Copied, Copying};
use super::structure::SourceTable;
use crate::input::quoted;

/// A table of which only what rows refer to is kept.
struct Referenced {
    base: &'static str,
    /// Columns that refer to it.
    columns: &'static [&'static str],
}

/// Tables in an order in which what refers comes before what is referred to.
const REFERENCED: [Referenced; 5] = [
    Referenced { base: "info_pmc", columns: &["pmc_id"] },
    Referenced { base: "info_kernel_symbol", columns: &["kernel_id"] },
    Referenced { base: "info_code_object", columns: &["code_object_id"] },
    Referenced { base: "track", columns: &["track_id"] },
    Referenced { base: "string", columns: &["name_id", "region_name_id", "category_id", "string_id"] },
];

/// Whether a table is copied after those that refer to it.
pub(super) fn is_referenced(table: &SourceTable) -> bool {
    REFERENCED.iter().any(|referenced| referenced.base == table.base) && table.has("id")
}

/// Copies what the rows that were copied refer to.
///
/// # Errors
/// When a table cannot be copied.
pub(super) fn copy_referenced(copying: &Copying<'_>) -> Result<Copied> {
    let mut copied = Copied::default();
    for referenced in &REFERENCED {
        let Some(table) = copying.partition.table(referenced.base).filter(|table| is_referenced(table)) else {
            continue;
        };
        let rows = match referenced.base {
            // Details of samples name code objects too.
            "info_code_object" if has_samples(copying)? => {
                copying.copy(table, of_processes(copying, table).as_deref())?
            }
            _ => copying.copy(table, Some(&condition(copying, referenced)))?,
        };
        copied.add(table, rows);
    }
    Ok(copied)
}

fn has_samples(copying: &Copying<'_>) -> Result<bool> {
    let Some(samples) = copying.partition.table("sample") else { return Ok(false) };
    let sql = format!("SELECT EXISTS (SELECT 1 FROM main.{})", quoted(&samples.name));
    Ok(copying.connection.query_row(&sql, [], |row| row.get(0))?)
}

/// Condition for rows of processes that were copied.
fn of_processes(copying: &Copying<'_>, table: &SourceTable) -> Option<String> {
    let processes = copying.partition.table("info_process").filter(|_| table.has("pid"))?;
    Some(format!("pid IN (SELECT id FROM main.{})", quoted(&processes.name)))
}

/// Condition for rows that the output refers to.
fn condition(copying: &Copying<'_>, referenced: &Referenced) -> String {
    let mut selects = Vec::new();
    for table in copying.partition.tables.iter().filter(|table| table.base != referenced.base) {
        for column in referenced.columns.iter().filter(|column| table.has(column)) {
            selects.push(format!("SELECT {column} FROM main.{}", quoted(&table.name)));
        }
    }
    if selects.is_empty() { "0".to_owned() } else { format!("id IN ({})", selects.join(" UNION ")) }
}
