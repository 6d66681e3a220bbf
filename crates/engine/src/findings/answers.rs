//! The answers to all questions of an analysis.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::query_request::QueryRequest;
use super::rule_context::Rows;
use crate::{Answer, NameForm, QueryError, QueryRun, Registry, applicable, recorded, run_queries_of_views, subject};
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::consumer::TableConsumer;

/// Reason why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The trace lacks the subject of the query: this table is empty.
    NothingOf(String),
    /// The query could not be run.
    Failed(String),
}

/// Answers by question.
#[derive(Default)]
pub struct Answers {
    given: BTreeMap<QueryRequest, Result<Answer, Unanswered>>,
    recorded: BTreeSet<&'static str>,
}

#[cfg(test)]
impl Answers {
    /// Answers made by hand.
    pub fn by_hand(given: BTreeMap<QueryRequest, Answer>, recorded: BTreeSet<&'static str>) -> Self {
        Self { given: given.into_iter().map(|(question, answer)| (question, Ok(answer))).collect(), recorded }
    }
}

impl Answers {
    /// Names of the source tables of the trace that have rows.
    pub fn recorded(&self) -> &BTreeSet<&'static str> {
        &self.recorded
    }

    /// The answer to a question, if it has rows.
    pub fn get(&self, question: &QueryRequest) -> Option<&Answer> {
        self.given.get(question)?.as_ref().ok().filter(|answer| answer.frame.height() > 0)
    }

    /// All answers.
    pub fn all(&self) -> impl Iterator<Item = &Answer> {
        self.given.values().filter_map(|answer| answer.as_ref().ok())
    }

    /// The rows of the answer to a question; none if it has no answer.
    pub(crate) fn rows(&self, question: QueryRequest) -> Rows<'_> {
        Rows { answer: self.get(&question), question: Some(question) }
    }

    /// The reason why a question was not answered.
    pub fn unanswered(&self, question: &QueryRequest) -> Option<&Unanswered> {
        self.given.get(question)?.as_ref().err()
    }

    /// The questions whose query could not be run, with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (&QueryRequest, &str)> {
        self.given.iter().filter_map(|(question, answer)| match answer {
            Err(Unanswered::Failed(reason)) => Some((question, reason.as_str())),
            _ => None,
        })
    }
}

/// Asks all questions of a trace, which is read once for all. Questions about empty tables are not asked.
///
/// # Errors
/// When a question names an unknown query, its options do not fit, or the tables cannot be read. A statement that cannot be run does not
/// affect the others.
pub fn run_questions(
    trace: &Trace,
    registry: &Registry,
    questions: &BTreeSet<QueryRequest>,
    name: NameForm,
) -> Result<Answers, QueryError> {
    run_questions_and(trace, registry, questions, name, &[])
}

/// Like [`run_questions`], with other consumers of tables of each process.
pub(super) fn run_questions_and(
    trace: &Trace,
    registry: &Registry,
    questions: &BTreeSet<QueryRequest>,
    name: NameForm,
    extra: &[&TableConsumer<'_>],
) -> Result<Answers, QueryError> {
    let recorded = recorded(trace)?;
    let applicable: BTreeSet<&str> = applicable(registry, &recorded).map(|query| query.name.as_str()).collect();
    let mut given = BTreeMap::new();
    let mut asked: Vec<(&QueryRequest, QueryRun<'_>)> = Vec::new();
    for question in questions {
        let query = registry.get(&question.query)?;
        if applicable.contains(query.name.as_str()) {
            asked.push((question, QueryRun { query, options: question.options(name), view: question.view }));
        } else {
            let subject = subject(query).unwrap_or_default().to_owned();
            given.insert(question.clone(), Err(Unanswered::NothingOf(subject)));
        }
    }
    let (questions, queries): (Vec<&QueryRequest>, Vec<QueryRun<'_>>) = asked.into_iter().unzip();
    let answers = run_queries_of_views(trace, &queries, extra, |_, answer| answer.with_texts())?;
    for (question, answer) in questions.into_iter().zip(answers) {
        let unanswered = |error: QueryError| match error {
            QueryError::NoSteadyPart => Unanswered::NothingOf("run_parts".to_owned()),
            error => Unanswered::Failed(error.to_string()),
        };
        given.insert(question.clone(), answer.map_err(unanswered));
    }
    Ok(Answers { given, recorded })
}
