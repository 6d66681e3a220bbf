//! Files that all processes share: layout 2 of a dataset.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Error, Result, bail, ensure};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ParquetMetaData;
use polars::prelude::{IntoLazy, LazyFrame};
use xxhash_rust::xxh3::xxh3_64;

use super::block_sums::BlockSums;
use super::manifest::{Manifest, StoredFile, StoredPart, hash, part_name};
use super::row_groups::{RowGroups, Scan, joined, missing_column, provenance, scan};
use super::store::{Store, unusable};
use super::stored::StoredProcess;
use crate::stores::{Mirror, shown};
use wavesieve_files::regular;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column as Declaration, Table, table};
use wavesieve_tables::ablation::{Optimization, is_on};
use wavesieve_tables::columns::frames::{empty_frame, own_columns};
use wavesieve_tables::columns::reading::Piece;

/// Key of the sums of all column chunks in the metadata of a part, ordered by row group.
pub const SUMS: &str = "wavesieve.sums";
/// First bytes of each Parquet file.
const MAGIC: [u8; 4] = *b"PAR1";
/// Fewer rows are read at once: polars parses the footer for each scan, and the footer grows with the processes that share the file.
const SCANNED_ROWS: u64 = 65_536;

/// The parts of all tables of a dataset.
pub struct SharedFiles {
    tables: BTreeMap<&'static str, Parts>,
    processes: Vec<Arc<StoredProcess>>,
    /// The store with the files, if they are in one.
    mirror: Option<Arc<Mirror>>,
    /// The files next to the tables.
    companions: Vec<(PathBuf, StoredFile)>,
    damaged_companions: OnceLock<Vec<Damage>>,
}

/// The parts of a table.
struct Parts {
    /// Whether their folder exists.
    is_there: bool,
    /// Number of the first row group of each process, and at the end the number of all row groups.
    firsts: Vec<usize>,
    parts: Vec<FilePart>,
}

/// A file with row groups of a table.
pub struct FilePart {
    table: &'static Table,
    path: PathBuf,
    listed: StoredPart,
    /// Number of its first row group among the row groups of the table.
    first: usize,
    /// Rows that each of its row groups must have.
    rows: Vec<u64>,
    /// The store with the file, if it is in one: bytes must be fetched before they are read.
    mirror: Option<Arc<Mirror>>,
    footer: OnceLock<Result<Footer, Error>>,
}

/// The metadata that a part stores about itself.
#[derive(Clone)]
pub struct Footer {
    metadata: ArrowReaderMetadata,
    sums: Arc<BlockSums>,
}

impl Footer {
    /// The metadata of the row groups.
    pub fn metadata(&self) -> &Arc<ParquetMetaData> {
        self.metadata.metadata()
    }

    /// The sum of a column chunk when it was written.
    pub fn sum(&self, group: usize, column: usize) -> Option<u64> {
        let width = self.metadata().file_metadata().schema_descr().num_columns();
        self.sums.get(group * width + column)
    }
}

impl SharedFiles {
    /// The parts that a manifest lists.
    ///
    /// # Errors
    /// When the manifest contradicts itself.
    pub fn new(directory: &Path, manifest: &Manifest, processes: Vec<StoredProcess>) -> Result<Self> {
        let mut tables = BTreeMap::new();
        let mirror = Mirror::of(directory);
        for (name, stored) in &manifest.tables {
            // A table of a newer version cannot be requested.
            let Some(table) = table(name) else { continue };
            // No row group takes less than a byte.
            let is_possible = stored.parts.iter().all(|part| part.row_groups as u64 <= part.bytes);
            ensure!(manifest.row_group_rows > 0 && is_possible, "the manifest lists impossible row groups of {name}");
            let listed: usize = stored.parts.iter().map(|part| part.row_groups).fold(0, usize::saturating_add);
            let each = stored.rows.iter().map(|rows| rows.div_ceil(manifest.row_group_rows.max(1)));
            let expected = each.fold(0, u64::saturating_add);
            ensure!(expected == listed as u64, "the manifest lists {listed} row groups of {name}, not {expected}");
            let mut groups: Vec<u64> = Vec::new();
            let mut firsts = vec![0];
            for rows in &stored.rows {
                let whole = rows / manifest.row_group_rows.max(1);
                let rest = rows % manifest.row_group_rows.max(1);
                groups.extend((0..whole).map(|_| manifest.row_group_rows).chain((rest > 0).then_some(rest)));
                firsts.push(groups.len());
            }
            let folder = directory.join(name);
            let mut parts = Vec::new();
            let mut first = 0;
            for (number, part) in stored.parts.iter().enumerate() {
                let rows = groups.get(first..first + part.row_groups).unwrap_or_default().to_vec();
                let path = folder.join(part_name(number));
                let (listed, mirror) = (part.clone(), mirror.clone());
                parts.push(FilePart { table, path, listed, first, rows, mirror, footer: OnceLock::new() });
                first += part.row_groups;
            }
            let is_there = stored.parts.is_empty() || folder.exists();
            tables.insert(table.name, Parts { is_there, firsts, parts });
        }
        let processes = processes.into_iter().map(Arc::new).collect();
        let is_below = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let outside = manifest.companions.keys().find(|path| !is_below(path));
        ensure!(outside.is_none(), "the manifest lists {} outside of it", outside.map_or("", String::as_str));
        let listed = manifest.companions.iter();
        let companions = listed.map(|(path, stored)| (directory.join(path), stored.clone())).collect();
        Ok(Self { tables, processes, mirror, companions, damaged_companions: OnceLock::new() })
    }

