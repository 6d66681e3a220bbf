//! A process of a rocpd database as a source of canonical tables.

use std::sync::{Arc, OnceLock};

use anyhow::Result;

use super::assembly::Assembly;
use super::container::Partition;
use super::counter_facts::{CounterFacts, DECISIVE_TABLES};
use super::database::{Database, DatabaseStore};
use super::dialect;
use super::lookups::Lookups;
use super::process::processes;
use super::symbols::SymbolCache;
use super::tables::regions::{with_length, without_length};
use super::tables::{args, counters, dispatches, info, launches, marks, pc_samples, regions, samples, transfers};
use super::tracks::TRACKS;
use crate::common::is_left_out;
use crate::common::sqlite::{Condition, OpeningDatabase, damage};
use crate::recognition::format::{Opened, Opening, ProcessInput};
use polars::prelude::IntoLazy;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::columns::frames::empty_frame;
use wavesieve_tables::columns::reading::RowRange;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

struct RocpdSource {
    database: Database,
    lookups: Lookups,
    symbols: SymbolCache,
    /// Path as given or found.
    shown: String,
    content: OnceLock<Vec<Damage>>,
}

impl RocpdSource {
    /// SQL conditions for samples that are marks and for PC samples, if no sample carries a value. Finding samples with
    /// values takes a join, and SQL cannot read compressed details.
    fn marks_and_pc_samples(&self) -> Option<(String, &'static str)> {
        let counted = pc_samples::countable(&self.database).filter(|_| !self.database.has_rows("pmc_event"))?;
        Some((format!("({counted}) IS NOT 1"), counted))
    }
}

/// Base names of the small tables that describe others, read along with any of them.
fn is_description(base: &str) -> bool {
    base == "metadata" || base == TRACKS || base.starts_with("info_")
}

/// The damage to the tables that decide the type of a partition, in the words of their readers.
fn damage_of_descriptions(
    store: &DatabaseStore,
    partition: &Partition,
    counters: &CounterFacts,
) -> Vec<(String, String)> {
    let is_doubtful = |base: &str| counters.failure.is_some() && DECISIVE_TABLES.contains(&base);
    let bases = partition.table_bases().filter(|base| is_description(base) || is_doubtful(base));
    let tables = bases.filter_map(|base| Some((base, partition.table(base)?)));
    let found = tables.filter_map(|(base, table)| {
        let cause = store.verify(table, is_description(base), 1)?;
        Some((base.to_owned(), cause))
    });
    let mut damage: Vec<(String, String)> = found.collect();
    let others = partition.table_bases().filter(|base| !is_description(base) && !is_doubtful(base));
    damage.extend(others.filter_map(|base| Some((base.to_owned(), store.damage_of_root(partition.table(base)?)?))));
    // Whatever SQLite stumbled over, what was asked is not known.
    let is_told = damage.iter().any(|(base, _)| is_doubtful(base));
    let unreported = counters.failure.iter().filter(|_| !is_told);
    damage.extend(unreported.map(|(base, cause)| ((*base).to_owned(), cause.clone())));
    damage
}

/// Damage of a table of a file, by its base name.
fn damage_of(shown: &str, (base, cause): (String, String)) -> Damage {
    Damage { path: shown.to_owned(), part: format!("rocpd_{base}"), cause }
}

/// The processes of a rocpd database with these partitions.
///
/// # Errors
/// When no partition can be read.
pub fn find(database: &OpeningDatabase, partitions: &[Arc<Partition>], opening: &Opening<'_>) -> Result<Opened> {
    let (shown, file) = (opening.shown, &database.file);
    let damage = |cause| Damage { path: shown.to_owned(), part: String::new(), cause };
    let mut opened =
        Opened { processes: Vec::new(), notes: file.note(shown).into_iter().collect(), damage: file.damage(shown) };
    let store = Arc::new(DatabaseStore::new(database)?);
    for partition in partitions {
        if let Some(reason) = dialect::unsupported(partition) {
            opened.damage.push(damage(reason));
            continue;
        }
        opened.notes.extend(dialect::notes(partition, shown));
        opened.damage.extend(partition.unreadable().iter().map(|table| Damage {
            path: shown.to_owned(),
            part: table.clone(),
            cause: "its entry in the list of tables is damaged".to_owned(),
        }));
        let counters = CounterFacts::read(database, partition);
        let of_descriptions = damage_of_descriptions(&store, partition, &counters);
        opened.damage.extend(of_descriptions.into_iter().map(|table| damage_of(shown, table)));
        for process in processes(database, partition, &counters, shown, opening.name)? {
            let source = RocpdSource {
                database: Database::new(Arc::clone(&store), Arc::clone(partition), process.owner),
                lookups: Lookups::new(Arc::clone(&opening.shared.events)),
                symbols: SymbolCache::default(),
                shown: shown.to_owned(),
                content: OnceLock::new(),
            };
            opened.processes.push(ProcessInput { facts: process.facts, source: Arc::new(source) });
        }
    }
    Ok(opened)
}

