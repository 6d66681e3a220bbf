//! The verdict in one line: the change, its size, its certainty, and its causes.

use super::comparability::Level;
use super::document::{Comparison, KernelRow, Total};
use super::lengths::{CHECK, WHY};
use wavesieve_engine::findings::{duration, shortened};
use wavesieve_model::analysis::categories::COMMUNICATION;

/// Maximum number of named causes; fewer if they explain this share of the change.
const MAX_CAUSES: usize = 5;
const EXPLAINED: f64 = 0.8;
/// Maximum length of the name of a kernel in the verdict.
const LONGEST_NAME: usize = 60;

/// The verdict and its sentence.
pub fn verdict(comparison: &Comparison, is_blocked: bool) -> (&'static str, String) {
    let span = comparison.totals.iter().find(|total| total.metric == "span");
    let change = span.map(|span| change_of(span, comparison)).unwrap_or_default();
    if is_blocked {
        let reasons: Vec<&str> = comparison
            .comparability
            .iter()
            .filter(|check| check.level == Level::Blocking)
            .map(|check| check.message.as_str())
            .collect();
        return ("not_comparable", format!("{}; {change}", reasons.join("; ")));
    }
    if let Some(check) = comparison.comparability.iter().find(|check| check.check == CHECK)
        && span.is_some_and(|span| span.verdict_why == Some(WHY))
    {
        return ("unclear", format!("{} ({} against {})", check.message, check.base, check.new));
    }
    let verdict = match span.and_then(|span| span.verdict) {
        Some("slower") => "slower",
        Some("faster") => "faster",
        Some("same") => "same",
        Some(_) => "unclear",
        None => of_kernels(comparison, span),
    };
    // A negligible change needs no causes.
    let relevant = comparison.settings.effect_pct / 100.0 / 3.0;
    let is_relevant = |span: &&Total| span.delta_ns.abs() as f64 >= relevant * span.base_ns as f64;
    let causes = span.filter(is_relevant).map(|span| causes(comparison, span.delta_ns)).unwrap_or_default();
    (verdict, if causes.is_empty() { change } else { format!("{change}: {causes}") })
}

/// The verdict if the span itself could not be tested. It is the direction of the kernels that surely changed, if they
/// are a relevant part of the span and the span changed in that direction too. It is "same" if everything tested is the
/// same and the span hardly changed.
fn of_kernels(comparison: &Comparison, span: Option<&Total>) -> &'static str {
    let (span_ns, change_ns) = span.map_or((0, 0), |span| (span.base_ns, span.delta_ns));
    let relevant_ns = comparison.settings.effect_pct / 100.0 * span_ns as f64;
    let kernels = &comparison.kernels;
    let is_flagged = |kernel: &&KernelRow| matches!(kernel.verdict, "slower" | "faster");
    let flagged_ns = kernels.iter().filter(is_flagged).fold(0_i64, |sum, kernel| sum.saturating_add(kernel.delta_ns));
    let is_relevant = |ns: i64| ns != 0 && ns.abs() as f64 >= relevant_ns;
    if is_relevant(flagged_ns) && flagged_ns.signum() == change_ns.signum() {
        return if flagged_ns > 0 { "slower" } else { "faster" };
    }
    let mut tested = kernels.iter().filter(|kernel| kernel.p_holm.is_some()).peekable();
    let are_all_same = tested.peek().is_some() && tested.all(|kernel| kernel.verdict == "same");
    let are_identical = kernels.iter().all(|kernel| kernel.delta_ns == 0 && kernel.ratio == Some(1.0));
    if (are_all_same || are_identical) && !is_relevant(change_ns) { "same" } else { "unclear" }
}

fn change_of(span: &Total, comparison: &Comparison) -> String {
    let what = if comparison.basis.kind == "run" { "span" } else { comparison.basis.unit.as_str() };
    let (base, new) = (duration(span.base_ns as f64), duration(span.new_ns as f64));
    let mut text = format!("{what} {base} → {new}");
    if let Some(pct) = span.pct {
        text.push_str(&format!(" ({}", signed_pct(pct)));
        if let (Some(low), Some(high)) = (span.ci_low_pct, span.ci_high_pct) {
            // The mean includes outliers, but the interval is for typical iterations.
            if let Some(typical) = span.typical_pct.filter(|_| !(low..=high).contains(&pct)) {
                text.push_str(&format!("; typical {what} {}", signed_pct(typical)));
            }
            let sure = 100.0 - comparison.settings.alpha * 100.0;
            text.push_str(&format!(", {sure:.0}% CI {}…{}", signed_pct(low), signed_pct(high)));
        }
        if let Some(resolution) = span.resolution_pct {
            text.push_str(&format!(", resolution {resolution:.1}%"));
        }
        text.push(')');
    }
    text
}

