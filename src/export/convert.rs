//! The whole trace as a dataset: one file per table and process, hive-partitioned by rank.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use polars::prelude::{
    ChunkFull, Column, DataFrame, DataType, Expr, Int64Chunked, IntoColumn, IntoSeries, PlSmallStr, PolarsResult,
    SortMultipleOptions, col,
};
use serde::{Deserialize, Serialize};

use super::{columnar, delimited, json, parquet_file};
use crate::input::{StoredProcess, part_path};
use crate::trace::frames::own_columns;
use crate::trace::health::Checks;
use crate::trace::schema::{Origin, Table, table, tables};
use crate::trace::selection::Filter;
use crate::trace::{Member, Request, Trace, all_columns, derive};

/// File format of a converted table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    /// Parquet, with a manifest: an input like any other.
    #[default]
    Parquet,
    /// Comma-separated values.
    Csv,
    /// An array of records.
    Json,
    /// Arrow IPC.
    Arrow,
}

impl TableFormat {
    /// Extension of the files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Arrow => "arrow",
        }
    }
}

/// Hears how a conversion goes on.
pub trait Observer: Sync {
    /// A table of a process was written.
    fn written(&self, member: &Member, table: &'static Table, rows: usize);

    /// A process was taken over from an earlier conversion.
    fn taken_over(&self, member: &Member);
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// Rows over all tables.
    pub rows: u64,
    /// Bytes over all files.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Rows of tables with a time.
    pub events: u64,
}

/// The filters in force, as options.
pub fn selection(trace: &Trace) -> Vec<String> {
    let choice = trace.choice();
    let mut options: Vec<String> = [Filter::Rank]
        .into_iter()
        .chain(Filter::OF_ROWS)
        .filter_map(|filter| Some(format!("{} {}", filter.flag(), choice.written(filter)?)))
        .collect();
    if choice.has(Filter::Window) {
        options.push(format!("--window-mode {}", choice.window_mode.word()));
    }
    options
}

/// Writes every table of a process below `directory`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_process(
    trace: &Trace,
    member: &Member,
    directory: &Path,
    format: TableFormat,
    observer: &dyn Observer,
) -> Result<(StoredProcess, Written)> {
    let mut checks = Checks::new(&member.process);
    let mut kept = Kept::default();
    let mut written = Written::default();
    let mut rows = BTreeMap::new();
    let mut put = |table: &'static Table, frame: DataFrame| -> Result<()> {
        let frame = sorted(identified(frame, member)?, table)?;
        let path = directory.join(part_path(table.name, member.process.rank, member.process.process));
        let path = path.with_extension(format.extension());
        written.bytes += write_part(&path, &frame, table, member, format)?;
        written.rows += frame.height() as u64;
        if table.column("duration_ns").is_some() || table.column("time_ns").is_some() {
            written.events += frame.height() as u64;
        }
        written.files += 1;
        rows.insert(table.name.to_owned(), frame.height() as u64);
        observer.written(member, table, frame.height());
        Ok(())
    };
    if trace.choice().chooses_rows() {
        for table in tables() {
            put(table, chosen(trace, member, table)?)?;
        }
        let mut process = stored(member, rows);
        // The table of processes is made of these again when the dataset is read.
        let times = chosen(trace, member, table("processes").context("internal: no table of processes")?)?;
        if times.height() > 0 {
            let time = |name: &str| -> Result<Option<i64>> { Ok(times.column(name)?.i64()?.get(0)) };
            (process.facts.start_ns, process.facts.end_ns) = (time("start_ns")?, time("end_ns")?);
        }
        return Ok((process, written));
    }
    for table in tables().iter().filter(|table| table.origin == Origin::Source) {
        let read = trace.read_all(member, table)?;
        checks.absorb(read.anomalies);
        checks.absorb_damage(read.damage);
        let frame = read.frame.collect().with_context(|| format!("cannot read the rows of {}", table.name))?;
        checks.table(table.name, &frame)?;
        kept.keep(table, &frame)?;
        put(table, frame)?;
    }
    let mut checks = Some(checks);
    for table in tables().iter().filter(|table| table.origin == Origin::Derived) {
        let frame = match trace.stored(member, table)? {
            Some(frame) => frame.collect().with_context(|| format!("cannot read the rows of {}", table.name))?,
            None if table.name == "anomalies" => match checks.take() {
                Some(checks) => checks.finish(trace.notes())?,
                None => continue,
            },
            None => derive::derive(table.name, &member.process, &kept.tables)?,
        };
        put(table, frame)?;
    }
    Ok((stored(member, rows), written))
}

