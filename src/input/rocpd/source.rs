//! A process of a rocpd database as a source of canonical tables.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::assembly::Assembly;
use super::container::partitions;
use super::database::Database;
use super::lookups::Lookups;
use super::process::processes;
use super::regions::{WITH_LENGTH, WITHOUT_LENGTH};
use super::symbols::SymbolCache;
use super::{counters, dispatches, info, regions, transfers};
use crate::input::Found;
use crate::input::common::is_left_out;
use crate::input::common::sqlite::{damage, note_open_log, open};
use crate::trace::frames::empty_frame;
use crate::trace::schema::{Column, Table};
use crate::trace::source::{Anomaly, ReadContext, RowCount, Rows, Severity, Source};
use polars::prelude::IntoLazy;

/// Schema versions whose tables this reader knows.
const KNOWN_VERSIONS: &[&str] = &["3", "3.0.0"];

struct RocpdSource {
    database: Database,
    lookups: Lookups,
    symbols: SymbolCache,
}

/// The processes of a rocpd database, and anomalies of the file as a whole.
///
/// # Errors
/// When no partition can be read.
pub fn find(path: &Path, shown: &str, source: &str) -> Result<(Vec<Found>, Vec<Anomaly>)> {
    let connection = open(path)?;
    let mut found = Vec::new();
    let mut notes = Vec::new();
    note_open_log(path, shown, &mut notes);
    for partition in partitions(&connection).with_context(|| format!("cannot read the tables of {shown}"))? {
        note_unknown(&partition, shown, &mut notes);
        for process in processes(&connection, &partition, shown, source)? {
            let database = Database::new(path, partition.clone(), process.row);
            let source = RocpdSource { database, lookups: Lookups::new(), symbols: SymbolCache::default() };
            found.push(Found { facts: process.facts, source: Arc::new(source) });
        }
    }
    Ok((found, notes))
}

fn note_unknown(partition: &super::container::Partition, shown: &str, notes: &mut Vec<Anomaly>) {
    let unknown: Vec<&str> = partition.unknown_tables().collect();
    let mut note = |check_id, severity, table_name: &str, count: usize, detail: String| {
        notes.push(Anomaly {
            check_id,
            severity,
            table_name: table_name.to_owned(),
            count: i64::try_from(count).unwrap_or(i64::MAX),
            first_key: Some(shown.to_owned()),
            detail,
        });
    };
    if !unknown.is_empty() {
        let detail = format!("tables that are not known were not read: {}", unknown.join(", "));
        note("unknown_table", Severity::Info, "processes", unknown.len(), detail);
    }
    let version = partition.schema_version.as_deref();
    if !version.is_some_and(|version| KNOWN_VERSIONS.contains(&version)) {
        let stated =
            version.map_or_else(|| "states no schema version".to_owned(), |v| format!("states schema version {v}"));
        let detail = format!("the file {stated}; what is known of 3.0.0 was read, columns beyond it were not");
        note("unknown_version", Severity::Warning, "processes", 1, detail);
    }
}

impl Source for RocpdSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        if is_left_out(context, table.name) {
            return Ok(Rows::clean(empty_frame(columns).lazy()));
        }
        let mut assembly = Assembly::new(context, &self.database, &self.lookups, &self.symbols, table, columns);
        match table.name {
            "kernels" => dispatches::read(&mut assembly, None)?,
            "counter_dispatches" => dispatches::read(&mut assembly, Some(context.process.pass))?,
            "memory_copies" => transfers::read_copies(&mut assembly)?,
            "memory_allocations" => transfers::read_allocations(&mut assembly)?,
            "regions" => regions::read_regions(&mut assembly)?,
            "marks" => regions::read_marks(&mut assembly)?,
            "args" => regions::read_args(&mut assembly)?,
            "counters" => counters::read_counters(&mut assembly)?,
            "counter_instances" => counters::read_instances(&mut assembly)?,
            "queues" => info::read_named(&mut assembly, "info_queue", "queue_id")?,
            "streams" => info::read_named(&mut assembly, "info_stream", "stream_id")?,
            "threads" => info::read_threads(&mut assembly)?,
            "code_objects" => info::read_code_objects(&mut assembly)?,
            "kernel_symbols" => info::read_kernel_symbols(&mut assembly)?,
            // Tables that schema 3.0.0 cannot fill.
            _ => return Ok(Rows::clean(empty_frame(columns).lazy())),
        }
        assembly.finish()
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        let used = !is_left_out(context, table.name);
        let parts: &[(&str, &str)] = match table.name {
            "kernels" | "counter_dispatches" if used => &[("kernel_dispatch", "")],
            "memory_copies" if used => &[("memory_copy", "")],
            "memory_allocations" if used => &[("memory_allocate", "")],
            "regions" if used => &[("region", WITH_LENGTH)],
            "marks" if used => &[("sample", ""), ("region", WITHOUT_LENGTH)],
            "queues" => &[("info_queue", "")],
            "streams" => &[("info_stream", "")],
            "threads" => &[("info_thread", "")],
            "code_objects" => &[("info_code_object", "")],
            "kernel_symbols" => &[("info_kernel_symbol", "")],
            // These leave out or join rows, so that only reading tells.
            "args" | "counters" | "counter_instances" if used => {
                let columns: Vec<&'static Column> = table.columns.iter().skip(2).take(2).collect();
                let rows = self.read(context, table, &columns)?;
                return Ok(RowCount { rows: rows.frame.collect()?.height() as u64, damage: rows.damage });
            }
            _ => &[],
        };
        let mut count = RowCount::default();
        for (base, condition) in parts {
            let (rows, cause) = self.database.count(base, condition)?;
            count.rows += rows;
            count.damage.extend(cause.map(|cause| damage(context, &format!("rocpd_{base}"), &cause, rows)));
        }
        Ok(count)
    }
}
