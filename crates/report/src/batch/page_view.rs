//! The index, prepared for its template.

use serde::Serialize;

use super::change::{Change, Verdict};
use super::entry::{RunComparison, RunEntry, RunFigures};
use super::index::Index;
use crate::charts::{Axis, BarPart, Chart};
use crate::html::{Badge, Piece, anchor, grouped, halves, text};
use wavesieve_engine::findings::{Priority, duration};
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// A run with a document.
#[derive(Serialize)]
pub struct RunView {
    id: String,
    name: String,
    file: String,
    places: Vec<String>,
    is_baseline: bool,
    comparison: Option<RunComparison>,
    numbers: Vec<NumberView>,
    kernel: Option<KernelView>,
    findings: Vec<Badge>,
    finding: Option<FindingView>,
    health: HealthView,
}

/// A number in a table.
#[derive(Serialize)]
pub(crate) struct NumberView {
    text: String,
    /// The plain value; empty if there is none.
    raw: String,
    change: Option<ChangeView>,
}

#[derive(Serialize)]
struct ChangeView {
    text: String,
    verdict: &'static str,
    is_same: bool,
}

#[derive(Serialize)]
struct KernelView {
    head: String,
    tail: Option<String>,
    /// The full name, if another is shown.
    title: Option<String>,
    share: String,
}

#[derive(Serialize)]
struct FindingView {
    priority: Priority,
    title: Vec<Piece>,
    link: String,
}

#[derive(Serialize)]
struct HealthView {
    status: &'static str,
    text: String,
}

impl RunView {
    /// A run with its changes; `None` if it has no document.
    pub fn new(index: &Index, entry: &RunEntry, names: &ReadableNames) -> Option<Self> {
        let (figures, file) = (entry.figures()?, entry.file()?.to_owned());
        let changes = index.changes(entry);
        let change = |figure: &str| changes.iter().find(|change| change.figure == figure).map(change_view);
        let count =
            |value: Option<i64>| number(value.map(|value| (grouped(&value.to_string()), value.to_string())), None);
        let time = |id: &str, value: Option<i64>| {
            number(value.map(|value| (duration(value as f64), value.to_string())), change(id))
        };
        let share = |id: &str, value: Option<f64>| {
            number(value.map(|value| (format!("{value:.1}"), value.to_string())), change(id))
        };
        let counts = Priority::ALL.into_iter().zip(figures.findings);
        Some(Self {
            id: anchor("run", &entry.name),
            name: entry.name.clone(),
            places: entry.places.clone(),
            is_baseline: index.baseline.as_ref() == Some(&entry.name),
            comparison: entry.comparison.clone(),
            numbers: vec![
                count(figures.ranks),
                count(figures.gpus),
                time("span_ns", figures.span_ns),
                time("kernel_time_ns", figures.kernel_time_ns),
                share("busy_pct", figures.busy_pct),
                share("exposed_comm_pct", figures.exposed_comm_pct),
            ],
            kernel: figures.top_kernel.as_ref().map(|kernel| {
                let shown = names.shown(&kernel.name);
                let title = (shown != kernel.name).then(|| kernel.name.clone());
                let (head, tail) = halves(shown.into_owned());
                let share = kernel.pct.map(|pct| format!("{pct:.1}%")).unwrap_or_default();
                KernelView { head, tail, title, share }
            }),
            findings: counts.map(|(priority, count)| Badge { priority, count }).collect(),
            finding: figures.top_finding.as_ref().map(|finding| FindingView {
                priority: finding.priority,
                title: text(&finding.shown),
                link: if is_page(&file) { format!("{file}#{}", anchor("finding", &finding.id)) } else { file.clone() },
            }),
            health: health(figures),
            file,
        })
    }
}

fn is_page(file: &str) -> bool {
    file.ends_with(".html")
}

fn number(value: Option<(String, String)>, change: Option<ChangeView>) -> NumberView {
    let (text, raw) = value.unwrap_or_default();
    NumberView { text, raw, change }
}

fn change_view(change: &Change) -> ChangeView {
    ChangeView { text: change.shown(), verdict: change.verdict.word(), is_same: change.verdict == Verdict::Same }
}

fn health(figures: &RunFigures) -> HealthView {
    let health = &figures.health;
    let of = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {what}")),
        _ => Some(format!("{count} {what}s")),
    };
    let said: Vec<String> =
        [of(health.damage, "damaged part"), of(health.errors, "error"), of(health.warnings, "warning")]
            .into_iter()
            .flatten()
            .collect();
    let status = match (health.damage + health.errors, health.warnings) {
        (0, 0) => "good",
        (0, _) => "warning",
        _ => "critical",
    };
    let text = if said.is_empty() { "sound".to_owned() } else { said.join(", ") };
    HealthView { status, text }
}

/// How the GPUs of each run spent their time; `None` if no GPU worked.
pub fn chart(index: &Index) -> Option<Chart> {
    let row = |entry: &RunEntry| {
        let figures = entry.figures()?;
        let shares = [
            figures.compute_pct?,
            figures.exposed_comm_pct?,
            figures.exposed_copy_pct.unwrap_or(0.0),
            figures.idle_pct?,
        ];
        Some((entry.name.clone(), shares.to_vec()))
    };
    let rows: Vec<(String, Vec<f64>)> = index.entries.iter().filter_map(row).collect();
    let axis = Axis::percent("share of traced GPU time");
    (!rows.is_empty())
        .then(|| Chart::stacked("How the GPUs of each run spent their time", axis, BarPart::of_time(), rows))
}
