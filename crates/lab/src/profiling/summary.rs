//! The profile in a few lines.

use std::fmt::Write as _;

use super::bottlenecks::{Known, Ranked};
use super::collecting::Recorded;
use super::documents::{Headroom, Parts};
use super::headroom::Range;
use super::roof::Roofline;
use crate::measuring::Stopped;
use wavesieve_engine::findings::{bytes, counted, duration};
use wavesieve_model::text::hidden::escape_hidden;

const SHOWN: usize = 6;
const LABEL: usize = 15;

/// The profile as lines of text for the terminal.
pub fn summary(recorded: &Recorded, parts: &Parts) -> String {
    let mut text = format!("Dominant kernel: {}\n", escape_hidden(&parts.kernel.name));
    for (label, line) in lines(recorded, parts) {
        let _ = writeln!(text, "  {label:<LABEL$} {line}");
    }
    text.push_str("\nWhat limits it, the most likely first:\n");
    let (known, unknown): (Vec<&Ranked>, Vec<&Ranked>) =
        parts.bottlenecks.iter().partition(|one| !one.evidence.is_empty());
    for one in known.into_iter().take(SHOWN) {
        let score = one.score.map(|score| format!("{score:.2}")).unwrap_or_default();
        let why = one.evidence.iter().filter(|known| known.holds == (one.state != "no")).map(Known::text);
        let missing = one.missing.iter().map(|missing| format!("missing: {missing}"));
        let why = why.chain(missing).collect::<Vec<_>>().join("; ");
        let _ = writeln!(text, "  {:<8} {score:<5} {}: {why}", one.state, one.verdict);
    }
    // Most missing values have the same reason.
    let mut lacking: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in unknown {
        let missing = one.missing.as_deref().unwrap_or("not known");
        match lacking.iter_mut().find(|(known, _)| *known == missing) {
            Some((_, verdicts)) => verdicts.push(&one.verdict),
            None => lacking.push((missing, vec![&one.verdict])),
        }
    }
    for (missing, verdicts) in lacking {
        let _ = writeln!(text, "  {:<8} {:<5} {}; missing: {missing}", "unknown", "", verdicts.join(", "));
    }
    text
}

