//! A process of a rocpd database as a source of canonical tables.

use std::sync::{Arc, OnceLock};

use anyhow::Result;

use Counted::{Activity, Arguments, FirstRuns, Joined, Marks, PcSamples, Samples, Whole, WithLength};

use super::assembly::Assembly;
use super::container::Partition;
use super::counter_facts::{CounterFacts, DECISIVE_TABLES};
use super::database::{Database, DatabaseStore};
use super::dialect;
use super::lookups::Lookups;
use super::process::processes;
use super::tables::regions::{with_length, without_length};
use super::tables::{args, counters, dispatches, info, launches, marks, pc_samples, regions, samples, transfers};
use super::tracks::TRACKS;
use crate::common::sqlite::{Condition, OpeningDatabase, damage};
use crate::common::{assembled, counted, is_left_out, kept};
use crate::recognition::format::{Opened, Opening, ProcessInput};
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::columns::reading::RowRange;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

/// How the rows of a canonical table are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// All rows of the source table.
    Whole,
    /// All rows of the source table. Any of them shows that the canonical table has rows.
    Activity,
    /// The first run of each dispatch.
    FirstRuns,
    /// Regions that have a length.
    WithLength,
    Marks,
    PcSamples,
    Samples,
    Arguments,
    /// By reading, which leaves out or joins rows.
    Joined,
}

/// A canonical table, the source table of its rows, how they are counted, and how they are read.
type Kind = (&'static str, &'static str, Counted, fn(&mut Assembly<'_>) -> Result<()>);

const TABLES: [Kind; 18] = [
    ("kernels", "kernel_dispatch", FirstRuns, dispatches::read_kernels),
    ("counter_dispatches", "kernel_dispatch", Activity, dispatches::read_counter_dispatches),
    ("memory_copies", "memory_copy", Activity, transfers::read_copies),
    ("memory_allocations", "memory_allocate", Activity, transfers::read_allocations),
    ("regions", "region", WithLength, regions::read_regions),
    ("marks", "sample", Marks, marks::read_marks),
    ("args", "arg", Arguments, args::read_args),
    ("samples", "sample", Samples, samples::read),
    ("pc_samples", "sample", PcSamples, pc_samples::read),
    ("graph_launches", "graph_launch", Whole, launches::read_graph_launches),
    ("hip_events", "hip_event", Whole, launches::read_hip_events),
    ("counters", "pmc_event", Joined, counters::read_counters),
    ("counter_instances", "pmc_event", Joined, counters::read_instances),
    ("queues", "info_queue", Whole, |assembly| assembly.put_described("info_queue", info::QUEUES)),
    ("streams", "info_stream", Whole, |assembly| assembly.put_described("info_stream", info::STREAMS)),
    ("threads", "info_thread", Whole, |assembly| assembly.put_described("info_thread", info::THREADS)),
    ("code_objects", "info_code_object", Whole, |assembly| {
        assembly.put_described("info_code_object", info::CODE_OBJECTS)
    }),
    ("kernel_symbols", "info_kernel_symbol", Whole, info::read_kernel_symbols),
];

fn kind(table: &Table) -> Option<&'static Kind> {
    TABLES.iter().find(|(name, ..)| *name == table.name)
}

struct RocpdSource {
    database: Database,
    lookups: Lookups,
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

    fn damage_of_tables(&self, closely: bool) -> Vec<Damage> {
        let tables = self.database.damage_of_tables(closely, rayon::current_num_threads());
        tables.into_iter().map(|table| damage_of(&self.shown, table)).collect()
    }
}

/// Whether a base name belongs to a small descriptive table, which is read along with other tables.
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
    // A failure of SQLite leaves the counter facts unknown, even if no table has damage.
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
        assembled(context, table, columns, |builder| {
            let Some((_, _, _, read)) = kind(table) else { return Ok(None) };
            let mut assembly = Assembly::new(builder, &self.database, &self.lookups);
            read(&mut assembly)?;
            assembly.finish().map(Some)
        })
    }

    fn has_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> bool {
        let Some((_, base, counted, _)) = kind(table).filter(|_| !is_left_out(context, table.name)) else {
            return false;
        };
        match counted {
            // Every dispatch has a first run.
            Activity | FirstRuns => self.database.has_any(base, Condition::all()),
            WithLength => self.database.has_any(base, with_length()),
            // Reading few samples is faster than opening SQLite.
            Marks if self.database.is_small(base) => false,
            Marks => {
                let marks = self.marks_and_pc_samples().map(|(marks, _)| Condition::all().and_sql(marks));
                let counted = marks.and_then(|marks| self.database.count(base, marks, context.threads).ok());
                counted.is_some_and(|(rows, cause)| rows > 0 && cause.is_none())
            }
            Arguments => args::has_any(&self.database, context.threads),
            Whole | Samples | PcSamples | Joined => false,
        }
    }

    fn row_ranges(&self, context: &ReadContext<'_>, table: &'static Table, rows: usize) -> Option<Vec<RowRange>> {
        let (_, base, counted, _) = kind(table).filter(|_| !is_left_out(context, table.name))?;
        if !matches!(counted, FirstRuns | WithLength) {
            return None;
        }
        // Each range looks up all texts, so it has at least that many rows.
        let texts = self.lookups.strings(&self.database, context.threads).map_or(0, |texts| texts.values().len());
        self.database.row_ranges(base, rows.max(texts))
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        let all = Condition::all;
        counted(self, context, table, || {
            let Some(&(_, base, counted, _)) = kind(table) else { return Ok(Some(RowCount::default())) };
            let is_sampled = matches!(counted, Marks | Samples | PcSamples);
            let countable =
                if is_sampled && !self.database.is_small(base) { self.marks_and_pc_samples() } else { None };
            let parts = match (counted, countable) {
                (Marks, Some((marks, _))) => vec![(base, all().and_sql(marks)), ("region", without_length())],
                (PcSamples, Some((_, counted))) => vec![(base, all().and_sql(counted))],
                (Samples, Some(_)) => Vec::new(),
                (FirstRuns, _) => {
                    let facts = &context.process.facts;
                    vec![(base, dispatches::first_runs(&self.database, facts, context.threads)?)]
                }
                (WithLength, _) => vec![(base, with_length())],
                (Activity | Whole, _) => vec![(base, all())],
                (Marks | PcSamples | Samples | Arguments | Joined, _) => return Ok(None),
            };
            let mut count = RowCount::default();
            for (base, condition) in parts {
                let (rows, cause) = self.database.count(base, condition, context.threads)?;
                count.rows += rows;
                count.damage.extend(cause.map(|cause| damage(context, &format!("rocpd_{base}"), &cause)));
            }
            Ok(Some(count))
        })
    }

    fn damage_of_content(&self) -> &[Damage] {
        kept(&self.content, || Ok(self.damage_of_tables(true))).map_or(&[], Vec::as_slice)
    }

    fn damage(&self) -> Vec<Damage> {
        self.content.get().cloned().unwrap_or_default()
    }

    fn damage_of_structure(&self) -> Vec<Damage> {
        self.damage_of_tables(false)
    }

    fn release(&self) {
        self.lookups.events.forget(&self.database);
    }
}
