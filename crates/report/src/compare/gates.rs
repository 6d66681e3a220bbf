//! `--fail-on`: rules that decide the exit code.

use std::fmt;
use std::str::FromStr;

use super::document::{Comparison, Gate, GateResult, KernelRow};

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub enum GateRule {
    /// A kernel became slower by at least this percentage.
    Slower(Option<f64>),
    /// The span became longer by at least this percentage.
    Span(Option<f64>),
    /// The new side has a kernel that the base side does not have.
    New,
    /// A kernel of the base side is gone.
    Gone,
    /// A counter of a kernel is higher by at least this percentage.
    Counter(String, Option<f64>),
    /// The verdict is unclear, or a kernel has too few dispatches.
    Unclear,
}

impl FromStr for GateRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let percentage = |pct: &str| {
            let number = pct.trim_end_matches('%').parse::<f64>().ok().filter(|pct| pct.is_finite() && *pct > 0.0);
            number.ok_or_else(|| format!("`{pct}` is not a percentage above 0; write such as {name}:5"))
        };
        if name == "counter" {
            let (counter, pct) = rest
                .map(|rest| rest.split_once(':').map_or((rest, None), |(counter, pct)| (counter, Some(pct))))
                .filter(|(counter, _)| !counter.is_empty())
                .ok_or("name the counter, such as counter:SQ_WAVES:5")?;
            return Ok(Self::Counter(counter.to_owned(), pct.map(percentage).transpose()?));
        }
        match (name, rest) {
            ("slower", pct) => Ok(Self::Slower(pct.map(percentage).transpose()?)),
            ("span", pct) => Ok(Self::Span(pct.map(percentage).transpose()?)),
            ("new", None) => Ok(Self::New),
            ("gone", None) => Ok(Self::Gone),
            ("unclear", None) => Ok(Self::Unclear),
            ("new" | "gone" | "unclear", Some(_)) => Err(format!("{name} takes no percentage; write it alone")),
            _ => Err("choose from slower[:PCT], span[:PCT], counter:NAME[:PCT], new, gone, unclear".to_owned()),
        }
    }
}

impl fmt::Display for GateRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, pct) = match self {
            Self::Counter(counter, Some(pct)) => return write!(out, "counter:{counter}:{pct}"),
            Self::Counter(counter, None) => return write!(out, "counter:{counter}"),
            Self::Slower(pct) => ("slower", *pct),
            Self::Span(pct) => ("span", *pct),
            Self::New => ("new", None),
            Self::Gone => ("gone", None),
            Self::Unclear => ("unclear", None),
        };
        match pct {
            Some(pct) => write!(out, "{name}:{pct}"),
            None => write!(out, "{name}"),
        }
    }
}

/// Outcome of a rule.
enum Decision {
    Passed,
    Failed(String),
    Undecided(String),
}

/// Applies the rules.
pub fn apply(rules: &[GateRule], comparison: &Comparison) -> Gate {
    let mut gate = Gate { rules: rules.iter().map(ToString::to_string).collect(), ..Gate::default() };
    for rule in rules {
        let result = |reason: String| GateResult { rule: rule.to_string(), reason };
        match decide(rule, comparison) {
            Decision::Passed => {}
            Decision::Failed(reason) => gate.failed.push(result(reason)),
            Decision::Undecided(reason) => gate.undecided.push(result(reason)),
        }
    }
    gate
}

fn decide(rule: &GateRule, comparison: &Comparison) -> Decision {
    match rule {
        // Counters do not depend on times, so problems with times do not affect them.
        GateRule::Counter(counter, pct) => higher(counter, pct.unwrap_or(0.0), comparison),
        _ if comparison.verdict == "not_comparable" => Decision::Undecided("the sides cannot be compared".to_owned()),
        GateRule::Slower(pct) => slower(pct.unwrap_or(0.0), comparison),
        GateRule::Span(pct) => span(pct.unwrap_or(0.0), comparison),
        GateRule::New => one_sided("new", comparison.added.iter().map(|kernel| kernel.kernel.as_str())),
        GateRule::Gone => one_sided("gone", comparison.gone.iter().map(|kernel| kernel.kernel.as_str())),
        GateRule::Unclear => {
            let mut open = comparison.kernels.iter().filter(|kernel| matches!(kernel.verdict, "unclear" | "too_few"));
            match open.next() {
                Some(kernel) => {
                    Decision::Failed(format!("{} is {}{}", kernel.key, kernel.verdict, and_others(open.count())))
                }
                None if comparison.verdict == "unclear" => Decision::Failed("the verdict is unclear".to_owned()),
                None => Decision::Passed,
            }
        }
    }
}

