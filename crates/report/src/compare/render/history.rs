//! A history as text and as a page.

use std::io::Write;

use anyhow::Result;
use polars::prelude::df;

use super::page::{drawn, table};
use crate::charts::{Axis, Chart, Line};
use crate::compare::history::{History, Series};
use crate::compare::summary::{signed_pct, time};
use crate::document::{Document, Note, Provenance, Section};
use wavesieve_engine::findings::{RunViews, counted, shortened};
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_model::text::hidden::escape_hidden;

const LONGEST_NAME: usize = 100;
/// Parts of the span that have a column.
const COLUMNS: [&str; 3] = ["span", "busy", "idle"];
/// Kind of series that are listed only with a step.
const STEPS_ONLY: &str = "kernel";

/// Writes a line for each run, and the steps.
///
/// # Errors
/// When writing fails.
pub fn write_text(history: &History, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{}, times per {}\n", counted(history.runs.len() as f64, "run"), history.basis)?;
    writeln!(out, "  {:>10}  {:>10}  {:>10}  run", "span", "busy", "idle")?;
    for (place, run) in history.runs.iter().enumerate() {
        let shown = |name: &str| {
            let series = history.series.iter().find(|series| series.kind == "time" && series.name == name);
            let value = series.and_then(|series| series.values_ns.get(place).copied().flatten());
            value.map_or_else(|| "-".to_owned(), time)
        };
        let [span, busy, idle] = COLUMNS.map(shown);
        writeln!(out, "  {span:>10}  {busy:>10}  {idle:>10}  {}", escape_hidden(run))?;
    }
    writeln!(out, "\nSteps\n  {:>10}  {:<40}  what", "change", "from run")?;
    let names = readable_names(history);
    let mut steps = history.series.iter().filter(|series| series.step_at.is_some()).peekable();
    if steps.peek().is_none() {
        writeln!(out, "  none above the resolution")?;
    }
    for series in steps {
        let (change, run) = step(series);
        writeln!(
            out,
            "  {change:>10}  {run:<40}  {}",
            escape_hidden(&shortened(&names.shown(&series.name), LONGEST_NAME))
        )?;
    }
    let resolution =
        history.series.iter().find(|series| series.name == "span").and_then(|series| series.resolution_pct);
    if let Some(pct) = resolution {
        writeln!(out, "\nA step of the span of {pct:.1}% in the middle would have been found.")?;
    }
    Ok(())
}

fn readable_names(history: &History) -> ReadableNames {
    let kernels = history.series.iter().filter(|series| series.kind == STEPS_ONLY);
    ReadableNames::new(kernels.map(|series| series.name.as_str()))
}

/// Size of a step, and the run at which it starts.
fn step(series: &Series) -> (String, String) {
    (series.step_pct.map(signed_pct).unwrap_or_default(), series.step_at.clone().unwrap_or_default())
}

/// The history as a document.
///
/// # Errors
/// When a table cannot be built, which is a defect.
pub fn document(history: &History) -> Result<Document> {
    let names = readable_names(history);
    let line = |series: &Series| {
        let points = (1..).zip(&series.values_ns).filter_map(|(run, value)| Some((f64::from(run), (*value)? as f64)));
        Line { name: shortened(&names.shown(&series.name), LONGEST_NAME), points: points.collect() }
    };
    let chart = |title: &str, lines: Vec<Line>| {
        Chart::pace(title, Axis::count("run"), Axis::time(format!("time per {}", history.basis)), lines)
    };
    let times = history.series.iter().filter(|series| COLUMNS.contains(&series.name.as_str())).map(line).collect();
    let stepped = |series: &&Series| series.kind == STEPS_ONLY && series.step_at.is_some();
    let kernels = history.series.iter().filter(stepped).take(5).map(line).collect();
    let mut blocks = Vec::new();
    blocks.extend(drawn("history", chart("The span of each run", times)));
    blocks.extend(drawn("kernels", chart("Kernels with a step", kernels)));
    let texts = |of: &dyn Fn(&Series) -> Option<String>| history.series.iter().map(of).collect::<Vec<Option<String>>>();
    let numbers = |of: &dyn Fn(&Series) -> Option<f64>| history.series.iter().map(of).collect::<Vec<Option<f64>>>();
    let frame = df!(
        "kernel" => texts(&|series| Some(series.name.clone())),
        "kind" => texts(&|series| Some(series.kind.to_owned())),
        "step_at" => texts(&|series| series.step_at.clone()),
        "step_pct" => numbers(&|series| series.step_pct),
        "p_holm" => numbers(&|series| series.p_holm),
        "resolution_pct" => numbers(&|series| series.resolution_pct),
        "step_why" => texts(&|series| series.step_why.map(ToOwned::to_owned)),
    )?;
    blocks.push(table("steps", "Steps", "The first run from which a change holds.", frame, 0, &["kernel"]));
    let mut runs = df!("place" => (1..=history.runs.len() as i64).collect::<Vec<i64>>(), "run_name" => &history.runs)?;
    for name in COLUMNS {
        if let Some(series) = history.series.iter().find(|series| series.name == name) {
            runs.with_column(polars::prelude::Column::new(format!("{name}_ns").into(), &series.values_ns))?;
        }
    }
    blocks.push(table("runs", "Runs", "", runs, 0, &["place"]));
    let steps = history.series.iter().filter(|series| series.step_at.is_some()).count();
    let summary =
        format!("{} in order of time, {}.", counted(history.runs.len() as f64, "run"), counted(steps as f64, "step"));
    Ok(Document {
        title: "History of runs".to_owned(),
        summary,
        head: Vec::new(),
        notes: vec![Note { is_warning: false, text: format!("Times are per {}, averaged over GPUs.", history.basis) }],
        views: RunViews::default(),
        is_judged: false,
        tier: 1,
        figures: Vec::new(),
        findings: Vec::new(),
        sections: vec![Section::new("history", "History", "The same times in every run, and where they step.", blocks)],
        provenance: Provenance { version: env!("CARGO_PKG_VERSION").to_owned(), ..Provenance::default() },
        names,
        timeline: None,
    })
}
