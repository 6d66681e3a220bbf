//! The guided analysis: questions, their answers, and findings of rules.

use std::collections::BTreeSet;

use anyhow::Result;

use super::answers::{Answers, run_questions_and};
use super::collected::Collected;
use super::finding::Finding;
use super::judge::{judge, questions, questions_of_views};
use super::query_request::QueryRequest;
use super::rule_book::RuleBook;
use super::run_views::RunViews;
use crate::{NameForm, Registry};
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::consumer::TableConsumer;

/// Criteria for judging a trace.
pub struct Judgement<'a> {
    /// The queries.
    pub registry: &'a Registry,
    /// Thresholds and texts.
    pub rules: &'a RuleBook,
    /// Form of kernel names to show and group by.
    pub name: NameForm,
    /// Whether findings cover the whole run even if a part of it repeats evenly.
    pub whole_run: bool,
}

/// Findings in a trace.
pub struct Judged {
    /// The results of all questions.
    pub answers: Answers,
    /// Records in the trace.
    pub collected: Collected,
    /// All of the run, and its steady part.
    pub views: RunViews,
    /// Findings of the rules, the most important first.
    pub findings: Vec<Finding>,
}

impl Judgement<'_> {
    /// Asks the questions of all rules and `others`, with the trace read once, and applies the rules to the answers.
    ///
    /// # Errors
    /// When the tables cannot be read, or a rule does not fit the queries.
    pub fn of(&self, trace: &Trace, others: impl IntoIterator<Item = QueryRequest>) -> Result<Judged> {
        self.of_with_consumers(trace, others, &[])
    }

    /// Like [`Judgement::of`], with other consumers of the tables of each process while they are read. An external runner of statements
    /// has none for them.
    ///
    /// # Errors
    /// As for [`Judgement::of`], and when a consumer fails.
    pub fn of_with_consumers(
        &self,
        trace: &Trace,
        others: impl IntoIterator<Item = QueryRequest>,
        extra: &[&TableConsumer<'_>],
    ) -> Result<Judged> {
        let mut asked: BTreeSet<QueryRequest> = questions();
        asked.extend(others);
        let is_windowed = trace.choice().is_windowed();
        // A user-chosen interval is judged as a whole.
        if !self.whole_run && !is_windowed {
            asked.extend(questions_of_views());
        }
        let answers = run_questions_and(trace, self.registry, &asked, self.name, extra)?;
        let collected = Collected::new(trace, &answers, self.name);
        let views = RunViews::new(&answers, self.rules);
        let views = if is_windowed { views.of_window() } else { views };
        let findings = judge(&answers, self.registry, self.rules, &collected, &views)?;
        Ok(Judged { answers, collected, views, findings })
    }
}
