//! Reads columns of the tables of one partition.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use parking_lot::Mutex;

use super::container::Partition;
use super::dialect::is_track_based;
use super::tracks::{OF_TRACK, Tracks};
use crate::common::kept;
use crate::common::sqlite::{
    self, Columns, Condition, DatabaseFile, OpeningDatabase, RowTest, Selection, Store, TableShape, Wanted, integer,
    quoted,
};
use wavesieve_tables::columns::reading::RowRange;

/// Tables with fewer rows are small.
const SMALL_ROWS: u64 = 4_096;

/// The key of every table.
pub const KEY: &str = "id";

/// The process that rows belong to, in a partition that holds several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Row id in `info_process`.
    pub row: i64,
    /// Process id of the operating system.
    pub pid: i64,
    /// Whether it also takes the rows on tracks without a process.
    pub first: bool,
}

/// The reader of a database, and the copy of the file that must stay until its last reader is done.
#[derive(Debug)]
pub(crate) struct DatabaseStore {
    store: Arc<Store>,
    _file: Arc<DatabaseFile>,
    /// Results of verified tables, by name and `closely`; processes of a partition share them.
    verified: Mutex<BTreeMap<(String, bool), Option<String>>>,
}

impl DatabaseStore {
    /// Reads the file with the reader that was chosen.
    pub fn new(database: &OpeningDatabase) -> Result<Self> {
        database.store.check()?;
        let (store, file) = (Arc::clone(&database.store), Arc::clone(&database.file));
        Ok(Self { store, _file: file, verified: Mutex::default() })
    }

    /// Damage to the first page of a table, the only page of a small one.
    pub(crate) fn damage_of_root(&self, table: &TableShape) -> Option<String> {
        sqlite::damage_of_root(&self.store, table)
    }

    /// The damage to the pages of a table and, if `closely`, to its rows.
    pub fn verify(&self, table: &TableShape, closely: bool, threads: usize) -> Option<String> {
        let key = (table.name.clone(), closely);
        let lock = || self.verified.lock();
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let found = sqlite::verify(&self.store, table, closely, threads);
        lock().insert(key, found.clone());
        found
    }
}

/// One partition of a database file.
#[derive(Clone, Debug)]
pub struct Database {
    file: Arc<DatabaseStore>,
    partition: Arc<Partition>,
    owner: Option<Owner>,
    tracks: Arc<OnceLock<Tracks>>,
}

impl Database {
    /// A partition of a file. With an `owner`, activity tables are restricted to rows of that process.
    pub fn new(file: Arc<DatabaseStore>, partition: Arc<Partition>, owner: Option<Owner>) -> Self {
        Self { file, partition, owner, tracks: Arc::default() }
    }

    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Distinguishes the rows of this partition and process from all others.
    pub fn key(&self) -> (PathBuf, String, Option<i64>) {
        let path = self.file.store.path().to_owned();
        (path, self.partition.suffix.clone(), self.owner.map(|owner| owner.row))
    }

    pub fn tracks(&self) -> Result<&Tracks> {
        kept(&self.tracks, || Tracks::read(self))
    }

    /// The damage to the tracks that were read so far.
    pub(crate) fn damage_of_tracks(&self) -> Option<&str> {
        self.tracks.get()?.damage()
    }

    /// The damage to all tables of the partition, by base name: to their pages and, if `closely`, to their rows.
    pub(crate) fn damage_of_tables(&self, closely: bool, threads: usize) -> Vec<(String, String)> {
        let tables = self.partition.table_bases().filter_map(|base| Some((base, self.partition.table(base)?)));
        let damage =
            |(base, table): (&str, &TableShape)| Some((base.to_owned(), self.file.verify(table, closely, threads)?));
        tables.filter_map(damage).collect()
    }

    /// The same partition with the rows of all its processes.
    pub(crate) fn of_all_processes(&self) -> Self {
        Self { owner: None, ..self.clone() }
    }

    /// Reads the row id and the `wanted` columns that a table has. A missing table has no rows.
    pub fn read(&self, base: &str, wanted: &[Wanted], threads: usize) -> Result<Columns> {
        self.read_where(base, wanted, Condition::all(), threads)
    }