impl ProcessReader for RocpdSource {
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
            "marks" => marks::read_marks(&mut assembly)?,
            "args" => args::read_args(&mut assembly)?,
            "samples" => samples::read(&mut assembly)?,
            "pc_samples" => pc_samples::read(&mut assembly)?,
            "graph_launches" => launches::read_graph_launches(&mut assembly)?,
            "hip_events" => launches::read_hip_events(&mut assembly)?,
            "counters" => counters::read_counters(&mut assembly)?,
            "counter_instances" => counters::read_instances(&mut assembly)?,
            "queues" => info::read_named(&mut assembly, "info_queue", "queue_id")?,
            "streams" => info::read_named(&mut assembly, "info_stream", "stream_id")?,
            "threads" => info::read_threads(&mut assembly)?,
            "code_objects" => info::read_code_objects(&mut assembly)?,
            "kernel_symbols" => info::read_kernel_symbols(&mut assembly)?,
            _ => return Ok(Rows::clean(empty_frame(columns).lazy())),
        }
        assembly.finish()
    }

    fn has_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> bool {
        if is_left_out(context, table.name) {
            return false;
        }
        match table.name {
            // Every dispatch has a first run.
            "kernels" => self.database.has_any("kernel_dispatch", Condition::all()),
            "counter_dispatches" => self.database.has_any("kernel_dispatch", Condition::all()),
            "memory_copies" => self.database.has_any("memory_copy", Condition::all()),
            "memory_allocations" => self.database.has_any("memory_allocate", Condition::all()),
            "regions" => self.database.has_any("region", with_length()),
            // Reading few samples is faster than opening SQLite.
            "marks" if self.database.is_small("sample") => false,
            "marks" => {
                let marks = self.marks_and_pc_samples().map(|(marks, _)| Condition::all().and_sql(marks));
                let counted = marks.and_then(|marks| self.database.count("sample", marks, context.threads).ok());
                counted.is_some_and(|(rows, cause)| rows > 0 && cause.is_none())
            }
            "args" => args::has_any(&self.database, context.threads),
            _ => false,
        }
    }

    fn row_ranges(&self, context: &ReadContext<'_>, table: &'static Table, rows: usize) -> Option<Vec<RowRange>> {
        let base = match table.name {
            "kernels" => "kernel_dispatch",
            "regions" => "region",
            _ => return None,
        };
        if is_left_out(context, table.name) {
            return None;
        }
        // Each range looks all texts up.
        let texts = self.lookups.strings(&self.database, context.threads).map_or(0, |texts| texts.values().len());
        self.database.row_ranges(base, rows.max(texts))
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        if is_left_out(context, table.name) {
            return Ok(RowCount::default());
        }
        let is_sampled = matches!(table.name, "marks" | "samples" | "pc_samples");
        let countable =
            if is_sampled && !self.database.is_small("sample") { self.marks_and_pc_samples() } else { None };
        let all = Condition::all;
        let parts = match (table.name, countable) {
            ("marks", Some((marks, _))) => {
                vec![("sample", all().and_sql(marks)), ("region", without_length())]
            }
            ("pc_samples", Some((_, counted))) => vec![("sample", all().and_sql(counted))],
            ("samples", Some(_)) => Vec::new(),
            ("kernels", _) => {
                let first = dispatches::first_runs(&self.database, &context.process.facts, context.threads)?;
                vec![("kernel_dispatch", first)]
            }
            ("counter_dispatches", _) => vec![("kernel_dispatch", all())],
            ("memory_copies", _) => vec![("memory_copy", all())],
            ("memory_allocations", _) => vec![("memory_allocate", all())],
            ("regions", _) => vec![("region", with_length())],
            ("graph_launches", _) => vec![("graph_launch", all())],
            ("hip_events", _) => vec![("hip_event", all())],
            ("queues", _) => vec![("info_queue", all())],
            ("streams", _) => vec![("info_stream", all())],
            ("threads", _) => vec![("info_thread", all())],
            ("code_objects", _) => vec![("info_code_object", all())],
            ("kernel_symbols", _) => vec![("info_kernel_symbol", all())],
            // These leave out or join rows, so counting requires reading.
            ("args" | "counters" | "counter_instances" | "samples" | "marks" | "pc_samples", _) => {
                let columns: Vec<&'static Column> = table.columns.iter().skip(2).take(2).collect();
                let rows = self.read(context, table, &columns)?;
                return Ok(RowCount { rows: rows.frame.collect()?.height() as u64, damage: rows.damage });
            }
            _ => Vec::new(),
        };
        let mut count = RowCount::default();
        for (base, condition) in parts {
            let (rows, cause) = self.database.count(base, condition, context.threads)?;
            count.rows += rows;
            count.damage.extend(cause.map(|cause| damage(context, &format!("rocpd_{base}"), &cause)));
        }
        Ok(count)
    }

    fn damage_of_content(&self) -> &[Damage] {
        // Not within `get_or_init`: a thread that waits for others there may start work that wants the same.
        if self.content.get().is_none() {
            let tables = self.database.damage_of_tables(true, rayon::current_num_threads());
            let _ = self.content.set(tables.into_iter().map(|table| damage_of(&self.shown, table)).collect());
        }
        self.content.get().map(Vec::as_slice).unwrap_or_default()
    }

    fn damage(&self) -> Vec<Damage> {
        self.content.get().cloned().unwrap_or_default()
    }

    fn damage_of_structure(&self) -> Vec<Damage> {
        let tables = self.database.damage_of_tables(false, rayon::current_num_threads());
        tables.into_iter().map(|table| damage_of(&self.shown, table)).collect()
    }

    fn release(&self) {
        self.lookups.events.forget(&self.database);
    }
}
