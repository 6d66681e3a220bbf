//! Input and output of a rule.

use std::collections::BTreeMap;

use minijinja::value::Value;
use polars::prelude::{AnyValue, DataFrame, IdxCa, IdxSize};

use super::answers::Answers;
use super::collected::Collected;
use super::finding::{Evidence, Saving, WallTime};
use super::priority::Priority;
use super::query_request::QueryRequest;
use super::rule_book::RuleText;
use super::run_views::Iterations;
use super::spans::{GpuKey, Spans};
use crate::{Answer, Registry};
use wavesieve_tables::trace::views::View;

/// Id of the threshold of savings in the rule book.
pub(super) const SAVING: &str = "saving";

/// Rows of evidence that are shown.
const MAX_EVIDENCE: usize = 5;

/// Input of a rule: the answers, and its own thresholds.
pub struct RuleContext<'a> {
    /// The answers to the questions that all rules ask.
    pub answers: &'a Answers,
    /// Titles of queries.
    pub registry: &'a Registry,
    pub id: &'static str,
    /// Thresholds of the rule.
    pub rule: &'a RuleText,
    /// Spans of all GPUs, without intervals that are not part of the run.
    pub spans: &'a Spans,
    /// Records in the trace.
    pub collected: &'a Collected,
    /// The part of the run that the rule judges.
    pub view: View,
    /// The part of the run that the figures are about.
    pub headline: View,
    /// The iterations of each rank that it consists of, where all have as many.
    pub iterations: Option<Iterations>,
    /// Wall-clock time in nanoseconds from which a saving counts.
    pub min_saving_ns: f64,
}

/// Observation of a rule; texts and confidence come from its rule book.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// How much it matters; `None` if there is nothing to report.
    pub priority: Option<Priority>,
    /// Its subject: a kernel, range, rank or something else.
    pub subject: Option<String>,
    /// The kernel that commands are about, by its name in the answers.
    pub kernel: Option<String>,
    /// Recommendations of the rule that do not fit this case.
    pub left_out: Vec<&'static str>,
    /// Templates of advice for this case, before that of the rule.
    pub advice: Vec<&'static str>,
    /// Confidence where it is not that of the rule.
    pub confidence: Option<f64>,
    pub values: BTreeMap<String, Value>,
    /// Potential saving, as GPU time in nanoseconds.
    pub saving_ns: Option<i64>,
    /// The GPU that could save most and its part, where single ones lose time.
    pub worst: Option<(GpuKey, i64)>,
    /// The rows that show it.
    pub evidence: Vec<Evidence>,
}

impl Observation {
    pub fn new(priority: impl Into<Option<Priority>>) -> Self {
        Self { priority: priority.into(), ..Self::default() }
    }

    #[must_use]
    pub fn value(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.to_owned(), value.into());
        self
    }

    /// With integers of a row, by the names of their columns.
    #[must_use]
    pub(crate) fn integers(self, rows: &Rows<'_>, row: usize, columns: &[&str]) -> Self {
        columns.iter().fold(self, |observation, column| observation.value(column, rows.integer(row, column)))
    }

    /// With numbers of a row, by the names of their columns.
    #[must_use]
    pub(crate) fn numbers(self, rows: &Rows<'_>, row: usize, columns: &[&str]) -> Self {
        columns.iter().fold(self, |observation, column| observation.value(column, rows.number(row, column)))
    }

    /// About one of several subjects.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// About a kernel among several.
    #[must_use]
    pub(crate) fn about_kernel(mut self, name: &str) -> Self {
        self.kernel = Some(name.to_owned());
        self.about(name)
    }

    /// Without a recommendation of the rule.
    #[must_use]
    pub fn without(mut self, recommendation: &'static str) -> Self {
        self.left_out.push(recommendation);
        self
    }

    /// With a confidence of its own.
    #[must_use]
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = Some(confidence);
        self
    }

    /// With the maximum saving, as GPU time in nanoseconds.
    #[must_use]
    pub fn saving(mut self, gpu_time_ns: i64) -> Self {
        self.saving_ns = Some(gpu_time_ns);
        self
    }

    /// With the GPU whose part of the saving is the wall clock: others may wait for it.
    #[must_use]
    pub fn of_worst(mut self, gpu: GpuKey, gpu_time_ns: i64) -> Self {
        self.worst = Some((gpu, gpu_time_ns));
        self
    }

    /// With rows that show it.
    #[must_use]
    pub fn evidence(mut self, evidence: Option<Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }
}

