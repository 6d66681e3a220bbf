//! What a rule found.

use polars::prelude::DataFrame;

use super::command::Command;
use super::priority::Priority;
use super::question::Question;
use crate::engine::OutputColumn;

/// What a rule found, ready to be shown.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Stable id: that of the rule, and of what it is about where there can be several, as `rule:subject`.
    pub id: String,
    /// Id of the rule.
    pub rule: String,
    /// How much it matters.
    pub priority: Priority,
    /// What it is about, in the words of the field.
    pub category: String,
    /// One sentence with the numbers.
    pub title: String,
    /// What it means.
    pub explanation: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Kernel, range, rank or whatever it is about; `None` where it is the whole trace.
    pub subject: Option<String>,
    /// What getting rid of it could save at most.
    pub saving: Option<Saving>,
    /// The rows that show it.
    pub evidence: Vec<Evidence>,
    /// What to do, the first helps most.
    pub advice: Vec<String>,
    /// How to find out more.
    pub commands: Vec<Command>,
}

/// The most that getting rid of a finding could save. Several do not add up: they may overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct Saving {
    /// GPU time in nanoseconds, added up over the GPUs.
    pub gpu_time_ns: i64,
    /// Its share of the spans of the GPUs, in percent.
    pub pct_of_span: f64,
}

/// Rows of an answer that show a finding.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// What was asked.
    pub question: Question,
    /// Title of the query.
    pub title: String,
    /// What the columns are.
    pub columns: Vec<OutputColumn>,
    /// The rows, those that show it best.
    pub frame: DataFrame,
    /// How many rows show it in all.
    pub rows: usize,
}
