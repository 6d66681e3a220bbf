//! The guided analysis.

use polars::prelude::DataFrame;

use super::error::Error;
use super::trace::Trace;
use wavesieve_engine::NameForm;
use wavesieve_engine::findings::{self, Judgement, Priority, RuleBook};

/// Findings of the rules in a trace.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Analysis {
    /// The findings: highest priority first, then largest potential saving, then id.
    pub findings: Vec<Finding>,
}

/// A finding of a rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// Stable id: the rule's, and `rule:subject` if a rule can have several findings.
    pub id: String,
    /// Id of the rule.
    pub rule: String,
    /// How much it matters.
    pub priority: Priority,
    /// Its subject, such as `communication`.
    pub category: String,
    /// One sentence with the numbers.
    pub title: String,
    /// Its meaning.
    pub explanation: String,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Kernel, range or rank that it is about; `None` for the whole trace.
    pub subject: Option<String>,
    /// Potential saving.
    pub saving: Option<Saving>,
    /// The rows that show it.
    pub evidence: Vec<Evidence>,
    /// Advice, most effective first.
    pub advice: Vec<String>,
    /// Shell commands that collect more.
    pub commands: Vec<String>,
}

/// The most that removing a finding could save. Savings of several findings may overlap.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Saving {
    /// Wall-clock time of a GPU in a unit, in nanoseconds: the mean, or that of the GPU that loses most where single ones do.
    pub wall_ns: i64,
    /// How long the unit takes: an iteration, or the part of the run that the finding is about.
    pub unit_ns: i64,
    /// Iterations of each rank, if they are the unit.
    pub iterations: Option<i64>,
    /// Share of the span of a GPU, in percent.
    pub pct_of_span: f64,
    /// GPU time in nanoseconds, summed over GPUs and iterations.
    pub gpu_time_ns: i64,
}

/// Rows of a named query that show a finding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evidence {
    /// Name of the query.
    pub query: String,
    /// Its title.
    pub title: String,
    /// The command that prints all rows.
    pub command: String,
    /// The rows that show it best, with the columns of the query.
    pub frame: DataFrame,
    /// How many rows show it in all.
    pub rows: usize,
}

impl Trace {
    /// Finds bottlenecks and recommends next steps. If a part of the run repeats evenly, findings are about this part.
    ///
    /// ```
    /// use wavesieve::{Priority, Trace};
    ///
    /// let analysis = Trace::open(["fixtures/two_nodes"])?.analyze()?;
    /// for finding in analysis.findings.iter().filter(|finding| finding.priority == Priority::High) {
    ///     println!("{}: {}", finding.id, finding.title);
    /// }
    /// assert!(analysis.findings.iter().all(|finding| !finding.evidence.is_empty()));
    /// # Ok::<(), wavesieve::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Failed`] if a table cannot be read.
    pub fn analyze(&self) -> Result<Analysis, Error> {
        let rules = RuleBook::builtin()?;
        let (registry, name) = (self.registry(), NameForm::default());
        let judgement = Judgement { registry, rules: &rules, name, whole_run: false };
        let judged = judgement.of(self.filtered()?, [])?;
        Ok(Analysis { findings: judged.findings.into_iter().map(Finding::from).collect() })
    }
}

impl From<findings::Finding> for Finding {
    fn from(finding: findings::Finding) -> Self {
        Self {
            id: finding.id,
            rule: finding.rule,
            priority: finding.priority,
            category: finding.category,
            title: finding.title,
            explanation: finding.explanation,
            confidence: finding.confidence,
            subject: finding.subject,
            saving: finding.saving.map(|saving| Saving {
                wall_ns: saving.wall.wall_ns,
                unit_ns: saving.wall.unit_ns,
                iterations: saving.wall.iterations,
                pct_of_span: saving.pct_of_span,
                gpu_time_ns: saving.gpu_time_ns,
            }),
            evidence: finding.evidence.into_iter().map(Evidence::from).collect(),
            advice: finding.advice,
            commands: finding.commands.iter().map(findings::Command::line).collect(),
        }
    }
}

impl From<findings::Evidence> for Evidence {
    fn from(evidence: findings::Evidence) -> Self {
        Self {
            command: evidence.command,
            query: evidence.question.query,
            title: evidence.title,
            frame: evidence.frame,
            rows: evidence.rows,
        }
    }
}
