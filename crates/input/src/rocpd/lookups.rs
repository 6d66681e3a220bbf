//! The small tables that activity rows point to.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::*;

use super::database::Database;
use super::dialect::is_track_based;
use super::events::EventCache;
use super::owners::OwnerCache;
use super::symbols::{SYMBOLS, Symbols};
use super::tables::marker_names::MarkerNames;
use crate::common::sqlite::{Columns, integer, text, type_mismatches};
use crate::common::{IdIndex, Texts, index_of, kept, remembering};
use wavesieve_model::schema::anomaly::Anomaly;
use wavesieve_tables::columns::reading::RowRange;
use wavesieve_tables::columns::values::integers;

/// Strings, categories, threads and kernel symbols of one partition, read when first needed.
#[derive(Default)]
pub(crate) struct Lookups {
    strings: OnceLock<TextTable>,
    categories: OnceLock<TextTable>,
    threads: OnceLock<Threads>,
    symbols: OnceLock<Symbols>,
    /// Set when all regions have a length.
    no_instants: OnceLock<()>,
    /// Ranges of regions that all have a length, by their first rows.
    lasting: Mutex<BTreeMap<i64, i64>>,
    marker_names: OnceLock<MarkerNames>,
    pub owners: OwnerCache,
    /// The events, shared with other partitions.
    pub events: Arc<EventCache>,
}

/// The texts of a table, with its anomalies and damage.
struct TextTable {
    texts: Texts,
    anomalies: Vec<Anomaly>,
    damage: Option<String>,
}

struct Threads {
    index: IdIndex,
    tids: Vec<Option<i64>>,
    of_system: Option<IdIndex>,
    damage: Option<String>,
}

const STRINGS: &str = "string";
const CATEGORIES: &str = "info_category";
const THREADS: &str = "info_thread";

impl Threads {
    fn tid(&self, row: i64) -> Option<i64> {
        if self.of_system.as_ref().is_some_and(|tids| tids.position(row).is_some()) {
            return Some(row);
        }
        self.index.position(row).and_then(|at| self.tids.get(at).copied().flatten())
    }
}

/// The texts of a table, read when first needed.
fn read_texts<'a>(
    read: &'a OnceLock<TextTable>,
    database: &Database,
    base: &str,
    column: &'static str,
    threads: usize,
) -> Result<&'a Texts> {
    let table = kept(read, || {
        let columns = database.read(base, &[text(column)], threads)?;
        let source = format!("rocpd_{base}");
        Ok(TextTable {
            texts: Texts::new(&columns.integers("id"), &columns.texts(column)),
            anomalies: type_mismatches(&source, &source, &columns).collect(),
            damage: columns.damage,
        })
    })?;
    Ok(&table.texts)
}

impl Lookups {
    pub fn new(events: Arc<EventCache>) -> Self {
        Self { events, ..Self::default() }
    }

    /// Notes whether the regions that were read all have a length: all regions of the table, or the regions of one range.
    pub(crate) fn see_regions(&self, regions: &Columns, rows: Option<RowRange>) {
        let have_length = regions.left_out == Some(0) && regions.damage.is_none();
        let rows = rows.unwrap_or(RowRange { first: i64::MIN, last: i64::MAX });
        let mut ranges = self.lasting.lock();
        if !have_length || rows.last < rows.first {
            return;
        }
        ranges.insert(rows.first, rows.last);
        // Ranges that follow each other without a gap cover all regions.
        let mut next = Some(i64::MIN);
        while let Some(last) = next.and_then(|first| ranges.get(&first)) {
            if *last == i64::MAX {
                let _ = self.no_instants.set(());
            }
            next = last.checked_add(1);
        }
    }

    /// Whether all regions are known to have a length.
    pub(crate) fn have_no_instants(&self) -> bool {
        self.no_instants.get().is_some()
    }

    pub fn strings(&self, database: &Database, threads: usize) -> Result<&Texts> {
        read_texts(&self.strings, database, STRINGS, "string", threads)
    }

    /// The categories of events: in a table of their own from schema 4.1.0 on, otherwise among the strings.
    pub fn categories(&self, database: &Database, threads: usize) -> Result<&Texts> {
        if database.partition().table(CATEGORIES).is_none() {
            return self.strings(database, threads);
        }
        read_texts(&self.categories, database, CATEGORIES, "name", 1)
    }

    /// The ranges that are named by their text.
    pub fn marker_names(&self, database: &Database, threads: usize) -> Result<&MarkerNames> {
        kept(&self.marker_names, || MarkerNames::read(self, database, threads))
    }

    pub fn symbols(&self, database: &Database) -> Result<&Symbols> {
        kept(&self.symbols, || Symbols::read(database))
    }

    /// The anomalies of the texts that were read so far.
    pub fn anomalies(&self) -> impl Iterator<Item = Anomaly> {
        let read = [self.strings.get(), self.categories.get()].into_iter().flatten();
        read.flat_map(|table| table.anomalies.iter().cloned())
    }

    /// The damage to tables that were read so far, by base name: rows that refer to them may be wrong.
    pub fn damage(&self) -> impl Iterator<Item = (&'static str, &str)> {
        fn of_texts<'a>(base: &'static str, table: &'a OnceLock<TextTable>) -> Option<(&'static str, &'a str)> {
            Some((base, table.get()?.damage.as_deref()?))
        }
        let threads = self.threads.get().and_then(|threads| Some((THREADS, threads.damage.as_deref()?)));
        [of_texts(STRINGS, &self.strings), of_texts(CATEGORIES, &self.categories), threads].into_iter().flatten()
    }

    /// The damage to the symbols that were read.
    pub fn damage_of_symbols(&self) -> Option<(&'static str, &str)> {
        Some((SYMBOLS, self.symbols.get()?.columns.damage.as_deref()?))
    }

    /// Thread ids of the operating system for a column of thread rows; the row id itself if the row is missing. Tracks of schema 4.1.0 hold
    /// the ids of the operating system themselves.
    pub fn thread_ids(&self, database: &Database, rows: &Int64Chunked) -> Result<Int64Chunked> {
        let threads = kept(&self.threads, || {
            let columns = database.read(THREADS, &[integer("tid")], 1)?;
            let tids: Vec<Option<i64>> = columns.integers("tid").iter().collect();
            let of_system = is_track_based(database.partition()).then(|| index_of(&columns.integers("tid")));
            Ok(Threads { index: index_of(&columns.integers("id")), tids, of_system, damage: columns.damage })
        })?;
        let tids = remembering(rows, |row| row.map(|row| threads.tid(row).unwrap_or(row)));
        Ok(integers("tid", tids))
    }
}
