//! The events between activity rows and their category and correlation.
//!
//! Every table of activity joins the events, which are more than all of its rows: their columns are kept, as narrow as
//! their numbers allow, until the events of other processes need the room.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use fnv::FnvHashMap;
use parking_lot::Mutex;
use polars::prelude::*;
use rayon::prelude::*;

use super::database::Database;
use crate::columns::values::I64Values;
use crate::input::common::sqlite::{Columns, TypeMismatch, Wanted, integer};
use crate::input::common::{IdIndex, index_of};

/// Bytes of event columns that are kept at most.
const KEPT_BYTES: usize = 512 << 20;

/// Columns that the tables of activity take from their events.
const JOINED: &[&str] = &["stack_id", "parent_stack_id", "correlation_id", "category_id"];

/// As [`JOINED`], where tables are read in pieces because memory is short.
const JOINED_BY_PIECES: &[&str] = &["stack_id", "category_id"];

/// Columns of the event table, joined to columns of event ids.
#[derive(Clone, Default)]
pub(crate) struct Events {
    index: Arc<IdIndex>,
    height: usize,
    columns: Vec<(&'static str, Arc<Numbers>)>,
    type_mismatches: Vec<TypeMismatch>,
    damage: Option<String>,
}

/// Numbers of a column.
enum Numbers {
    /// In an eighth of the room: places in a list of all that occur.
    Few {
        different: Vec<Option<i64>>,
        places: Vec<u8>,
    },
    /// In half the room; the smallest number there is stands for null.
    Narrow(Vec<i32>),
    Wide(Int64Chunked),
}

impl Numbers {
    fn new(values: Int64Chunked) -> Self {
        if let Some(few) = Self::few(&values) {
            return few;
        }
        let fits = |number: Option<i64>| number.is_none_or(|number| i32::try_from(number).is_ok());
        if values.null_count() == values.len() {
            return Self::Narrow(vec![i32::MIN; values.len()]);
        }
        match (values.min(), values.max()) {
            (least, greatest) if fits(least) && fits(greatest) && least != Some(i64::from(i32::MIN)) => {
                let values = I64Values::new(&values);
                Self::Narrow(values.iter().map(|number| number.map_or(i32::MIN, |number| number as i32)).collect())
            }
            _ => Self::Wide(values),
        }
    }

    /// Where no more than 256 numbers occur.
    fn few(values: &Int64Chunked) -> Option<Self> {
        let mut different: Vec<Option<i64>> = Vec::new();
        let mut places = Vec::with_capacity(values.len());
        let (mut last, mut known) = (None, FnvHashMap::default());
        for number in I64Values::new(values).iter() {
            let place = match last {
                Some((of, place)) if of == number => place,
                _ => *known.entry(number).or_insert_with(|| {
                    different.push(number);
                    different.len() - 1
                }),
            };
            last = Some((number, place));
            places.push(u8::try_from(place).ok()?);
        }
        Some(Self::Few { different, places })
    }

    #[inline]
    fn get(&self, at: usize) -> Option<i64> {
        match self {
            Self::Few { different, places } => different.get(usize::from(*places.get(at)?)).copied().flatten(),
            Self::Narrow(numbers) => numbers.get(at).filter(|number| **number != i32::MIN).map(|n| i64::from(*n)),
            Self::Wide(numbers) => numbers.get(at),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Few { places, .. } => places.len(),
            Self::Narrow(numbers) => 4 * numbers.len(),
            Self::Wide(numbers) => 8 * numbers.len(),
        }
    }
}

impl Events {
    /// The named integer columns of the event table, for rows of a piece of a table or for all; without names nothing is read.
    pub(crate) fn read(
        cache: &EventCache,
        database: &Database,
        names: &[&'static str],
        threads: usize,
        is_piece: bool,
    ) -> Result<Self> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        // Of those who read pieces at the same time one reads the events, with the others' threads.
        let _reading = is_piece.then(|| cache.reading.lock());
        let threads = if is_piece { rayon::current_num_threads() } else { threads };
        let kept = cache.find(database);
        if is_piece {
            return Self::read_for_pieces(cache, database, names, kept, threads);
        }
        // Who wants several columns wants the others later; one more costs less than another look at every page.
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
                // Of a damaged table each column may give other rows.
                None => Self::read_anew(database, names, threads)?,
            };
        }
        events.columns.retain(|(name, _)| names.contains(name));
        events.type_mismatches.retain(|type_mismatch| names.contains(&type_mismatch.column));
        Ok(events)
    }

    /// All columns that tables in pieces take from events, which are read for the first piece, damaged or not, and stay until all
    /// were read.
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
        events.columns.retain(|(name, _)| names.contains(name));
        events.type_mismatches.retain(|type_mismatch| names.contains(&type_mismatch.column));
        Ok(events)
    }

    fn read_anew(database: &Database, names: &[&'static str], threads: usize) -> Result<Self> {
        let wanted: Vec<Wanted> = names.iter().map(|name| integer(name)).collect();
        let columns = database.read("event", &wanted, threads)?;
        let index = Arc::new(index_of(&columns.integers("id")));
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

    /// With more columns of the same rows, unless they are not.
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

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(known, _)| *known == name)
    }

    fn bytes(&self) -> usize {
        self.columns.iter().map(|(_, numbers)| numbers.bytes()).sum()
    }

    /// The value of an event column for every event id; `None` where the id, the event or the value is missing.
    pub(crate) fn values<'a>(
        &'a self,
        name: &str,
        event_ids: &Int64Chunked,
    ) -> impl ExactSizeIterator<Item = Option<i64>> + 'a {
        let numbers = self.columns.iter().find(|(known, _)| *known == name).map(|(_, numbers)| numbers);
        I64Values::new(event_ids).into_rows().map(move |id| numbers?.get(self.index.position(id?)?))
    }

    /// Whether there is an event of that id.
    pub(crate) fn contain(&self, id: i64) -> bool {
        self.index.position(id).is_some()
    }

    /// What was odd about the columns.
    pub(crate) fn notes(&self) -> Columns {
        let (type_mismatches, damage) = (self.type_mismatches.clone(), self.damage.clone());
        Columns { height: self.height, type_mismatches, damage, ..Columns::default() }
    }
}

/// Whose events they are: the file, the partition and the process.
type Key = (PathBuf, String, Option<i64>);

/// Events that were read last.
#[derive(Default)]
pub(crate) struct EventCache {
    reading: Mutex<()>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Events, and how many were kept before them.
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

    /// Makes room for the events of others.
    pub(crate) fn forget(&self, database: &Database) {
        self.kept.lock().remove(&database.key());
    }

    /// Keeps events instead of those read longest ago; where there is no room at all only if they are kept whatever their size.
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
    fn numbers_are_narrow_where_they_fit() {
        let column = |values: &[Option<i64>]| Int64Chunked::from_slice_options("a".into(), values);
        let many = |first: i64| (0..300).map(|number| Some(first + number)).chain([None, Some(first)]).collect();
        for (values, bytes) in [
            (vec![Some(1), None, Some(-7), Some(1 << 40)], 1),
            (vec![None, None], 1),
            ((0..256).map(Some).collect(), 1),
            (many(-7), 4),
            (many(i64::from(i32::MAX) - 299), 4),
            (many(i64::from(i32::MIN)), 8),
            (many(1 << 40), 8),
            (vec![], 1),
        ] {
            let numbers = Numbers::new(column(&values));
            assert_eq!(numbers.bytes(), bytes * values.len(), "{values:?}");
            assert_eq!((0..values.len()).map(|at| numbers.get(at)).collect::<Vec<_>>(), values);
        }
    }
}