    /// The processes in order.
    pub fn processes(&self) -> &[Arc<StoredProcess>] {
        &self.processes
    }

    /// Whether the manifest lists a table.
    pub fn lists(&self, table: &Table) -> bool {
        self.tables.contains_key(table.name)
    }

    /// For each process, the tables whose parts are missing, or are not the parts that were written. Their content is not read.
    pub fn damaged(&self) -> Vec<BTreeMap<&'static str, Damage>> {
        let mut damaged = vec![BTreeMap::new(); self.processes.len()];
        for (name, parts) in &self.tables {
            if !parts.is_there && parts.parts.iter().all(|part| part.table.origin.is_derived()) {
                continue;
            }
            for part in &parts.parts {
                let is_as_long =
                    fs::metadata(&part.path).is_ok_and(|found| found.is_file() && found.len() == part.listed.bytes);
                let Some(error) = (!is_as_long).then(|| part.footer().err()).flatten() else { continue };
                let damage = self.damage(parts, part, error);
                for (place, damaged) in damaged.iter_mut().enumerate() {
                    if parts.holds(part, place) {
                        damaged.entry(*name).or_insert_with(|| damage.clone());
                    }
                }
            }
        }
        damaged
    }

    /// The files next to the tables that changed after they were written. They are compared once.
    fn damaged_companions(&self) -> &[Damage] {
        let damage = |(path, stored): &(PathBuf, StoredFile)| {
            let not_fetched = self.mirror.as_ref().and_then(|mirror| mirror.fetch_whole(path).err());
            let difference = not_fetched.map_or_else(|| stored.difference(path), |error| Some(format!("{error:#}")));
            let cause = format!("{}; run the same convert again", difference?);
            let part = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Some(Damage { path: shown(path), part, cause })
        };
        self.damaged_companions.get_or_init(|| self.companions.iter().filter_map(damage).collect())
    }

    /// The damage if a part is lost: it affects all processes that have rows in it.
    fn damage(&self, parts: &Parts, part: &FilePart, error: &Error) -> Damage {
        let places = self.processes.iter().enumerate().filter(|(place, _)| parts.holds(part, *place));
        let cause = unusable(&ranks(places.map(|(_, process)| process.rank).collect()), error);
        Damage { path: shown(&part.path), part: part.table.name.to_owned(), cause }
    }

    /// The row groups of a process in a table: each part that holds some, and their numbers in that part.
    pub fn groups_of(&self, table: &Table, place: usize) -> impl Iterator<Item = (&FilePart, Range<usize>)> {
        let parts = self.tables.get(table.name);
        let own = parts.and_then(|parts| Some(*parts.firsts.get(place)?..*parts.firsts.get(place + 1)?));
        let own = own.unwrap_or_default();
        parts.into_iter().flat_map(|parts| &parts.parts).filter_map(move |part| {
            let within = own.start.max(part.first)..own.end.min(part.first + part.listed.row_groups);
            (within.start < within.end).then(|| (part, within.start - part.first..within.end - part.first))
        })
    }
}

impl Parts {
    fn holds(&self, part: &FilePart, place: usize) -> bool {
        let (first, end) = (self.firsts.get(place).copied(), self.firsts.get(place + 1).copied());
        let (first, end) = (first.unwrap_or_default(), end.unwrap_or_default());
        first.max(part.first) < end.min(part.first + part.listed.row_groups)
    }
}

