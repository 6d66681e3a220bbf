//! Reads tables from the mapped pages of a database: columns for polars, rows split over threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use memmap2::{Mmap, UncheckedAdvice};
use parking_lot::Mutex;
use polars::prelude::{Float64Chunked, Int64Chunked, PlSmallStr};
use rayon::prelude::*;

use super::column::{Columns, Kind, Values, Wanted};
use super::condition::Condition;
use super::database::TableShape;
use super::gather::{Part, close_gaps, damage, named, texts, validity};
use super::json_text::text_of_blob;
use super::pages::{
    Cells, Chunk, Decoder, Leaf, Numbers, Pages, Plan, RowTest, SchemaEntry, Stored, Texts, TypeMismatches,
    UnreadablePage, declared_entries, measure, named_entries, walk,
};
use super::table::Selection;

/// Leaves that one thread decodes at a time.
const LEAVES_PER_CHUNK: usize = 256;
/// What every table calls its row ids.
const ROW_ID: &str = "rowid";

/// A database file in memory.
#[derive(Debug)]
pub(crate) struct PageFile {
    map: Mmap,
    roots: BTreeMap<String, u32>,
    /// The leaves of tables by their roots: many are read for several columns at different times.
    scans: Mutex<BTreeMap<u32, Arc<Scan>>>,
}

/// What a table gave.
#[derive(Debug)]
struct Scan {
    leaves: Vec<Leaf>,
    lost: Vec<UnreadablePage>,
}

/// Smaller files stay in the memory of the program: there may be thousands of them, and each call to the system costs more
/// than reading a table of one.
const KEPT_BYTES: usize = 1 << 20;

impl PageFile {
    /// Maps a database.
    ///
    /// # Errors
    /// When it is none whose pages can be read without SQLite.
    pub(crate) fn map(file: &File) -> Result<Self> {
        // SAFETY: the map is for reading only, and what is read of it is checked every time, so that bytes which another
        // program changes meanwhile make answers wrong but nothing else. A file that is cut meanwhile ends the program,
        // as it does when SQLite maps it.
        let map = unsafe { Mmap::map(file) }.context("cannot map it")?;
        let pages = Pages::new(&map)?;
        let Some(entries) = named_entries(pages) else { bail!("the list of its tables is damaged") };
        // Of entries with the same name SQLite takes the first.
        let roots = entries.into_iter().rev().filter_map(|entry| Some((entry.table_root()?, entry.name)));
        let roots = roots.map(|(root, name)| (name, root)).collect();
        Ok(Self { map, roots, scans: Mutex::default() })
    }

    /// The list of tables; `None` if any of it is damaged or odd, or a root is not on a page of its own.
    pub(crate) fn schema(&self) -> Option<Vec<SchemaEntry>> {
        let pages = Pages::new(&self.map).ok()?;
        let entries = declared_entries(pages)?;
        let (mut roots, mut names) = (BTreeSet::new(), BTreeSet::new());
        let is_plain = |entry: &SchemaEntry| {
            let has_place = usize::try_from(entry.root).is_ok_and(|root| root > 1 && root <= pages.count());
            let is_placed = if entry.is_stored() { has_place && roots.insert(entry.root) } else { entry.root == 0 };
            is_placed && names.insert((entry.kind.clone(), entry.name.clone()))
        };
        let are_plain = entries.iter().all(is_plain);
        are_plain.then_some(entries)
    }

    /// Reads the key and the `wanted` columns.
    ///
    /// # Errors
    /// When only SQLite can.
    pub(crate) fn read(&self, selection: Selection<'_>, wanted: &[Wanted], threads: usize) -> Result<Columns> {
        let pages = Pages::new(&self.map)?;
        let stored = stored(selection)?;
        let columns: Vec<Stored> = wanted
            .iter()
            .map(|wanted| stored.get(wanted.name).copied().context("a column is not known"))
            .collect::<Result<_>>()?;
        let plan = plan(selection, stored, &columns)?;
        let whole = self.scan(pages, selection, threads)?;
        let lists = sought(selection)?;
        let mut columns = None;
        // Damage is reported in the same words whichever rows are requested: a damaged table is read completely.
        if !lists.is_empty() && whole.lost.is_empty() {
            let may_be_chosen = |leaf: &&Leaf| lists.iter().all(|ids| may_hold(leaf, ids));
            let leaves = whole.leaves.iter().filter(may_be_chosen).copied().collect();
            let some = Scan { leaves, lost: Vec::new() };
            let found = Self::columns(pages, &plan, wanted, &some, threads)?;
            columns = found.damage.is_none().then_some(Columns { left_out: None, ..found });
        }
        let columns = columns.map_or_else(|| Self::columns(pages, &plan, wanted, &whole, threads), Ok)?;
        self.advise_dont_need();
        Ok(columns)
    }

