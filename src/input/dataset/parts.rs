//! Whether the parts of a dataset are those that its manifest lists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::{ColumnChunkMetaData, FileMetaData};

use super::block_sums::{BlockCheck, BlockSums};
use super::row_groups::row_groups;
use super::source::{StoredProcess, part_path};
use crate::columns::frames::own_columns;
use crate::schema::anomaly::Damage;
use crate::schema::{Table, table};
use crate::text::causes::with_causes;

/// What to do about a part that cannot be used.
const ADVICE: &str = "copy it again or convert again";

/// Parts of a process that are missing, or are not those that were written; by table. Their content is not read.
pub(crate) fn damaged_parts(directory: &Path, stored: &StoredProcess) -> BTreeMap<&'static str, Damage> {
    let tables = stored.rows.keys().filter_map(|name| table(name));
    let problem = |table: &'static Table| Some((table.name, cursory_problem(directory, stored, table)?));
    let damaged: BTreeMap<&'static str, Damage> = tables.filter_map(problem).collect();
    let is_there = |name: &String| directory.join(part_path(name, stored.rank, stored.process)).exists();
    if damaged.len() < 2 || stored.rows.keys().any(is_there) {
        return damaged;
    }
    // One line for a rank that is gone.
    let cause = format!("all parts of rank {} are missing; {ADVICE}", stored.rank);
    let whole = Damage { path: directory.display().to_string(), part: String::new(), cause };
    damaged.into_keys().map(|table| (table, whole.clone())).collect()
}

fn cursory_problem(directory: &Path, stored: &StoredProcess, table: &'static Table) -> Option<Damage> {
    let path = directory.join(part_path(table.name, stored.rank, stored.process));
    // What is derived can be deleted to save space: then it is made again, as long as it was deleted of all ranks.
    if table.origin.is_derived() && !directory.join(table.name).exists() {
        return None;
    }
    match (fs::metadata(&path), stored.bytes.get(table.name)) {
        (Ok(metadata), Some(bytes)) if metadata.is_file() && metadata.len() == *bytes => None,
        _ => problem(directory, stored, table, &BTreeSet::new()),
    }
}

/// What is wrong with a part, by its footer and by what it stores of some columns.
pub(crate) fn problem(
    directory: &Path,
    stored: &StoredProcess,
    table: &'static Table,
    columns: &BTreeSet<&'static str>,
) -> Option<Damage> {
    let path = directory.join(part_path(table.name, stored.rank, stored.process));
    check(&path, stored, table, columns).err().map(|error| damage_of(&path, stored, table, &error))
}

/// What is wrong with a part, by all of its content.
pub(crate) fn problem_of_content(directory: &Path, stored: &StoredProcess, table: &'static Table) -> Option<Damage> {
    let path = directory.join(part_path(table.name, stored.rank, stored.process));
    let read = || -> Result<()> {
        let file = File::open(&path).context("cannot be opened")?;
        if let Some(sums) = sums(stored, table, file.metadata()?.len()) {
            return BlockCheck::new(&file, sums).all();
        }
        let columns: Vec<_> = own_columns(table).into_iter().collect();
        for piece in row_groups(&path, &columns)? {
            piece.read(&mut |_| Ok(()))?;
        }
        Ok(())
    };
    read().err().map(|error| damage_of(&path, stored, table, &error))
}

/// The sums of a part that has as many bytes as were written. Other programs may write one anew, and older versions wrote none.
fn sums<'a>(stored: &'a StoredProcess, table: &Table, bytes: u64) -> Option<&'a BlockSums> {
    let is_as_long = stored.bytes.get(table.name) == Some(&bytes);
    stored.sums.get(table.name).filter(|_| is_as_long)
}

/// What is lost of a part that cannot be read.
pub(crate) fn damage_of(path: &Path, stored: &StoredProcess, table: &Table, error: &anyhow::Error) -> Damage {
    let cause = format!("the part of rank {} cannot be used: {}; {ADVICE}", stored.rank, with_causes(error));
    Damage { path: path.display().to_string(), part: table.name.to_owned(), cause }
}

fn check(path: &Path, stored: &StoredProcess, table: &'static Table, columns: &BTreeSet<&'static str>) -> Result<()> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("the file is missing"),
        opened => opened.context("cannot be opened")?,
    };
    let length = file.metadata()?.len();
    let mut blocks = sums(stored, table, length).map(|sums| BlockCheck::new(&file, sums));
    if let Some(blocks) = &mut blocks {
        blocks.bytes(footer(&file, length)?)?;
    }
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).context("not a whole Parquet file")?;
    let described = metadata.metadata().file_metadata().schema_descr();
    for column in own_columns(table) {
        let known = described.columns().iter().any(|stored| stored.name() == column.name);
        ensure!(known, "it lacks the column {}", column.name);
    }
    let written = metadata.metadata().file_metadata();
    let expected = stored.rows.get(table.name).copied().unwrap_or_default();
    let rows: i64 = metadata.metadata().row_groups().iter().map(|group| group.num_rows()).sum();
    ensure!(u64::try_from(rows) == Ok(expected), "it has {rows} rows instead of {expected}");
    let said = |key: &str| provenance(written, key);
    let is_of = |key: &str, value: &str| said(key).is_none_or(|said| said == value);
    ensure!(is_of("wavesieve.table", table.name), "it is a part of another table");
    let is_own = is_of("wavesieve.source", &stored.facts.source)
        && is_of("wavesieve.guid", stored.facts.guid.as_deref().unwrap_or_default());
    ensure!(is_own, "it is a part of another rank");
    // Other programs may write a part anew; this one would have changed the manifest with it.
    let is_as_written = said("wavesieve.table").is_none() || stored.bytes.get(table.name).is_none_or(|b| *b == length);
    ensure!(is_as_written, "its size is {length} bytes, which differs from the manifest");
    if let Some(blocks) = &mut blocks {
        for group in metadata.metadata().row_groups() {
            let chunks = group.columns().iter().filter(|chunk| columns.contains(chunk.column_descr().name()));
            chunks.map(bytes_of).try_for_each(|bytes| blocks.bytes(bytes))?;
        }
    }
    Ok(())
}

/// Where the footer of a file lies, by the length at its end.
fn footer(mut file: &File, length: u64) -> Result<Range<u64>> {
    let mut end = [0; 8];
    file.seek(SeekFrom::Start(length.saturating_sub(8)))?;
    file.read_exact(&mut end).context("not a whole Parquet file")?;
    let [a, b, c, d, ..] = end;
    let bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
    Ok(length.saturating_sub(bytes.saturating_add(8))..length)
}

/// Where the pages of a column lie.
fn bytes_of(chunk: &ColumnChunkMetaData) -> Range<u64> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let (start, bytes) = (u64::try_from(start).unwrap_or(0), u64::try_from(chunk.compressed_size()).unwrap_or(0));
    start..start.saturating_add(bytes)
}

fn provenance<'a>(metadata: &'a FileMetaData, key: &str) -> Option<&'a str> {
    metadata.key_value_metadata()?.iter().find(|pair| pair.key == key)?.value.as_deref()
}
