//! Results of queries about the recorded traces.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

use super::collecting::Recorded;
use crate::measuring::open_traces;
use wavesieve_engine::findings::{Answers, QueryRequest, Rows, Unanswered, run_questions};
use wavesieve_engine::{Answer, NameForm, Registry};
use wavesieve_export::cell::Cell;
use wavesieve_model::schema::facts::AgentFacts;
use wavesieve_report::analysis::{Analysis, AnalysisOptions};
use wavesieve_tables::trace::Trace;

const ROWS: usize = 50;
/// Maximum number of parts of a critical path, the longest ones.
const MOST_PARTS: usize = 10_000;
/// Number of the metrics panel with the evidence of bottlenecks.
const EVIDENCE_PANEL: usize = 250;
/// Maximum number of source lines and instructions.
const MOST_LINES: usize = 50;

/// A row of an answer, without empty values.
pub type AnswerRow = Map<String, Value>;

macro_rules! questions {
    ($($(#[$about:meta])* $group:ident { $($name:ident: $query:literal $(.$with:ident($($argument:expr),*))*,)* })*) => {
        $($(#[$about])*
        pub(super) mod $group {
            use super::*;

            $(pub(crate) fn $name() -> QueryRequest {
                QueryRequest::new($query)$(.$with($($argument),*))*
            })*

            pub(super) fn all() -> Vec<QueryRequest> {
                vec![$($name()),*]
            }
        })*
    };
}

questions! {
    /// Queries about the timeline.
    timeline {
        shapes: "kernel_by_shape",
        resources: "kernel_resources",
        constants: "device_constants",
        path: "critical_path".by(&["process"]).with("top", MOST_PARTS),
        path_summary: "critical_path_summary".by(&["process", "rank"]),
        savings: "what_if_free",
        slack: "kernel_slack".by(&["process"]),
    }
    /// Queries about counters and thread traces.
    deeper {
        roofline: "roofline",
        bottlenecks: "bottlenecks".with("show", "all"),
        metrics: "metrics".with("panel", EVIDENCE_PANEL).with("missing", "show"),
        occupancy: "occupancy",
        counters: "counter_summary",
        classes: "att_by_class",
        lines: "att_by_line".with("top", MOST_LINES),
        instructions: "att_hotspots",
        waits: "att_waits".with("top", MOST_LINES),
    }
}

/// Results of queries about the recorded traces.
pub struct Evidence {
    /// Answers about the timeline alone, without counters.
    answers: Answers,
    /// The analysis of everything; its document becomes the page.
    pub analysis: Analysis,
    /// The first GPU.
    pub gpu: Option<AgentFacts>,
}

impl Evidence {
    /// Reads the recorded traces.
    ///
    /// # Errors
    /// When the traces cannot be read.
    pub fn read(recorded: &Recorded, registry: &Registry) -> Result<Self> {
        let timeline = &recorded.timeline.traces;
        let trace = open(timeline)?;
        let questions = timeline::all().into_iter().collect();
        let answers = run_questions(&trace, registry, &questions, NameForm::Full)?;
        let mut agents = trace.members().iter().flat_map(|member| &member.process.facts.agents);
        let gpu = agents.find(|agent| agent.is_gpu()).cloned();
        let questions = deeper::all();
        let options =
            AnalysisOptions { registry: registry.clone(), rows: ROWS, questions, ..AnalysisOptions::builtin()? };
        let passes = recorded.passes.iter().flat_map(|pass| &pass.traces);
        let thread_trace = recorded.thread_trace.iter().filter_map(|traced| traced.as_ref().ok());
        let thread_trace = thread_trace.flat_map(|traced| &traced.traces);
        let all: Vec<PathBuf> = timeline.iter().chain(passes).chain(thread_trace).cloned().collect();
        let analysis = options.analyze(&open(&all)?)?;
        Ok(Self { answers, analysis, gpu })
    }

    /// The answer of a query, about the timeline if it is a query about that; `None` if it has no rows.
    pub fn answer(&self, question: &QueryRequest) -> Option<&Answer> {
        self.answers.get(question).or_else(|| self.analysis.answers.get(question))
    }

    pub fn rows(&self, question: &QueryRequest) -> Rows<'_> {
        Rows::over(self.answer(question))
    }

    /// The reason why a query has no answer.
    pub(crate) fn why_not(&self, question: &QueryRequest) -> String {
        let unanswered = self.answers.unanswered(question).or_else(|| self.analysis.answers.unanswered(question));
        match unanswered {
            Some(Unanswered::NothingOf(table)) if !table.is_empty() => format!("the traces have no {table}"),
            Some(Unanswered::Failed(reason)) => reason.clone(),
            _ => "the traces have nothing about it".to_owned(),
        }
    }

    /// Rows of an answer that the predicate accepts, without empty values.
    pub fn records(&self, question: &QueryRequest, is_asked: impl Fn(&Rows<'_>, usize) -> bool) -> Vec<AnswerRow> {
        let Some(answer) = self.answer(question) else { return Vec::new() };
        let rows = Rows::over(Some(answer));
        let record = |row: usize| {
            let cells =
                answer.frame.columns().iter().map(|column| (column.name().to_string(), Cell::new(column, row).json()));
            cells.filter(|(_, value)| !value.is_null()).collect::<AnswerRow>()
        };
        rows.places().filter(|row| is_asked(&rows, *row)).map(record).collect()
    }

    pub(crate) fn records_of(&self, question: &QueryRequest, kernel: &str) -> Vec<AnswerRow> {
        self.records(question, |rows, row| rows.text(row, "kernel_name") == Some(kernel))
    }

    /// The first row of a kernel.
    pub fn row_of(&self, question: &QueryRequest, kernel: &str) -> Option<usize> {
        let rows = self.rows(question);
        rows.places().find(|row| rows.text(*row, "kernel_name") == Some(kernel))
    }
}

fn open(traces: &[PathBuf]) -> Result<Trace> {
    open_traces(traces).context("cannot read what was recorded")
}