/// Main causes of the change of the span, in its direction. The considered parts add up to the change: compute kernels
/// with the work that they overlap, exposed communication and copies, and idle time by cause.
fn causes(comparison: &Comparison, delta_ns: i64) -> String {
    if delta_ns == 0 {
        return String::new();
    }
    let mut all: Vec<(i64, String)> = Vec::new();
    let is_compute =
        |kernel: &&KernelRow| kernel.category != COMMUNICATION && kernel.delta_ns != 0 && kernel.verdict != "replaced";
    for interval in &comparison.replaced {
        let first = |names: &[String]| {
            let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
            names.first().map(|name| format!("{}{more}", shortened(name, LONGEST_NAME / 2))).unwrap_or_default()
        };
        all.push((interval.delta_ns, format!("{} in place of {}", first(&interval.new), first(&interval.base))));
    }
    for kernel in comparison.kernels.iter().filter(is_compute) {
        let name = shortened(&kernel.key, LONGEST_NAME);
        let why = match (kernel.verdict, kernel.selection_effect_ns) {
            ("new", _) => " (new)",
            ("gone", _) => " (gone)",
            (_, Some(selection)) if selection != 0 => " (other kernel)",
            (_, _) if kernel.calls_effect_ns.is_some_and(|calls| calls.abs() * 2 > kernel.delta_ns.abs()) => " (calls)",
            (_, _) if kernel.mix_effect_ns.is_some_and(|mix| mix.abs() * 2 > kernel.delta_ns.abs()) => " (shapes)",
            _ => "",
        };
        let on = match kernel.changed_gpus.as_slice() {
            [only] => format!(" on rank {} GPU {}", only.rank, only.gpu),
            _ => String::new(),
        };
        all.push((kernel.delta_ns, format!("{name}{why}{on}")));
    }
    let is_cause =
        |part: &str| part.starts_with("idle_") || matches!(part, "overlap_compute" | "exposed_comm" | "exposed_copy");
    let part_ns = |name: &str| {
        let row = comparison.decomposition.iter().find(|row| row.gpu.is_none() && row.part == name);
        row.map_or(0, |row| row.delta_ns)
    };
    // The traced domains decide which causes are visible.
    let has_other_domains = comparison.comparability.iter().any(|check| check.check == "api_domains");
    if has_other_domains && part_ns("idle") != 0 {
        all.push((part_ns("idle"), "idle".to_owned()));
    }
    for part in comparison.decomposition.iter().filter(|part| part.gpu.is_none() && is_cause(&part.part)) {
        let name = match part.part.split_once('_') {
            Some(("idle", _)) if has_other_domains => continue,
            Some(("idle", cause)) => format!("idle {cause}"),
            Some(("overlap", _)) if part.delta_ns > 0 => "less overlap of compute kernels".to_owned(),
            Some(("overlap", _)) => "more overlap of compute kernels".to_owned(),
            Some((_, "copy")) => "exposed copies".to_owned(),
            _ if part_ns("comm_wait").saturating_mul(2).abs() > part.delta_ns.abs() => {
                "exposed communication, mostly waiting for other ranks".to_owned()
            }
            _ => "exposed communication".to_owned(),
        };
        all.push((part.delta_ns, name));
    }
    all.retain(|(change_ns, _)| change_ns.signum() == delta_ns.signum());
    all.sort_by(|one, other| other.0.abs().cmp(&one.0.abs()).then_with(|| one.1.cmp(&other.1)));
    let (mut named, mut left_ns) = (Vec::new(), delta_ns);
    for (change_ns, name) in all.into_iter().take(MAX_CAUSES) {
        named.push(format!("{} {name}", signed(change_ns)));
        left_ns = left_ns.saturating_sub(change_ns);
        if (left_ns.abs() as f64) <= (1.0 - EXPLAINED) * delta_ns.abs() as f64 || left_ns.signum() != delta_ns.signum()
        {
            break;
        }
    }
    if left_ns != 0 {
        named.push(format!("{} rest", signed(left_ns)));
    }
    named.join(", ")
}

/// A duration, with a minus sign if it is subtracted.
pub fn time(ns: i64) -> String {
    let sign = if ns < 0 { "−" } else { "" };
    format!("{sign}{}", duration(ns.unsigned_abs() as f64))
}

/// A duration with its sign.
pub fn signed(ns: i64) -> String {
    match ns {
        0 => "0".to_owned(),
        1.. => format!("+{}", time(ns)),
        ..=-1 => time(ns),
    }
}

/// A percentage with its sign.
pub(crate) fn signed_pct(pct: f64) -> String {
    let digits = format!("{:.1}", pct.abs());
    if digits.trim_matches(|digit| digit == '0' || digit == '.').is_empty() {
        return "±0%".to_owned();
    }
    format!("{}{digits}%", if pct < 0.0 { '−' } else { '+' })
}
