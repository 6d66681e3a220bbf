//! A process of a capture as a source of canonical tables.

use std::sync::Arc;

use anyhow::Result;

use super::agents::agents;
use super::capture::{Capture, Shared, Survey};
use super::group::Group;
use super::kinds::RecordKind;
use super::owners::Owned;
use super::reading::Reading;
use super::symbols::Symbols;
use super::{calls, counters, dispatches, info, pc_samples, transfers};
use crate::common::{TableBuilder, add_head, assembled, counted};
use crate::recognition::format::{Opened, ProcessInput};
use wavesieve_model::schema::anomaly::{Anomaly, Severity};
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::{Column, Table};
use wavesieve_model::text::fnv::fnv1a;
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

struct CsvSource(Capture);

/// The processes of a capture.
pub fn find(group: &Group) -> Result<Opened> {
    let survey = Survey::new(group)?;
    let notes = notes(group, &survey.shared);
    let hash = content_hash(&survey.shared);
    let shared = Arc::new(survey.shared);
    let mut processes = Vec::new();
    for (process, mut owned) in survey.owned.into_iter().enumerate() {
        let replays = std::mem::take(&mut owned.census.runs).replays();
        let (agents, labels) = agents(&survey.listed, owned.guid.as_deref(), &owned.census);
        let facts = ProcessFacts { agents, replay_passes: replays.last(), ..facts(group, &owned, hash, process) };
        let capture = Capture {
            shared: Arc::clone(&shared),
            process,
            symbols: Symbols::new(&owned.census),
            replays,
            census: owned.census,
            agents: labels,
        };
        processes.push(ProcessInput { facts, source: Arc::new(CsvSource(capture)) });
    }
    Ok(Opened { processes, notes, damage: survey.damage })
}

fn facts(group: &Group, owned: &Owned, hash: u64, process: usize) -> ProcessFacts {
    // By default rocprofv3 writes <host>/<process id>_<kind>.csv.
    let host = group.directory.as_ref().filter(|_| group.pid.is_some() && group.pid == owned.pid);
    ProcessFacts {
        guid: owned.guid.clone(),
        content_hash: format!("{hash:016x}-{process}"),
        machine_key: host.map(|host| format!("directory {host}")).unwrap_or_default(),
        pid: owned.pid.unwrap_or(-1),
        path: group.shown.clone(),
        source: group.source.clone(),
        format: super::FORMAT.to_owned(),
        has_counters: owned.census.rows(RecordKind::Counters) > 0,
        ..ProcessFacts::default()
    }
}

/// Notes about unknown columns, repeated files and unknown interfaces.
fn notes(group: &Group, shared: &Shared) -> Vec<Anomaly> {
    let note = |check_id, table_name: &str, count: usize, path: &str, detail: String| {
        Anomaly::new(check_id, Severity::Info, table_name, count, detail).first(Some(path))
    };
    let unknown =
        shared.files.iter().filter(|file| file.kind != RecordKind::Agents && !file.header.unknown.is_empty()).map(
            |surveyed| {
                let names = &surveyed.header.unknown;
                let detail = format!("unknown columns were ignored: {}", names.join(", "));
                note("unknown_column", surveyed.kind.name(), names.len(), &surveyed.file.shown, detail)
            },
        );
    let repeated = group.repeated.iter().map(|path| {
        let detail = "the uncompressed file is read instead".to_owned();
        note("repeated_capture", "processes", 1, path, detail)
    });
    let joined = group.unknown.iter().map(|path| {
        let detail =
            "the interface in the name of the file is not known; its calls were read with the files next to it"
                .to_owned();
        note("unknown_interface", "regions", 1, path, detail)
    });
    unknown.chain(repeated).chain(joined).collect()
}

/// A hash of the first bytes of the files, and of their numbers of rows.
fn content_hash(shared: &Shared) -> u64 {
    let mut bytes = Vec::new();
    for surveyed in &shared.files {
        bytes.extend(surveyed.kind.name().bytes());
        bytes.extend(surveyed.flaws.good.to_le_bytes());
        add_head(&mut bytes, &surveyed.file.path);
    }
    fnv1a(&bytes)
}

impl ProcessReader for CsvSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        assembled(context, table, columns, |builder| {
            let mut reading = Reading::new(&self.0, builder);
            let census = &self.0.census;
            match table.name {
                "kernels" => dispatches::read(&mut reading, None)?,
                "counter_dispatches" => dispatches::read(&mut reading, Some(context.process.pass))?,
                "memory_copies" => transfers::read_copies(&mut reading)?,
                "memory_allocations" => transfers::read_allocations(&mut reading)?,
                "graph_launches" => transfers::read_graph_launches(&mut reading)?,
                "hip_events" => transfers::read_hip_events(&mut reading)?,
                "regions" => calls::read_regions(&mut reading)?,
                "marks" => calls::read_marks(&mut reading)?,
                "counters" => counters::read_counters(&mut reading)?,
                "counter_instances" => counters::read_instances(&mut reading)?,
                "samples" => counters::read_samples(&mut reading)?,
                "pc_samples" => pc_samples::read(&mut reading)?,
                "queues" => info::read_ids(&mut reading, "queue_id", &census.queues),
                "streams" => info::read_ids(&mut reading, "stream_id", &census.streams),
                "threads" => info::read_ids(&mut reading, "tid", &census.threads),
                "kernel_symbols" => info::read_kernel_symbols(&mut reading)?,
                _ => return Ok(None),
            }
            reading.finish().map(Some)
        })
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        let capture = &self.0;
        let census = &capture.census;
        counted(self, context, table, || {
            let of_kind = |kind: RecordKind| (census.rows(kind), vec![kind]);
            let ids = |count: usize| (count as u64, Vec::new());
            let (rows, kinds) = match table.name {
                "kernels" | "counter_dispatches" => {
                    let mut reading = Reading::new(capture, TableBuilder::new(context, table, &[]));
                    let rows = dispatches::count(&mut reading, table.name == "counter_dispatches")?;
                    (rows, vec![RecordKind::Kernels, RecordKind::Counters])
                }
                "regions" => (census.rows(RecordKind::Calls).saturating_sub(census.marks), vec![RecordKind::Calls]),
                "marks" => (census.marks, vec![RecordKind::Calls]),
                "memory_copies" => of_kind(RecordKind::Copies),
                "memory_allocations" => of_kind(RecordKind::Allocations),
                "graph_launches" => of_kind(RecordKind::GraphLaunches),
                "hip_events" => of_kind(RecordKind::Events),
                "pc_samples" => of_kind(RecordKind::PcSamples),
                "samples" => of_kind(RecordKind::StreamedCounters),
                "queues" => ids(census.queues.len()),
                "streams" => ids(census.streams.len()),
                "threads" => ids(census.threads.len()),
                "kernel_symbols" => ids(capture.symbols.ids.len()),
                "counters" | "counter_instances" => return Ok(None),
                _ => ids(0),
            };
            Ok(Some(RowCount { rows, damage: capture.damage(&kinds) }))
        })
    }
}