impl FilePart {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its entry in the manifest.
    pub fn listed(&self) -> &StoredPart {
        &self.listed
    }

    /// The footer, read and compared with the manifest once.
    fn footer(&self) -> Result<&Footer, &Error> {
        self.footer.get_or_init(|| self.read_footer()).as_ref()
    }

    /// The metadata of its row groups.
    ///
    /// # Errors
    /// When it is not the file that the manifest lists.
    pub fn metadata(&self) -> Result<&Arc<ParquetMetaData>> {
        self.footer().map(Footer::metadata).map_err(again)
    }

    /// The footer, which is not kept unless it was requested before, because the footers of many parts take much memory.
    ///
    /// # Errors
    /// When it is not the file that the manifest lists.
    pub fn passing_footer(&self) -> Result<Footer> {
        match self.footer.get() {
            Some(Ok(known)) => Ok(known.clone()),
            Some(Err(error)) => Err(again(error)),
            None => self.read_footer(),
        }
    }

    fn read_footer(&self) -> Result<Footer> {
        let length = match fs::metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!("the file is missing"),
            // Opening a pipe would wait for its other end.
            Ok(found) if !found.is_file() => bail!("it is not a file"),
            found => found.context("cannot be read")?.len(),
        };
        let (magic_bytes, described) = (0..MAGIC.len() as u64, self.listed.data_bytes..self.listed.bytes);
        self.fetch(&[magic_bytes, described])?;
        let mut file = regular::open(&self.path).context("cannot be opened")?;
        let expected = self.listed.bytes;
        ensure!(length == expected, "it has {length} bytes instead of the {expected} that the manifest lists");
        let (mut start, mut rest) = ([0; MAGIC.len()], Vec::new());
        file.read_exact(&mut start).context("cannot be read")?;
        ensure!(start == MAGIC, "not a whole Parquet file");
        file.seek(SeekFrom::Start(self.listed.data_bytes)).context("cannot be read")?;
        file.read_to_end(&mut rest).context("cannot be read")?;
        ensure!(hash(&rest) == self.listed.footer, "it is not the file that the manifest lists");
        let options = ArrowReaderOptions::new();
        let metadata = ArrowReaderMetadata::load(&file, options).context("not a whole Parquet file")?;
        let described = metadata.metadata();
        let missing = missing_column(described, &own_columns(self.table));
        ensure!(missing.is_none(), "it lacks the column {}", missing.unwrap_or_default());
        let rows = described.row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or_default());
        ensure!(rows.eq(self.rows.iter().copied()), "its row groups are not those that the manifest lists");
        let sums = provenance(described, SUMS).context("it has no sums of its content")?;
        let sums = BlockSums::try_from(sums.to_owned()).map_err(Error::msg)?;
        Ok(Footer { metadata, sums: Arc::new(sums) })
    }

    /// Fetches bytes of a part in a store.
    fn fetch(&self, ranges: &[Range<u64>]) -> Result<()> {
        self.mirror.as_ref().map_or(Ok(()), |mirror| mirror.fetch(&self.path, ranges))
    }

    /// Compares columns of some row groups with their sums.
    fn check(&self, groups: Range<usize>, wanted: impl Fn(&str) -> bool) -> Result<()> {
        let footer = self.footer().map_err(again)?;
        let described = footer.metadata();
        let row_groups = described.row_groups().get(groups.clone()).context("internal: no such row groups")?;
        let chunks = row_groups.iter().flat_map(|group| group.columns());
        let chunks = chunks.filter(|chunk| wanted(chunk.column_descr().name())).map(|chunk| chunk.byte_range());
        self.fetch(&chunks.map(|(start, length)| start..start.saturating_add(length)).collect::<Vec<_>>())?;
        let mut file = regular::open(&self.path).context("cannot be opened")?;
        for group in groups {
            let row_group = described.row_groups().get(group).context("internal: no such row group")?;
            for (number, chunk) in row_group.columns().iter().enumerate() {
                if !wanted(chunk.column_descr().name()) {
                    continue;
                }
                let (start, length) = chunk.byte_range();
                let mut content = Vec::new();
                file.seek(SeekFrom::Start(start)).context("cannot be read")?;
                (&file).take(length).read_to_end(&mut content).context("cannot be read")?;
                let is_as_written = footer.sum(group, number) == Some(xxh3_64(&content));
                ensure!(is_as_written, "its content changed after it was written");
            }
        }
        Ok(())
    }
}

