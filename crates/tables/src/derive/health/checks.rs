//! Runs all checks over the tables of one process, table by table, and makes the rows of `anomalies`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::columns::frames::{add_texts, categories, collected, rows_named, texts};
use crate::derive::column;
use crate::derive::health::clock;
use crate::derive::health::clock::Timeline;
use crate::derive::health::correlation::Correlations;
use crate::derive::health::lost_kernels::LostKernels;
use crate::derive::health::named_by_marks::NamesAndMarks;
use crate::derive::health::not_recorded::{Others, Recorder, advice};
use crate::derive::health::{counter_gaps, dead_counters, gl2c_instances, migrating_durations, times};
use wavesieve_model::schema;
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::facts::Role;
use wavesieve_model::schema::process::Process;

/// Input that could not be read.
pub const DAMAGED_INPUT: &str = "damaged_input";

/// Tables that are checked.
const CHECKED: &[&str] = &[
    "code_objects",
    "kernel_symbols",
    "kernels",
    "counter_dispatches",
    "memory_copies",
    "memory_allocations",
    "regions",
    "marks",
    "graph_launches",
    "hip_events",
    "counters",
    "samples",
    "pc_samples",
    "recorded_metrics",
    "att_instructions",
];

fn checked(name: &str) -> Option<&'static schema::Table> {
    schema::table(name).filter(|table| CHECKED.contains(&table.name))
}

/// Name forms of symbols, which are generated here and need no check; most symbols belong to kernels that do not run.
const MADE_NAMES: [&str; 3] = ["short_name", "base_name", "category"];

/// All columns of the checked tables: problems in a column cannot be found without reading it.
pub fn needs() -> Vec<(&'static str, Vec<&'static str>)> {
    let is_read = |table: &schema::Table, name: &str| table.name != "kernel_symbols" || !MADE_NAMES.contains(&name);
    CHECKED
        .iter()
        .filter_map(|name| schema::table(name))
        .map(|table| (table.name, table.column_names().filter(|name| is_read(table, name)).collect()))
        .collect()
}

/// The checks of one process.
pub struct Checks<'a> {
    process: &'a Process,
    anomalies: Vec<Anomaly>,
    correlations: Correlations,
    timeline: Timeline,
    rows: BTreeMap<&'static str, usize>,
    domains: BTreeSet<String>,
    others: Others,
    kernel_launches: (usize, Option<i64>),
    lost: LostKernels,
    names: NamesAndMarks,
    damaged: bool,
}

impl<'a> Checks<'a> {
    /// Checks that have seen no table yet of a process next to `others`.
    pub fn new(process: &'a Process, others: Others) -> Self {
        let mut checks = Self {
            process,
            anomalies: Vec::new(),
            correlations: Correlations::default(),
            timeline: Timeline::default(),
            rows: BTreeMap::new(),
            domains: BTreeSet::new(),
            others,
            kernel_launches: (0, None),
            lost: LostKernels::default(),
            names: NamesAndMarks::default(),
            damaged: false,
        };
        checks.check_process();
        checks
    }

    /// Adds anomalies found elsewhere.
    pub fn absorb(&mut self, anomalies: impl IntoIterator<Item = Anomaly>) {
        self.anomalies.extend(anomalies);
    }

    /// Adds what was noted while a table was read. Only tables that every check reads count: otherwise the anomalies would depend on how
    /// much of the trace is read.
    pub fn absorb_notes(&mut self, table: &str, notes: impl IntoIterator<Item = Anomaly>) {
        if checked(table).is_some() {
            self.absorb(notes);
        }
    }

    /// Adds parts of the input that could not be read.
    pub fn absorb_damage(&mut self, damage: impl IntoIterator<Item = Damage>) {
        let before = self.anomalies.len();
        self.anomalies.extend(damage.into_iter().map(anomaly_of));
        self.damaged |= self.anomalies.len() > before;
    }

    /// Checks the rows of one table.
    pub fn table(&mut self, name: &str, frame: &DataFrame) -> Result<()> {
        let found = Self::of_rows(self.process, name, frame)?;
        self.absorb(found);
        self.put(name, frame)
    }

    /// Anomalies within the rows of one table.
    pub fn of_rows(process: &Process, name: &str, frame: &DataFrame) -> Result<Vec<Anomaly>> {
        let Some(table) = checked(name) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        if table.column("valid").is_some() {
            found.extend(times::check(table, frame, &process.facts)?);
        }
        match name {
            "kernels" => {
                found.extend(times::check_queues(frame)?);
                found.extend(clock::check_backward(frame)?);
                found.extend(migrating_durations::check(frame)?);
            }
            "counters" => {
                found.extend(super::counter_faults::check(frame, &process.facts)?);
                found.extend(counter_gaps::check(frame)?);
                found.extend(dead_counters::check(frame)?);
                found.extend(gl2c_instances::check(frame, &process.facts.agents)?);
            }
            _ => {}
        }
        Ok(found)
    }