    /// Like [`Database::read`], with a condition on the rows. Threads, queues, streams and agents that the table lacks come from the tracks
    /// of the rows.
    pub(crate) fn read_where(
        &self,
        base: &str,
        wanted: &[Wanted],
        condition: Condition,
        threads: usize,
    ) -> Result<Columns> {
        let Some(table) = self.partition.table(base).filter(|table| table.has(KEY)) else {
            return Ok(Columns::default());
        };
        let on_tracks: Vec<&'static str> = wanted
            .iter()
            .map(|wanted| wanted.name)
            .filter(|name| !table.has(name) && table.has("track_id") && OF_TRACK.contains(name))
            .collect();
        let mut wanted = wanted.to_vec();
        if !on_tracks.is_empty() && !wanted.contains(&integer("track_id")) {
            wanted.push(integer("track_id"));
        }
        let condition = self.condition(table, condition);
        let selection = Selection { table, key: KEY, condition: &condition };
        let mut columns = sqlite::read(&self.file.store, selection, &wanted, threads)?;
        if !on_tracks.is_empty() {
            self.tracks()?.add(&mut columns, &on_tracks);
        }
        Ok(columns)
    }

    /// Ranges of row ids that together cover a table, with about `rows` rows each; `None` if they cannot be read one by one.
    pub fn row_ranges(&self, base: &str, rows: usize) -> Option<Vec<RowRange>> {
        let table = self.partition.table(base).filter(|table| table.has(KEY))?;
        let condition = self.condition(table, Condition::all());
        sqlite::row_ranges(&self.file.store, Selection { table, key: KEY, condition: &condition }, rows)
    }

    /// Whether a table has a row that can be read, of any process.
    pub fn has_rows(&self, base: &str) -> bool {
        self.partition.table(base).is_some_and(|table| {
            sqlite::has_any(&self.file.store, Selection { table, key: KEY, condition: &Condition::all() })
        })
    }

    /// Whether a table certainly has a row of this process that meets a condition, whatever its values turn out to be.
    /// If not, only counting can decide.
    pub fn has_any(&self, base: &str, condition: Condition) -> bool {
        if self.is_small(base)
            && let Ok((rows, None)) = self.count(base, condition.clone(), 1)
        {
            return rows > 0;
        }
        self.partition.table(base).is_some_and(|table| {
            let condition = self.condition(table, condition);
            sqlite::has_any(&self.file.store, Selection { table, key: KEY, condition: &condition })
        })
    }

    /// Whether a table is whole and has so few rows that reading all of them costs less than opening the file with SQLite.
    pub fn is_small(&self, base: &str) -> bool {
        self.count(base, Condition::all(), 1).is_ok_and(|(rows, damage)| rows < SMALL_ROWS && damage.is_none())
    }

    /// Whether one of the first rows of a table has a value.
    pub(crate) fn is_among_first(&self, base: &str, column: &'static str, value: i64) -> bool {
        let table = self.partition.table(base).filter(|table| table.has(KEY) && table.has(column));
        let Some(table) = table else { return false };
        if self.is_small(base) {
            let read = self.read(base, &[integer(column)], 1);
            return read.is_ok_and(|columns| columns.integers(column).iter().any(|one| one == Some(value)));
        }
        let owned = self.condition(table, Condition::all()).to_sql();
        let sql = format!(
            include_str!("sql/is_among_first.sql"),
            column = quoted(column),
            table = quoted(&table.name),
            condition = if owned.is_empty() { owned } else { format!("WHERE {owned}") }
        );
        let Ok(connection) = sqlite::open(self.file.store.path()) else { return false };
        connection.query_row(&sql, [value], |_| Ok(())).is_ok()
    }

    /// Number of rows of a table; 0 if it is missing. In a damaged table, the rows that can be read are counted, and the cause is returned.
    pub fn count(&self, base: &str, condition: Condition, threads: usize) -> Result<(u64, Option<String>)> {
        let Some(table) = self.partition.table(base) else { return Ok((0, None)) };
        let condition = self.condition(table, condition);
        sqlite::count(&self.file.store, Selection { table, key: KEY, condition: &condition }, threads)
    }

    fn condition(&self, table: &TableShape, condition: Condition) -> Condition {
        match self.owner {
            Some(owner) => self.owned(table, owner).and_all(condition),
            None => condition,
        }
    }

    /// Condition for the rows of a process, if the table identifies them.
    fn owned(&self, table: &TableShape, owner: Owner) -> Condition {
        let is_track = self.partition.table("track").is_some_and(|track| track.name == table.name);
        if table.has("pid") && !is_track {
            return Condition::all().and(RowTest::OneOf("pid", vec![owner.row]));
        }
        let track = self.partition.table("track").filter(|track| table.has("track_id") && track.has("pid"));
        let Some(track) = track else { return Condition::all() };
        // Tracks of schema 4.1.0 name the process by its own id.
        let row = owner.row;
        let pids = if is_track_based(&self.partition) { format!("{row}, {}", owner.pid) } else { row.to_string() };
        let condition = format!(
            include_str!("sql/on_tracks_of.sql"),
            track = quoted(&track.name),
            pids = pids,
            first = owner.first
        );
        Condition::all().and_sql(condition.trim_end())
    }
}
