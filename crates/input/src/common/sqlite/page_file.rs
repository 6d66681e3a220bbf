//! Reads tables from the mapped pages of a database: columns for polars, rows split over threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use parking_lot::Mutex;
use polars::prelude::{Float64Chunked, Int64Chunked, PlSmallStr};
use rayon::prelude::*;
use thiserror::Error;

use super::column::{ColumnKind, Columns, Values, Wanted};
use super::condition::Condition;
use super::database::TableShape;
use super::gather::{ChunkRest, close_gaps, damage, named, texts, validity};
use super::json_text::text_of_blob;
use super::pages::{
    Cells, Chunk, Decoder, Fault, Layout, Leaf, Numbers, Pages, Plan, RowTest, SchemaEntry, Stored, Texts, Tree,
    TypeMismatches, UnreadablePage, declared_entries, is_of_table, measure, misplaced, named_entries, overrun, walk,
};
use super::table::Selection;
use wavesieve_files::mapped::MappedFile;
use wavesieve_tables::columns::reading::RowRange;

/// Leaves in a chunk, which one thread decodes at a time.
const LEAVES_PER_CHUNK: usize = 256;
/// Chunks after which the read pages no longer count as memory of the program: 16 MiB of them, and the pages that the system maps around
/// them.
const CHUNKS_KEPT: usize = 16;
/// Leaves that are measured to estimate the rows of all leaves.
const MEASURED_LEAVES: usize = 64;
/// The common name of row ids in all tables.
const ROW_ID: &str = "rowid";

/// The damage to report for a file that was cut meanwhile.
const CUT: &str = "the file was cut while it was read; rows of the pages before that are read";

/// The list of tables cannot be read.
#[derive(Debug, Error)]
#[error("the list of its tables is damaged")]
pub(crate) struct DamagedList;

/// A database file in memory.
#[derive(Debug)]
pub(crate) struct PageFile {
    map: MappedFile,
    roots: BTreeMap<String, u32>,
    /// The leaves of tables by their roots: many are read for several columns at different times.
    scans: Mutex<BTreeMap<u32, Arc<Scan>>>,
    /// The leaves as the pages above them list them, before any leaf is read.
    trees: Mutex<BTreeMap<u32, Arc<Tree>>>,
    /// Number of chunks of leaves that were read.
    chunks_seen: AtomicUsize,
}

