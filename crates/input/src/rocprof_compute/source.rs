//! A workload as a source of canonical tables.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use polars::prelude::IntoLazy;
use xxhash_rust::xxh3::xxh3_128;

use super::native::Incomplete;
use super::notes::{note, notes};
use super::survey::{Survey, databases};
use super::system::System;
use super::workload::Workload;
use super::{counters, dispatches, regions};
use crate::common::{TableBuilder, is_left_out};
use crate::recognition::format::{Opened, ProcessInput};
use wavesieve_files::regular;
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::columns::frames::{empty_frame, own_columns};
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

struct ComputeSource(Survey);

/// The process of a workload.
///
/// # Errors
/// When a file of counters cannot be read.
pub fn find(workload: &Workload) -> Result<Opened> {
    let survey = Survey::new(workload)?;
    if survey.runs.is_empty() && survey.files.iter().all(|file| file.flaws.bad == 0) {
        return Ok(Opened { processes: Vec::new(), notes: Vec::new(), damage: Vec::new() });
    }
    let mut notes = notes(workload, &survey);
    let lacks = |incomplete: &Incomplete| Damage {
        path: incomplete.path.clone(),
        part: super::PART.to_owned(),
        cause: incomplete.cause.clone(),
    };
    let mut damage: Vec<Damage> = workload.incomplete.iter().map(lacks).collect();
    for database in databases(&survey) {
        damage.extend(database.opened()?.damage(&database.file.shown));
    }
    let mut system = System::default();
    match workload.system.as_ref().map(|file| (file, System::read(file))) {
        Some((_, Ok(read))) => system = read,
        Some((file, Err(cause))) => {
            damage.push(Damage { path: file.shown.clone(), part: "agents".to_owned(), cause });
        }
        None => {
            let detail = "no sysinfo.csv next to the counters; the device specs are unknown".to_owned();
            notes.push(note("missing_system", "agents", 1, &workload.shown, detail));
        }
    }
    if let Some(reason) = system.impossible_partition() {
        let detail =
            format!("sysinfo.csv states partition modes that cannot be: {reason}; peaks of its memory may be wrong");
        let note = note("impossible_partition", "agents", 1, &workload.shown, detail);
        notes.push(Anomaly { severity: Severity::Warning, ..note });
    }
    let hostname = system.text("hostname");
    let facts = ProcessFacts {
        content_hash: content_hash(workload, &survey),
        machine_key: hostname.clone().unwrap_or_default(),
        hostname,
        pid: -1,
        command: system.text("command"),
        path: workload.shown.clone(),
        source: workload.source.clone(),
        format: super::FORMAT.to_owned(),
        schema_version: system.text("version"),
        rocm_version: system.text("rocm_version"),
        has_counters: true,
        replay_passes: survey.passes.saturating_sub(1).max(0),
        agents: survey.gpus.iter().map(|gpu| system.gpu(*gpu)).collect(),
        ..ProcessFacts::default()
    };
    Ok(Opened { processes: vec![ProcessInput { facts, source: Arc::new(ComputeSource(survey)) }], notes, damage })
}

/// A hash of how the files start, and of how many rows they have.
fn content_hash(workload: &Workload, survey: &Survey) -> String {
    const HEAD_BYTES: u64 = 1 << 16;
    let mut bytes = Vec::new();
    let mut add = |path: &Path| {
        if let Ok(file) = regular::open(path) {
            bytes.extend(file.metadata().map_or(0, |metadata| metadata.len()).to_le_bytes());
            // The survey has already reported what cannot be read.
            let _ = file.take(HEAD_BYTES).read_to_end(&mut bytes);
        }
    };
    workload.system.iter().for_each(|file| add(&file.path));
    for path in survey.files.iter().flat_map(|surveyed| surveyed.file.paths()) {
        add(&path);
    }
    format!("{:032x}", xxh3_128(&bytes))
}

impl ProcessReader for ComputeSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        if is_left_out(context, table.name) {
            return Ok(Rows::clean(empty_frame(columns).lazy()));
        }
        let survey = &self.0;
        let mut builder = TableBuilder::new(context, table, columns);
        match table.name {
            "kernels" => dispatches::read_kernels(&mut builder, survey)?,
            "counter_dispatches" => dispatches::read_counter_dispatches(&mut builder, survey)?,
            "kernel_symbols" => dispatches::read_symbols(&mut builder, survey)?,
            "counters" => counters::read_counters(&mut builder, survey)?,
            "regions" => regions::read_regions(&mut builder, survey)?,
            "marks" => regions::read_marks(&mut builder, survey)?,
            "counter_instances" => counters::read_instances(&mut builder, survey)?,
            _ => return Ok(Rows::clean(empty_frame(columns).lazy())),
        }
        if matches!(table.name, "kernels" | "counter_dispatches") {
            builder.report_damage(self.damage());
        }
        builder.finish()
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        if is_left_out(context, table.name) {
            return Ok(RowCount::default());
        }
        let survey = &self.0;
        match table.name {
            "kernels" => Ok(RowCount { rows: dispatches::count(survey), damage: self.damage() }),
            "counter_dispatches" => Ok(RowCount { rows: survey.runs.len() as u64, damage: self.damage() }),
            "kernel_symbols" => Ok(RowCount::whole(survey.kernels.len() as u64)),
            "counters" | "counter_instances" | "regions" | "marks" => {
                // Values that were not sampled have no row, so counting requires reading.
                let columns: Vec<&'static Column> = own_columns(table).into_iter().take(2).collect();
                let rows = self.read(context, table, &columns)?;
                Ok(RowCount { rows: rows.frame.collect()?.height() as u64, damage: rows.damage })
            }
            _ => Ok(RowCount::default()),
        }
    }
}

impl ComputeSource {
    fn damage(&self) -> Vec<Damage> {
        self.0.files.iter().flat_map(|surveyed| surveyed.flaws.damage(surveyed.file.file(), super::PART)).collect()
    }
}
