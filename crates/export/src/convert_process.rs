//! All tables of one process, each to a file of its own.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use parking_lot::Mutex;
use polars::prelude::{Column, DataFrame, Expr, IdxCa, Scalar, col};
use rayon::prelude::*;

use super::convert::{Observer, TableFormat, Written};
use super::delimited::Formulas;
use super::parquet::file as parquet_file;
use super::row_order::row_order;
use super::{columnar, delimited, json};
use wavesieve_input::{BlockSums, StoredProcess, part_path};
use wavesieve_model::schema::process::Process;
use wavesieve_model::schema::{Origin, Table, table, tables};
use wavesieve_tables::columns::frames::own_columns;
use wavesieve_tables::columns::requests::{Request, all_columns};
use wavesieve_tables::derive;
use wavesieve_tables::derive::gpu_work::gpu_times::{GpuTime, gpu_times};
use wavesieve_tables::derive::health::{ANOMALIES, Checks};
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Writes every table of a process below `directory`, and of the tables made on demand those in `with`.
///
/// # Errors
/// When a table cannot be built, or a file cannot be written.
pub fn write_process(
    trace: &Trace,
    member: &TraceProcess,
    directory: &Path,
    format: TableFormat,
    with: &[&'static Table],
    observer: &dyn Observer,
) -> Result<(StoredProcess, Written)> {
    let writer = ProcessWriter { trace, member, directory, format, with, observer };
    let mut parts = Vec::new();
    if trace.choice().chooses_rows() {
        for table in writer.tables() {
            parts.push(writer.put(table, writer.chosen(table)?)?);
        }
    } else {
        writer.write_whole(&mut parts)?;
    }
    member.source.release();
    let mut written = Written::default();
    let mut process = writer.stored();
    for part in parts {
        written.add(&part.written);
        process.gpu_times.get_or_insert_default().extend(part.gpu_times);
        let name = || part.table.name.to_owned();
        process.rows.insert(name(), part.written.rows);
        process.bytes.insert(name(), part.written.bytes);
        process.sums.extend(part.sums.map(|sums| (name(), sums)));
    }
    if trace.choice().chooses_rows() {
        // The table of processes is made from these when the dataset is read.
        let times = writer.chosen(table("processes").context("internal: no table of processes")?)?;
        if times.height() > 0 {
            let time = |name: &str| -> Result<Option<i64>> { Ok(times.column(name)?.i64()?.get(0)) };
            (process.facts.start_ns, process.facts.end_ns) = (time("start_ns")?, time("end_ns")?);
        }
    }
    Ok((process, written))
}

/// The tables that a conversion writes: all but the tables made on demand, and of these the ones in `with`.
pub(crate) fn kept_tables(with: &[&'static Table]) -> impl Iterator<Item = &'static Table> {
    tables().iter().copied().filter(|table| table.origin != Origin::OnDemand || with.contains(table))
}

/// Counts of the output of one table.
struct TableOutput {
    table: &'static Table,
    written: Written,
    /// Sums of `gpu_segments`, if that is the table.
    gpu_times: Vec<GpuTime>,
    /// Sums over the content of a part of a dataset.
    sums: Option<BlockSums>,
}

struct ProcessWriter<'a> {
    trace: &'a Trace,
    member: &'a TraceProcess,
    directory: &'a Path,
    format: TableFormat,
    with: &'a [&'static Table],
    observer: &'a dyn Observer,
}

impl ProcessWriter<'_> {
    /// The tables that are written.
    fn tables(&self) -> impl Iterator<Item = &'static Table> {
        kept_tables(self.with)
    }

    /// Writes all rows, one source table after the other. While a table is read, an earlier one is checked and written,
    /// or a derived one is built and written; then its columns are dropped.
    fn write_whole(&self, parts: &mut Vec<TableOutput>) -> Result<()> {
        let checks = Mutex::new(self.trace.checks(self.member));
        let checks_now = || checks.lock();
        let mut kept = SourceColumns::new(self)?;
        let mut waiting: VecDeque<Work> = VecDeque::new();
        for table in self.tables().filter(|table| table.origin == Origin::Source) {
            let next = waiting.pop_front();
            let (read, done) = rayon::join(
                || {
                    let read = self.trace.read_all(self.member, table)?;
                    let frame = read.frame.collect().with_context(|| format!("cannot read the rows of {}", table.name));
                    anyhow::Ok((frame?, read.anomalies, read.damage))
                },
                || next.map(|work| self.work_off(work, &checks)).transpose(),
            );
            parts.extend(done?);
            let (frame, anomalies, damage) = read?;
            checks_now().absorb_notes(table.name, anomalies);
            checks_now().absorb_damage(damage);
            kept.keep(table, &frame)?;
            waiting.push_back(Work::Write(table, frame));
            waiting.extend(kept.ready().into_iter().map(Work::Derive));
        }
        let rest: Vec<Work> = waiting.into();
        let rest =
            rest.into_par_iter().map(|work| self.work_off(work, &checks)).collect::<Result<Vec<TableOutput>>>()?;
        parts.extend(rest);
        let mut checks = checks.into_inner();
        for table in self.tables().filter(|table| table.origin.is_derived()) {
            if let Some(frame) = self.trace.ready(self.member, table, &all_columns(table))? {
                let frame = frame.collect().with_context(|| format!("cannot read the rows of {}", table.name))?;
                parts.push(self.put(table, frame)?);
            } else if table.name == ANOMALIES {
                let checks = std::mem::replace(&mut checks, self.trace.checks(self.member));
                parts.push(self.put(table, checks.finish(self.trace.anomalies_of_inputs(self.member))?)?);
            }
        }
        Ok(())
    }

    fn work_off(&self, work: Work, checks: &Mutex<Checks<'_>>) -> Result<TableOutput> {
        match work {
            Work::Write(table, frame) => {
                let seen = frame.clone();
                let check = || {
                    let found = Checks::of_rows(&self.member.process, table.name, &seen)?;
                    let mut checks = checks.lock();
                    checks.absorb(found);
                    checks.put(table.name, &seen)
                };
                let (checked, part) = rayon::join(check, || self.put(table, frame));
                checked?;
                part
            }
            Work::Derive(ready) => {
                let tables = ready.tables.into_iter().collect::<derive::Frames>();
                let tables = tables.choosing(&self.trace.choice().unit);
                let more = self.trace.whole(self.member);
                let frame = derive::derive(ready.table.name, &self.member.process, &tables, &more)?;
                drop(tables);
                self.put(ready.table, frame)
            }
        }
    }

    /// Writes the file of one table.
    fn put(&self, table: &'static Table, frame: DataFrame) -> Result<TableOutput> {
        let rows = frame.height();
        let files = ProcessFiles { process: &self.member.process, directory: self.directory, format: self.format };
        let part = files.put(table, frame)?;
        self.observer.written(self.member, table, rows);
        Ok(part)
    }

    /// The rows of a table that the filters keep. Every table is read by itself, so that none has to be kept in memory.
    fn chosen(&self, table: &'static Table) -> Result<DataFrame> {
        let request = Request::from([(table.name, all_columns(table))]);
        let frame = self.trace.process_frames(self.member, &request)?.remove(table.name).unwrap_or_default();
        let columns: Vec<Expr> = own_columns(table).into_iter().map(|column| col(column.name)).collect();
        frame.select(columns).collect().with_context(|| format!("cannot read the rows of {}", table.name))
    }

    /// The process without any table.
    fn stored(&self) -> StoredProcess {
        let process = &self.member.process;
        StoredProcess {
            process: process.process,
            rank: process.rank,
            role: process.role,
            pass: process.pass,
            rows: BTreeMap::new(),
            bytes: BTreeMap::new(),
            sums: BTreeMap::new(),
            devices: process.gpus.values().map(|gpu| (gpu.gpu, gpu.device)).collect(),
            gpu_times: Some(Vec::new()),
            facts: process.facts.clone(),
        }
    }
}

