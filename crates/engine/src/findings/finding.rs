//! Findings of rules.

use polars::prelude::DataFrame;

use super::command::Command;
use super::handoff::Handoff;
use super::priority::Priority;
use super::query_request::QueryRequest;
use super::texts::duration;
use crate::OutputColumn;
use wavesieve_tables::trace::views::View;

/// Finding of a rule, ready to be shown.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Stable id: the id of the rule, and the subject if there can be several, as `rule:subject`.
    pub id: String,
    /// Id of the rule.
    pub rule: String,
    /// How much it matters.
    pub priority: Priority,
    /// Its subject, in the words of the field.
    pub category: String,
    /// One sentence with the numbers.
    pub title: String,
    /// The same as a clause for readers without knowledge of GPUs; empty if there is none.
    pub verdict: String,
    /// Its meaning.
    pub explanation: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Kernel, range, rank or another subject; `None` for the whole trace.
    pub subject: Option<String>,
    /// The rank that stands out in it, if one does.
    pub rank: Option<i64>,
    /// Id of the finding that it follows from, if one explains it.
    pub cause: Option<String>,
    /// The part of the run that it is about.
    pub view: View,
    /// Potential saving.
    pub saving: Option<Saving>,
    /// The rows that show it.
    pub evidence: Vec<Evidence>,
    /// Advice, the most effective first.
    pub advice: Vec<String>,
    /// Commands to find out more.
    pub commands: Vec<Command>,
    /// The kernel it is about, by its name in the answers.
    pub kernel: Option<String>,
    /// Commands for one dispatch of that kernel, if they were requested.
    pub handoff: Option<Handoff>,
}

/// Wall-clock time of a GPU in a unit of work: an iteration where all ranks have as many, otherwise the part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WallTime {
    /// The time in nanoseconds, never more than the unit.
    pub wall_ns: i64,
    /// How long the unit takes.
    pub unit_ns: i64,
    /// Iterations of each rank, if they are the unit.
    pub iterations: Option<i64>,
    /// Their name: `step`, `replay` or `iteration`.
    pub name: &'static str,
    /// GPUs of the trace.
    pub gpus: usize,
}

impl WallTime {
    /// The time and its unit: `36.4 ms of 75.0 ms per GPU and iteration`.
    pub fn text(&self) -> String {
        let per = match (self.gpus > 1, self.iterations.is_some()) {
            (true, true) => format!(" per GPU and {}", self.name),
            (true, false) => " per GPU".to_owned(),
            (false, true) => format!(" per {}", self.name),
            (false, false) => String::new(),
        };
        format!("{} of {}{per}", duration(self.wall_ns as f64), duration(self.unit_ns as f64))
    }

    /// Its sum over the iterations of a rank.
    pub fn whole_ns(&self) -> i64 {
        self.wall_ns.saturating_mul(self.iterations.unwrap_or(1))
    }
}

/// The most that removing a finding could save. Savings of several findings may overlap, so they do not add up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saving {
    /// Wall-clock time of a GPU: the mean, or that of the GPU that loses most where single ones do and others may wait for them.
    pub wall: WallTime,
    /// Its share of the time of a GPU, in percent.
    pub pct_of_span: f64,
    /// GPU time in nanoseconds, added up over the GPUs and iterations.
    pub gpu_time_ns: i64,
    /// The part of the run that it is a share of.
    pub view: View,
}

impl Saving {
    /// The saving in words: `36.4 ms of 75.0 ms per GPU and iteration (48.6% of steady traced GPU time)`.
    pub fn text(&self) -> String {
        let spans = match self.view {
            View::WholeRun => "traced GPU time",
            View::Steady => "steady traced GPU time",
        };
        format!("{} ({:.1}% of {spans})", self.wall.text(), self.pct_of_span)
    }
}

/// Rows of an answer that show a finding.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The query of these rows.
    pub question: QueryRequest,
    /// The command line that prints the whole result.
    pub command: String,
    /// Title of the query.
    pub title: String,
    pub columns: Vec<OutputColumn>,
    /// The most relevant rows.
    pub frame: DataFrame,
    /// Total number of rows that show it.
    pub rows: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savings_are_of_a_gpu_and_a_unit() {
        let text = |iterations: Option<i64>, gpus: usize| {
            let wall = WallTime { wall_ns: 36_420_000, unit_ns: 75_000_000, iterations, name: "iteration", gpus };
            Saving { wall, pct_of_span: 48.56, gpu_time_ns: 583_000_000, view: View::Steady }.text()
        };
        let share = "(48.6% of steady traced GPU time)";
        assert_eq!(text(Some(4), 4), format!("36.4 ms of 75.0 ms per GPU and iteration {share}"));
        assert_eq!(text(Some(4), 1), format!("36.4 ms of 75.0 ms per iteration {share}"));
        assert_eq!(text(None, 4), format!("36.4 ms of 75.0 ms per GPU {share}"));
        assert_eq!(text(None, 1), format!("36.4 ms of 75.0 ms {share}"));
    }
}
