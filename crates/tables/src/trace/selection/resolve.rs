//! Filters resolved in one process.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::*;

use super::bound::MarkerName;
use super::filters::Filters;
use super::iteration_set::IterationSet;
use super::window::WindowSpan;
use crate::columns::reading::ScanHint;
use crate::derive::OnDemandTables;
use crate::trace::unfiltered_tables::UnfilteredTables;
use wavesieve_model::analysis::kernel_names::is_readable_form;

/// Filters resolved in one process: a window and kernels.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// First and last nanosecond of the window, `None` if that side is open.
    pub window: (Option<i64>, Option<i64>),
    /// Whether the window is empty: it cannot be determined in this process, or ends before it starts.
    pub nothing: bool,
    /// Whether the process has none of the requested iterations.
    pub without_iterations: bool,
    /// Whether the window ends before it starts.
    pub reversed: bool,
    /// Kernels whose name and category were requested.
    pub kernel_ids: Option<Vec<i64>>,
}

impl Resolved {
    /// The rows that a reader may skip.
    pub fn hint(&self, choice: &Filters) -> ScanHint {
        let (from, to) = if self.nothing { (Some(i64::MAX), None) } else { self.window };
        ScanHint {
            earliest_end_ns: from,
            latest_start_ns: to,
            min_duration_ns: choice.min_duration_ns,
            kernel_ids: self.kernel_ids.clone(),
            regions: None,
        }
    }
}

/// Resolves the window and the kernels of the filters in a process.
pub fn resolve(choice: &Filters, whole: &UnfilteredTables<'_>) -> Result<Resolved> {
    let mut resolved = Resolved::default();
    if let Some(window) = &choice.window {
        let span = if window.is_relative() { span(whole)? } else { None };
        let mut extents = Vec::new();
        for name in window.markers() {
            extents.push((name, marker_extent(name, whole)?));
        }
        let extent = |name: &MarkerName| extents.iter().find(|(known, _)| *known == name)?.1;
        let sides = match window.is_steady() {
            true => steady_part(whole)?.map(|part| (Some(part.start_ns), Some(part.end_ns))),
            false => window.resolve(span, extent),
        };
        match sides {
            // The order of sides of different kinds is only known now.
            Some((Some(from), Some(to))) if to < from => {
                resolved.nothing = true;
                resolved.reversed = true;
            }
            Some(sides) => resolved.window = sides,
            None => resolved.nothing = true,
        }
    }
    if let Some(iterations) = &choice.iterations {
        match extent_of(iterations, whole)? {
            Some(extent) => {
                let (from, to) = resolved.window;
                let from = from.map_or(extent.start_ns, |from| from.max(extent.start_ns));
                let to = to.map_or(extent.end_ns, |to| to.min(extent.end_ns));
                resolved.nothing |= to < from;
                resolved.window = (Some(from), Some(to));
            }
            None => (resolved.nothing, resolved.without_iterations) = (true, true),
        }
    }
    if choice.kernel.is_some() || !choice.categories.is_empty() {
        let all = kernels(whole)?;
        let chosen = named(choice, &all).into_iter().filter(|kernel| matches_category(choice, kernel));
        resolved.kernel_ids = Some(chosen.map(|kernel| kernel.kernel_id).collect());
    }
    Ok(resolved)
}

/// First start and last end of the valid GPU activity of a process; of its API calls if there was no GPU activity.
fn span(whole: &UnfilteredTables<'_>) -> Result<Option<WindowSpan>> {
    const TIMES: &[&str] = &["start_ns", "end_ns", "valid"];
    for group in [["kernels", "memory_copies"].as_slice(), &["counter_dispatches"], &["regions"]] {
        let request: Vec<_> = group.iter().map(|name| (*name, TIMES)).collect();
        let tables = whole.read(&request)?;
        let mut span: Option<WindowSpan> = None;
        for name in group {
            let Some(frame) = tables.get(name) else { continue };
            let extremes =
                frame.clone().filter(col("valid")).select([col("start_ns").min(), col("end_ns").max()]).collect()?;
            let value = |name: &str| -> PolarsResult<Option<i64>> { Ok(extremes.column(name)?.i64()?.get(0)) };
            if let (Some(start_ns), Some(end_ns)) = (value("start_ns")?, value("end_ns")?) {
                span = Some(span.map_or(WindowSpan { start_ns, end_ns }, |span| WindowSpan {
                    start_ns: span.start_ns.min(start_ns),
                    end_ns: span.end_ns.max(end_ns),
                }));
            }
        }
        if span.is_some() {
            return Ok(span);
        }
    }
    Ok(None)
}

