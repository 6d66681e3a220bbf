//! Events, which connect activity rows to their category and correlation.
//!
//! Every table of activity joins the events, which outnumber its rows. Their columns are kept, stored as narrowly as their numbers allow,
//! until the events of other processes need the memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::*;
use rayon::prelude::*;

use super::database::{Database, KEY};
use super::event_numbers::Numbers;
use crate::common::sqlite::{Columns, Condition, TypeMismatch, Wanted, integer};
use crate::common::{IdIndex, index_of};
use wavesieve_tables::columns::reading::RowRange;
use wavesieve_tables::columns::values::I64Values;

/// The table of events.
const EVENTS: &str = "event";

/// Maximum bytes of event columns that are kept.
const KEPT_BYTES: usize = 512 << 20;

/// Approximate number of events that are read at a time. Buffers of this size are reused; new memory for all events would cost more than
/// reading them.
const RANGE_ROWS: usize = 1 << 17;

/// Columns that the tables of activity take from their events.
const JOINED: &[&str] = &["stack_id", "parent_stack_id", "correlation_id", "category_id"];

/// Like [`JOINED`], for tables that are read in pieces because memory is short.
const JOINED_BY_PIECES: &[&str] = &["stack_id", "category_id"];

/// Columns of the event table, joined to columns of event ids.
#[derive(Clone, Default)]
pub struct Events {
    index: Arc<IdIndex>,
    height: usize,
    columns: Vec<(&'static str, Arc<Numbers>)>,
    type_mismatches: Vec<TypeMismatch>,
    damage: Option<String>,
}

impl Events {
    /// Reads the named integer columns of the event table, for rows of a piece of a table or for all. Without names, nothing is read.
    pub fn read(
        cache: &EventCache,
        database: &Database,
        names: &[&'static str],
        threads: usize,
        is_piece: bool,
    ) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        // If pieces are read at the same time, one thread reads the events, with the help of the other threads.
        let _reading = is_piece.then(|| cache.reading.lock());
        let threads = if is_piece { rayon::current_num_threads() } else { threads };
        let kept = cache.find(database);
        if is_piece {
            return Self::read_for_pieces(cache, database, names, kept, threads);
        }
        // A caller that wants several columns wants the others later. One more column costs less than reading every page again.
        let read = if names.len() > 1 { JOINED } else { names };
        let missing: Vec<&'static str> = read.iter().copied().filter(|name| !kept.has(name)).collect();
        let mut events = kept.clone();
        if !missing.is_empty() {
            let read = Self::read_anew(database, &missing, threads)?;
            events = match kept.joined(read) {
                Some(events) => {
                    cache.keep(database, events.clone(), false);
                    events
                }
                // If a table is damaged, each column may have other rows.
                None => Self::read_anew(database, names, threads)?,
            };
        }
        Ok(events.only(names))
    }