/// A copy of an error that several callers get.
fn again(error: &Error) -> Error {
    Error::msg(format!("{error:#}"))
}

/// Ranks as text.
fn ranks(ranks: BTreeSet<i64>) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for rank in ranks {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(rank) => *last = rank,
            _ => runs.push((rank, rank)),
        }
    }
    let one = |(first, last): &(i64, i64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let noun = if matches!(runs.as_slice(), [(first, last)] if first == last) { "rank" } else { "ranks" };
    format!("{noun} {}", runs.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// The rows of one process in the parts of a dataset.
pub(crate) struct SharedProcess {
    files: Arc<SharedFiles>,
    process: Arc<StoredProcess>,
    /// Position among the processes of the dataset.
    place: usize,
}

impl SharedProcess {
    /// Each of the processes, in order.
    pub fn all(files: &Arc<SharedFiles>) -> impl Iterator<Item = Self> {
        let processes = files.processes.iter().enumerate();
        processes.map(|(place, process)| Self { files: Arc::clone(files), process: Arc::clone(process), place })
    }

    fn groups(&self, table: &'static Table) -> impl Iterator<Item = (&FilePart, Range<usize>)> {
        self.files.groups_of(table, self.place)
    }

    fn checked(&self, table: &'static Table, wanted: impl Fn(&str) -> bool) -> Option<Damage> {
        for (part, groups) in self.groups(table) {
            if let Err(error) = part.footer() {
                return self.files.tables.get(table.name).map(|parts| self.files.damage(parts, part, error));
            }
            if let Err(error) = part.check(groups, &wanted) {
                return Some(self.damage_in(part, &error));
            }
        }
        None
    }

    fn damage_in(&self, part: &FilePart, error: &Error) -> Damage {
        let cause = unusable(&format!("rank {}", self.process.rank), error);
        Damage { path: shown(&part.path), part: part.table.name.to_owned(), cause }
    }
}

impl Store for SharedProcess {
    fn process(&self) -> &StoredProcess {
        &self.process
    }

    fn is_kept(&self, table: &Table) -> bool {
        self.files.tables.get(table.name).is_some_and(|parts| parts.is_there)
    }

    fn problem(&self, table: &'static Table, columns: &BTreeSet<&'static str>) -> Option<Damage> {
        self.checked(table, |name| columns.contains(name))
    }

    fn problem_of_content(&self, table: &'static Table) -> Option<Damage> {
        if self.is_kept(table) { self.checked(table, |_| true) } else { None }
    }

    fn damage_beside_tables(&self) -> &[Damage] {
        self.files.damaged_companions()
    }

    fn damage_of(&self, table: &Table, error: &Error) -> Damage {
        let path = self.files.groups_of(table, self.place).next().map(|(part, _)| shown(&part.path));
        let cause = unusable(&format!("rank {}", self.process.rank), error);
        Damage { path: path.unwrap_or_default(), part: table.name.to_owned(), cause }
    }

    fn pieces(&self, table: &'static Table, columns: &[&'static Declaration]) -> Result<Vec<Box<dyn Piece>>> {
        let mut pieces = Vec::new();
        for (part, groups) in self.groups(table) {
            let footer = part.footer().map_err(again)?;
            pieces.extend(RowGroups::new(&part.path, footer.metadata.clone()).pieces(groups, columns)?);
        }
        Ok(pieces)
    }

    fn frame(&self, table: &'static Table, columns: &[&'static Declaration]) -> Result<LazyFrame> {
        match self.process.rows.get(table.name) {
            None | Some(0) => Ok(empty_frame(columns).lazy()),
            Some(1..SCANNED_ROWS) if is_on(Optimization::Joined) => {
                Ok(joined(&self.pieces(table, columns)?, None)?.lazy())
            }
            Some(_) => {
                let parts = self.groups(table).map(|(part, groups)| {
                    let before: u64 = part.rows.iter().take(groups.start).sum();
                    let rows = part.rows.get(groups).unwrap_or_default().iter().sum();
                    Scan { path: part.path.clone(), rows: Some((before, rows)) }
                });
                scan(parts, columns)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_named_in_runs() {
        let named = |numbers: &[i64]| ranks(numbers.iter().copied().collect());
        assert_eq!(named(&[1]), "rank 1");
        assert_eq!(named(&[3, 1, 0, 2, 7]), "ranks 0-3, 7");
        assert_eq!(named(&[i64::MAX, 5]), format!("ranks 5, {}", i64::MAX));
    }
}
