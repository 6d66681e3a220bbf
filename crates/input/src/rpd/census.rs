//! Facts that two scans reveal about a file before anything is read: its processes, its GPUs, its types of operations.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::Value;
use rusqlite::{Connection, Row};

use super::container::Container;
use super::kinds::{OpKind, op_kind};
use crate::common::sqlite::{DatabaseFile, exists, open, quoted};
use wavesieve_model::text::fnv::fnv1a;

/// The call that a tracer on rocprofiler-sdk records of its own work.
const SDK_CALL: &str = "RocprofDataSource::buffer_callback";

#[derive(Clone, Debug, Default)]
pub(crate) struct Census {
    /// Process ids in the order in which they appear; at least one, -1 if none is known.
    pub pids: Vec<i64>,
    /// Process of every session.
    pub sessions: BTreeMap<i64, i64>,
    /// Numbers of all GPUs that worked or were monitored.
    pub gpus: BTreeSet<i64>,
    /// GPUs that ran kernels.
    pub kernel_gpus: BTreeSet<i64>,
    /// Ids of the types of operations, by kind.
    pub op_types: Vec<(i64, OpKind)>,
    /// Whether the tracer was based on rocprofiler-sdk: it records grids in work-items, and copies without a GPU.
    pub is_sdk: bool,
}

impl Census {
    /// Scans all rows. Rows on damaged pages are missing; readers of the table report the damage.
    pub fn take(connection: &Connection, container: &Container) -> Self {
        let mut census = Self::default();
        let table = |base: &str| container.table(base).is_some();
        if table("api") {
            each(connection, include_str!("sql/processes.sql"), |row| {
                if let (Some(pid), Some(session)) = (integer(row, 0), integer(row, 1)) {
                    census.sessions.entry(session).or_insert(pid);
                    if !census.pids.contains(&pid) {
                        census.pids.push(pid);
                    }
                }
            });
        }
        if census.pids.is_empty() {
            census.pids.push(-1);
        }
        if table("op") {
            each(connection, include_str!("sql/operations.sql"), |row| {
                let name: Option<String> = row.get(2).unwrap_or_default();
                let kind = op_kind(name.as_deref().unwrap_or_default());
                if let Some(gpu) = integer(row, 0) {
                    census.gpus.insert(gpu);
                    if kind == OpKind::Kernel {
                        census.kernel_gpus.insert(gpu);
                    }
                }
                if let Some(id) = integer(row, 1) {
                    census.op_types.push((id, kind));
                }
                census.is_sdk |= name.is_some_and(|name| name.starts_with("MEMORY_COPY_"));
            });
        }
        census.op_types.sort_by_key(|(id, _)| *id);
        census.op_types.dedup();
        if table("monitor") {
            each(connection, include_str!("sql/monitored.sql"), |row| census.gpus.extend(integer(row, 0)));
        }
        census.is_sdk |= connection.query_row(include_str!("sql/has_string.sql"), [SDK_CALL], |_| Ok(())).is_ok();
        census
    }

    pub(crate) fn types_of(&self, kind: OpKind) -> Vec<i64> {
        self.op_types.iter().filter(|(_, of)| *of == kind).map(|(id, _)| *id).collect()
    }
}

/// Visits the rows that can be read.
fn each(connection: &Connection, sql: &str, mut visit: impl FnMut(&Row<'_>)) {
    if let Ok(mut statement) = connection.prepare(sql)
        && let Ok(mut rows) = statement.query([])
    {
        while let Ok(Some(row)) = rows.next() {
            visit(row);
        }
    }
}

fn integer(row: &Row<'_>, at: usize) -> Option<i64> {
    match row.get(at) {
        Ok(Value::Integer(integer)) => Some(integer),
        _ => None,
    }
}

/// Whether the file holds at most the call with which the tracer itself looks for GPUs.
pub(crate) fn holds_nothing(file: &DatabaseFile) -> bool {
    let Ok(connection) = open(file.path()) else { return false };
    let Ok(container) = Container::read(&connection) else { return false };
    let empty = |base: &str| container.table(base).is_none_or(|table| !exists(&connection, table, ""));
    let called = connection.query_row(include_str!("sql/calls_of_program.sql"), [], |_| Ok(()));
    let silent = matches!(called, Err(rusqlite::Error::QueryReturnedNoRows));
    silent && ["op", "monitor", "kernelapi", "copyapi"].into_iter().all(empty)
}

/// A hash that distinguishes files: the version, and the first and last rows of calls and operations.
pub fn content_hash(connection: &Connection, container: &Container) -> String {
    let mut bytes: Vec<u8> = container.schema_version.clone().unwrap_or_default().into_bytes();
    for base in ["api", "op"] {
        if let Some(table) = container.table(base) {
            let sql = format!(include_str!("sql/fingerprint.sql"), table = quoted(&table.name));
            each(connection, &sql, |row| {
                (0..3).for_each(|at| bytes.extend(integer(row, at).unwrap_or(-1).to_le_bytes()));
            });
        }
    }
    format!("{:016x}", fnv1a(&bytes))
}
