//! Findings of rules.

use polars::prelude::DataFrame;

use super::command::Command;
use super::handoff::Handoff;
use super::priority::Priority;
use super::query_request::QueryRequest;
use super::texts::{duration, thousands};
use crate::OutputColumn;
use wavesieve_tables::trace::views::View;

/// Finding of a rule, ready to be shown.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Stable id: that of the rule, and of what it is about where there can be several, as `rule:subject`.
    pub id: String,
    /// Id of the rule.
    pub rule: String,
    /// How much it matters.
    pub priority: Priority,
    /// Its subject, in the words of the field.
    pub category: String,
    /// One sentence with the numbers.
    pub title: String,
    /// Its meaning.
    pub explanation: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Kernel, range, rank or whatever it is about; `None` where it is the whole trace.
    pub subject: Option<String>,
    /// The part of the run that it is about.
    pub view: View,
    /// Potential saving.
    pub saving: Option<Saving>,
    /// The rows that show it.
    pub evidence: Vec<Evidence>,
    /// Advice, the most effective first.
    pub advice: Vec<String>,
    /// How to find out more.
    pub commands: Vec<Command>,
    /// The kernel it is about, by its name in the answers.
    pub kernel: Option<String>,
    /// Commands for one dispatch of that kernel, where they were asked for.
    pub handoff: Option<Handoff>,
}

/// The most that removing a finding could save. Savings of several findings may overlap, so they do not add up.
#[derive(Clone, Debug, PartialEq)]
pub struct Saving {
    /// GPU time in nanoseconds, added up over the GPUs.
    pub gpu_time_ns: i64,
    /// Its share of the spans of the GPUs, in percent.
    pub pct_of_span: f64,
    /// The part of the run that these spans cover.
    pub view: View,
    /// In how many iterations it can be saved, where that is in as many of every rank.
    pub iterations: Option<i64>,
}

impl Saving {
    /// Potential saving of each iteration: GPU time in nanoseconds.
    pub fn per_iteration_ns(&self) -> Option<i64> {
        self.iterations.filter(|iterations| *iterations > 0).map(|iterations| self.gpu_time_ns / iterations)
    }

    /// Which spans it is a share of.
    pub fn spans(&self) -> &'static str {
        match self.view {
            View::WholeRun => "traced GPU time",
            View::Steady => "steady traced GPU time",
        }
    }

    /// The saving per iteration, to be put behind a sentence.
    pub fn by_iteration(&self) -> String {
        let per_iteration = self.per_iteration_ns().zip(self.iterations);
        let text =
            |(ns, iterations)| format!(": {} per iteration × {}", duration(ns as f64), thousands(iterations as f64));
        per_iteration.map(text).unwrap_or_default()
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
    /// The number of rows that show it in all.
    pub rows: usize,
}
