//! Tables over all processes: a shard keeps what counts of each of its processes, and all of that is related in the end.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use polars::prelude::*;

use crate::analysis::hardware::metrics::Definitions;
use crate::columns::frames::categorical;
use crate::columns::requests::all_columns;
use crate::derive;
use crate::export::convert_process::write_table;
use crate::schema::Table;
use crate::schema::process::Process;
use crate::trace::{Trace, TraceProcess};

/// The directory for them in a shard.
const JOINT: &str = "_joint";
/// The column that names the process.
const PROCESS: &str = "process";

/// Whether the rows of a table depend on all processes.
pub(crate) fn is_joint(table: &Table) -> bool {
    derive::is_joint(table.name)
}

/// Writes what counts of a process below `directory`; returns the bytes of the files by their paths there.
///
/// # Errors
/// When the process cannot be read, or a file cannot be written.
pub(crate) fn write_parts(
    trace: &Trace,
    member: &TraceProcess,
    directory: &Path,
    tables: &[&'static Table],
) -> Result<BTreeMap<String, u64>> {
    let mut written = BTreeMap::new();
    for table in tables {
        let mut frame = trace.joint_part(member, table.name, &all_columns(table))?;
        let path = path_of_process(table, member.process.process);
        let bytes = write(&directory.join(&path), &mut frame)?;
        written.insert(path.to_string_lossy().into_owned(), bytes);
    }
    Ok(written)
}

/// Puts what counts of some processes, which lies below `directory`, into a file for each table below `shard`.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn pack(
    directory: &Path,
    shard: &Path,
    tables: &[&'static Table],
    processes: impl Iterator<Item = i64> + Clone,
) -> Result<()> {
    for table in tables {
        let mut all: Option<DataFrame> = None;
        for process in processes.clone() {
            let mut frame = read(&directory.join(path_of_process(table, process)))?;
            let number = Column::new_scalar(PROCESS.into(), Scalar::from(process), frame.height());
            frame.insert_column(0, number)?;
            match &mut all {
                Some(all) => drop(all.vstack_mut(&frame)?),
                None => all = Some(frame),
            }
        }
        if let Some(mut all) = all {
            write(&shard.join(path_of_shard(table)), &mut all)?;
        }
    }
    Ok(())
}

/// Whether a shard has the files of all of these tables; one without processes has none.
pub(crate) fn are_there(shard: &Path, tables: &[&'static Table]) -> bool {
    tables.iter().all(|table| shard.join(path_of_shard(table)).is_file())
}

/// Writes the rows of a table of all processes below `directory`, from what counts of them in their shards, which follow one another as
/// the processes do. Returns the number of rows of each process.
///
/// # Errors
/// When a file cannot be read or written, or the rows cannot be related.
pub(super) fn write_rows(
    directory: &Path,
    table: &'static Table,
    shards: &[(&Path, Vec<Process>)],
    metrics: &Definitions,
) -> Result<BTreeMap<i64, u64>> {
    let joint = derive::joint(table.name).context("internal: a table of single processes")?;
    let mut parts: Vec<(&Process, DataFrame)> = Vec::new();
    for (shard, processes) in shards.iter().filter(|(_, processes)| !processes.is_empty()) {
        let all = read(&shard.join(path_of_shard(table)))?;
        for process in processes {
            let is_own = all.column(PROCESS)?.i64()?.equal(process.process);
            parts.push((process, all.filter(&is_own)?.drop(PROCESS)?));
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

fn path_of_process(table: &Table, process: i64) -> PathBuf {
    Path::new(JOINT).join(table.name).join(format!("process-{process}.parquet"))
}

fn path_of_shard(table: &Table) -> PathBuf {
    Path::new(JOINT).join(format!("{}.parquet", table.name))
}

fn write(path: &Path, frame: &mut DataFrame) -> Result<u64> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    // Categories of the whole program are texts in a file.
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

fn read(path: &Path) -> Result<DataFrame> {
    let file = File::open(path).with_context(|| format!("cannot open {}; convert its shard again", path.display()))?;
    let frame = Context::with_context(ParquetReader::new(file).finish(), || format!("cannot read {}", path.display()))?;
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

/// End of the names of columns whose texts have codes in memory.
const CODED: &str = " (coded)";

fn coded(name: &str) -> String {
    format!("{name}{CODED}")
}
