//! Files that each hold one table of one process: layout 1 of a dataset, and the entries of the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::ColumnChunkMetaData;
use polars::prelude::{IntoLazy, LazyFrame};

use super::block_sums::{BlockCheck, BlockSums};
use super::row_groups::{RowGroups, Scan, missing_column, provenance, scan};
use super::store::{ADVICE, Store, unusable};
use super::stored::StoredProcess;
use wavesieve_files::regular;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column as Declaration, Table, table};
use wavesieve_tables::columns::frames::{empty_frame, own_columns};
use wavesieve_tables::columns::reading::Piece;

/// Path of the file that holds a table of a process, below their directory.
pub fn part_path(table: &str, rank: i64, process: i64) -> PathBuf {
    PathBuf::from(table).join(format!("rank={rank}")).join(format!("process-{process}.parquet"))
}

/// The files of a process.
pub struct OwnFiles {
    directory: PathBuf,
    stored: StoredProcess,
}

impl OwnFiles {
    /// The files below a directory.
    pub fn new(directory: &Path, stored: StoredProcess) -> Self {
        Self { directory: directory.to_owned(), stored }
    }

    /// Tables whose files are missing, or are not the files that were written. Their content is not read.
    pub fn damaged(&self) -> BTreeMap<&'static str, Damage> {
        let tables = self.stored.rows.keys().filter_map(|name| table(name));
        let problem = |table: &'static Table| Some((table.name, self.cursory_problem(table)?));
        let damaged: BTreeMap<&'static str, Damage> = tables.filter_map(problem).collect();
        if damaged.len() < 2 || self.stored.rows.keys().any(|name| self.path(name).exists()) {
            return damaged;
        }
        // One line for a missing rank.
        let cause = format!("all parts of rank {} are missing; {ADVICE}", self.stored.rank);
        let whole = Damage { path: self.directory.display().to_string(), part: String::new(), cause };
        damaged.into_keys().map(|table| (table, whole.clone())).collect()
    }

    /// Path of the file of a table.
    pub fn path(&self, table: &str) -> PathBuf {
        self.directory.join(part_path(table, self.stored.rank, self.stored.process))
    }

    fn cursory_problem(&self, table: &'static Table) -> Option<Damage> {
        // Derived tables can be deleted to save space: they are rebuilt if they were deleted for all ranks.
        if table.origin.is_derived() && !self.directory.join(table.name).exists() {
            return None;
        }
        match (fs::metadata(self.path(table.name)), self.stored.bytes.get(table.name)) {
            (Ok(metadata), Some(bytes)) if metadata.is_file() && metadata.len() == *bytes => None,
            _ => self.problem(table, &BTreeSet::new()),
        }
    }

    /// Whether a table has no rows, and therefore no file.
    fn is_without_file(&self, table: &Table) -> bool {
        self.stored.bytes.get(table.name) == Some(&0)
    }

    /// The sums of a file that still has the size that was written. Other programs may rewrite a file, and older versions wrote no sums.
    fn sums(&self, table: &Table, bytes: u64) -> Option<&BlockSums> {
        let is_as_long = self.stored.bytes.get(table.name) == Some(&bytes);
        self.stored.sums.get(table.name).filter(|_| is_as_long)
    }

    fn check(&self, table: &'static Table, columns: &BTreeSet<&'static str>) -> Result<()> {
        let (stored, path) = (&self.stored, self.path(table.name));
        let file = match regular::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => bail!("the file is missing"),
            opened => opened.context("cannot be opened")?,
        };
        let length = file.metadata()?.len();
        let mut blocks = self.sums(table, length).map(|sums| BlockCheck::new(&file, sums));
        if let Some(blocks) = &mut blocks {
            blocks.bytes(footer(&file, length)?)?;
        }
        let metadata =
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).context("not a whole Parquet file")?;
        let described = metadata.metadata();
        let missing = missing_column(described, &own_columns(table));
        ensure!(missing.is_none(), "it lacks the column {}", missing.unwrap_or_default());
        let expected = stored.rows.get(table.name).copied().unwrap_or_default();
        let rows: i64 = described.row_groups().iter().map(|group| group.num_rows()).sum();
        ensure!(u64::try_from(rows) == Ok(expected), "it has {rows} rows instead of {expected}");
        let said = |key: &str| provenance(described, key);
        let is_of = |key: &str, value: &str| said(key).is_none_or(|said| said == value);
        ensure!(is_of("wavesieve.table", table.name), "it is a part of another table");
        let is_own = is_of("wavesieve.source", &stored.facts.source)
            && is_of("wavesieve.guid", stored.facts.guid.as_deref().unwrap_or_default());
        ensure!(is_own, "it is a part of another rank");
        // Other programs may rewrite a part; this program would have changed the manifest too.
        let is_as_written =
            said("wavesieve.table").is_none() || stored.bytes.get(table.name).is_none_or(|b| *b == length);
        ensure!(is_as_written, "its size is {length} bytes, which differs from the manifest");
        if let Some(blocks) = &mut blocks {
            for group in described.row_groups() {
                let chunks = group.columns().iter().filter(|chunk| columns.contains(chunk.column_descr().name()));
                chunks.map(bytes_of).try_for_each(|bytes| blocks.bytes(bytes))?;
            }
        }
        Ok(())
    }
}