    /// The rows on some leaves.
    fn columns(pages: Pages<'_>, plan: &Plan, wanted: &[Wanted], scan: &Scan, threads: usize) -> Result<Columns> {
        let height = scan.rows();
        let mut ids = vec![0_i64; height];
        let mut integers: Vec<Vec<i64>> = buffers(wanted, Kind::Integer, height);
        let mut reals: Vec<Vec<f64>> = buffers(wanted, Kind::Real, height);
        let chunks = scan.chunks(&mut ids, &mut integers, &mut reals, wanted);
        let decode =
            |(leaves, mut chunk): (&[Leaf], Chunk<'_>)| match Decoder::new(pages, plan).decode(leaves, &mut chunk) {
                Ok(()) => Ok(Part::new(chunk)),
                Err(reason) => bail!(reason),
            };
        let parts: Vec<Part> = if threads > 1 && chunks.len() > 1 {
            chunks.into_par_iter().map(decode).collect::<Result<_>>()?
        } else {
            chunks.into_iter().map(decode).collect::<Result<_>>()?
        };
        let room: Vec<usize> = scan.leaves.chunks(LEAVES_PER_CHUNK).map(rows_of).collect();
        let rows: Vec<usize> = parts.iter().map(|part| part.rows).collect();
        let kept: usize = rows.iter().sum();
        let mut columns = Columns { height: kept, ..Columns::default() };
        columns.left_out = Some(height.saturating_sub(kept));
        close_gaps(&mut ids, &room, &rows);
        columns.values.push(("id", Values::Integer(Int64Chunked::from_vec("id".into(), ids))));
        let (mut integers, mut reals) = (integers.into_iter(), reals.into_iter());
        for (index, wanted) in wanted.iter().enumerate() {
            let mut type_mismatches = TypeMismatches::default();
            parts.iter().filter_map(|part| part.type_mismatches.get(index)).for_each(|part| type_mismatches.add(part));
            columns.type_mismatches.extend(named(wanted, &type_mismatches));
            let valid = || validity(&parts, index, kept);
            let name: PlSmallStr = wanted.name.into();
            let values = match wanted.kind {
                Kind::Integer => {
                    let mut values = integers.next().unwrap_or_default();
                    close_gaps(&mut values, &room, &rows);
                    Values::Integer(Int64Chunked::from_vec_validity(name, values, valid()))
                }
                Kind::Real => {
                    let mut values = reals.next().unwrap_or_default();
                    close_gaps(&mut values, &room, &rows);
                    Values::Real(Float64Chunked::from_vec_validity(name, values, valid()))
                }
                Kind::Text => Values::Text(texts(name, &parts, index, kept)),
            };
            columns.values.push((wanted.name, values));
        }
        let lost: Vec<UnreadablePage> =
            scan.lost.iter().copied().chain(parts.into_iter().flat_map(|part| part.lost)).collect();
        columns.damage = damage(&lost);
        Ok(columns)
    }

