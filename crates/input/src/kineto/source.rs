//! The process of a trace file as a source of canonical tables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Result, bail};
use serde_json::Value;

use super::capture::Capture;
use super::document::Document;
use super::facts::facts;
use super::gathered::Keep;
use super::kinds::Role;
use super::recognition::{BY_CATEGORY, BY_PROCESS, accelerator};
use super::tables::{allocations, args, calls, copies, dispatches, info};
use crate::common::{TableBuilder, count_by_reading, is_left_out, no_rows};
use crate::json::{Spool, TextFile};
use crate::recognition::format::{Opened, Opening, ProcessInput};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::{Column, Table};
use wavesieve_model::text::natural_order::natural_key;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

struct KinetoSource(Capture);

/// The processes of a file.
///
/// # Errors
/// When the file cannot be read, or is damaged before the first event.
pub fn open(opening: &Opening<'_>) -> Result<Opened> {
    opening.shared.with_spool(|spool| find(opening, spool))
}

fn find(opening: &Opening<'_>, spool: &mut Spool) -> Result<Opened> {
    let shown = opening.shown;
    let file = Arc::new(TextFile::open(opening.path, spool)?);
    let mut document = Document::read(&file)?;
    let causes = file.damage.clone().into_iter().chain(std::mem::take(&mut document.damage));
    let damage: Vec<Damage> =
        causes.map(|cause| Damage { path: shown.to_owned(), part: String::new(), cause }).collect();
    let events = std::mem::take(&mut document.events);
    if let (true, Some(damage)) = (events.chunks.is_empty(), damage.first()) {
        bail!("{}", damage.cause);
    }
    let base = document.members.get("baseTimeNanoseconds");
    let base_ns = base.and_then(|base| base.as_i64().or_else(|| base.as_str()?.parse().ok())).unwrap_or(0);
    let (mut processes, mut noted) = (Vec::new(), Vec::new());
    let parts = events.by_label(&file)?;
    let ranks = ranks_of(parts.iter().map(|(label, _)| label.as_str()).collect());
    for (part, rank) in parts.into_iter().zip(ranks) {
        let mut capture = Capture::new(Arc::clone(&file), shown, base_ns, part);
        capture.damage.clone_from(&damage);
        let facts = facts(&capture, &document, opening.name, rank)?;
        if processes.is_empty() {
            noted = notes(&capture, &document, shown)?;
        }
        processes.push(ProcessInput { facts, source: Arc::new(KinetoSource(capture)) });
    }
    Ok(Opened { processes, notes: noted, damage })
}

/// The ranks that labels name, each by the only number in it. If these are not distinct, the positions of the labels in natural order.
fn ranks_of(labels: Vec<&str>) -> Vec<Option<i64>> {
    if labels.iter().all(|label| label.is_empty()) {
        return vec![None; labels.len()];
    }
    let named: Vec<Option<i64>> = labels
        .iter()
        .map(|label| {
            let mut numbers = label.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
            let number = numbers.next()?.parse().ok();
            number.filter(|_| numbers.next().is_none())
        })
        .collect();
    let distinct: BTreeSet<Option<i64>> = named.iter().copied().collect();
    if distinct.len() == labels.len() && !distinct.contains(&None) {
        return named;
    }
    let mut sorted = labels.clone();
    sorted.sort_by_key(|label| natural_key(label));
    labels.iter().map(|label| sorted.iter().position(|other| other == label)?.try_into().ok()).collect()
}

/// Notes about a file: its anomalies, and the events that are not read.
fn notes(capture: &Capture, document: &Document, shown: &str) -> Result<Vec<Anomaly>> {
    let mut notes = Vec::new();
    let mut note = |check_id, severity, count: u64, detail| {
        notes.push(Anomaly::of_file(check_id, severity, count, shown, detail));
    };
    let unread = &capture.census.unread;
    if !unread.is_empty() {
        let counted: Vec<String> = unread.iter().map(|(category, count)| format!("{category} ({count})")).collect();
        let detail = format!("events of these categories or phases are not read: {}", counted.join(", "));
        note("unread_events", Severity::Info, unread.values().sum(), detail);
    }
    for (accelerator, count) in accelerators(capture)? {
        let detail = format!(
            "the trace is of {accelerator}, whose calls and work are not all read; wavesieve analyzes traces of AMD GPUs"
        );
        note("other_accelerator", Severity::Warning, count, detail);
    }
    if document.behind > 0 {
        let detail = "bytes follow the end of the JSON document; ignored".to_owned();
        note("junk_behind", Severity::Warning, document.behind, detail);
    }
    let with_lines = capture.census.with_lines + document.with_lines;
    if with_lines > 0 {
        let detail = "texts contain line ends that are not escaped; read as they are".to_owned();
        note("raw_line_ends", Severity::Info, with_lines, detail);
    }
    let version = document.members.get("schemaVersion").and_then(Value::as_i64);
    if version.is_some_and(|version| version != 1) {
        let stated = version.unwrap_or_default();
        let detail = format!("the file states schema version {stated}; it was read as version 1");
        note("unknown_version", Severity::Warning, 1, detail);
    }
    Ok(notes)
}

/// Accelerators of other vendors in a trace, with the number of events or processes that show them.
fn accelerators(capture: &Capture) -> Result<BTreeMap<&'static str, u64>> {
    let mut found: BTreeMap<&'static str, u64> = BTreeMap::new();
    for (category, count) in &capture.census.unread {
        if let Some(name) = accelerator(BY_CATEGORY, &category.to_ascii_lowercase()) {
            *found.entry(name).or_default() += count;
        }
    }
    let processes = capture.names()?.into_iter().filter(|named| named.what == "process_name");
    for name in processes.filter_map(|named| accelerator(BY_PROCESS, &named.name)) {
        *found.entry(name).or_default() += 1;
    }
    Ok(found)
}

impl ProcessReader for KinetoSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        if is_left_out(context, table.name) {
            return Ok(no_rows(columns));
        }
        let mut builder = TableBuilder::new(context, table, columns);
        let read = match table.name {
            "kernels" => dispatches::read_kernels,
            "memory_copies" => copies::read_copies,
            "memory_allocations" => allocations::read_allocations,
            "regions" => calls::read_regions,
            "marks" => calls::read_marks,
            "args" => args::read_args,
            "queues" => info::read_queues,
            "streams" => info::read_streams,
            "threads" => info::read_threads,
            "kernel_symbols" => info::read_kernel_symbols,
            // Tables that these traces cannot fill.
            _ => return Ok(no_rows(columns)),
        };
        read(&mut builder, &self.0)?;
        builder.report_damage(self.0.damage.iter().cloned());
        builder.finish()
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        if is_left_out(context, table.name) {
            return Ok(RowCount::default());
        }
        let count = |role, keep| Ok(RowCount::whole(self.0.count(role, keep)));
        match table.name {
            "kernels" => count(Role::Kernel, Keep::All),
            "memory_copies" => count(Role::Copy, Keep::All),
            "memory_allocations" => count(Role::Allocation, Keep::All),
            "regions" => count(Role::Region, Keep::WithLength),
            "marks" => count(Role::Region, Keep::WithoutLength),
            // These are gathered from other rows, so counting requires reading.
            "args" => Ok(RowCount { rows: args::count_args(&self.0)?, damage: self.0.damage.clone() }),
            "queues" | "streams" | "threads" | "kernel_symbols" => count_by_reading(self, context, table),
            _ => Ok(RowCount::default()),
        }
    }
}