impl Store for OwnFiles {
    fn process(&self) -> &StoredProcess {
        &self.stored
    }

    fn is_kept(&self, table: &Table) -> bool {
        self.is_without_file(table) || self.path(table.name).exists()
    }

    fn problem(&self, table: &'static Table, columns: &BTreeSet<&'static str>) -> Option<Damage> {
        if self.is_without_file(table) {
            return None;
        }
        self.check(table, columns).err().map(|error| self.damage_of(table, &error))
    }

    fn problem_of_content(&self, table: &'static Table) -> Option<Damage> {
        let path = self.path(table.name);
        if self.is_without_file(table) || !path.exists() {
            return None;
        }
        let read = || -> Result<()> {
            let file = regular::open(&path).context("cannot be opened")?;
            if let Some(sums) = self.sums(table, file.metadata()?.len()) {
                return BlockCheck::new(&file, sums).all();
            }
            for piece in self.pieces(table, &own_columns(table))? {
                piece.read(&mut |_| Ok(()))?;
            }
            Ok(())
        };
        read().err().map(|error| self.damage_of(table, &error))
    }

    fn damage_of(&self, table: &Table, error: &anyhow::Error) -> Damage {
        let cause = unusable(&format!("rank {}", self.stored.rank), error);
        Damage { path: self.path(table.name).display().to_string(), part: table.name.to_owned(), cause }
    }

    fn pieces(&self, table: &'static Table, columns: &[&'static Declaration]) -> Result<Vec<Box<dyn Piece>>> {
        if self.is_without_file(table) {
            return Ok(Vec::new());
        }
        let groups = RowGroups::open(&self.path(table.name))?;
        groups.pieces(0..groups.count(), columns)
    }

    fn frame(&self, table: &'static Table, columns: &[&'static Declaration]) -> Result<LazyFrame> {
        if self.is_without_file(table) {
            return Ok(empty_frame(columns).lazy());
        }
        scan([Scan { path: self.path(table.name), rows: None }], columns)
    }
}

/// Byte range of the footer, by the length at the end of the file.
fn footer(mut file: &File, length: u64) -> Result<Range<u64>> {
    let mut end = [0; 8];
    file.seek(SeekFrom::Start(length.saturating_sub(8)))?;
    file.read_exact(&mut end).context("not a whole Parquet file")?;
    let [a, b, c, d, ..] = end;
    let bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
    Ok(length.saturating_sub(bytes.saturating_add(8))..length)
}

/// Byte range of the pages of a column.
fn bytes_of(chunk: &ColumnChunkMetaData) -> Range<u64> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let (start, bytes) = (u64::try_from(start).unwrap_or(0), u64::try_from(chunk.compressed_size()).unwrap_or(0));
    start..start.saturating_add(bytes)
}