/// The result of scanning a table.
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
    /// When its pages cannot be read without SQLite.
    pub fn map(file: &File) -> Result<Self> {
        let map = MappedFile::new(file).context("cannot map it")?;
        let pages = Pages::new(&map)?;
        let Some(entries) = named_entries(pages) else { bail!(DamagedList) };
        // SQLite uses the first of several entries with the same name.
        let roots = entries.into_iter().rev().filter_map(|entry| Some((entry.table_root()?, entry.name)));
        let roots = roots.map(|(root, name)| (name, root)).collect();
        Ok(Self { map, roots, scans: Mutex::default(), trees: Mutex::default(), chunks_seen: AtomicUsize::new(0) })
    }

    /// The list of tables; `None` if any entry is damaged or unusual, or a root does not have its own page.
    pub fn schema(&self) -> Option<Vec<SchemaEntry>> {
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
    /// When only SQLite can read them.
    pub fn read(&self, selection: Selection<'_>, wanted: &[Wanted], threads: usize) -> Result<Columns> {
        let pages = Pages::new(&self.map)?;
        let stored = stored(selection)?;
        let columns: Vec<Stored> = wanted
            .iter()
            .map(|wanted| stored.get(wanted.name).copied().context("a column is not known"))
            .collect::<Result<_>>()?;
        let plan_for = |leaves_decide| plan(selection, stored, &columns, leaves_decide);
        let sought = SoughtIds::of(selection)?;
        let mut read = None;
        let mut is_part = false;
        // The report of damage must not depend on the requested rows: a table with damage in them is read completely.
        if let Some(some) = self.some_leaves(pages, selection, &sought) {
            let leaves_decide = some.leaves.iter().all(|leaf| sought.are_around(leaf));
            let found = self.columns(&plan_for(leaves_decide)?, wanted, &some, threads)?;
            // If ranges end at the ends of leaves, only other tests leave rows out.
            let left_out = found.left_out.filter(|_| sought.lists.is_empty());
            read = found.damage.is_none().then_some(Columns { left_out, ..found });
            is_part = true;
        }
        let whole = || self.columns(&plan_for(false)?, wanted, &*self.scan(pages, selection, threads)?, threads);
        let columns = read.map_or_else(whole, Ok)?;
        // Other threads may read parts at the same time.
        if !is_part {
            self.advise_dont_need();
        }
        let damage = self.damage(columns.damage);
        Ok(Columns { damage, ..columns })
    }

    /// The rows on some leaves.
    fn columns(&self, plan: &Plan, wanted: &[Wanted], scan: &Scan, threads: usize) -> Result<Columns> {
        let pages = Pages::new(&self.map)?;
        let height = scan.rows();
        let mut ids = vec![0_i64; height];
        let mut integers: Vec<Vec<i64>> = buffers(wanted, ColumnKind::Integer, height);
        let mut reals: Vec<Vec<f64>> = buffers(wanted, ColumnKind::Real, height);
        let chunks = scan.chunks(&mut ids, &mut integers, &mut reals, wanted);
        let decode =
            |(leaves, mut chunk): (&[Leaf], Chunk<'_>)| match Decoder::new(pages, plan).decode(leaves, &mut chunk) {
                Ok(()) => Ok(ChunkRest::new(chunk)),
                Err(reason) => bail!(reason),
            };
        let parts: Vec<ChunkRest> = self.each_chunk(chunks, threads, decode).into_iter().collect::<Result<_>>()?;
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
                ColumnKind::Integer => {
                    let mut values = integers.next().unwrap_or_default();
                    close_gaps(&mut values, &room, &rows);
                    Values::Integer(Int64Chunked::from_vec_validity(name, values, valid()))
                }
                ColumnKind::Real => {
                    let mut values = reals.next().unwrap_or_default();
                    close_gaps(&mut values, &room, &rows);
                    Values::Real(Float64Chunked::from_vec_validity(name, values, valid()))
                }
                ColumnKind::Text => Values::Text(texts(name, &parts, index, kept)),
            };
            columns.values.push((wanted.name, values));
        }
        let lost: Vec<UnreadablePage> =
            scan.lost.iter().copied().chain(parts.into_iter().flat_map(|part| part.lost)).collect();
        columns.damage = damage(&lost);
        Ok(columns)
    }

    /// Reads leaves chunk by chunk, so that few leaves of a large table count as memory of the program at a time.
    fn each_chunk<T: Send, R: Send>(
        &self,
        chunks: Vec<T>,
        threads: usize,
        look: impl Fn(T) -> R + Sync + Send,
    ) -> Vec<R> {
        let look = |chunk| {
            let result = look(chunk);
            if self.chunks_seen.fetch_add(1, Ordering::Relaxed) % CHUNKS_KEPT == CHUNKS_KEPT - 1 {
                self.advise_dont_need();
            }
            result
        };
        if threads > 1 && chunks.len() > 1 {
            chunks.into_par_iter().map(look).collect()
        } else {
            chunks.into_iter().map(look).collect()
        }
    }

    /// Stops counting the read pages as memory of the program, because other tables are on other pages. They stay in the page cache of the
    /// system while it has room.
    fn advise_dont_need(&self) {
        if self.map.len() >= KEPT_BYTES {
            self.map.give_back();
        }
    }

    /// Whether a table has rows; `None` if the pages do not reveal it, or if some are damaged.
    pub fn has_rows(&self, selection: Selection<'_>) -> Option<bool> {
        stored(selection).ok()?;
        let pages = Pages::new(&self.map).ok()?;
        let root = *self.roots.get(&selection.table.name)?;
        let known = self.scans.lock().get(&root).cloned();
        if let Some(known) = known {
            return known.lost.is_empty().then(|| known.rows() > 0);
        }
        let tree = self.tree(pages, root);
        // A leaf without rows is always a root.
        let is_root = tree.leaves.len() == 1;
        let mut measured = if is_root { tree.leaves.clone() } else { Vec::new() };
        let is_whole = tree.lost.is_empty() && measure(pages, &mut measured).is_empty();
        (is_whole && !self.map.was_cut()).then(|| !is_root || rows_of(&measured) > 0)
    }

    /// Ranges of row ids that together cover a table, in order, with about `rows` rows each. They end at the ends of leaves. `None` if rows
    /// are selected in SQL, and for a damaged table.
    pub fn row_ranges(&self, selection: Selection<'_>, rows: usize) -> Option<Vec<RowRange>> {
        stored(selection).ok()?;
        selection.condition.tests()?;
        let pages = Pages::new(&self.map).ok()?;
        let tree = self.tree(pages, *self.roots.get(&selection.table.name)?);
        // Some leaves give an estimate for the rows of all leaves.
        let step = tree.leaves.len().div_ceil(MEASURED_LEAVES).max(1);
        let mut measured: Vec<Leaf> = tree.leaves.iter().step_by(step).copied().collect();
        if !tree.lost.is_empty() || !measure(pages, &mut measured).is_empty() || self.map.was_cut() {
            return None;
        }
        let rows_per_leaf = (rows_of(&measured) / measured.len().max(1)).max(1);
        let (mut ranges, mut first) = (Vec::new(), i64::MIN);
        for leaves in tree.leaves.chunks(rows.div_ceil(rows_per_leaf)) {
            // Leaves of deleted rows may have the same end as the leaves before them.
            let last = leaves.last().and_then(|leaf| leaf.up_to);
            if let Some(last) = last.filter(|last| (first..i64::MAX).contains(last)) {
                ranges.push(RowRange { first, last });
                first = last + 1;
            }
        }
        ranges.push(RowRange { first, last: i64::MAX });
        Some(ranges)
    }

    /// Number of rows, and the damage.
    ///
    /// # Errors
    /// When only SQLite can count them.
    pub fn count(&self, selection: Selection<'_>, threads: usize) -> Result<(u64, Option<String>)> {
        let pages = Pages::new(&self.map)?;
        let stored = stored(selection)?;
        let plan = plan(selection, stored, &[], false)?;
        let scan = self.scan(pages, selection, threads)?;
        if selection.condition.tests().is_some_and(<[_]>::is_empty) && scan.lost.is_empty() {
            let strange = self.strange(pages, &scan, selection.table, threads);
            self.advise_dont_need();
            if strange.is_empty() {
                return Ok((scan.rows() as u64, self.damage(None)));
            }
        }
        let (rows, lost) = self.decoded(pages, &plan, &scan, threads)?;
        self.advise_dont_need();
        Ok((rows as u64, self.damage(damage(&lost))))
    }

    /// Checks the pages of a table for damage and, if `closely`, its rows. Damage is reported in the same words as by
    /// reading the table.
    ///
    /// # Errors
    /// When only SQLite can check it.
    pub fn verify(&self, table: &TableShape, closely: bool, threads: usize) -> Result<Option<String>> {
        let pages = Pages::new(&self.map)?;
        let selection = Selection { table, key: ROW_ID, condition: &Condition::all() };
        let plan = plan(selection, stored(selection)?, &[], false)?;
        let plan = if closely { plan.with_whole_records() } else { plan };
        let scan = self.scan(pages, selection, threads)?;
        if scan.lost.is_empty() && !closely {
            let strange = self.strange(pages, &scan, table, threads);
            return Ok(self.damage(damage(&strange)));
        }
        let (_, lost) = self.decoded(pages, &plan, &scan, threads)?;
        self.advise_dont_need();
        Ok(self.damage(damage(&lost)))
    }

    /// The damage to report. If the file was cut meanwhile, the cut explains all other damage.
    fn damage(&self, found: Option<String>) -> Option<String> {
        if self.map.was_cut() { Some(CUT.to_owned()) } else { found }
    }

    /// The leaves with rows of another table.
    fn strange(&self, pages: Pages<'_>, scan: &Scan, table: &TableShape, threads: usize) -> Vec<UnreadablePage> {
        let Some(layout) = table.layout.as_deref() else { return Vec::new() };
        let look = |leaves: &[Leaf]| strange_leaves(pages, leaves, layout);
        let chunks = scan.leaves.chunks(LEAVES_PER_CHUNK).collect();
        self.each_chunk(chunks, threads, look).into_iter().flatten().collect()
    }

    /// Damage to the first page of a table that has no other pages. If pages of two tables are swapped, one of the tables can look empty.
    pub(crate) fn damage_of_root(&self, name: &str, layout: &Layout) -> Option<String> {
        let root = *self.roots.get(name)?;
        let pages = Pages::new(&self.map).ok()?;
        let mut only = [Leaf { page: root, rows: 0, above: None, up_to: None }];
        measure(pages, &mut only).is_empty().then(|| damage(&strange_leaves(pages, &only, layout))).flatten()
    }

    /// Damage to the file as a whole: a damaged list of tables, and pages with two owners or none.
    pub fn damage_of_structure(&self) -> Option<String> {
        let pages = Pages::new(&self.map).ok()?;
        let Some(entries) = declared_entries(pages) else { return Some(DamagedList.to_string()) };
        if let Some(strange) = entries.iter().find(|entry| !entry.is_known()) {
            return Some(format!("the list of its tables has an entry of the unknown kind `{}`", strange.kind));
        }
        damage(&misplaced(pages, &entries)).or_else(|| damage(&overrun(pages, &entries)))
    }

    /// Number of rows on some leaves, and the unreadable pages.
    fn decoded(
        &self,
        pages: Pages<'_>,
        plan: &Plan,
        scan: &Scan,
        threads: usize,
    ) -> Result<(usize, Vec<UnreadablePage>)> {
        let decode = |leaves: &[Leaf]| {
            let mut chunk = Chunk { rows: 0, ids: &mut [], columns: Vec::new(), lost: Vec::new() };
            match Decoder::new(pages, plan).decode(leaves, &mut chunk) {
                Ok(()) => Ok((chunk.rows, chunk.lost)),
                Err(reason) => bail!(reason),
            }
        };
        let chunks = scan.leaves.chunks(LEAVES_PER_CHUNK).collect();
        let counted = self.each_chunk(chunks, threads, decode);
        let counted: Vec<(usize, Vec<UnreadablePage>)> = counted.into_iter().collect::<Result<_>>()?;
        let rows: usize = counted.iter().map(|(rows, _)| rows).sum();
        let lost = scan.lost.iter().copied().chain(counted.into_iter().flat_map(|(_, lost)| lost)).collect();
        Ok((rows, lost))
    }

    /// The leaves of the table with this root, without their numbers of rows.
    fn tree(&self, pages: Pages<'_>, root: u32) -> Arc<Tree> {
        let known = self.trees.lock().get(&root).cloned();
        known.unwrap_or_else(|| {
            let tree = Arc::new(walk(pages, root));
            self.trees.lock().insert(root, Arc::clone(&tree));
            tree
        })
    }

    /// The leaves of a table that may have requested rows; `None` if all rows are requested, or the table is damaged.
    fn some_leaves(&self, pages: Pages<'_>, selection: Selection<'_>, sought: &SoughtIds<'_>) -> Option<Scan> {
        let root = *self.roots.get(&selection.table.name)?;
        let tree = self.tree(pages, root);
        let is_damaged = self.scans.lock().get(&root).is_some_and(|scan| !scan.lost.is_empty());
        if sought.are_all() || is_damaged || !tree.lost.is_empty() {
            return None;
        }
        let mut leaves: Vec<Leaf> = tree.leaves.iter().filter(|leaf| sought.may_be_on(leaf)).copied().collect();
        measure(pages, &mut leaves).is_empty().then_some(Scan { leaves, lost: Vec::new() })
    }

    /// The leaves of a table.
    fn scan(&self, pages: Pages<'_>, selection: Selection<'_>, threads: usize) -> Result<Arc<Scan>> {
        let root = self.roots.get(&selection.table.name).copied().context("the table is not known")?;
        let known = self.scans.lock().get(&root).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let tree = self.tree(pages, root);
        let (mut leaves, mut lost) = (tree.leaves.clone(), tree.lost.clone());
        let chunks = leaves.chunks_mut(LEAVES_PER_CHUNK).collect();
        lost.extend(self.each_chunk(chunks, threads, |leaves| measure(pages, leaves)).into_iter().flatten());
        let scan = Arc::new(Scan { leaves, lost });
        self.scans.lock().insert(root, Arc::clone(&scan));
        Ok(scan)
    }
}

