//! A workload as a source of canonical tables.

use std::sync::Arc;

use anyhow::Result;

use super::native::Incomplete;
use super::notes::{note, notes};
use super::survey::{Survey, databases};
use super::system::System;
use super::workload::Workload;
use super::{counters, dispatches, regions};
use crate::common::{assembled, counted, hash_of_heads};
use crate::recognition::format::{Opened, ProcessInput};
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::facts::ProcessFacts;
use wavesieve_model::schema::{Column, Table};
use wavesieve_tables::trace::source::{ProcessReader, ReadContext, RowCount, Rows};

struct ComputeSource(Survey);

/// The process of a workload.
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

/// A hash of the first bytes and the lengths of the files.
fn content_hash(workload: &Workload, survey: &Survey) -> String {
    let counters = survey.files.iter().flat_map(|surveyed| surveyed.file.paths());
    let paths = workload.system.iter().map(|file| file.path.clone()).chain(counters);
    hash_of_heads(paths)
}

impl ProcessReader for ComputeSource {
    fn read(&self, context: &ReadContext<'_>, table: &'static Table, columns: &[&'static Column]) -> Result<Rows> {
        assembled(context, table, columns, |mut builder| {
            let read = match table.name {
                "kernels" => dispatches::read_kernels,
                "counter_dispatches" => dispatches::read_counter_dispatches,
                "kernel_symbols" => dispatches::read_symbols,
                "counters" => counters::read_counters,
                "regions" => regions::read_regions,
                "marks" => regions::read_marks,
                "counter_instances" => counters::read_instances,
                _ => return Ok(None),
            };
            read(&mut builder, &self.0)?;
            if matches!(table.name, "kernels" | "counter_dispatches") {
                builder.report_damage(self.damage());
            }
            builder.finish().map(Some)
        })
    }

    fn count_rows(&self, context: &ReadContext<'_>, table: &'static Table) -> Result<RowCount> {
        let survey = &self.0;
        counted(self, context, table, || {
            Ok(match table.name {
                "kernels" => Some(RowCount { rows: dispatches::count(survey), damage: self.damage() }),
                "counter_dispatches" => Some(RowCount { rows: survey.runs.len() as u64, damage: self.damage() }),
                "kernel_symbols" => Some(RowCount::whole(survey.kernels.len() as u64)),
                // Values that were not sampled have no row.
                "counters" | "counter_instances" | "regions" | "marks" => None,
                _ => Some(RowCount::default()),
            })
        })
    }
}

impl ComputeSource {
    fn damage(&self) -> Vec<Damage> {
        self.0.files.iter().flat_map(|surveyed| surveyed.flaws.damage(surveyed.file.file(), super::PART)).collect()
    }
}
