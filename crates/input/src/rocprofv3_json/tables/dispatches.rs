//! `kernels` and `counter_dispatches` from `kernel_dispatch`, and from counter records whose dispatch is missing there.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use crate::common::{DispatchRun, Replays, TableBuilder, or, or_else};
use crate::rocprofv3_json::capture::{Capture, SectionAnomalies};
use crate::rocprofv3_json::integers::Integers;
use crate::rocprofv3_json::layout::Selected;
use crate::rocprofv3_json::layouts::{AGENTS, CountedDispatch, Dispatch, OF_RUNS, TIMES};
use crate::rocprofv3_json::parsing::records::KeyedText;
use crate::rocprofv3_json::reading::{Reading, ordinals, zero_as_null};
use crate::rocprofv3_json::structure::gathered::Keep;
use crate::rocprofv3_json::structure::roles::{COUNTERS, DISPATCHES};
use wavesieve_tables::columns::frames::dictionary_column;

/// Dispatches in the order of the file, followed by dispatches that only have a counter record. A dispatch that was run again has its first
/// run, or one run for each pass.
struct Dispatches {
    rows: Integers,
    /// The pass of each row among the runs of its dispatch; empty if every dispatch ran once.
    replays: Vec<i64>,
}

impl Dispatches {
    fn read(
        capture: &Capture,
        builder: &TableBuilder<'_>,
        of_passes: bool,
        findings: &mut SectionAnomalies,
    ) -> Result<Self> {
        let mut rows = Integers::default();
        let has_replays = !capture.replays.is_empty();
        let wants = |columns: &[&str]| builder.wants(columns) || (has_replays && [TIMES, OF_RUNS].contains(&columns));
        let selected = Selected::new::<Dispatch>(Keep::Every, wants);
        for section in capture.process.named(DISPATCHES) {
            rows.append(Integers::read::<Dispatch>(capture, section, &selected, findings)?);
        }
        let selected = Selected::new::<CountedDispatch>(Keep::Every, wants);
        let counted = || capture.process.named(COUNTERS);
        if has_replays {
            let mut runs = FirstRuns { replays: &capture.replays, of_passes, seen: BTreeSet::new() };
            let (mut rows, mut replays) = runs.kept(rows, false)?;
            for section in counted() {
                let counted = Integers::read::<CountedDispatch>(capture, section, &selected, findings)?;
                let (counted, of_counted) = runs.kept(counted, true)?;
                rows.append(counted);
                replays.extend(of_counted);
            }
            return Ok(Self { rows, replays });
        }
        if capture.process.rows(COUNTERS) > 0 {
            let mut seen: BTreeSet<i64> = rows.rows("dispatch_id").flatten().collect();
            for section in counted() {
                let counted = Integers::read::<CountedDispatch>(capture, section, &selected, findings)?;
                let new: BooleanChunked = counted
                    .get("dispatch_id")
                    .iter()
                    .map(|id| Some(id.is_none_or(|id| seen.insert(id))))
                    .collect_ca("".into());
                rows.append(counted.filter(&new)?);
            }
        }
        if of_passes {
            rows = without_repeated(rows, findings)?;
        }
        Ok(Self { rows, replays: Vec::new() })
    }
}

/// Selects among the runs of dispatches.
struct FirstRuns<'a> {
    replays: &'a Replays,
    /// Whether all runs are requested, and not only the first of each dispatch.
    of_passes: bool,
    seen: BTreeSet<(i64, i64)>,
}

impl FirstRuns<'_> {
    /// The requested rows with their passes, each run once. `kernel_dispatch` may list all runs of a dispatch that was run again; for other
    /// dispatches, every row is a dispatch.
    fn kept(&mut self, rows: Integers, is_counted: bool) -> Result<(Integers, Vec<i64>)> {
        let (ids, stated) = (rows.get("dispatch_id"), rows.get("replay_pass"));
        let (starts, ends) = (rows.get("start"), rows.get("end"));
        let runs = stated.iter().zip(starts.iter().zip(ends.iter()));
        let mut passes = Vec::new();
        let mut marks = Vec::with_capacity(rows.height);
        for (id, (replay, (start, end))) in ids.iter().zip(runs) {
            let pass = match id {
                Some(id) if self.replays.has(id) => self.replays.pass(id, DispatchRun { replay, start, end }),
                _ => 0,
            };
            let is_kept = id.is_none_or(|id| {
                let is_run = self.of_passes || pass == self.replays.first(id);
                let is_new = is_run && self.seen.insert((id, pass));
                is_new || !(is_counted || self.of_passes || self.replays.has(id))
            });
            if is_kept {
                passes.push(pass);
            }
            marks.push(is_kept);
        }
        let marks: BooleanChunked = marks.into_iter().map(Some).collect_ca("".into());
        Ok((rows.filter(&marks)?, passes))
    }
}