/// The columns that determine the steady part.
pub const PARTS: (&str, &[&str]) = ("run_parts", &["kind", "start_ns", "end_ns", "iterations"]);

/// The part of a run that repeats evenly, or works densely if nothing repeats.
fn steady_part(whole: &UnfilteredTables<'_>) -> Result<Option<WindowSpan>> {
    let mut tables = whole.read(&[PARTS])?;
    steady_part_of(&tables.remove(PARTS.0).unwrap_or_default().collect()?)
}

/// The steady part among the parts of a process.
pub(crate) fn steady_part_of(parts: &DataFrame) -> Result<Option<WindowSpan>> {
    let kinds = parts.column("kind")?.cast(&DataType::String)?;
    let times = parts.column("start_ns")?.i64()?.iter().zip(parts.column("end_ns")?.i64()?.iter());
    let is_steady = |kind: Option<&str>| matches!(kind, Some("steady" | "dense"));
    let mut steady = kinds.str()?.iter().zip(times).filter(|(kind, _)| is_steady(*kind));
    Ok(steady.find_map(|(_, (start, end))| Some(WindowSpan { start_ns: start?, end_ns: end? })))
}

/// The time from the start of the first to the end of the last chosen iteration.
fn extent_of(chosen: &IterationSet, whole: &UnfilteredTables<'_>) -> Result<Option<WindowSpan>> {
    let mut tables = whole.read(&[("iterations", &["iteration", "phase", "start_ns", "end_ns"])])?;
    let iterations = tables.remove("iterations").unwrap_or_default().collect()?;
    let integers = |name: &str| iterations.column(name)?.i64();
    let phases = iterations.column("phase")?.cast(&DataType::String)?;
    let rows = integers("iteration")?.iter().zip(phases.str()?.iter());
    let times = integers("start_ns")?.iter().zip(integers("end_ns")?.iter());
    Ok(rows
        .zip(times)
        .filter(|((iteration, phase), _)| {
            iteration.zip(*phase).is_some_and(|(iteration, phase)| chosen.contains(iteration, phase))
        })
        .filter_map(|(_, (start, end))| Some(WindowSpan { start_ns: start?, end_ns: end? }))
        .reduce(|all, one| WindowSpan { start_ns: all.start_ns.min(one.start_ns), end_ns: all.end_ns.max(one.end_ns) }))
}

/// Start and end of the range or mark with this text and index, in the order of start, then end.
fn marker_extent(name: &MarkerName, whole: &UnfilteredTables<'_>) -> Result<Option<WindowSpan>> {
    let tables =
        whole.read(&[("regions", &["message", "start_ns", "end_ns", "valid"]), ("marks", &["message", "time_ns"])])?;
    let mut extents: Vec<(i64, i64)> = Vec::new();
    if let Some(frame) = tables.get("regions") {
        let found = frame.clone().filter(col("valid").and(col("message").eq(lit(name.text.as_str())))).collect()?;
        let (starts, ends) = (found.column("start_ns")?.i64()?, found.column("end_ns")?.i64()?);
        extents.extend(starts.iter().zip(ends.iter()).filter_map(|(start, end)| Some((start?, end?))));
    }
    if let Some(frame) = tables.get("marks") {
        let found = frame.clone().filter(col("message").eq(lit(name.text.as_str()))).collect()?;
        extents.extend(found.column("time_ns")?.i64()?.iter().flatten().map(|time_ns| (time_ns, time_ns)));
    }
    extents.sort_unstable();
    let extent = extents.get(name.index.unwrap_or(0));
    Ok(extent.map(|(start_ns, end_ns)| WindowSpan { start_ns: *start_ns, end_ns: *end_ns }))
}

