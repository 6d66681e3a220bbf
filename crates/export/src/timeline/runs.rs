//! Slices by track in the order of their starts, whatever their order in the input. Few are kept in memory, many in a
//! temporary file.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::mem::{replace, take};
use std::sync::mpsc::sync_channel;
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};

/// Approximate maximum number of slices in memory; 48 bytes each.
const MAX_KEPT: usize = 1 << 17;
/// Slices of a run that are read from the file at a time.
const READ_ROWS: usize = 1 << 10;
/// Maximum number of such batches that wait to be visited.
const WAITING: usize = 16;
/// Fewer slices of a track are merged on the visiting thread.
const ROWS_FOR_A_THREAD: usize = 1 << 16;
/// Bytes of a slice in the file.
const ROW_BYTES: usize = 48;
/// Stands for an id that is not there.
const NO_ID: i64 = i64::MIN;

/// A slice before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub start_ns: i64,
    pub end_ns: i64,
    /// Number of the row in its table.
    pub number: u32,
    pub name: u32,
    pub category: u32,
    /// Number of other facts about it.
    pub facts: u32,
    id: i64,
    correlation_id: i64,
}

impl Slice {
    pub(super) fn new(start_ns: i64, end_ns: i64, number: u32) -> Self {
        Self { start_ns, end_ns, number, name: 0, category: 0, facts: 0, id: NO_ID, correlation_id: NO_ID }
    }

    /// The slice with its category, name and facts.
    pub(super) fn showing(self, category: u32, name: u32, facts: u32) -> Self {
        Self { category, name, facts, ..self }
    }

    pub(super) fn with_ids(self, id: Option<i64>, correlation_id: Option<i64>) -> Self {
        Self { id: id.unwrap_or(NO_ID), correlation_id: correlation_id.unwrap_or(NO_ID), ..self }
    }

    /// Its dispatch or copy id.
    pub(super) fn id(&self) -> Option<i64> {
        Some(self.id).filter(|id| *id != NO_ID)
    }

    pub(super) fn correlation_id(&self) -> Option<i64> {
        Some(self.correlation_id).filter(|id| *id != NO_ID)
    }

    fn to_words(self) -> [u64; 6] {
        let two = |one: u32, other: u32| u64::from(one) << 32 | u64::from(other);
        [
            self.start_ns as u64,
            self.end_ns as u64,
            two(self.number, self.name),
            two(self.category, self.facts),
            self.id as u64,
            self.correlation_id as u64,
        ]
    }

    fn of_words(words: [u64; 6]) -> Self {
        let [start_ns, end_ns, number_name, category_facts, id, correlation_id] = words;
        Self {
            start_ns: start_ns as i64,
            end_ns: end_ns as i64,
            number: (number_name >> 32) as u32,
            name: number_name as u32,
            category: (category_facts >> 32) as u32,
            facts: category_facts as u32,
            id: id as i64,
            correlation_id: correlation_id as i64,
        }
    }
}

/// Key that sorts slices of a track: by their starts, then their ends.
type Key = (i64, i64, u32);

/// The first one of slices that start together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    Longest,
    Shortest,
}

impl First {
    fn key(self, row: &Slice) -> Key {
        // All bits turned is the reverse order.
        let end = if self == Self::Longest { !row.end_ns } else { row.end_ns };
        (row.start_ns, end, row.number)
    }
}

/// Sorted slices of a track.
#[derive(Debug)]
enum Run {
    Kept(Vec<Slice>),
    Filed { offset: u64, rows: usize },
}

/// Slices by track.
#[derive(Debug)]
pub(super) struct Runs {
    first: First,
    tracks: BTreeMap<u32, Vec<Run>>,
    kept: usize,
    max_kept: usize,
    file: Option<File>,
    file_bytes: u64,
}

impl Runs {
    pub(super) fn new(first: First) -> Self {
        Self { first, tracks: BTreeMap::new(), kept: 0, max_kept: MAX_KEPT, file: None, file_bytes: 0 }
    }

    /// Adds slices of a track, and empties `rows`.
    pub(super) fn add(&mut self, track: u32, rows: &mut Vec<Slice>) -> Result<()> {
        let first = self.first;
        let mut rows = take(rows);
        if !rows.is_sorted_by_key(|row| first.key(row)) {
            rows.sort_unstable_by_key(|row| first.key(row));
        }
        let Some(start) = rows.first().copied() else { return Ok(()) };
        let runs = self.tracks.entry(track).or_default();
        self.kept += rows.len();
        match runs.last_mut() {
            Some(Run::Kept(last)) if last.last().is_some_and(|last| first.key(last) <= first.key(&start)) => {
                last.append(&mut rows);
            }
            _ => runs.push(Run::Kept(rows)),
        }
        if self.kept > self.max_kept { self.file() } else { Ok(()) }
    }