/// Assembles the dispatches, and with `pass` also the column of that name.
pub fn read(reading: &mut Reading<'_>, pass: Option<i64>) -> Result<()> {
    let capture = reading.capture;
    let Dispatches { mut rows, replays } =
        Dispatches::read(capture, &reading.builder, pass.is_some(), &mut reading.findings)?;
    reading.builder.set_height(rows.height);
    if let Some(pass) = pass {
        let passes = match replays.as_slice() {
            [] => Int64Chunked::full("pass".into(), pass, rows.height),
            replays => {
                Int64Chunked::from_iter_values("pass".into(), replays.iter().map(|one| pass.saturating_add(*one)))
            }
        };
        reading.put("pass", passes);
    }
    put_identity(reading, &rows)?;
    put_region_name(reading, &rows)?;
    for name in ["queue_id", "stream_id", "tid", "correlation_id", "external_id", "lds_bytes", "scratch_bytes"] {
        reading.builder.put_with(name, || Ok(rows.take(name).into_column()))?;
    }
    for name in ["workgroup_x", "workgroup_y", "workgroup_z", "grid_x", "grid_y", "grid_z"] {
        reading.builder.put_with(name, || Ok(or(&rows.take(name), 0).into_column()))?;
    }
    reading.put_times(&mut rows);
    if reading.builder.wants(&["graph_exec_id", "graph_node_id"]) {
        let graphs = zero_as_null(&rows.get("graph_exec_id"));
        let nodes = rows.get("graph_node_id");
        let nodes = nodes.iter().zip(graphs.iter()).map(|(node, graph)| node.filter(|_| graph.is_some()));
        reading.put("graph_node_id", nodes.collect_ca("".into()));
        reading.put("graph_exec_id", graphs);
    }
    Ok(())
}

/// Adds ids, names and agents, and notes about missing ones.
fn put_identity(reading: &mut Reading<'_>, rows: &Integers) -> Result<()> {
    // Most tables need the ids only for anomalies.
    let ids = LazyCell::new(|| {
        let recorded = rows.get("dispatch_id");
        if recorded.null_count() == 0 { recorded } else { or_else(&recorded, &ordinals(rows.height)) }
    });
    reading.builder.put_with("dispatch_id", || Ok(ids.clone().into_column()))?;
    put_names(reading, rows, &|| ids.clone())?;
    if reading.builder.wants(AGENTS) {
        reading.put_agent(&rows.get("agent_id"), &ids);
    }
    Ok(())
}

/// The first dispatch of each id. The dispatches of a pass are joined with their counters by id, and a second dispatch would count every
/// value again.
fn without_repeated(rows: Integers, findings: &mut SectionAnomalies) -> Result<Integers> {
    let mut seen = BTreeSet::new();
    let ids = rows.get("dispatch_id");
    let first: BooleanChunked = ids.iter().map(|id| Some(id.is_none_or(|id| seen.insert(id)))).collect_ca("".into());
    let before = rows.height;
    let rows = rows.filter(&first)?;
    findings.repeated(
        "counter_dispatches",
        before.saturating_sub(rows.height),
        "dispatch ids occur more than once in a pass; the first dispatch counts",
    );
    Ok(rows)
}

/// Number of dispatches; for a pass, only the first dispatch of each id counts.
pub fn count(reading: &mut Reading<'_>, of_pass: bool) -> Result<u64> {
    if reading.capture.process.rows(COUNTERS) == 0 && !of_pass {
        return Ok(reading.capture.process.rows(DISPATCHES));
    }
    let dispatches = Dispatches::read(reading.capture, &reading.builder, of_pass, &mut reading.findings)?;
    Ok(dispatches.rows.height as u64)
}

fn put_names(reading: &mut Reading<'_>, rows: &Integers, ids: &dyn Fn() -> Int64Chunked) -> Result<()> {
    reading.builder.put_with("kernel_id", || Ok(or(&rows.get("kernel_id"), -1).into_column()))?;
    if !reading.builder.wants(&["kernel_name", "short_name", "category"]) {
        return Ok(());
    }
    let categories = reading.builder.context.categories;
    let (symbols, findings) = reading.capture.symbols()?;
    reading.findings.extend(findings);
    let resolved = symbols.names.resolve_each(&symbols.index, rows.rows("kernel_id"), rows.height, categories);
    let unknown = "dispatches refer to an unknown kernel symbol, shown as kernel_<id>";
    reading.builder.put_resolved_names(&resolved, ids, unknown)
}

/// Texts by their numbers.
pub(crate) fn keyed_texts(reading: &mut Reading<'_>, section: &str) -> Result<Vec<(i64, String)>> {
    let keyed = |text: KeyedText| (text.key.0.unwrap_or(0), text.value.0.unwrap_or_default());
    reading.capture.gather(section, &mut reading.findings, keyed)
}

/// Adds the range names that kernel renaming recorded under the external ids.
fn put_region_name(reading: &mut Reading<'_>, rows: &Integers) -> Result<()> {
    if !reading.builder.wants(&["region_name"]) {
        return Ok(());
    }
    let texts = keyed_texts(reading, "strings.correlation_id.external")?;
    let positions: BTreeMap<i64, usize> = texts
        .iter()
        .enumerate()
        .filter(|(_, (key, text))| *key != 0 && !text.is_empty())
        .map(|(position, (key, _))| (*key, position))
        .collect();
    let names: Vec<Option<String>> = texts.into_iter().map(|(_, text)| Some(text)).collect();
    let external = rows.rows("external_id");
    let codes = external.map(|id| id.and_then(|id| positions.get(&id).copied()));
    let column = dictionary_column("region_name", &names, codes)?;
    reading.builder.put("region_name", column);
    Ok(())
}
