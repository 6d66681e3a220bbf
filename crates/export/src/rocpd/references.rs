//! Rows that other rows refer to: names, kernel symbols, code objects, counters and tracks.

use anyhow::Result;

use super::marks::Mark;
use super::partition::{Copied, Copying};
use super::structure::SourceTable;
use wavesieve_input::quoted;

/// Tables of which only referenced rows are kept. Each table comes before those that it refers to.
const REFERENCED: [(&str, Mark); 5] = [
    ("info_pmc", Mark::Counter),
    ("info_kernel_symbol", Mark::Symbol),
    (CODE_OBJECTS, Mark::CodeObject),
    ("track", Mark::Track),
    ("string", Mark::Text),
];

/// Block of the counters that rocprofv3 declares with events of the kernel driver.
const DRIVER_BLOCK: &str = "KFD";
const CODE_OBJECTS: &str = "info_code_object";

/// Whether a table is copied after those that refer to it.
pub(super) fn is_referenced(table: &SourceTable) -> bool {
    REFERENCED.iter().any(|(base, _)| *base == table.base) && table.has("id")
}

/// Copies the rows that copied rows refer to.
pub(super) fn copy_referenced(copying: &Copying<'_>) -> Result<Copied> {
    let mut copied = Copied::default();
    for (base, mark) in REFERENCED {
        let Some(table) = copying.partition.table(base).filter(|table| is_referenced(table)) else { continue };
        let condition = match base {
            // Details of samples name code objects too.
            CODE_OBJECTS if has_samples(copying)? => of_processes(copying, table),
            // Events of the driver have details where these are declared, though no value refers to them.
            "info_pmc" if table.has("block") => Some(format!("{} OR block = '{DRIVER_BLOCK}'", mark.is_kept("id"))),
            _ => Some(mark.is_kept("id")),
        };
        copied.add(table, copying.copy_marked(table, "", condition.as_deref(), &|_| None)?);
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