    /// Relates the rows of one table to other tables. Nothing works in parallel here: a thread that holds the lock of these checks and
    /// waits for another thread would start other work, which may need the same lock.
    pub fn put(&mut self, name: &str, frame: &DataFrame) -> Result<()> {
        let Some(table) = checked(name) else { return Ok(()) };
        self.rows.insert(table.name, frame.height());
        match name {
            "kernels" => {
                self.timeline.add("kernels", "dispatch_id", frame, true)?;
                self.check_gpu(table, frame, Severity::Warning)?;
                self.correlations.add_activities("kernels", "dispatch_id", frame)?;
                self.lost.add_kernels(frame)?;
                self.names.add_kernels(frame)?;
            }
            "memory_copies" => {
                self.timeline.add("memory_copies", "copy_id", frame, true)?;
                self.check_gpu(table, frame, Severity::Info)?;
                self.correlations.add_activities("memory_copies", "copy_id", frame)?;
                self.lost.add_copies(frame)?;
            }
            "regions" => {
                self.correlations.add_calls(frame)?;
                self.timeline.add("regions", "region_id", frame, false)?;
                self.add_domains(frame)?;
                self.count_launches(frame)?;
                self.lost.add_calls(frame);
                self.names.add_ranges(frame)?;
            }
            "marks" => {
                self.add_domains(frame)?;
                self.names.add_marks(frame)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// The rows of `anomalies`, without `process` and `rank`, with anomalies `of_inputs` that were found elsewhere.
    pub fn finish(mut self, of_inputs: Vec<Anomaly>) -> Result<DataFrame> {
        self.anomalies.extend(std::mem::take(&mut self.correlations).check());
        self.anomalies.extend(self.timeline.check());
        self.anomalies.extend(self.names.check());
        if self.process.role == Role::Trace {
            self.anomalies.extend(std::mem::take(&mut self.lost).check()?);
        }
        // Missing data in a damaged input does not show how it was collected.
        if self.process.role == Role::Trace && !self.damaged {
            self.check_empty();
        }
        self.anomalies.extend(added_up(of_inputs));
        to_frame(merge(self.anomalies))
    }

    fn note(&mut self, check_id: &'static str, severity: Severity, table: &str, count: usize, detail: String) {
        self.anomalies.push(Anomaly::new(check_id, severity, table, count, detail));
    }

    fn check_process(&mut self) {
        let facts = &self.process.facts;
        let has_times = facts.start_ns.is_some() && facts.end_ns.is_some();
        if !has_times && self.process.role != Role::ThreadTrace {
            let detail = "no recorded start or end of the process: lead and tail are unknown, and timestamps are not checked against it";
            self.note("unknown_process_times", Severity::Info, "processes", 1, detail.to_owned());
        }
        if facts.has_counters {
            if self.process.role == Role::Trace {
                let detail = "counters were collected in this run: dispatches were serialized, so times and overlap differ from an ordinary run";
                self.note("serialised_run", Severity::Warning, "kernels", 1, detail.to_owned());
            } else {
                let detail =
                    "a counter pass next to a trace of the same rank: only its counters and their dispatches are used";
                self.note("counter_pass", Severity::Info, "counter_dispatches", 1, detail.to_owned());
            }
        }
    }

    fn check_gpu(&mut self, table: &'static schema::Table, frame: &DataFrame, severity: Severity) -> Result<()> {
        let missing = frame.column("gpu")?.null_count();
        if missing > 0 {
            let detail = "no GPU recorded; excluded from GPU time";
            self.note("no_gpu", severity, table.name, missing, detail.to_owned());
        }
        Ok(())
    }

    fn count_launches(&mut self, frame: &DataFrame) -> Result<()> {
        let launches = rows_named(frame.column("name")?, |name| name.starts_with("hip") && name.contains("Launch"))?;
        let ids = frame.column("region_id")?.i64()?;
        let (count, first) = &mut self.kernel_launches;
        *count += launches.sum().unwrap_or(0) as usize;
        *first = first.or_else(|| launches.first_true_idx().and_then(|row| ids.get(row)));
        Ok(())
    }

    fn add_domains(&mut self, frame: &DataFrame) -> Result<()> {
        Ok(add_texts(frame.column("domain")?, &mut self.domains)?)
    }

    fn check_empty(&mut self) {
        let rows = |name: &str| self.rows.get(name).copied().unwrap_or(0);
        if let (true, (1.., first)) = (rows("kernels") == 0, self.kernel_launches) {
            let (id, count) = ("launches_without_dispatches", self.kernel_launches.0);
            let detail = "kernels were launched but no dispatch was recorded; collect again with --kernel-trace";
            let found = Anomaly::new(id, Severity::Error, "kernels", count, detail.to_owned());
            self.anomalies.push(found.first(first));
        }
        let recorder = Recorder::new(&self.process.facts);
        for (table, detail) in advice(&self.rows, &self.domains, self.others, recorder) {
            self.note("not_recorded", Severity::Info, table, 0, detail);
        }
    }
}

/// The anomaly that a part of the input could not be read.
pub(crate) fn anomaly_of(damage: Damage) -> Anomaly {
    let table = if damage.part.is_empty() { "processes" } else { &damage.part };
    let detail = format!("could not be read: {}", damage.cause);
    Anomaly::new(DAMAGED_INPUT, Severity::Error, table, 1, detail).first(Some(damage.path))
}

/// Stored rows of `anomalies`, with later anomalies that they do not contain.
///
/// # Errors
/// When the stored rows cannot be read.
pub(crate) fn with_later(stored: LazyFrame, later: Vec<Anomaly>) -> Result<LazyFrame> {
    if later.is_empty() {
        return Ok(stored);
    }
    let mut frame = collected(&stored)?;
    let words = |name: &str| Ok::<_, PolarsError>(frame.column(name)?.cast(&DataType::String)?.str()?.clone());
    let (checks, tables, details) = (words("check_id")?, words("table_name")?, words("detail")?);
    let known: BTreeSet<(&str, &str, &str)> = checks
        .iter()
        .zip(tables.iter())
        .zip(details.iter())
        .filter_map(|((check, table), detail)| Some((check?, table?, detail?)))
        .collect();
    let is_new =
        |anomaly: &Anomaly| !known.contains(&(anomaly.check_id, anomaly.table_name.as_str(), anomaly.detail.as_str()));
    let mut later = added_up(later);
    later.retain(is_new);
    let names = frame.get_column_names_owned();
    let rows = to_frame(merge(later))?.select(names)?;
    frame.vstack_mut_owned(rows)?;
    Ok(frame.lazy())
}

/// Each kind of anomaly once, with the total count: anomalies of inputs are each about another file.
fn added_up(anomalies: Vec<Anomaly>) -> Vec<Anomaly> {
    let mut kinds: BTreeMap<(&'static str, String, String), Anomaly> = BTreeMap::new();
    for anomaly in anomalies {
        let kind = (anomaly.check_id, anomaly.table_name.clone(), anomaly.detail.clone());
        let first = kinds.entry(kind).or_insert_with(|| Anomaly { count: 0, ..anomaly.clone() });
        first.count = first.count.saturating_add(anomaly.count);
    }
    kinds.into_values().collect()
}

/// Joins anomalies of the same check, table and detail, and puts them in a fixed order.
fn merge(mut anomalies: Vec<Anomaly>) -> Vec<Anomaly> {
    anomalies.sort_by(|a, b| {
        (a.severity, a.check_id, &a.table_name, &a.detail).cmp(&(b.severity, b.check_id, &b.table_name, &b.detail))
    });
    let mut merged: Vec<Anomaly> = Vec::new();
    for anomaly in anomalies {
        match merged.last_mut() {
            Some(last)
                if last.check_id == anomaly.check_id
                    && last.table_name == anomaly.table_name
                    && last.detail == anomaly.detail =>
            {
                // The same finding is seen again by every read of the same source table.
                last.count = last.count.max(anomaly.count);
                last.first_key = last.first_key.take().or(anomaly.first_key);
            }
            _ => merged.push(anomaly),
        }
    }
    merged
}

fn to_frame(anomalies: Vec<Anomaly>) -> Result<DataFrame> {
    let all = || anomalies.iter();
    Ok(DataFrame::new(
        anomalies.len(),
        vec![
            categories("check_id", all().map(|anomaly| Some(anomaly.check_id)))?,
            categories("severity", all().map(|anomaly| Some(anomaly.severity.name())))?,
            categories("table_name", all().map(|anomaly| Some(anomaly.table_name.as_str())))?,
            column("count", all().map(|anomaly| anomaly.count).collect()),
            texts("first_key", all().map(|anomaly| anomaly.first_key.as_deref())),
            texts("detail", all().map(|anomaly| Some(anomaly.detail.as_str()))),
        ],
    )?)
}