impl Scan {
    fn rows(&self) -> usize {
        rows_of(&self.leaves)
    }

    /// Divides the leaves into chunks, each with its own part of the value buffers.
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
                ColumnKind::Integer => Cells::Integer(Numbers::new(own_integers.next().unwrap_or_default())),
                ColumnKind::Real => Cells::Real(Numbers::new(own_reals.next().unwrap_or_default())),
                ColumnKind::Text => Cells::Text(Texts::default()),
            });
            let columns = columns.collect();
            (leaves, Chunk { rows: 0, ids: take(&mut ids, room), columns, lost: Vec::new() })
        };
        self.leaves.chunks(LEAVES_PER_CHUNK).map(chunk).collect()
    }
}

/// The leaves whose rows cannot belong to the table.
fn strange_leaves(pages: Pages<'_>, leaves: &[Leaf], layout: &Layout) -> Vec<UnreadablePage> {
    let strange = leaves.iter().filter(|leaf| !is_of_table(pages, leaf, layout));
    strange.map(|leaf| UnreadablePage { page: leaf.page, fault: Fault::OtherTable }).collect()
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

/// The plan to decode the selected rows. It has no tests of row id bounds if the choice of leaves already meets the bounds.
fn plan(
    selection: Selection<'_>,
    stored: &BTreeMap<String, Stored>,
    columns: &[Stored],
    leaves_decide: bool,
) -> Result<Plan> {
    let tests = selection.condition.tests().context("rows are chosen in SQL")?;
    if tests.iter().flat_map(|test| test.columns()).any(|name| !stored.contains_key(*name)) {
        bail!("rows are chosen by a column that is not known");
    }
    let of = |name: &&'static str| stored.get(*name).copied().unwrap_or(Stored::RowId);
    let tests = tests.iter().map(|test| test.map(of));
    let is_bound =
        |test: &RowTest<Stored>| matches!(test, RowTest::AtLeast(Stored::RowId, _) | RowTest::AtMost(Stored::RowId, _));
    let tests: Vec<_> = tests.filter(|test| !leaves_decide || !is_bound(test)).collect();
    Ok(Plan::new(columns, &tests, text_of_blob).with_layout(selection.table.layout.clone()))
}

/// The row ids of requested rows.
struct SoughtIds<'a> {
    /// Lists in rising order; a requested id is in each of them.
    lists: Vec<&'a [i64]>,
    least: i64,
    most: i64,
}