/// Writes one table of a process below `directory` as Parquet, and returns its number of rows.
///
/// # Errors
/// When the rows cannot be sorted, or the file cannot be written.
pub fn write_table(process: &Process, directory: &Path, table: &'static Table, frame: DataFrame) -> Result<u64> {
    Ok(ProcessFiles { process, directory, format: TableFormat::Parquet }.put(table, frame)?.written.rows)
}

/// Whether the rows of a table are events.
pub(crate) fn is_timed(table: &Table) -> bool {
    table.column("duration_ns").is_some() || table.column("time_ns").is_some()
}

/// The files of a process, one for each table.
struct ProcessFiles<'a> {
    process: &'a Process,
    directory: &'a Path,
    format: TableFormat,
}

impl ProcessFiles<'_> {
    fn put(&self, table: &'static Table, frame: DataFrame) -> Result<TableOutput> {
        let frame = identified(frame, self.process)?;
        let order = row_order(&frame, table.sort).with_context(|| format!("cannot sort {}", table.name))?;
        let path = self.directory.join(part_path(table.name, self.process.rank, self.process.process));
        let path = path.with_extension(self.format.extension());
        let rows = frame.height();
        let gpu_times = if table.name == "gpu_segments" { gpu_times(&frame)? } else { Vec::new() };
        if rows == 0 && self.format == TableFormat::Parquet {
            return Ok(TableOutput { table, written: Written::default(), gpu_times, sums: None });
        }
        let bytes = self.write_file(&path, frame, order.as_ref(), table)?;
        let sums = (self.format == TableFormat::Parquet)
            .then(|| BlockSums::compute(&path).with_context(|| format!("cannot read {}", path.display())))
            .transpose()?;
        let events = if is_timed(table) { rows as u64 } else { 0 };
        Ok(TableOutput { table, written: Written { rows: rows as u64, bytes, files: 1, events }, gpu_times, sums })
    }

    fn write_file(&self, path: &Path, frame: DataFrame, order: Option<&IdxCa>, table: &'static Table) -> Result<u64> {
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        self.fill_file(file, frame, order, table).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(fs::metadata(path)?.len())
    }

    fn fill_file(&self, file: File, frame: DataFrame, order: Option<&IdxCa>, table: &'static Table) -> Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let facts = &self.process.facts;
        let in_order = |frame: DataFrame| order.map_or(Ok(frame.clone()), |order| frame.take(order));
        match self.format {
            TableFormat::Parquet => parquet_file::write_table(&frame, order, table, facts, &mut out)?,
            TableFormat::Csv => delimited::write(&in_order(frame)?, b',', Formulas::Kept, &mut out)?,
            TableFormat::SafeCsv => delimited::write(&in_order(frame)?, b',', Formulas::Defused, &mut out)?,
            TableFormat::Json => json::write_array(&in_order(frame)?, &mut out)?,
            TableFormat::Arrow => columnar::write_arrow(&in_order(frame)?, &mut out)?,
        }
        Ok(out.flush()?)
    }
}

