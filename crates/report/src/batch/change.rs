//! Differences between a run and the baseline.

use super::entry::{Compared, RunComparison, RunFigures};
use crate::html::grouped;

/// Amounts from here on are shown without decimals.
const MANY: f64 = 1000.0;

/// Difference of a figure from the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Id of the figure.
    pub figure: &'static str,
    /// Change of times in percent of the baseline, or of shares in percentage points.
    pub amount: f64,
    /// Whether the figure is a share, so that the amount is in percentage points.
    pub is_points: bool,
    /// Meaning of the change.
    pub verdict: Verdict,
}

/// Meaning of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Less time, or a GPU with better use.
    Better,
    /// More time, or a GPU with worse use.
    Worse,
    /// Surely too small a difference to matter.
    Same,
    /// It may be noise, or could not be tested.
    Unclear,
}

impl Verdict {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Unclear => "unclear",
        }
    }
}

impl Change {
    /// The change as people write it: `+12.3%`, `−4.0 pp`.
    pub fn shown(&self) -> String {
        let unit = if self.is_points { " pp" } else { "%" };
        let amount = self.amount.abs();
        let digits = if amount < MANY { format!("{amount:.1}") } else { grouped(&format!("{amount:.0}")) };
        match digits.as_str() {
            "0.0" => format!("±0{unit}"),
            digits => format!("{}{digits}{unit}", if self.amount < 0.0 { '−' } else { '+' }),
        }
    }
}

/// The changes of the figures that both runs have; times have no percentage if the baseline is 0. The comparison of the
/// two runs decides what a change means.
pub fn changes(baseline: &RunFigures, run: &RunFigures, comparison: Option<&RunComparison>) -> Vec<Change> {
    let pairs = baseline.compared().into_iter().zip(run.compared());
    let change = |(before, now): (Compared, Compared)| {
        let (figure, is_points) = (now.figure, now.is_share);
        // Sums over different numbers of GPUs cannot be compared.
        if figure == "kernel_time_ns" && baseline.gpus != run.gpus {
            return None;
        }
        let (before, now) = (before.value?, now.value?);
        let amount = match is_points {
            true => now - before,
            false if before > 0.0 => (now - before) / before * 100.0,
            false => return None,
        };
        let found = comparison.and_then(|comparison| match figure {
            "span_ns" => Some(comparison.verdict.as_str()),
            "kernel_time_ns" => comparison.kernels.as_deref(),
            // A GPU is busier if it idles less.
            "busy_pct" => comparison.idle.as_deref(),
            _ => comparison.exposed_comm.as_deref(),
        });
        let verdict = match found {
            _ if amount == 0.0 => Verdict::Same,
            Some("faster") => Verdict::Better,
            Some("slower") => Verdict::Worse,
            Some("same") => Verdict::Same,
            _ => Verdict::Unclear,
        };
        Some(Change { figure, amount, is_points, verdict })
    };
    pairs.filter_map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_signs_and_directions() {
        let baseline = RunFigures {
            span_ns: Some(1000),
            kernel_time_ns: Some(0),
            busy_pct: Some(50.0),
            exposed_comm_pct: Some(10.0),
            ..RunFigures::default()
        };
        let run = RunFigures {
            span_ns: Some(1125),
            kernel_time_ns: Some(7),
            busy_pct: Some(53.5),
            exposed_comm_pct: Some(10.04),
            ..RunFigures::default()
        };
        let found = RunComparison {
            verdict: "slower".to_owned(),
            idle: Some("faster".to_owned()),
            exposed_comm: Some("same".to_owned()),
            ..RunComparison::default()
        };
        let shown = |baseline: &RunFigures, run: &RunFigures, found: Option<&RunComparison>| -> Vec<String> {
            let show = |change: &Change| format!("{} {} {}", change.figure, change.shown(), change.verdict.word());
            changes(baseline, run, found).iter().map(show).collect()
        };
        assert_eq!(
            shown(&baseline, &run, Some(&found)),
            ["span_ns +12.5% worse", "busy_pct +3.5 pp better", "exposed_comm_pct ±0 pp same"]
        );
        assert_eq!(shown(&run, &baseline, None).first().unwrap(), "span_ns −11.1% unclear");
        let long = RunFigures { span_ns: Some(12_345_000), ..RunFigures::default() };
        assert_eq!(shown(&baseline, &long, Some(&found)), ["span_ns +1,234,400% worse"]);
    }
}
