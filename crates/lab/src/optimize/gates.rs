//! Gates that a candidate has to pass, in this order.

use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// The build command succeeds.
    Builds,
    /// Source and code object have the same kernels with the same arguments.
    Interface,
    /// Registers, spills, LDS and scratch stay within the limits.
    Resources,
    /// Results are the same.
    Correct,
    /// The kernel certainly takes less time.
    Faster,
    /// No other kernel takes more time.
    Others,
}

impl Gate {
    pub const ALL: [Self; 6] =
        [Self::Builds, Self::Interface, Self::Resources, Self::Correct, Self::Faster, Self::Others];

    /// Its name in files and on the terminal.
    pub fn word(self) -> String {
        crate::word_of(&self)
    }
}

/// The verdict of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The check passed.
    Pass,
    /// The check failed.
    Fail,
    /// No check was possible.
    Unverified,
}

impl Verdict {
    /// Its name in files and on the terminal.
    pub fn word(self) -> String {
        crate::word_of(&self)
    }
}

/// The verdict of a gate, and its grounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateResult {
    pub gate: Gate,
    pub verdict: Verdict,
    /// The reason in words.
    pub reason: String,
    /// The reason in numbers.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub facts: Value,
}

impl GateResult {
    pub(super) fn new(gate: Gate, verdict: Verdict, reason: impl Into<String>, facts: Value) -> Self {
        Self { gate, verdict, reason: reason.into(), facts }
    }
}

/// Returns whether a candidate may be promoted: it passed all gates, or unverified results are accepted.
pub(super) fn is_accepted(results: &[GateResult], accepts_unverified: bool) -> bool {
    results.len() == Gate::ALL.len()
        && results.iter().all(|result| match result.verdict {
            Verdict::Pass => true,
            Verdict::Unverified => accepts_unverified,
            Verdict::Fail => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(verdicts: &[Verdict]) -> Vec<GateResult> {
        let all = Gate::ALL.iter().zip(verdicts);
        all.map(|(gate, verdict)| GateResult::new(*gate, *verdict, "", Value::Null)).collect()
    }

    #[test]
    fn nothing_unverified_is_accepted_unasked() {
        use Verdict::{Fail, Pass, Unverified};
        assert!(is_accepted(&results(&[Pass; 6]), false));
        // A chain that ended early did not pass.
        assert!(!is_accepted(&results(&[Pass; 5]), true));
        for place in 0..6 {
            let mut verdicts = [Pass; 6];
            verdicts[place] = Unverified;
            assert!(!is_accepted(&results(&verdicts), false) && is_accepted(&results(&verdicts), true));
            verdicts[place] = Fail;
            assert!(!is_accepted(&results(&verdicts), false) && !is_accepted(&results(&verdicts), true));
        }
    }
}
