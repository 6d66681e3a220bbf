//! A process of a rocprofv3 JSON file as a source of canonical tables.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use anyhow::{Result, bail};

use super::capture::{Capture, SectionAnomalies};
use super::file::InputFile;
use super::layout::Selected;
use super::layouts::{Activity, Dispatch};
use super::process::{agents, facts};
use super::reading::Reading;
use super::structure::gathered::Keep;
use super::structure::index::{FileIndex, TrailingData};
use super::structure::roles::{ALLOCATIONS, CALLS, COPIES, DISPATCHES, GRAPH_LAUNCHES, HIP_EVENTS, PC_SAMPLES, Roles};
use super::structure::sweep::{Gather, scan};
use super::tables::{args, calls, counters, dispatches, info, pc_samples, transfers};
use crate::common::{Replays, count_by_reading, is_left_out, no_rows};
use crate::json::Spool;
use crate::recognition::format::{Opened, ProcessInput};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

struct JsonSource(Capture);

/// The processes of a file; the text of a compressed file goes to the `spool`. The columns in `ahead` will be read soon.
///
/// # Errors
/// When the file cannot be read, or is damaged before the first process.
pub fn find(path: &Path, shown: &str, source: &str, spool: &mut Spool, ahead: &Request) -> Result<Opened> {
    let file = Arc::new(InputFile::open(path, spool)?);
    let index = scan_and_gather(&file, ahead)?;
    let mut damage = structural_damage(shown, &file, &index);
    if let (true, Some(damage)) = (index.processes.is_empty(), damage.first()) {
        bail!("{}", damage.cause);
    }
    let mut processes = Vec::new();
    let mut findings = SectionAnomalies::default();
    let mut notes = Vec::from_iter(trailing_junk(shown, &index));
    for process in index.processes {
        let mut capture = Capture {
            roles: Roles::new(&process, &file),
            file: Arc::clone(&file),
            path: shown.to_owned(),
            structural: damage.clone(),
            process,
            agents: std::collections::BTreeMap::new(),
            replays: Replays::default(),
            kinds: OnceLock::new(),
            symbols: OnceLock::new(),
            census: OnceLock::new(),
        };
        let (agents, handles) = agents(&capture, &mut findings)?;
        capture.agents = handles;
        capture.replays = counters::replays(&capture)?;
        let facts = facts(&capture, source, agents, &mut findings)?;
        notes.extend(capture.roles.unknown.iter().map(|(section, rows)| Anomaly {
            check_id: "unknown_section",
            severity: if *rows > 0 { Severity::Warning } else { Severity::Info },
            table_name: section.clone(),
            count: i64::try_from(*rows).unwrap_or(i64::MAX),
            first_key: Some(shown.to_owned()),
            detail: format!("records of {section} are of an unknown kind; ignored"),
        }));
        processes.push(ProcessInput { facts, source: Arc::new(JsonSource(capture)) });
    }
    notes.append(&mut findings.anomalies);
    damage.append(&mut findings.damage);
    Ok(Opened { processes, notes, damage })
}

