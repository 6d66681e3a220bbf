//! Databases of counter passes. rocprofiler-compute reads two tables of them, `counters_collection` and `regions`: they are views of a
//! rocpd database, or the only tables of a database that it made from several processes (its `src/utils/rocpd_data.py`).

use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow};
use csv::ByteRecord;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::counter_file::first_bytes;
use super::header::is_of_workload;
use super::workload::SYSTEM;
use crate::common::csv::{CsvFile, Flaws};
use crate::common::sqlite::{DatabaseFile, OpeningDatabase, Wanted, open, quoted};
use crate::json::{GZIP_MAGIC, decompressed_head};
use crate::recognition::head::SQLITE_MAGIC;

const COUNTERS: &str = "counters_collection";
const REGIONS: &str = "regions";

/// Columns of `counters_collection`, and their names in counter files.
const COLUMNS: &[(&str, &str)] = &[
    ("pid", "pid"),
    ("dispatch_id", "Dispatch_ID"),
    ("agent_id", "GPU_ID"),
    ("kernel_id", "Kernel_ID"),
    ("kernel_name", "Kernel_Name"),
    ("grid_size", "Grid_Size"),
    ("workgroup_size", "Workgroup_Size"),
    ("lds_block_size", "LDS_Per_Workgroup"),
    ("scratch_size", "Scratch_Per_Workitem"),
    ("vgpr_count", "Arch_VGPR"),
    ("accum_vgpr_count", "Accum_VGPR"),
    ("sgpr_count", "SGPR"),
    ("start", "Start_Timestamp"),
    ("end", "End_Timestamp"),
    ("counter_name", "Counter_Name"),
    ("value", "Counter_Value"),
];

/// A database that is opened when it is first read, and stays decompressed until its last reader is done.
#[derive(Debug)]
pub(crate) struct PassDatabase {
    pub file: CsvFile,
    opened: OnceLock<Result<DatabaseFile, String>>,
}

/// Whether a database belongs to a workload: it has only the two tables, or a machine description is next to it.
pub fn is_pass(path: &Path, database: &OpeningDatabase) -> bool {
    let is_in_workload = || path.parent().is_some_and(|folder| folder.join(SYSTEM).is_file());
    (!database.has_any("rocpd_") || database.has(COUNTERS) || is_in_workload())
        && open(database.file.path())
            .and_then(|connection| columns_of(&connection, COUNTERS))
            .is_ok_and(|columns| is_of_workload(&header(&columns)))
}

/// The columns of a table or view; none if it is missing.
fn columns_of(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(include_str!("sql/columns_of.sql"))?;
    let names = statement.query_map([table], |row| row.get(0))?.collect::<Result<Vec<String>, rusqlite::Error>>()?;
    Ok(names)
}

fn header(columns: &[String]) -> ByteRecord {
    present(columns).map(|(_, name)| *name).collect::<Vec<&str>>().into()
}

fn present(columns: &[String]) -> impl Iterator<Item = &'static (&'static str, &'static str)> + '_ {
    COLUMNS.iter().filter(|(column, _)| columns.iter().any(|name| name == column))
}

impl PassDatabase {
    pub fn new(file: CsvFile) -> Self {
        Self { file, opened: OnceLock::new() }
    }

    /// Whether a file is a database, by its first bytes.
    pub fn is_database(path: &Path) -> bool {
        let bytes = first_bytes(path);
        let is_magic = |bytes: &[u8]| bytes.starts_with(SQLITE_MAGIC);
        is_magic(&bytes)
            || (bytes.starts_with(GZIP_MAGIC) && is_magic(&decompressed_head(path, SQLITE_MAGIC.len() as u64)))
    }

    /// The file that SQLite reads.
    pub fn opened(&self) -> Result<&DatabaseFile> {
        let opened = self.opened.get_or_init(|| {
            let path = &self.file.path;
            let is_compressed = first_bytes(path).starts_with(GZIP_MAGIC);
            let opened = if is_compressed { DatabaseFile::decompressed(path) } else { DatabaseFile::open(path) };
            opened.map_err(|error| format!("{error:#}"))
        });
        opened.as_ref().map_err(|error| anyhow!("{error}"))
    }

    pub(crate) fn connect(&self) -> Result<Connection> {
        open(self.opened()?.path())
    }

    /// The names of the columns that are read.
    pub fn header(&self) -> Result<ByteRecord> {
        Ok(header(&columns_of(&self.connect()?, COUNTERS)?))
    }

    /// Whether the database has the base tables of its two views.
    pub(crate) fn has_base_tables(&self) -> bool {
        let has = |connection: Connection| -> Result<bool> {
            let mut statement = connection.prepare(include_str!("sql/has_base_tables.sql"))?;
            Ok(statement.exists([])?)
        };
        self.connect().and_then(has).unwrap_or_default()
    }

    /// The `wanted` columns that `regions` has; none if the table is missing.
    pub(crate) fn region_columns(&self, connection: &Connection, wanted: &[Wanted]) -> Result<Vec<Wanted>> {
        let columns = columns_of(connection, REGIONS)?;
        Ok(wanted.iter().copied().filter(|wanted| columns.iter().any(|column| column == wanted.name)).collect())
    }

    /// Passes every row of counters to `read`, which returns an error if it cannot parse the row.
    pub fn scan(&self, read: &mut dyn FnMut(&ByteRecord) -> Result<(), String>) -> Result<Flaws> {
        let connection = self.connect()?;
        let present: Vec<String> =
            present(&columns_of(&connection, COUNTERS)?).map(|(column, _)| quoted(column)).collect();
        let sql = format!(include_str!("sql/rows.sql"), columns = present.join(", "), table = COUNTERS);
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut flaws = Flaws::default();
        let (mut record, mut number) = (ByteRecord::new(), 0_u64);
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    number += 1;
                    record.clear();
                    for at in 0..present.len() {
                        push(&mut record, row.get_ref(at)?);
                    }
                    let place = || format!("{}: row {number} of {COUNTERS}", self.file.shown);
                    flaws.take(&record, read(&record), place);
                }
                Ok(None) => {
                    let damage = self.opened()?.damage(&self.file.shown).into_iter().next();
                    damage.into_iter().for_each(|damage| flaws.break_off(format!("{}: {}", damage.path, damage.cause)));
                    return Ok(flaws);
                }
                Err(error) if number == 0 => return Err(error).with_context(|| format!("cannot read {COUNTERS}")),
                Err(error) => {
                    let cause = format!("{}: the rest of {COUNTERS} is missing: {error}", self.file.shown);
                    flaws.break_off(cause);
                    return Ok(flaws);
                }
            }
        }
    }
}

fn push(record: &mut ByteRecord, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => record.push_field(b""),
        ValueRef::Integer(value) => record.push_field(value.to_string().as_bytes()),
        ValueRef::Real(value) => record.push_field(value.to_string().as_bytes()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => record.push_field(bytes),
    }
}