/// Remaining work for a table.
enum Work {
    /// To check and write what was read.
    Write(&'static Table, DataFrame),
    /// To build and write what is derived.
    Derive(Ready),
}

/// A derived table whose source columns have all been read.
struct Ready {
    table: &'static Table,
    tables: BTreeMap<&'static str, DataFrame>,
}

/// The columns that derived tables are built from, kept until the last of them has been read.
struct SourceColumns {
    waiting: Vec<Ready>,
}

impl SourceColumns {
    /// Waits for all derived tables that did not come with the input.
    fn new(writer: &ProcessWriter<'_>) -> Result<Self> {
        let mut waiting = Vec::new();
        for table in writer.tables().filter(|table| table.origin.is_derived() && table.name != ANOMALIES) {
            if writer.trace.ready(writer.member, table, &all_columns(table))?.is_none() {
                waiting.push(Ready { table, tables: BTreeMap::new() });
            }
        }
        Ok(Self { waiting })
    }

    fn keep(&mut self, table: &'static Table, frame: &DataFrame) -> Result<()> {
        for waiting in &mut self.waiting {
            for (name, columns) in derive::all_needs(waiting.table.name) {
                if name == table.name {
                    waiting.tables.insert(name, frame.select(columns)?);
                }
            }
        }
        Ok(())
    }

    /// The derived tables that can be built now, each handed out once.
    fn ready(&mut self) -> Vec<Ready> {
        let complete = |ready: &mut Ready| ready.tables.len() == derive::all_needs(ready.table.name).len();
        self.waiting.extract_if(.., complete).collect()
    }
}

fn identified(mut frame: DataFrame, process: &Process) -> Result<DataFrame> {
    let height = frame.height();
    for (position, (name, value)) in [("process", process.process), ("rank", process.rank)].into_iter().enumerate() {
        frame.insert_column(position, Column::new_scalar(name.into(), Scalar::from(value), height))?;
    }
    Ok(frame)
}