    /// Counts the pages that were looked at no longer as memory of the program: other tables lie on others. They stay in
    /// the memory of the system for as long as it has room.
    fn advise_dont_need(&self) {
        if self.map.len() < KEPT_BYTES {
            return;
        }
        // SAFETY: the map is a shared one of a file and never written, so that a page that is needed again is the same.
        // Should the system refuse, nothing is lost.
        let _ = unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) };
    }

    /// Whether a table has rows; `None` if the pages do not reveal it, or if some are damaged.
    pub(crate) fn has_rows(&self, selection: Selection<'_>) -> Option<bool> {
        stored(selection).ok()?;
        let pages = Pages::new(&self.map).ok()?;
        let root = *self.roots.get(&selection.table.name)?;
        let known = self.scans.lock().get(&root).cloned();
        if let Some(known) = known {
            return known.lost.is_empty().then(|| known.rows() > 0);
        }
        let mut tree = walk(pages, root);
        // Only a root is a leaf without rows.
        let is_root = tree.leaves.len() == 1;
        let lost = if is_root { measure(pages, &mut tree.leaves) } else { Vec::new() };
        let is_whole = tree.lost.is_empty() && lost.is_empty();
        is_whole.then(|| !is_root || rows_of(&tree.leaves) > 0)
    }

    /// Number of rows, and what cannot be read.
    ///
    /// # Errors
    /// When only SQLite can count them.
    pub(crate) fn count(&self, selection: Selection<'_>, threads: usize) -> Result<(u64, Option<String>)> {
        let pages = Pages::new(&self.map)?;
        let stored = stored(selection)?;
        let plan = plan(selection, stored, &[])?;
        let scan = self.scan(pages, selection, threads)?;
        if selection.condition.tests().is_some_and(<[_]>::is_empty) && scan.lost.is_empty() {
            self.advise_dont_need();
            return Ok((scan.rows() as u64, None));
        }
        let (rows, lost) = Self::decoded(pages, &plan, &scan)?;
        self.advise_dont_need();
        Ok((rows as u64, damage(&lost)))
    }

    /// Checks the pages of a table for damage and, if `closely`, its rows. Damage is reported in the same words as by
    /// reading the table.
    ///
    /// # Errors
    /// When only SQLite can check it.
    pub(crate) fn verify(&self, table: &TableShape, closely: bool, threads: usize) -> Result<Option<String>> {
        let pages = Pages::new(&self.map)?;
        let selection = Selection { table, key: ROW_ID, condition: &Condition::all() };
        let plan = plan(selection, stored(selection)?, &[])?;
        let plan = if closely { plan.with_whole_records() } else { plan };
        let scan = self.scan(pages, selection, threads)?;
        if scan.lost.is_empty() && !closely {
            return Ok(None);
        }
        let (_, lost) = Self::decoded(pages, &plan, &scan)?;
        self.advise_dont_need();
        Ok(damage(&lost))
    }

    /// Number of rows on some leaves, and what cannot be read.
    fn decoded(pages: Pages<'_>, plan: &Plan, scan: &Scan) -> Result<(usize, Vec<UnreadablePage>)> {
        let decode = |leaves: &[Leaf]| {
            let mut chunk = Chunk { rows: 0, ids: &mut [], columns: Vec::new(), lost: Vec::new() };
            match Decoder::new(pages, plan).decode(leaves, &mut chunk) {
                Ok(()) => Ok((chunk.rows, chunk.lost)),
                Err(reason) => bail!(reason),
            }
        };
        let counted: Vec<(usize, Vec<UnreadablePage>)> = if scan.leaves.len() > LEAVES_PER_CHUNK {
            scan.leaves.par_chunks(LEAVES_PER_CHUNK).map(decode).collect::<Result<_>>()?
        } else {
            vec![decode(&scan.leaves)?]
        };
        let rows: usize = counted.iter().map(|(rows, _)| rows).sum();
        let lost = scan.lost.iter().copied().chain(counted.into_iter().flat_map(|(_, lost)| lost)).collect();
        Ok((rows, lost))
    }

    /// The leaves of a table.
    fn scan(&self, pages: Pages<'_>, selection: Selection<'_>, threads: usize) -> Result<Arc<Scan>> {
        let root = self.roots.get(&selection.table.name).copied().context("the table is not known")?;
        let known = self.scans.lock().get(&root).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let tree = walk(pages, root);
        let (mut leaves, mut lost) = (tree.leaves, tree.lost);
        if threads > 1 && leaves.len() > LEAVES_PER_CHUNK {
            let found = leaves.par_chunks_mut(LEAVES_PER_CHUNK).map(|leaves| measure(pages, leaves));
            lost.extend(found.collect::<Vec<Vec<UnreadablePage>>>().into_iter().flatten());
        } else {
            lost.extend(measure(pages, &mut leaves));
        }
        let scan = Arc::new(Scan { leaves, lost });
        self.scans.lock().insert(root, Arc::clone(&scan));
        Ok(scan)
    }
}

impl Scan {
    fn rows(&self) -> usize {
        rows_of(&self.leaves)
    }