impl<'a> SoughtIds<'a> {
    fn of(selection: Selection<'a>) -> Result<Self> {
        let stored = stored(selection)?;
        let is_row_id = |name: &str| stored.get(name) == Some(&Stored::RowId);
        let mut sought = Self { lists: Vec::new(), least: i64::MIN, most: i64::MAX };
        for test in selection.condition.tests().unwrap_or_default() {
            match test {
                RowTest::OneOf(column, ids) if is_row_id(column) => sought.lists.push(ids),
                RowTest::AtLeast(column, least) if is_row_id(column) => sought.least = sought.least.max(*least),
                RowTest::AtMost(column, most) if is_row_id(column) => sought.most = sought.most.min(*most),
                _ => {}
            }
        }
        Ok(sought)
    }

    fn are_all(&self) -> bool {
        self.lists.is_empty() && self.least == i64::MIN && self.most == i64::MAX
    }

    /// Whether all rows of a leaf are within the bounds.
    fn are_around(&self, leaf: &Leaf) -> bool {
        let begins = self.least == i64::MIN || leaf.above.is_some_and(|above| above >= self.least - 1);
        begins && (self.most == i64::MAX || leaf.up_to.is_some_and(|up_to| up_to <= self.most))
    }

    /// Whether a leaf may have a requested row.
    fn may_be_on(&self, leaf: &Leaf) -> bool {
        let is_inside =
            leaf.above.is_none_or(|above| above < self.most) && leaf.up_to.is_none_or(|up_to| up_to >= self.least);
        is_inside && self.lists.iter().all(|ids| may_hold(leaf, ids))
    }
}

/// Whether a leaf may have a row with one of some ids in rising order.
fn may_hold(leaf: &Leaf, ids: &[i64]) -> bool {
    let first = leaf.above.map_or(0, |above| ids.partition_point(|id| *id <= above));
    ids.get(first).is_some_and(|id| leaf.up_to.is_none_or(|up_to| *id <= up_to))
}

fn rows_of(leaves: &[Leaf]) -> usize {
    leaves.iter().map(|leaf| usize::from(leaf.rows)).sum()
}

/// Buffers of zeros. The system provides their memory on the first write.
fn buffers<T: Copy + Default>(wanted: &[Wanted], kind: ColumnKind, height: usize) -> Vec<Vec<T>> {
    wanted.iter().filter(|wanted| wanted.kind == kind).map(|_| vec![T::default(); height]).collect()
}

/// Splits off the first `count` elements of a slice.
fn take<'s, T>(rest: &mut &'s mut [T], count: usize) -> &'s mut [T] {
    let all = std::mem::take(rest);
    let (first, others) = all.split_at_mut(count.min(all.len()));
    *rest = others;
    first
}
