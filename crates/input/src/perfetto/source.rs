//! The processes of a trace file as sources of canonical tables.

use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use super::document::Document;
use super::facts::facts;
use super::kinds::Role;
use super::notes::{damage, notes, other_program};
use super::processes::{Assembled, Process, assemble};
use super::rows::Field;
use super::tables::{args, calls, info, samples, states, work};
use crate::common::gzip::GzipText;
use crate::common::{TableBuilder, count_by_reading, is_left_out, no_rows};
use crate::json::GZIP_MAGIC;
use crate::recognition::format::{Opened, Opening, ProcessInput};
use wavesieve_files::regular;
use wavesieve_model::schema::anomaly::Damage;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

/// Bytes of a compressed file that are read at a time.
const COMPRESSED_BYTES: usize = 1 << 15;

pub(crate) struct PerfettoSource {
    pub file: Arc<Assembled>,
    number: usize,
    damage: Vec<Damage>,
}

/// The processes of a file.
///
/// # Errors
/// When the file cannot be read, or no profiler of ROCm wrote it.
pub fn open(opening: &Opening<'_>) -> Result<Opened> {
    let shown = opening.shown;
    let mut document = read(opening.path)?;
    let damage = damage(&document.census, document.writer, shown);
    if let Some(other) = other_program(&document) {
        match damage.first() {
            Some(damage) if document.census.events == 0 => bail!("{}", damage.cause),
            _ => return Err(other.into()),
        }
    }
    let census = std::mem::take(&mut document.census);
    let file = Arc::new(assemble(document));
    let notes = notes(&census, &file, shown);
    let input = |(number, process): (usize, &Process)| ProcessInput {
        facts: facts(process, number, file.writer, shown, opening.name),
        source: Arc::new(PerfettoSource { file: Arc::clone(&file), number, damage: damage.clone() }),
    };
    let processes = file.processes.iter().enumerate().map(input).collect();
    Ok(Opened { processes, notes, damage })
}

fn read(path: &Path) -> Result<Document> {
    let open = || regular::open(path).with_context(|| format!("cannot open {}", path.display()));
    let mut head = Vec::new();
    open()?.take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
    let file = open()?;
    if head.starts_with(GZIP_MAGIC) {
        Ok(Document::read(GzipText::new(BufReader::with_capacity(COMPRESSED_BYTES, file))))
    } else {
        Ok(Document::read(file))
    }
}

impl PerfettoSource {
    pub fn process(&self) -> Option<&Process> {
        self.file.processes.get(self.number)
    }
}

impl ProcessReader for PerfettoSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        let Some(process) = self.process().filter(|_| !is_left_out(context, table.name)) else {
            return Ok(no_rows(columns));
        };
        let read = match table.name {
            "kernels" => work::read_kernels,
            "memory_copies" => work::read_copies,
            "memory_allocations" => work::read_allocations,
            "regions" => calls::read_regions,
            "marks" => calls::read_marks,
            "args" => args::read_args,
            "queues" => info::read_queues,
            "streams" => info::read_streams,
            "threads" => info::read_threads,
            "kernel_symbols" => info::read_kernel_symbols,
            "samples" => samples::read_samples,
            "thread_states" => states::read_thread_states,
            // Tables that these traces cannot fill.
            _ => return Ok(no_rows(columns)),
        };
        let mut builder = TableBuilder::new(context, table, columns);
        read(&mut builder, &self.file, process)?;
        builder.report_damage(self.damage.iter().cloned());
        builder.finish()
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        let Some(process) = self.process().filter(|_| !is_left_out(context, table.name)) else {
            return Ok(RowCount::default());
        };
        let height = |role| process.rows(role).map_or(0, |rows| rows.height() as u64);
        let marks = || {
            let calls = process.rows(Role::Call);
            let times = calls.into_iter().flat_map(|rows| rows.column(Field::Start).zip(rows.column(Field::End)));
            times.filter(|(start, end)| start == end).count() as u64
        };
        Ok(RowCount::whole(match table.name {
            "kernels" => height(Role::Kernel),
            "memory_copies" => height(Role::Copy),
            "memory_allocations" => height(Role::Allocation),
            "regions" => height(Role::Call) - marks(),
            "marks" => marks(),
            "args" => process.arguments.len() as u64,
            "samples" => process.values.height() as u64,
            "thread_states" => process.states.len() as u64,
            // These are gathered from other rows, so counting requires reading.
            "queues" | "streams" | "threads" | "kernel_symbols" => count_by_reading(self, context, table)?.rows,
            _ => 0,
        }))
    }
}
