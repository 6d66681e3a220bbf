//! The main numbers.

use super::model::{Figure, Provenance, Status};
use wavesieve_engine::ColumnUnit;
use wavesieve_engine::findings::{Answers, Finding, Priority, QueryRequest, Rows, RunViews, Spans, time_question};
use wavesieve_export::cell::Cell;
use wavesieve_tables::trace::views::View;

/// The figures of an analysis, for the part of the run that its findings are about. Figures without recorded data are
/// left out.
pub fn figures(
    answers: &Answers,
    findings: &[Finding],
    spans: &Spans,
    views: &RunViews,
    provenance: &Provenance,
) -> Vec<Figure> {
    let view = views.headline();
    let has_run = provenance.inputs.iter().any(|input| !input.is_thread_trace);
    let time = time_question().of_view(view);
    let rows = Rows::over(answers.get(&time));
    let sum = |column: &str| rows.sum(rows.places(), column);
    let spans_ns = spans.total_ns();
    let share = |ns: i64| (ns as f64 / spans_ns as f64 * 100.0).min(100.0);
    let left_out_ns = spans.all_left_out_ns();
    let mut figures = vec![
        Figure::count("ranks", "Ranks", "ranks with a trace", provenance.ranks.len()),
        integer(
            "gpus",
            "GPUs",
            "GPUs that worked, of every process",
            Some(rows.places().len() as i64).filter(|gpus| *gpus > 0 || has_run),
            ColumnUnit::Count,
        ),
        integer(
            "span_ns",
            "Span",
            if view == View::Steady {
                "longest time from first to last GPU activity of a process in its steady part"
            } else if left_out_ns > 0 {
                "longest time from first start to last end of the GPU activity of a process, without what is not part of the run"
            } else {
                "longest time from first start to last end of the GPU activity of a process"
            },
            spans.longest_ns(),
            ColumnUnit::Nanoseconds,
        ),
        integer(
            "left_out_ns",
            "Recording gaps",
            "pauses of the recording, and gaps that Trace Health tells to be no idle time, of all GPUs",
            Some(left_out_ns).filter(|ns| *ns > 0),
            ColumnUnit::Nanoseconds,
        ),
    ];
    if spans_ns > 0 {
        let parts = [
            (
                "busy_pct",
                "GPU busy",
                "share of traced GPU time with a kernel or copy running, over all GPUs",
                "busy_ns",
            ),
            ("compute_pct", "Compute", "share of traced GPU time with a compute kernel running", "compute_ns"),
            (
                "exposed_comm_pct",
                "Exposed communication",
                "share of traced GPU time with communication and no compute kernel",
                "exposed_comm_ns",
            ),
            (
                "exposed_copy_pct",
                "Exposed copies",
                "share of traced GPU time with only copies running",
                "exposed_copy_ns",
            ),
            ("idle_pct", "Idle", "share of traced GPU time with nothing running", "idle_ns"),
        ];
        // Without recorded copies nothing is known of exposed ones.
        let has_copies = views.all().iter().any(|view| view.has_copies);
        let parts = parts.into_iter().filter(|(id, ..)| *id != "exposed_copy_pct" || has_copies);
        figures.extend(parts.map(|(id, label, doc, column)| {
            let not_idle_ns = if id == "idle_pct" { left_out_ns } else { 0 };
            let pct = share(sum(column).saturating_sub(not_idle_ns).max(0));
            Figure { status: status(id, pct), ..Figure::new(id, label, doc, Cell::Float(pct), ColumnUnit::Percent) }
        }));
    }
    if let Some(iterations) = views.all().first().and_then(|view| view.iterations) {
        let doc = "steady units of work that the figures are about, of all processes";
        let label = match iterations.unit {
            "step" => "Steps",
            "replay" => "Replays",
            _ => "Iterations",
        };
        figures.push(integer("iterations", label, doc, Some(iterations.chosen), ColumnUnit::Count));
    }
    let kernels = QueryRequest::new("kernel_summary").of_view(view);
    let kernels = Rows::over(answers.get(&kernels));
    if !kernels.is_empty() {
        let calls = kernels.sum(kernels.places(), "calls");
        figures.push(integer("dispatches", "Dispatches", "kernels that ran", Some(calls), ColumnUnit::Count));
        figures.push(Figure::count("kernels", "Kernels", "different kernels", kernels.places().len()));
    }
    figures.extend(finding_counts(findings));
    figures.retain(|figure| figure.value != Cell::Null);
    figures
}

/// Number of findings with a high cost.
pub(crate) fn finding_counts(findings: &[Finding]) -> Vec<Figure> {
    let counted = |(priority, id, label, any)| {
        let count = findings.iter().filter(|finding| finding.priority == priority).count();
        let status = if count == 0 { Status::Good } else { any };
        Figure { status, ..Figure::count(id, label, "findings of this priority", count) }
    };
    [
        (Priority::High, "high_findings", "High findings", Status::Critical),
        (Priority::Medium, "medium_findings", "Medium findings", Status::Warning),
    ]
    .map(counted)
    .to_vec()
}

/// Rates a share of busy, idle or exposed time. The limits are rough marks for readers; no finding depends on them.
fn status(id: &str, pct: f64) -> Status {
    let (warning, critical, rising) = match id {
        "busy_pct" => (80.0, 50.0, false),
        "idle_pct" => (20.0, 50.0, true),
        "exposed_comm_pct" | "exposed_copy_pct" => (10.0, 20.0, true),
        _ => return Status::Neutral,
    };
    let reaches = |mark: f64| if rising { pct >= mark } else { pct < mark };
    if reaches(critical) {
        Status::Critical
    } else if reaches(warning) {
        Status::Warning
    } else {
        Status::Good
    }
}

fn integer(id: &str, label: &str, doc: &str, value: Option<i64>, unit: ColumnUnit) -> Figure {
    Figure::new(id, label, doc, value.map_or(Cell::Null, Cell::Integer), unit)
}
