//! Shared cells of text and Markdown.

use crate::compare::document::{Comparison, KernelRow, PartRow};
use crate::compare::summary::{signed, signed_pct};
use wavesieve_engine::findings::{counted, duration};

/// Verdicts of kernels that are listed individually.
const LISTED: [&str; 2] = ["slower", "faster"];
/// Maximum number of GPUs that are named for a kernel.
const MAX_GPUS: usize = 3;

/// The kernels that surely changed, most time first.
pub(super) fn changed(comparison: &Comparison) -> Vec<&KernelRow> {
    let mut rows: Vec<&KernelRow> =
        comparison.kernels.iter().filter(|kernel| LISTED.contains(&kernel.verdict)).collect();
    rows.sort_by(|one, other| other.delta_ns.abs().cmp(&one.delta_ns.abs()).then_with(|| one.key.cmp(&other.key)));
    rows
}

/// Kernels whose time changed by calls, shapes or tails, or by much, although they did not surely get slower or faster;
/// most time first.
pub(super) fn moved(comparison: &Comparison) -> Vec<&KernelRow> {
    let span = comparison.totals.iter().find(|total| total.metric == "span").map_or(0, |span| span.base_ns);
    // The verdict line shows a thousandth of the span.
    let is_moved = |kernel: &&KernelRow| {
        let other_ns = [kernel.calls_effect_ns, kernel.mix_effect_ns, kernel.selection_effect_ns];
        let other_ns = other_ns.into_iter().flatten().fold(0_i64, |sum, one| sum.saturating_add(one.saturating_abs()));
        let is_large = kernel.delta_ns.abs() > span / 200;
        !LISTED.contains(&kernel.verdict)
            && kernel.base_name.is_some()
            && kernel.new_name.is_some()
            && (kernel.tail_changed.is_some() || is_large || other_ns > span / 1000 && other_ns > 0)
    };
    let mut rows: Vec<&KernelRow> = comparison.kernels.iter().filter(is_moved).collect();
    rows.sort_by(|one, other| other.delta_ns.abs().cmp(&one.delta_ns.abs()).then_with(|| one.key.cmp(&other.key)));
    rows
}

/// Why a kernel that did not surely change has no verdict, and its other changes.
pub(super) fn note_with_reason(kernel: &KernelRow) -> String {
    let reason = match (kernel.verdict, kernel.resolution_why) {
        ("unclear", _) => Some("unclear".to_owned()),
        ("too_few" | "untested", Some(why)) => Some(format!("not tested: {why}")),
        _ => None,
    };
    let rest = Some(note(kernel)).filter(|rest| !rest.is_empty());
    reason.into_iter().chain(rest).collect::<Vec<String>>().join(", ")
}

/// Changes of a kernel other than getting slower or faster.
pub(super) fn note(kernel: &KernelRow) -> String {
    let mut notes = Vec::new();
    for one in kernel.changed_gpus.iter().take(MAX_GPUS) {
        notes.push(format!("rank {} GPU {}: {}", one.rank, one.gpu, signed_pct((one.ratio - 1.0) * 100.0)));
    }
    if kernel.changed_gpus.len() > MAX_GPUS {
        notes.push(format!("{} more GPUs", kernel.changed_gpus.len() - MAX_GPUS));
    }
    let parts = [
        (kernel.calls_effect_ns, "by the number of calls"),
        (kernel.mix_effect_ns, "by the mix of shapes"),
        (kernel.selection_effect_ns, "by another kernel in its place"),
    ];
    for (part_ns, why) in parts {
        if let Some(part_ns) = part_ns.filter(|part_ns| part_ns.abs() * 5 > kernel.delta_ns.abs() && *part_ns != 0) {
            notes.push(format!("{} {why}", signed(part_ns)));
        }
    }
    if let Some(tail) = &kernel.tail_changed {
        let shown = |ns: i64| duration(ns as f64);
        notes.push(format!("slowest 1% {} → {}", shown(tail.base_p99_ns), shown(tail.new_p99_ns)));
    }
    let is_clock =
        kernel.cycles_pct.zip(kernel.clock_pct).is_some_and(|(cycles, clock)| cycles.abs() < clock.abs() / 2.0);
    if LISTED.contains(&kernel.verdict) && is_clock {
        notes.push(format!("by the clock, {}", signed_pct(kernel.clock_pct.unwrap_or_default())));
    }
    if kernel.base_name.is_some() && kernel.new_name.is_some() && kernel.base_name != kernel.new_name {
        notes.push("renamed".to_owned());
    }
    notes.join(", ")
}

/// The change of typical durations with its interval: `+5.0% (+4.1…+5.9)`.
pub(super) fn ratio(kernel: &KernelRow) -> String {
    let pct = |ratio: f64| signed_pct((ratio - 1.0) * 100.0);
    let interval = kernel.ci_low.zip(kernel.ci_high);
    let bare = |ratio: f64| pct(ratio).trim_end_matches('%').to_owned();
    match (kernel.ratio, interval) {
        (Some(ratio), Some((low, high))) => format!("{} ({}…{})", pct(ratio), bare(low), bare(high)),
        (Some(ratio), None) => pct(ratio),
        (None, _) => String::new(),
    }
}

/// The parts of the mean span with the depth of each.
pub(super) fn waterfall(comparison: &Comparison) -> Vec<(usize, &PartRow)> {
    let rows: Vec<&PartRow> = comparison.decomposition.iter().filter(|row| row.gpu.is_none()).collect();
    let depth = |row: &PartRow| {
        let (mut depth, mut parent) = (0, row.parent.as_deref());
        while let Some(above) = parent.and_then(|name| rows.iter().find(|row| row.part == name)) {
            (depth, parent) = (depth + 1, above.parent.as_deref());
        }
        depth
    };
    rows.iter().map(|row| (depth(row), *row)).filter(|(_, row)| row.base_ns != 0 || row.new_ns != 0).collect()
}

/// The kernels that were tested and did not change, as a sentence.
pub(super) fn rest(comparison: &Comparison) -> String {
    let tested: Vec<&KernelRow> = comparison.kernels.iter().filter(|kernel| kernel.p_holm.is_some()).collect();
    let quiet = tested.iter().filter(|kernel| !LISTED.contains(&kernel.verdict));
    let (count, coarsest) = quiet.fold((0, 0.0_f64), |(count, coarsest), kernel| {
        (count + 1, coarsest.max(kernel.resolution_pct.unwrap_or(0.0)))
    });
    let few = comparison.kernels.iter().filter(|kernel| kernel.verdict == "too_few").count();
    let untested = comparison.kernels.iter().filter(|kernel| kernel.verdict == "untested").count();
    let mut text = if count == 0 {
        "No other kernel was tested".to_owned()
    } else {
        let kernels = counted(count as f64, "kernel");
        format!("Nothing else surely changed ({kernels} tested, worst resolution {coarsest:.1}%)")
    };
    if few + untested > 0 {
        text.push_str(&format!("; {few} with too few dispatches and {untested} that take little time or wait for other ranks were not tested"));
    }
    text + "."
}
