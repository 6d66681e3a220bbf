//! Tables over all processes. A shard keeps a part for each of its processes, and the parts are related at the end.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Cursor, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use polars::prelude::*;

use crate::convert_process::write_table;
use wavesieve_files::regular::{self, LARGE_BYTES};
use wavesieve_model::analysis::hardware::metrics::EffectiveDefinitions;
use wavesieve_model::schema::Table;
use wavesieve_model::schema::process::Process;
use wavesieve_tables::columns::frames::categorical;
use wavesieve_tables::columns::requests::all_columns;
use wavesieve_tables::derive;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// The directory of the parts in a shard.
const JOINT: &str = "_joint";

/// Whether the rows of a table depend on all processes.
pub fn is_joint(table: &Table) -> bool {
    derive::is_joint(table.name)
}

/// Writes the parts of a process below `directory`; returns the bytes of the files by their paths there.
pub(crate) fn write_parts(
    trace: &Trace,
    member: &TraceProcess,
    directory: &Path,
    tables: &[&'static Table],
) -> Result<BTreeMap<String, u64>> {
    let mut written = BTreeMap::new();
    for table in tables {
        let frame = trace.joint_part(member, table.name, &all_columns(table))?;
        let path = path_of_process(table, member.process.process);
        let bytes = write(&directory.join(&path), &frame)?;
        written.insert(path.to_string_lossy().into_owned(), bytes);
    }
    Ok(written)
}

/// Joins the parts of some processes, which lie below `directory`, into a file for each table below `shard`, unchanged
/// and with an index.
pub fn pack(
    directory: &Path,
    shard: &Path,
    tables: &[&'static Table],
    processes: impl Iterator<Item = i64> + Clone,
) -> Result<()> {
    for table in tables {
        let path = path_of_shard(shard, table);
        create_parent(&path)?;
        let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let mut index = Index::new();
        let mut start = 0;
        for process in processes.clone() {
            let part = directory.join(path_of_process(table, process));
            let mut part = regular::open(&part).with_context(|| format!("cannot open {}", part.display()))?;
            let bytes = io::copy(&mut part, &mut out).with_context(|| format!("cannot write {}", path.display()))?;
            index.insert(process, (start, bytes));
            start += bytes;
        }
        out.flush().with_context(|| format!("cannot write {}", path.display()))?;
        let path = path_of_index(shard, table);
        fs::write(&path, serde_json::to_vec(&index)?).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// First byte of the part of each process, and its number of bytes.
type Index = BTreeMap<i64, (u64, u64)>;

/// Whether a shard has the files of all of these tables.
pub(crate) fn are_there(shard: &Path, tables: &[&'static Table]) -> bool {
    tables.iter().all(|table| path_of_shard(shard, table).is_file() && path_of_index(shard, table).is_file())
}

/// Writes the rows of a table over all processes below `directory`, from the parts in their shards. Returns the number
/// of rows of each process.
pub(super) fn write_rows(
    directory: &Path,
    table: &'static Table,
    shards: &[(&Path, Vec<Process>)],
    metrics: &EffectiveDefinitions,
) -> Result<BTreeMap<i64, u64>> {
    let joint = derive::joint(table.name).context("internal: a table of single processes")?;
    let mut parts: Vec<(&Process, DataFrame)> = Vec::new();
    for (shard, processes) in shards {
        let (indexed, path) = (path_of_index(shard, table), path_of_shard(shard, table));
        let damaged = |path: &Path| format!("{} is damaged; convert its shard again", path.display());
        let index = read_index(&indexed).with_context(|| damaged(&indexed))?;
        let damaged_parts = || damaged(&path);
        let mut file = regular::open(&path).with_context(damaged_parts)?;
        for process in processes {
            let (start, bytes) = index.get(&process.process).copied().with_context(|| damaged(&indexed))?;
            file.seek(SeekFrom::Start(start)).with_context(damaged_parts)?;
            let mut part = Vec::new();
            (&file).take(bytes).read_to_end(&mut part).with_context(damaged_parts)?;
            parts.push((process, read(part).with_context(damaged_parts)?));
        }
    }
    parts.sort_by_key(|(process, _)| process.process);
    let rows = (joint.relate)(&parts, metrics)?;
    let numbers = parts
        .iter()
        .zip(rows)
        .map(|((process, _), rows)| Ok((process.process, write_table(process, directory, table, rows)?)));
    numbers.collect()
}

fn read_index(path: &Path) -> Result<Index> {
    Ok(serde_json::from_slice(&regular::read(path, LARGE_BYTES)?)?)
}

fn path_of_process(table: &Table, process: i64) -> PathBuf {
    Path::new(JOINT).join(table.name).join(format!("process-{process}.parquet"))
}

fn path_of_shard(shard: &Path, table: &Table) -> PathBuf {
    shard.join(JOINT).join(format!("{}.parts", table.name))
}

fn path_of_index(shard: &Path, table: &Table) -> PathBuf {
    shard.join(JOINT).join(format!("{}.json", table.name))
}

fn create_parent(path: &Path) -> Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
}

fn write(path: &Path, frame: &DataFrame) -> Result<u64> {
    create_parent(path)?;
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    // Codes of categories are valid within one program only, so a file has the texts.
    let texts: Vec<Expr> = frame
        .columns()
        .iter()
        .map(|column| match column.dtype() {
            DataType::Categorical(_, _) => {
                col(column.name().clone()).cast(DataType::String).alias(coded(column.name()))
            }
            _ => col(column.name().clone()),
        })
        .collect();
    let mut plain = frame.clone().lazy().select(texts).collect()?;
    let written = ParquetWriter::new(file).with_compression(ParquetCompression::Zstd(None)).finish(&mut plain);
    Context::with_context(written, || format!("cannot write {}", path.display()))?;
    Ok(fs::metadata(path)?.len())
}

fn read(part: Vec<u8>) -> Result<DataFrame> {
    let frame = ParquetReader::new(Cursor::new(part)).finish()?;
    let columns: Vec<Expr> = frame
        .columns()
        .iter()
        .map(|column| match column.name().strip_suffix(CODED) {
            Some(name) => col(column.name().clone()).cast(categorical()).alias(name),
            None => col(column.name().clone()),
        })
        .collect();
    Ok(frame.lazy().select(columns).collect()?)
}

/// End of the names of columns that have codes in memory.
const CODED: &str = " (coded)";

fn coded(name: &str) -> String {
    format!("{name}{CODED}")
}