/// The labeled figures; missing ones have the reason instead.
pub(super) fn lines(recorded: &Recorded, parts: &Parts) -> Vec<(&'static str, String)> {
    let kernel = recorded.dominant.as_str();
    let runs = &recorded.measured.runs;
    let own = runs.iter().filter_map(|run| run.kernel(kernel));
    let (dispatches, longest) =
        own.fold((0, 0), |(dispatches, longest), one| (dispatches + one.dispatches, longest.max(one.longest_ns)));
    let stability = &recorded.stability;
    let all: f64 = runs.iter().flat_map(|run| &run.kernels).map(|kernel| kernel.total_ns as f64).sum();
    let share = if all > 0.0 { 100.0 * stability.mean * stability.runs as f64 / all } else { 0.0 };
    let time = format!(
        "{} per run, {share:.1}% of kernel time; {:.0} dispatches, longest {}",
        duration(stability.median),
        dispatches as f64 / stability.runs.max(1) as f64,
        duration(longest as f64)
    );
    let interval = match (stability.interval, stability.width()) {
        (Some(interval), Some(width)) => format!(
            "{:.1}% interval of the median {} to {} ({:.1}%)",
            100.0 * interval.confidence,
            duration(interval.low),
            duration(interval.high),
            100.0 * width
        ),
        _ => "no interval of the median below 6 runs".to_owned(),
    };
    let stopped = match recorded.measured.stopped {
        Stopped::Runs | Stopped::Certain => "",
        Stopped::MostRuns => "; --max-runs ended it",
        Stopped::Budget => "; --budget ended it",
    };
    let certainty = format!(
        "{}, cv {:.3} over {}; {interval}{stopped}",
        crate::word_of(&stability.class),
        stability.cv,
        counted(stability.runs as f64, "run")
    );
    let absent = |reason: &String| format!("absent: {reason}");
    let mut lines = vec![("time", time), ("stability", certainty)];
    if stability.runs < runs.len() {
        lines.push(("runs", format!("the kernel ran in {} of {}; times are of those", stability.runs, runs.len())));
    }
    if let Some(gpu) = &parts.gpu {
        let product = gpu.product.iter().map(|product| format!("{product}, "));
        let units = gpu.compute_units.map(|count| format!("{count} compute units"));
        let rest: String = product.chain(units).collect();
        lines.push(("gpu", format!("{} {rest}", gpu.architecture)));
    }
    lines.push((
        "resources",
        parts.resources.as_ref().map_or_else(absent, |found| {
            let count = |value: Option<i64>, what: &str| value.map(|value| format!("{value} {what}"));
            let size = |value: Option<i64>, what: &str| value.map(|value| format!("{} {what}", bytes(value as f64)));
            let all = [
                count(found.vgpr_per_thread, "VGPR"),
                count(found.accum_vgpr_per_thread, "AGPR"),
                count(found.sgpr_per_wave, "SGPR"),
                size(found.lds_bytes, "LDS"),
                size(found.scratch_bytes, "scratch"),
            ];
            all.into_iter().flatten().collect::<Vec<_>>().join(", ")
        }),
    ));
    lines.push((
        "occupancy",
        parts.occupancy.as_ref().map_or_else(absent, |found| {
            let waves = found.waves_per_simd.zip(found.max_waves_per_simd);
            let waves = waves.map(|(waves, most)| format!(", {waves} of {most} waves per SIMD")).unwrap_or_default();
            let limit = found.limited_by.iter().map(|limit| format!(", limited by {limit}")).collect::<String>();
            let achieved = found.achieved.map(|share| format!("; {:.1}% in use", 100.0 * share)).unwrap_or_default();
            format!("{:.1}%{waves}{limit}{achieved}", 100.0 * found.theoretical)
        }),
    ));
    lines.push(("roofline", parts.roofline.as_ref().map_or_else(absent, of_roof)));
    lines.push((
        "critical path",
        parts.path.as_ref().map_or_else(absent, |path| {
            let share = path.symbol_fractions.get(kernel).copied().unwrap_or(0.0);
            let free = path.saved_if_free_fraction.map(|fraction| Range { low: 0.0, high: fraction }.speedups().high);
            let free = free.map(|speedup| format!("; {speedup:.2}x if it took no time")).unwrap_or_default();
            let span = duration(path.critical_path_ns as f64);
            format!(
                "{:.1}% of {span}{free}; {:.1}% of it is no GPU work",
                100.0 * share,
                pct(path.gaps_ns, path.critical_path_ns)
            )
        }),
    ));
    lines.push((
        "thread trace",
        parts.att.as_ref().map_or_else(absent, |att| {
            let mut mix: Vec<(&String, &f64)> = att.instruction_mix.iter().collect();
            mix.sort_by(|one, other| other.1.total_cmp(one.1));
            let mix: Vec<String> =
                mix.iter().map(|(class, share)| format!("{class} {:.0}%", 100.0 * **share)).collect();
            let stall =
                att.stall_fraction.map(|share| format!("; stall {:.1}% of latency", 100.0 * share)).unwrap_or_default();
            format!("{}{stall}", mix.join(", "))
        }),
    ));
    lines.push(("headroom", parts.headroom.as_ref().map_or_else(absent, of_headroom)));
    lines
}

fn pct(part: i64, whole: i64) -> f64 {
    if whole > 0 { 100.0 * part as f64 / whole as f64 } else { 0.0 }
}

fn of_roof(found: &Roofline) -> String {
    let number = |value: Option<f64>, unit: &str| value.map(|value| format!("{value:.0} {unit}"));
    let intensity = found.arithmetic_intensity.map(|value| format!("{value:.2} FLOP/B"));
    let roof = found.efficiency.zip(found.limit.as_ref());
    let roof = roof.map(|(efficiency, limit)| format!("{:.1}% of the roof, which is {limit}", 100.0 * efficiency));
    let all = [
        number(found.achieved_gflops, "GFLOP/s"),
        number(found.achieved_bandwidth_gbps, "GB/s of memory"),
        intensity,
        roof,
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn of_headroom(found: &Headroom) -> String {
    let range = |saved: Range, speedup: Range| {
        format!("{:.1} to {:.1}% ({:.2}x to {:.2}x)", 100.0 * saved.low, 100.0 * saved.high, speedup.low, speedup.high)
    };
    let kernel =
        found.kernel.zip(found.kernel_speedup).map(|(saved, speedup)| format!("kernel {}", range(saved, speedup)));
    let program =
        found.program.zip(found.program_speedup).map(|(saved, speedup)| format!("program {}", range(saved, speedup)));
    let rests: Vec<String> =
        found.rests_on.iter().map(|one| format!("{} {:.3}", one.what.replace('_', " "), one.value)).collect();
    let ranges: Vec<String> = kernel.into_iter().chain(program).collect();
    format!("{}; rests on {}", ranges.join(", "), rests.join(" and "))
}
