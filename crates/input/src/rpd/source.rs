//! A process of an RPD database as a source of canonical tables.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};

use super::census::{Census, content_hash, holds_nothing};
use super::container::Container;
use super::kinds::OpKind;
use super::reading::{Capture, Owner, Reading};
use super::{args, calls, dispatches, info, monitor, ops, transfers};
use crate::common::sqlite::{Condition, DatabaseFile, Store, notes_of_unknown, open};
use crate::common::{count_by_reading, is_left_out, no_rows, numbered_gpu};
use crate::recognition::content::Content;
use crate::recognition::format::{Format, Opened, Opening, ProcessInput, Recognized};
use crate::recognition::unread_content::{SkipReason, UnreadContent};
use wavesieve_model::schema::anomaly::{Anomaly, Damage};
use wavesieve_model::schema::facts::{AgentFacts, ProcessFacts};
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

/// Tables that every RPD database has.
const TABLES: [&str; 2] = ["rocpd_api", "rocpd_op"];
/// Schema versions whose tables this reader knows.
const KNOWN_VERSIONS: &[&str] = &["2", "3"];

pub(crate) struct Rpd;

impl Format for Rpd {
    fn recognize(&self, content: &mut Content) -> Option<Recognized> {
        let Content::Database(Some(database)) = content else { return None };
        if !TABLES.iter().all(|name| database.has(name)) {
            return None;
        }
        if holds_nothing(&database.file) {
            let reason = "an empty RPD database; collect again while the GPU works";
            return Some(UnreadContent::new(SkipReason::Other, reason).into());
        }
        let file = Arc::clone(&database.file);
        Some(Recognized::capture(move |opening| find(&file, opening)))
    }
}

struct RpdSource {
    capture: Arc<Capture>,
    owner: Owner,
    shown: String,
    content: OnceLock<Vec<Damage>>,
}

/// The processes of an RPD database: one for every process id. Sessions of a process are parts of it, since their rows
/// differ in id and share the clock.
fn find(file: &Arc<DatabaseFile>, opening: &Opening<'_>) -> Result<Opened> {
    let shown = opening.shown;
    let store = Store::checked(file.path(), opening.reader)?;
    let connection = open(file.path())?;
    let container = Container::read(&connection).with_context(|| format!("cannot read the tables of {shown}"))?;
    let census = Census::take(&connection, &container);
    let mut notes: Vec<Anomaly> = file.note(shown).into_iter().collect();
    let unknown: Vec<&str> = container.unknown_tables.iter().map(String::as_str).collect();
    let is_known = |version: &str| KNOWN_VERSIONS.contains(&version);
    notes.extend(notes_of_unknown(&unknown, container.schema_version.as_deref(), is_known, "RPD 2 and 3", shown));
    // GPUs are numbered over the whole node.
    let agents: Vec<AgentFacts> = census.gpus.iter().map(|gpu| numbered_gpu(*gpu)).collect();
    let content_hash = content_hash(&connection, &container);
    let pids = census.pids.clone();
    let schema_version = container.schema_version.clone();
    let capture = Arc::new(Capture::new(Arc::clone(file), store, container, census));
    let processes = pids.iter().enumerate().map(|(at, pid)| {
        let facts = ProcessFacts {
            content_hash: content_hash.clone(),
            pid: *pid,
            path: shown.to_owned(),
            source: opening.name.to_owned(),
            format: super::FORMAT.to_owned(),
            schema_version: schema_version.clone(),
            agents: agents.clone(),
            ..ProcessFacts::default()
        };
        let others = pids.iter().copied().filter(|other| other != pid).collect();
        let owner = Owner { pid: *pid, others, is_main: at == 0 };
        let (shown, content) = (shown.to_owned(), OnceLock::new());
        ProcessInput { facts, source: Arc::new(RpdSource { capture: Arc::clone(&capture), owner, shown, content }) }
    });
    let processes = processes.collect();
    // The census scans all calls and operations. Rows that it could not read may change which operations are kernels, and their processes.
    let damage = file.damage(shown).into_iter().chain(capture.damage_of_tables(false, shown)).collect();
    Ok(Opened { processes, notes, damage })
}

impl ProcessReader for RpdSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        if is_left_out(context, table.name) {
            return Ok(no_rows(columns));
        }
        let mut reading = Reading::new(&self.capture, &self.owner, context, table, columns);
        match table.name {
            "kernels" => dispatches::read(&mut reading)?,
            "memory_copies" => transfers::read(&mut reading)?,
            "regions" => calls::read_regions(&mut reading)?,
            "marks" => calls::read_marks(&mut reading)?,
            "args" => args::read(&mut reading)?,
            "samples" => monitor::read(&mut reading)?,
            "queues" => info::read_queues(&mut reading)?,
            "streams" => info::read_streams(&mut reading)?,
            "threads" => info::read_threads(&mut reading)?,
            "kernel_symbols" => info::read_kernel_symbols(&mut reading)?,
            // Tables that RPD cannot fill.
            _ => return Ok(no_rows(columns)),
        }
        reading.finish()
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        if is_left_out(context, table.name) {
            return Ok(RowCount::default());
        }
        let mut reading = Reading::new(&self.capture, &self.owner, context, table, &[]);
        match table.name {
            "kernels" => ops::count(&mut reading, OpKind::Kernel),
            "memory_copies" => ops::count(&mut reading, OpKind::Copy),
            "regions" => calls::count(&reading, true),
            "marks" => calls::count(&reading, false),
            "samples" if self.owner.is_main => reading.count("monitor", &Condition::all()),
            // These are gathered from other rows, so counting requires reading.
            "args" | "queues" | "streams" | "threads" | "kernel_symbols" => count_by_reading(self, context, table),
            _ => Ok(RowCount::default()),
        }
    }

    fn damage_of_content(&self) -> &[Damage] {
        // All processes of a file have the same tables. `get_or_init` is not safe here: a thread that waits for others in it may start work
        // that needs the same value.
        if self.owner.is_main && self.content.get().is_none() {
            let _ = self.content.set(self.capture.damage_of_tables(true, &self.shown));
        }
        self.content.get().map(Vec::as_slice).unwrap_or_default()
    }

    fn damage(&self) -> Vec<Damage> {
        self.content.get().cloned().unwrap_or_default()
    }
}