    /// Reads all columns that tables in pieces take from events. They are read for the first piece, damaged or not, and stay until all
    /// pieces were read.
    fn read_for_pieces(
        cache: &EventCache,
        database: &Database,
        names: &[&'static str],
        kept: Self,
        threads: usize,
    ) -> Result<Self> {
        let mut events = kept;
        if !names.iter().all(|name| events.has(name)) {
            let more = names.iter().copied().filter(|name| !JOINED_BY_PIECES.contains(name));
            let all: Vec<&'static str> = JOINED_BY_PIECES.iter().copied().chain(more).collect();
            events = Self::read_anew(database, &all, threads)?;
            cache.keep(database, events.clone(), true);
        }
        Ok(events.only(names))
    }

    fn read_anew(database: &Database, names: &[&'static str], threads: usize) -> Result<Self> {
        if let Some(events) = Self::read_in_ranges(database, names, threads) {
            return Ok(events);
        }
        let wanted: Vec<Wanted> = names.iter().map(|name| integer(name)).collect();
        let columns = database.read(EVENTS, &wanted, threads)?;
        let index = Arc::new(index_of(&columns.integers(KEY)));
        let numbers = names.par_iter().map(|name| (*name, Arc::new(Numbers::new(columns.integers(name)))));
        let numbers = numbers.collect();
        Ok(Self {
            index,
            height: columns.height,
            columns: numbers,
            type_mismatches: columns.type_mismatches,
            damage: columns.damage,
        })
    }

    /// Like [`Self::read_anew`], range by range. `None` if events are few, cannot be read in ranges, or have damage or type mismatches.
    fn read_in_ranges(database: &Database, names: &[&'static str], threads: usize) -> Option<Self> {
        let ranges = database.row_ranges(EVENTS, RANGE_ROWS).filter(|ranges| ranges.len() > 1)?;
        let wanted: Vec<Wanted> = names.iter().map(|name| integer(name)).collect();
        let read = |rows: &RowRange| {
            let condition = Condition::all().and_rows(KEY, *rows);
            let columns = database.read_where(EVENTS, &wanted, condition, 1).ok()?;
            let is_plain = columns.damage.is_none() && columns.type_mismatches.is_empty();
            let numbers = names.iter().map(|name| Numbers::new(columns.integers(name)));
            is_plain.then(|| (Ids::new(&columns.integers(KEY)), numbers.collect::<Vec<Numbers>>()))
        };
        let parts: Option<Vec<(Ids, Vec<Numbers>)>> =
            if threads > 1 { ranges.par_iter().map(read).collect() } else { ranges.iter().map(read).collect() };
        let (ids, numbers): (Vec<Ids>, Vec<Vec<Numbers>>) = parts?.into_iter().unzip();
        let mut columns: Vec<(&'static str, Vec<Numbers>)> = names.iter().map(|name| (*name, Vec::new())).collect();
        for (column, part) in numbers.into_iter().flat_map(|part| (0..).zip(part)) {
            columns.get_mut::<usize>(column)?.1.push(part);
        }
        let columns = columns.into_par_iter().map(|(name, parts)| (name, Arc::new(Numbers::joined(parts))));
        let columns = columns.collect();
        let (index, height) = (Arc::new(Ids::index(&ids)), ids.iter().map(|ids| ids.height).sum());
        Some(Self { index, height, columns, type_mismatches: Vec::new(), damage: None })
    }

    /// Adds `more` columns of the same rows; `None` if they are damaged or have other rows.
    fn joined(&self, more: Self) -> Option<Self> {
        if self.columns.is_empty() && more.damage.is_none() {
            return Some(more);
        }
        if self.height != more.height || more.damage.is_some() {
            return None;
        }
        let mut joined = self.clone();
        joined.columns.extend(more.columns);
        joined.type_mismatches.extend(more.type_mismatches);
        Some(joined)
    }

    fn only(mut self, names: &[&'static str]) -> Self {
        self.columns.retain(|(name, _)| names.contains(name));
        self.type_mismatches.retain(|type_mismatch| names.contains(&type_mismatch.column));
        self
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(known, _)| *known == name)
    }

    fn bytes(&self) -> usize {
        self.columns.iter().map(|(_, numbers)| numbers.bytes()).sum()
    }

    /// The value of an event column for every event id; `None` if the id, the event or the value is missing.
    pub fn values<'a>(
        &'a self,
        name: &str,
        event_ids: &Int64Chunked,
    ) -> impl ExactSizeIterator<Item = Option<i64>> + 'a {
        let numbers = self.columns.iter().find(|(known, _)| *known == name).map(|(_, numbers)| numbers);
        I64Values::new(event_ids).into_rows().map(move |id| numbers?.get(self.index.position(id?)?))
    }

    /// Whether all values of a column are known to be null or 0.
    pub(crate) fn have_nothing(&self, name: &str) -> bool {
        self.columns.iter().any(|(known, numbers)| *known == name && numbers.are_nothing())
    }

    /// Whether there is an event with this id.
    pub fn contain(&self, id: i64) -> bool {
        self.index.position(id).is_some()
    }

    /// Type mismatches and damage of the columns.
    pub fn notes(&self) -> Columns {
        let (type_mismatches, damage) = (self.type_mismatches.clone(), self.damage.clone());
        Columns { height: self.height, type_mismatches, damage, ..Columns::default() }
    }
}

/// Rising ids of a range of events.
struct Ids {
    height: usize,
    ends: Option<(i64, i64)>,
    /// All ids, if an id between the first and the last is missing.
    listed: Vec<i64>,
}

impl Ids {
    fn new(ids: &Int64Chunked) -> Self {
        let (height, ends) = (ids.len(), ids.first().zip(ids.last()));
        let listed = if is_run(ends, height) { Vec::new() } else { ids.iter().flatten().collect() };
        Self { height, ends, listed }
    }

    fn index(ranges: &[Self]) -> IdIndex {
        let height = ranges.iter().map(|range| range.height).sum();
        let mut ends = ranges.iter().filter_map(|range| range.ends);
        let ends = ends.next().map(|(first, last)| (first, ends.next_back().map_or(last, |(_, last)| last)));
        if let Some((first, _)) = ends.filter(|_| is_run(ends, height)) {
            return IdIndex::Contiguous { first, length: height };
        }
        let all = ranges.iter().flat_map(|range| {
            let run = range.ends.filter(|_| range.listed.is_empty());
            range.listed.iter().copied().chain(run.into_iter().flat_map(|(first, last)| first..=last))
        });
        IdIndex::new(&all.collect::<Vec<i64>>())
    }
}

/// Whether rising ids have no gap between their ends.
fn is_run(ends: Option<(i64, i64)>, height: usize) -> bool {
    ends.is_none_or(|(first, last)| last.abs_diff(first).checked_add(1) == Some(height as u64))
}

/// The key of events: their file, partition and process.
type Key = (PathBuf, String, Option<i64>);

/// Events that were read last.
#[derive(Default)]
pub(crate) struct EventCache {
    reading: Mutex<()>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Events, and a serial number that is lowest for the oldest.
    by_key: BTreeMap<Key, (u64, Events)>,
    count: u64,
    bytes: usize,
}

impl Kept {
    fn remove(&mut self, key: &Key) {
        if let Some((_, events)) = self.by_key.remove(key) {
            self.bytes -= events.bytes();
        }
    }
}

impl EventCache {
    fn find(&self, database: &Database) -> Events {
        let key = database.key();
        let kept = self.kept.lock();
        kept.by_key.get(&key).map(|(_, events)| events.clone()).unwrap_or_default()
    }

    /// Drops the events of a database, to free memory for other events.
    pub fn forget(&self, database: &Database) {
        self.kept.lock().remove(&database.key());
    }

    /// Keeps events, and drops the oldest if memory is short. Events that are too large alone are kept only with `whatever_their_size`.
    fn keep(&self, database: &Database, events: Events, whatever_their_size: bool) {
        let key = database.key();
        let mut kept = self.kept.lock();
        kept.remove(&key);
        kept.bytes += events.bytes();
        kept.count += 1;
        let count = kept.count;
        kept.by_key.insert(key, (count, events));
        while kept.bytes > KEPT_BYTES {
            let others = kept.by_key.iter().filter(|(_, (number, _))| !whatever_their_size || *number != count);
            let oldest = others.min_by_key(|(_, (count, _))| *count).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            kept.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_ranges_are_found_as_those_of_all() {
        let ids = |ids: &[i64]| Int64Chunked::from_slice("id".into(), ids);
        for all in [vec![], vec![4, 5, 6, 7, 8], vec![4, 5, 7, 8, 900], vec![i64::MIN, 4, 5, 6, i64::MAX]] {
            for rows in [1, 2, 3, 5] {
                let ranges: Vec<Ids> = all.chunks(rows).map(|part| Ids::new(&ids(part))).collect();
                let (index, whole) = (Ids::index(&ranges), IdIndex::new(&all));
                assert_eq!(
                    std::mem::discriminant(&index),
                    std::mem::discriminant(&whole),
                    "{all:?} in ranges of {rows}"
                );
                for id in all.iter().copied().chain([0, 3, 9]) {
                    assert_eq!(index.position(id), whole.position(id), "{id} of {all:?} in ranges of {rows}");
                }
            }
        }
    }
}