/// Fails if a kernel surely became slower by this percentage; is undecided if one could have without being noticed.
fn slower(pct: f64, comparison: &Comparison) -> Decision {
    let tested = || comparison.kernels.iter().filter(|kernel| kernel.p_holm.is_some());
    // Ratios of single GPUs count too if a kernel changed on some GPUs only.
    let change = |kernel: &KernelRow| {
        let single = kernel.changed_gpus.iter().map(|gpu| gpu.ratio);
        let most = single.chain(kernel.ratio).max_by(f64::total_cmp);
        most.map_or(0.0, |ratio| (ratio - 1.0) * 100.0)
    };
    let is_slower =
        |kernel: &KernelRow| kernel.verdict == "slower" || kernel.changed_gpus.iter().any(|gpu| gpu.ratio > 1.0);
    if let Some(kernel) = tested().find(|kernel| is_slower(kernel) && change(kernel) >= pct) {
        let on = kernel.changed_gpus.iter().max_by(|one, other| one.ratio.total_cmp(&other.ratio));
        let on = on.map_or_else(String::new, |gpu| format!(" on rank {} GPU {}", gpu.rank, gpu.gpu));
        return Decision::Failed(format!("{} takes {:.1}% longer{on}", kernel.key, change(kernel)));
    }
    if tested().next().is_none() {
        return Decision::Undecided("no kernel has enough dispatches on both sides".to_owned());
    }
    // Without a percentage, the rule is about noticeable changes.
    for kernel in tested().filter(|_| pct > 0.0) {
        let high = kernel.ci_high.map_or(0.0, |ratio| (ratio - 1.0) * 100.0);
        if let Some(reason) = open(change(kernel), high, kernel.resolution_pct, pct) {
            return Decision::Undecided(format!("{} {reason}", kernel.key));
        }
    }
    Decision::Passed
}

/// Fails if a counter of a kernel surely is higher by this percentage.
fn higher(counter: &str, pct: f64, comparison: &Comparison) -> Decision {
    let rows = || comparison.counters.iter().filter(|row| row.counter == counter);
    let change = |ratio: Option<f64>| ratio.map_or(0.0, |ratio| (ratio - 1.0) * 100.0);
    let is_tested = |verdict: &str| !matches!(verdict, "too_few" | "untested");
    if let Some(row) = rows().find(|row| row.verdict == "higher" && change(row.ratio) >= pct) {
        return Decision::Failed(format!("{counter} of {} is {:.1}% higher", row.kernel, change(row.ratio)));
    }
    if rows().all(|row| !is_tested(row.verdict)) {
        // Which instance counts depends on the addresses of buffers, which each run has anew.
        if counter.contains('[') {
            return Decision::Undecided(format!("{counter} is a single instance, which is not tested; name a sum"));
        }
        let tested = if rows().any(|row| row.verdict == "untested") { "tested kernel" } else { "kernel" };
        return Decision::Undecided(format!("no {tested} has 5 dispatches with {counter} on both sides"));
    }
    for row in rows().filter(|row| pct > 0.0 && is_tested(row.verdict)) {
        if change(row.ratio) >= pct
            || row.resolution_pct.is_some_and(|finest| finest > pct && change(row.ci_high) > pct)
        {
            return Decision::Undecided(format!("{counter} of {} varies by more than {pct}%", row.kernel));
        }
    }
    Decision::Passed
}

/// Why it is undecided whether a time became longer by this percentage; `high` is the upper end of its interval.
fn open(change: f64, high: f64, resolution_pct: Option<f64>, pct: f64) -> Option<String> {
    if change >= pct {
        return Some(format!("takes {change:.1}% longer, which may be noise"));
    }
    let finest = resolution_pct.filter(|finest| *finest > pct && high > pct)?;
    Some(format!("has a resolution of {finest:.1}%, coarser than {pct}%"))
}

fn span(pct: f64, comparison: &Comparison) -> Decision {
    let Some(span) = comparison.totals.iter().find(|total| total.metric == "span") else {
        return Decision::Undecided("there is no span".to_owned());
    };
    let Some(verdict) = span.verdict else {
        return Decision::Undecided(span.verdict_why.unwrap_or("the span cannot be tested").to_owned());
    };
    let change = span.typical_pct.unwrap_or(0.0);
    if verdict == "slower" && change >= pct {
        return Decision::Failed(format!("the span is {change:.1}% longer"));
    }
    let reason = open(change, span.ci_high_pct.unwrap_or(0.0), span.resolution_pct, pct).filter(|_| pct > 0.0);
    reason.map_or(Decision::Passed, |reason| Decision::Undecided(format!("the span {reason}")))
}

fn one_sided<'a>(what: &str, mut kernels: impl Iterator<Item = &'a str>) -> Decision {
    match kernels.next() {
        Some(first) => Decision::Failed(format!("{first} is {what}{}", and_others(kernels.count()))),
        None => Decision::Passed,
    }
}

fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => ", and 1 other".to_owned(),
        _ => format!(", and {count} others"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_counted() {
        let reason = |names: &[&'static str]| match one_sided("new", names.iter().copied()) {
            Decision::Failed(reason) => reason,
            Decision::Passed | Decision::Undecided(_) => String::new(),
        };
        assert_eq!(reason(&["a"]), "a is new");
        assert_eq!(reason(&["a", "b"]), "a is new, and 1 other");
        assert_eq!(reason(&["a", "b", "c"]), "a is new, and 2 others");
    }

    #[test]
    fn rules_are_read_as_they_are_shown() {
        for text in ["slower", "slower:5", "span:2.5", "counter:SQ_WAVES", "counter:X:5", "new", "gone", "unclear"] {
            assert_eq!(text.parse::<GateRule>().unwrap().to_string(), text);
        }
        assert_eq!("span:3%".parse::<GateRule>().unwrap(), GateRule::Span(Some(3.0)));
        for text in [
            "",
            "counter",
            "counter:",
            "counter:X:y",
            "slower:",
            "slower:-1",
            "span:x",
            "new:5",
            "faster",
            "slower:nan",
        ] {
            assert!(text.parse::<GateRule>().is_err(), "{text}");
        }
    }
}