impl<'a> RuleContext<'a> {
    /// The rows of an answer; none if it was not requested or is empty.
    pub fn rows(&self, question: QueryRequest) -> Rows<'a> {
        self.answers.rows(question.of_view(self.view))
    }

    /// A threshold of the rule; NaN if the rule book lacks it, so that no value exceeds it.
    pub fn threshold(&self, name: &str) -> f64 {
        self.rule.thresholds.get(name).copied().unwrap_or(f64::NAN)
    }

    /// The priority of a value: the first threshold of `high_UNIT`, `medium_UNIT`, `low_UNIT` and `info_UNIT` that it exceeds, of those
    /// that the rule has.
    pub fn priority(&self, value: f64, unit: &str) -> Option<Priority> {
        let levels =
            [(Priority::High, "high"), (Priority::Medium, "medium"), (Priority::Low, "low"), (Priority::Info, "info")];
        levels.into_iter().find_map(|(priority, word)| {
            let least = self.rule.thresholds.get(&format!("{word}_{unit}"))?;
            (value > *least).then_some(priority)
        })
    }

    /// An observation of a cost, in percent, with the priority of that share.
    pub fn observe(&self, pct: f64) -> Observation {
        Observation::new(self.priority(pct, "pct")).value("pct", pct)
    }

    /// A share of a whole, in percent; 0 if the whole is 0.
    pub fn pct(part: i64, whole: i64) -> f64 {
        if whole <= 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
    }

    /// A share of the spans of all GPUs, in percent.
    pub(crate) fn pct_of_spans(&self, gpu_time_ns: i64) -> f64 {
        Self::pct(gpu_time_ns, self.spans.total_ns())
    }

    /// Wall-clock time of a GPU for GPU time of all of them: the mean.
    pub(crate) fn wall(&self, gpu_time_ns: i64) -> WallTime {
        let gpus = self.spans.gpus().max(1) as i64;
        self.wall_of(gpu_time_ns / gpus, self.spans.total_ns() / gpus)
    }

    /// Wall-clock time of a GPU in a unit, of its time in the view and its span.
    fn wall_of(&self, view_ns: i64, span_ns: i64) -> WallTime {
        let (count, unit_ns) =
            self.iterations.map_or((1, span_ns), |iterations| (iterations.count, iterations.mean_ns));
        let unit_ns = unit_ns.max(0);
        WallTime {
            wall_ns: (view_ns / count.max(1)).clamp(0, unit_ns),
            unit_ns,
            iterations: self.iterations.map(|iterations| iterations.count),
            name: self.iterations.map_or("iteration", |iterations| iterations.unit),
            gpus: self.spans.gpus(),
        }
    }

    /// The saving of an observation; never more than the spans. `None` if nobody would notice it.
    pub fn saving(&self, observation: &Observation) -> Option<Saving> {
        let gpu_time_ns = observation.saving_ns?.clamp(0, self.spans.total_ns().max(0));
        let (wall, pct_of_span) = match observation.worst {
            Some((gpu, worst_ns)) => {
                let span_ns = self.spans.span_ns(gpu);
                (self.wall_of(worst_ns, span_ns), Self::pct(worst_ns.clamp(0, span_ns.max(0)), span_ns))
            }
            None => (self.wall(gpu_time_ns), self.pct_of_spans(gpu_time_ns)),
        };
        let is_noticed = wall.wall_ns > 0 && wall.whole_ns() as f64 >= self.min_saving_ns;
        is_noticed.then_some(Saving { wall, pct_of_span, gpu_time_ns, view: self.view })
    }

    /// Rows of an answer as evidence: the first of the given ones, with these columns.
    pub fn evidence(&self, rows: &Rows<'_>, chosen: &[usize], columns: &[&str]) -> Option<Evidence> {
        columns.iter().for_each(|column| rows.check(column));
        let (question, answer) = (rows.question.clone()?, rows.answer?);
        let title = self.registry.get(&question.query).ok()?.declaration.title.clone();
        let places = chosen.iter().take(MAX_EVIDENCE).filter_map(|row| IdxSize::try_from(*row).ok());
        let places = IdxCa::from_vec("rows".into(), places.collect());
        let names: Vec<&str> = columns.iter().copied().filter(|name| answer.frame.column(name).is_ok()).collect();
        let frame = answer.frame.select(names.iter().copied()).ok()?.take(&places).ok()?;
        let declared = |name: &&str| answer.columns.iter().find(|column| column.name == **name).cloned();
        let columns = names.iter().filter_map(declared).collect();
        let command = self.collected.inputs.command_line(&question);
        Some(Evidence { question, command, title, columns, frame, rows: chosen.len() })
    }
}