/// The rows of a table that the filters keep. Every table is read by itself, so that none has to be kept in memory.
fn chosen(trace: &Trace, member: &Member, table: &'static Table) -> Result<DataFrame> {
    let request = Request::from([(table.name, all_columns(table))]);
    let frame = trace.process_frames(member, &request)?.remove(table.name).unwrap_or_default();
    let columns: Vec<Expr> = own_columns(table).into_iter().map(|column| col(column.name)).collect();
    frame.select(columns).collect().with_context(|| format!("cannot read the rows of {}", table.name))
}

fn stored(member: &Member, rows: BTreeMap<String, u64>) -> StoredProcess {
    let process = &member.process;
    StoredProcess {
        process: process.process,
        rank: process.rank,
        role: process.role,
        pass: process.pass,
        rows,
        devices: process.gpus.values().map(|gpu| (gpu.gpu, gpu.device)).collect(),
        facts: process.facts.clone(),
    }
}

/// The columns that derived tables are built from, kept while the tables themselves are written and dropped.
#[derive(Default)]
struct Kept {
    tables: BTreeMap<&'static str, DataFrame>,
}

impl Kept {
    fn keep(&mut self, table: &'static Table, frame: &DataFrame) -> Result<()> {
        for derived in tables().iter().filter(|t| t.origin == Origin::Derived && t.name != "anomalies") {
            for (name, columns) in derive::needs(derived.name) {
                if name == table.name {
                    self.tables.insert(name, frame.select(columns)?);
                }
            }
        }
        Ok(())
    }
}

fn identified(mut frame: DataFrame, member: &Member) -> Result<DataFrame> {
    let height = frame.height();
    for (position, (name, value)) in
        [("process", member.process.process), ("rank", member.process.rank)].into_iter().enumerate()
    {
        let column = Int64Chunked::full(name.into(), value, height).into_series().into_column();
        frame.insert_column(position, column)?;
    }
    Ok(frame)
}

/// Rows in the order of the table's sort columns, then as read.
fn sorted(frame: DataFrame, table: &'static Table) -> Result<DataFrame> {
    let mut keys: Vec<PlSmallStr> = Vec::new();
    let mut lexical = frame.clone();
    for name in table.sort {
        let column = lexical.column(name)?;
        if matches!(column.dtype(), DataType::Categorical(_, _)) {
            let text = column.cast(&DataType::String)?;
            lexical.with_column(text)?;
        }
        keys.push((*name).into());
    }
    if keys.is_empty() || frame.height() < 2 {
        return Ok(frame);
    }
    let by: Vec<Column> = keys.iter().map(|key| lexical.column(key).cloned()).collect::<PolarsResult<_>>()?;
    let (first, others) = by.split_first().context("internal: a sort without keys")?;
    let options = SortMultipleOptions::default()
        .with_maintain_order(true)
        .with_order_descending_multi(vec![false; by.len()])
        .with_nulls_last_multi(vec![false; by.len()]);
    let order = first.arg_sort_multiple(others, &options)?;
    Ok(frame.take(&order)?)
}

fn write_part(
    path: &PathBuf,
    frame: &DataFrame,
    table: &'static Table,
    member: &Member,
    format: TableFormat,
) -> Result<u64> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    match format {
        TableFormat::Parquet => parquet_file::write_table(frame, table, &member.process.facts, &mut out)?,
        TableFormat::Csv => delimited::write(frame, b',', &mut out)?,
        TableFormat::Json => json::write_array(frame, &mut out)?,
        TableFormat::Arrow => columnar::write_arrow(frame, &mut out)?,
    }
    out.flush().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(fs::metadata(path)?.len())
}