    /// Shares leaves out, each part with its own share of the room for values.
    fn chunks<'s>(
        &'s self,
        mut ids: &'s mut [i64],
        integers: &'s mut [Vec<i64>],
        reals: &'s mut [Vec<f64>],
        wanted: &[Wanted],
    ) -> Vec<(&'s [Leaf], Chunk<'s>)> {
        let mut integers: Vec<&mut [i64]> = integers.iter_mut().map(Vec::as_mut_slice).collect();
        let mut reals: Vec<&mut [f64]> = reals.iter_mut().map(Vec::as_mut_slice).collect();
        let chunk = |leaves: &'s [Leaf]| {
            let room = rows_of(leaves);
            let mut own_integers = integers.iter_mut().map(|rest| take(rest, room)).collect::<Vec<_>>().into_iter();
            let mut own_reals = reals.iter_mut().map(|rest| take(rest, room)).collect::<Vec<_>>().into_iter();
            let columns = wanted.iter().map(|wanted| match wanted.kind {
                Kind::Integer => Cells::Integer(Numbers::new(own_integers.next().unwrap_or_default())),
                Kind::Real => Cells::Real(Numbers::new(own_reals.next().unwrap_or_default())),
                Kind::Text => Cells::Text(Texts::default()),
            });
            let columns = columns.collect();
            (leaves, Chunk { rows: 0, ids: take(&mut ids, room), columns, lost: Vec::new() })
        };
        self.leaves.chunks(LEAVES_PER_CHUNK).map(chunk).collect()
    }
}

fn stored<'a>(selection: Selection<'a>) -> Result<&'a BTreeMap<String, Stored>> {
    let stored = selection.table.stored.as_ref().context("the table is stored in another way")?;
    let is_row_id = match stored.get(selection.key) {
        Some(stored) => *stored == Stored::RowId,
        None => selection.key == ROW_ID,
    };
    if !is_row_id {
        bail!("the key is not the row id");
    }
    Ok(stored)
}

fn plan(selection: Selection<'_>, stored: &BTreeMap<String, Stored>, columns: &[Stored]) -> Result<Plan> {
    let tests = selection.condition.tests().context("rows are chosen in SQL")?;
    if tests.iter().flat_map(|test| test.columns()).any(|name| !stored.contains_key(*name)) {
        bail!("rows are chosen by a column that is not known");
    }
    let of = |name: &&'static str| stored.get(*name).copied().unwrap_or(Stored::RowId);
    let tests: Vec<_> = tests.iter().map(|test| test.map(of)).collect();
    Ok(Plan::new(columns, &tests, text_of_blob))
}

/// Lists of row ids of which a row must be one to be chosen.
fn sought(selection: Selection<'_>) -> Result<Vec<&[i64]>> {
    let stored = stored(selection)?;
    let is_row_id = |name: &str| stored.get(name) == Some(&Stored::RowId);
    let tests = selection.condition.tests().unwrap_or_default();
    let lists = tests.iter().filter_map(|test| match test {
        RowTest::OneOf(column, ids) if is_row_id(column) => Some(ids.as_slice()),
        _ => None,
    });
    Ok(lists.collect())
}

/// Whether a leaf may have a row with one of some ids in rising order.
fn may_hold(leaf: &Leaf, ids: &[i64]) -> bool {
    let first = leaf.above.map_or(0, |above| ids.partition_point(|id| *id <= above));
    ids.get(first).is_some_and(|id| leaf.up_to.is_none_or(|up_to| *id <= up_to))
}

fn rows_of(leaves: &[Leaf]) -> usize {
    leaves.iter().map(|leaf| usize::from(leaf.rows)).sum()
}

/// Zeros, which the system gives only when they are first written.
fn buffers<T: Copy + Default>(wanted: &[Wanted], kind: Kind, height: usize) -> Vec<Vec<T>> {
    wanted.iter().filter(|wanted| wanted.kind == kind).map(|_| vec![T::default(); height]).collect()
}

/// The first `count` places of a slice, which keeps the others.
fn take<'s, T>(rest: &mut &'s mut [T], count: usize) -> &'s mut [T] {
    let all = std::mem::take(rest);
    let (first, others) = all.split_at_mut(count.min(all.len()));
    *rest = others;
    first
}