/// A kernel that was dispatched or has a symbol.
pub struct Kernel {
    pub kernel_id: i64,
    /// Full name.
    pub name: String,
    pub short_name: String,
    pub category: String,
    /// Whether it was dispatched at all.
    pub dispatched: bool,
}

/// The kernels of a process: its symbols, and placeholders for dispatched kernels without a symbol.
pub fn kernels(whole: &UnfilteredTables<'_>) -> Result<Vec<Kernel>> {
    let tables = whole.read(&[
        ("kernel_symbols", &["kernel_id", "kernel_name", "short_name", "category"]),
        ("kernels", &["kernel_id"]),
        ("counter_dispatches", &["kernel_id"]),
    ])?;
    let mut used: BTreeSet<i64> = BTreeSet::new();
    for name in ["kernels", "counter_dispatches"] {
        if let Some(frame) = tables.get(name) {
            let ids = frame.clone().select([col("kernel_id").unique()]).collect()?;
            used.extend(ids.column("kernel_id")?.i64()?.iter().flatten());
        }
    }
    let mut kernels = Vec::new();
    let mut missing = used.clone();
    if let Some(frame) = tables.get("kernel_symbols") {
        let symbols = frame.clone().collect()?;
        let text = |name: &str| symbols.column(name)?.cast(&DataType::String);
        let (names, short_names, categories) = (text("kernel_name")?, text("short_name")?, text("category")?);
        let columns = names.str()?.iter().zip(short_names.str()?.iter()).zip(categories.str()?.iter());
        for (kernel_id, ((name, short_name), category)) in symbols.column("kernel_id")?.i64()?.iter().zip(columns) {
            let Some(kernel_id) = kernel_id else { continue };
            missing.remove(&kernel_id);
            kernels.push(Kernel {
                kernel_id,
                name: name.unwrap_or_default().to_owned(),
                short_name: short_name.unwrap_or_default().to_owned(),
                category: category.unwrap_or_default().to_owned(),
                dispatched: used.contains(&kernel_id),
            });
        }
    }
    kernels.extend(missing.into_iter().map(|kernel_id| {
        let name = format!("kernel_{kernel_id}");
        let category = whole.categories().category(&name, &name).to_owned();
        Kernel { kernel_id, short_name: name.clone(), name, category, dispatched: true }
    }));
    Ok(kernels)
}

/// The kernels with a requested name: those whose full or short name matches the pattern, otherwise those of which the
/// pattern is the readable name, as screens show it.
pub(crate) fn named<'a>(choice: &Filters, kernels: &'a [Kernel]) -> Vec<&'a Kernel> {
    let found: Vec<&Kernel> = kernels.iter().filter(|kernel| matches_name(choice, kernel)).collect();
    match &choice.kernel {
        Some(pattern) if found.is_empty() && choice.kernel_mask.is_none() => {
            kernels.iter().filter(|kernel| is_readable_form(pattern.as_str(), &kernel.name)).collect()
        }
        _ => found,
    }
}

/// Whether the name of a kernel, in full or short, matches the pattern.
fn matches_name(choice: &Filters, kernel: &Kernel) -> bool {
    let Some(pattern) = &choice.kernel else { return true };
    match &choice.kernel_mask {
        Some(mask) => {
            let is_match = |column: &str, name: &str| pattern.is_match(&mask.masked(column, name));
            is_match("kernel_name", &kernel.name) || is_match("short_name", &kernel.short_name)
        }
        None => pattern.is_match(&kernel.name) || pattern.is_match(&kernel.short_name),
    }
}

/// Whether the category of a kernel is requested.
pub(crate) fn matches_category(choice: &Filters, kernel: &Kernel) -> bool {
    choice.categories.is_empty() || choice.categories.contains(&kernel.category)
}