    /// Moves the slices in memory to the file.
    fn file(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            empty => empty
                .insert(tempfile::tempfile().context("cannot create a temporary file; set TMPDIR to another place")?),
        };
        let mut bytes = Vec::with_capacity(READ_ROWS * ROW_BYTES);
        for run in self.tracks.values_mut().flatten() {
            let Run::Kept(rows) = run else { continue };
            let (rows, offset) = (take(rows), self.file_bytes);
            for some in rows.chunks(READ_ROWS) {
                bytes.clear();
                some.iter()
                    .flat_map(|row| row.to_words())
                    .for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
                file.write_all(&bytes).context("cannot write a temporary file; set TMPDIR to another place")?;
                self.file_bytes += bytes.len() as u64;
            }
            *run = Run::Filed { offset, rows: rows.len() };
        }
        self.kept = 0;
        Ok(())
    }

    /// Visits the slices of a track in their order, once. Many slices are merged by another thread.
    pub(super) fn visit(&mut self, track: u32, mut visit: impl FnMut(&Slice) -> Result<()>) -> Result<()> {
        let (first, file) = (self.first, &mut self.file);
        let cursors: Vec<Cursor> =
            self.tracks.remove(&track).unwrap_or_default().into_iter().map(Cursor::new).collect();
        if cursors.iter().map(Cursor::count).sum::<usize>() < ROWS_FOR_A_THREAD {
            return merge(first, cursors, file, |row| visit(row));
        }
        thread::scope(|scope| {
            let (sender, receiver) = sync_channel(WAITING);
            let merger = scope.spawn(move || {
                let mut rows = Vec::with_capacity(READ_ROWS);
                // The receiver is gone when the visit has failed.
                let give = |rows: &mut Vec<Slice>| sender.send(replace(rows, Vec::with_capacity(READ_ROWS))).is_ok();
                merge(first, cursors, file, |row| {
                    rows.push(*row);
                    ensure!(rows.len() < READ_ROWS || give(&mut rows), "internal: nobody takes the slices");
                    Ok(())
                })?;
                give(&mut rows);
                Ok(())
            });
            let visited = receiver.iter().flatten().try_for_each(|row| visit(&row));
            drop(receiver);
            let merged = merger.join().map_err(|_| anyhow!("internal: merging slices failed"))?;
            visited.and(merged)
        })
    }
}

/// Passes the slices of runs to `give` in their order.
fn merge(
    first: First,
    mut cursors: Vec<Cursor>,
    file: &mut Option<File>,
    mut give: impl FnMut(&Slice) -> Result<()>,
) -> Result<()> {
    let mut next: BinaryHeap<Reverse<(Key, usize)>> = BinaryHeap::with_capacity(cursors.len());
    for (number, cursor) in cursors.iter_mut().enumerate() {
        cursor.fill(file)?;
        next.extend(cursor.row().map(|row| Reverse((first.key(row), number))));
    }
    while let Some(mut least) = next.peek_mut() {
        let Reverse((_, number)) = *least;
        let Some(cursor) = cursors.get_mut(number) else { break };
        if let Some(row) = cursor.row() {
            give(row)?;
        }
        cursor.place += 1;
        cursor.fill(file)?;
        match cursor.row() {
            Some(row) => *least = Reverse((first.key(row), number)),
            None => drop(PeekMut::pop(least)),
        }
    }
    Ok(())
}

/// A place in a run.
struct Cursor {
    rows: Vec<Slice>,
    place: usize,
    /// Offset of the next rows in the file, and the number of rows left there.
    offset: u64,
    left: usize,
}

impl Cursor {
    fn new(run: Run) -> Self {
        match run {
            Run::Kept(rows) => Self { rows, place: 0, offset: 0, left: 0 },
            Run::Filed { offset, rows } => Self { rows: Vec::new(), place: 0, offset, left: rows },
        }
    }

    fn row(&self) -> Option<&Slice> {
        self.rows.get(self.place)
    }

    fn count(&self) -> usize {
        self.rows.len() + self.left
    }

    /// Reads the next rows once all earlier ones were passed on.
    fn fill(&mut self, file: &mut Option<File>) -> Result<()> {
        if self.place < self.rows.len() || self.left == 0 {
            return Ok(());
        }
        let file = file.as_mut().context("internal: no temporary file")?;
        let count = self.left.min(READ_ROWS);
        let mut bytes = vec![0; count * ROW_BYTES];
        file.seek(SeekFrom::Start(self.offset)).context("cannot read a temporary file")?;
        file.read_exact(&mut bytes).context("cannot read a temporary file")?;
        self.rows.clear();
        for row in bytes.chunks_exact(ROW_BYTES) {
            let mut words = [0; 6];
            for (word, bytes) in words.iter_mut().zip(row.chunks_exact(8)) {
                *word = u64::from_le_bytes(bytes.try_into()?);
            }
            self.rows.push(Slice::of_words(words));
        }
        self.place = 0;
        self.offset += bytes.len() as u64;
        self.left -= count;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn slices_come_in_order_from_memory_and_from_the_file(
            pieces in prop::collection::vec(prop::collection::vec((0_u32..3, -5_i64..20, 0_i64..9), 0..40), 0..12),
            max_kept in 1_usize..300,
            longest in any::<bool>(),
        ) {
            let first = if longest { First::Longest } else { First::Shortest };
            let mut runs = Runs { max_kept, ..Runs::new(first) };
            let mut expected: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
            let mut number = 0;
            for piece in pieces {
                let mut of_tracks: BTreeMap<u32, Vec<Slice>> = BTreeMap::new();
                for (track, start_ns, length_ns) in piece {
                    number += 1;
                    let id = (number % 3 > 0).then_some(i64::from(number));
                    let row = Slice::new(start_ns, start_ns + length_ns, number).showing(7, track, number);
                    let row = row.with_ids(id, id.map(|id| -id));
                    of_tracks.entry(track).or_default().push(row);
                    expected.entry(track).or_default().push(row);
                }
                for (track, mut rows) in of_tracks {
                    runs.add(track, &mut rows).unwrap();
                }
            }
            prop_assert!(runs.tracks.keys().eq(expected.keys()));
            for (track, mut rows) in expected {
                rows.sort_by_key(|row| first.key(row));
                let mut given = Vec::new();
                runs.visit(track, |row| { given.push(*row); Ok(()) }).unwrap();
                prop_assert_eq!(given, rows);
            }
        }
    }
}