/// Rows of an answer by place and column.
#[derive(Clone)]
pub struct Rows<'a> {
    pub(super) answer: Option<&'a Answer>,
    /// The question that it answers, if it is a question of rules.
    pub(super) question: Option<QueryRequest>,
}

impl<'a> Rows<'a> {
    /// Rows of an answer, or of none.
    pub fn over(answer: Option<&'a Answer>) -> Self {
        Self { answer, question: None }
    }

    pub fn places(&self) -> std::ops::Range<usize> {
        0..self.answer.map_or(0, |answer| answer.frame.height())
    }

    /// In tests, a rule that reads a column that its query does not have fails.
    #[cfg(test)]
    fn check(&self, column: &str) {
        self.question.iter().for_each(|question| super::tests::check_column(question, column));
    }

    #[cfg(not(test))]
    fn check(&self, _column: &str) {}

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    fn value(&self, row: usize, column: &str) -> Option<AnyValue<'a>> {
        self.check(column);
        let frame: &'a DataFrame = &self.answer?.frame;
        frame.column(column).ok()?.get(row).ok()
    }

    /// A number rounded to an integer.
    pub fn integer(&self, row: usize, column: &str) -> Option<i64> {
        match self.value(row, column)? {
            AnyValue::Int64(value) => Some(value),
            AnyValue::Float64(value) if value.is_finite() => Some(value.round() as i64),
            _ => None,
        }
    }

    /// A finite number.
    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        let value = match self.value(row, column)? {
            AnyValue::Int64(value) => value as f64,
            AnyValue::Float64(value) => value,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    pub fn text(&self, row: usize, column: &str) -> Option<&'a str> {
        self.check(column);
        let frame: &'a DataFrame = &self.answer?.frame;
        frame.column(column).ok()?.str().ok()?.get(row)
    }

    /// The sum of integers over rows; missing values count as 0.
    pub fn sum(&self, rows: impl IntoIterator<Item = usize>, column: &str) -> i64 {
        rows.into_iter().filter_map(|row| self.integer(row, column)).fold(0, i64::saturating_add)
    }

    /// The places of the rows that a test accepts.
    pub fn matching(&self, test: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        self.places().filter(|row| test(self, *row)).collect()
    }

    /// The places with the largest numbers of a column first, ties in their order.
    pub fn sorted_down(&self, mut rows: Vec<usize>, column: &str) -> Vec<usize> {
        let number = |row: usize| self.number(row, column).unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|one, other| number(*other).total_cmp(&number(*one)).then(one.cmp(other)));
        rows
    }
}