/// Finds the sections, and gathers the columns of dispatches and calls that will be needed.
fn scan_and_gather(file: &InputFile, ahead: &Request) -> Result<FileIndex> {
    let wants = |table: &str| {
        let wanted = ahead.get(table)?;
        Some(|columns: &[&str]| columns.iter().any(|column| wanted.contains(column)))
    };
    let dispatches = wants("kernels").map(|wants| Selected::new::<Dispatch>(Keep::Every, wants));
    let calls = wants("regions").map(|wants| Selected::new::<Activity>(Keep::WithLength, wants));
    let of_calls = CALLS.iter().map(|name| format!("buffer_records.{name}")).collect();
    let gathers = [
        dispatches.as_ref().map(|selected| Gather { sections: vec![DISPATCHES.to_owned()], selected }),
        calls.as_ref().map(|selected| Gather { sections: of_calls, selected }),
    ];
    scan(file, &gathers.into_iter().flatten().collect::<Vec<Gather<'_>>>())
}

/// Reports bytes after the document that are not part of it.
fn trailing_junk(shown: &str, index: &FileIndex) -> Option<Anomaly> {
    let Some((TrailingData::Junk, at)) = index.behind else { return None };
    Some(Anomaly {
        check_id: "junk_behind",
        severity: Severity::Warning,
        table_name: "processes".to_owned(),
        count: i64::try_from(index.length.saturating_sub(at)).unwrap_or(i64::MAX),
        first_key: Some(shown.to_owned()),
        detail: format!("bytes from byte {at} on are after the end of the JSON document; ignored"),
    })
}

/// Damage to the file as a whole.
fn structural_damage(shown: &str, file: &InputFile, index: &FileIndex) -> Vec<Damage> {
    let mut causes = Vec::new();
    causes.extend(file.damage.clone());
    if index.truncated {
        causes.push(format!(
            "the file is truncated after {} bytes of JSON; complete records were read, collect again for \
             the rest",
            index.length
        ));
    }
    if let Some(flaw) = index.flaw {
        causes.push(format!("{} at byte {} of the JSON; records around it may be missing", flaw.what, flaw.at));
    }
    if let Some((TrailingData::Document, at)) = index.behind {
        causes.push(format!(
            "a second document starts at byte {at} of the JSON, which was not read; put it into a file of its own"
        ));
    }
    causes.into_iter().map(|cause| Damage { path: shown.to_owned(), part: String::new(), cause }).collect()
}

impl ProcessReader for JsonSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        if is_left_out(context, table.name) {
            return Ok(no_rows(columns));
        }
        let mut reading = Reading::new(&self.0, context, table, columns);
        match table.name {
            "kernels" => dispatches::read(&mut reading, None)?,
            "counter_dispatches" => dispatches::read(&mut reading, Some(context.process.pass))?,
            "memory_copies" => transfers::read_copies(&mut reading)?,
            "memory_allocations" => transfers::read_allocations(&mut reading)?,
            "graph_launches" => transfers::read_graph_launches(&mut reading)?,
            "hip_events" => transfers::read_hip_events(&mut reading)?,
            "regions" => calls::read_regions(&mut reading)?,
            "marks" => calls::read_marks(&mut reading)?,
            "args" => args::read(&mut reading)?,
            "counters" => counters::read_counters(&mut reading)?,
            "counter_instances" => counters::read_instances(&mut reading)?,
            "samples" => counters::read_samples(&mut reading)?,
            "pc_samples" => pc_samples::read(&mut reading)?,
            "queues" => info::read_ids(&mut reading, "queue_id")?,
            "streams" => info::read_ids(&mut reading, "stream_id")?,
            "threads" => info::read_threads(&mut reading)?,
            "code_objects" => info::read_code_objects(&mut reading)?,
            "kernel_symbols" => info::read_kernel_symbols(&mut reading)?,
            _ => return Ok(no_rows(columns)),
        }
        reading.finish()
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        if is_left_out(context, table.name) {
            return Ok(RowCount::default());
        }
        let capture = &self.0;
        let indexed = |names: &[&str]| Ok(RowCount::whole(names.iter().map(|name| capture.process.rows(name)).sum()));
        match table.name {
            "memory_copies" => indexed(&[COPIES]),
            "memory_allocations" => indexed(ALLOCATIONS),
            "graph_launches" => indexed(GRAPH_LAUNCHES),
            "hip_events" => indexed(&[HIP_EVENTS]),
            "pc_samples" => indexed(PC_SAMPLES),
            "kernels" | "counter_dispatches" => {
                let mut reading = Reading::new(capture, context, table, &[]);
                let rows = dispatches::count(&mut reading, table.name == "counter_dispatches")?;
                Ok(RowCount { rows, damage: reading.findings.damage })
            }
            "regions" | "marks" | "args" | "threads" | "queues" | "streams" => {
                let (census, findings) = capture.census()?;
                let rows = match table.name {
                    "regions" => census.regions,
                    "marks" => census.marks,
                    "args" => census.args,
                    "threads" => census.threads.len() as u64,
                    "queues" => census.queues.len() as u64,
                    _ => census.streams.len() as u64,
                };
                Ok(RowCount { rows, damage: findings.damage.clone() })
            }
            // These tables leave out or join rows, so counting requires reading.
            _ => count_by_reading(self, context, table),
        }
    }
}
