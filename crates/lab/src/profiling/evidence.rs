//! Results of queries about the recorded traces.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

use super::collecting::Recorded;
use wavesieve_engine::findings::{Answers, QueryRequest, Rows, Unanswered, run_questions};
use wavesieve_engine::{Answer, NameForm, Registry};
use wavesieve_export::cell::Cell;
use wavesieve_model::schema::facts::AgentFacts;
use wavesieve_report::analysis::{Analysis, AnalysisOptions};
use wavesieve_tables::trace::Trace;

const ROWS: usize = 50;
/// Parts of a critical path that are kept, the longest.
const MOST_PARTS: usize = 10_000;
/// Number of the panel with the evidence of bottlenecks.
const EVIDENCE_PANEL: usize = 250;
/// Lines of source and instructions that are kept.
const MOST_LINES: usize = 50;

/// A row of an answer, without what has no value.
pub type Row = Map<String, Value>;

/// Questions about the timeline.
pub(super) mod timeline {
    use super::{MOST_PARTS, QueryRequest};

    pub fn shapes() -> QueryRequest {
        QueryRequest::new("kernel_by_shape")
    }

    pub fn resources() -> QueryRequest {
        QueryRequest::new("kernel_resources")
    }

    pub fn constants() -> QueryRequest {
        QueryRequest::new("device_constants")
    }

    pub fn path() -> QueryRequest {
        QueryRequest::new("critical_path").by(&["process"]).with("top", MOST_PARTS)
    }

    pub(crate) fn path_summary() -> QueryRequest {
        QueryRequest::new("critical_path_summary").by(&["process", "rank"])
    }

    pub fn savings() -> QueryRequest {
        QueryRequest::new("what_if_free")
    }

    pub fn slack() -> QueryRequest {
        QueryRequest::new("kernel_slack").by(&["process"])
    }
}

/// Questions about counters and thread traces.
pub(super) mod deeper {
    use super::{EVIDENCE_PANEL, MOST_LINES, QueryRequest};

    pub fn roofline() -> QueryRequest {
        QueryRequest::new("roofline")
    }

    pub fn bottlenecks() -> QueryRequest {
        QueryRequest::new("bottlenecks").with("show", "all")
    }

    pub fn metrics() -> QueryRequest {
        QueryRequest::new("metrics").with("panel", EVIDENCE_PANEL).with("missing", "show")
    }

    pub fn occupancy() -> QueryRequest {
        QueryRequest::new("occupancy")
    }

    pub fn counters() -> QueryRequest {
        QueryRequest::new("counter_summary")
    }

    pub fn classes() -> QueryRequest {
        QueryRequest::new("att_by_class")
    }

    pub fn lines() -> QueryRequest {
        QueryRequest::new("att_by_line").with("top", MOST_LINES)
    }

    pub fn instructions() -> QueryRequest {
        QueryRequest::new("att_hotspots")
    }

    pub fn waits() -> QueryRequest {
        QueryRequest::new("att_waits").with("top", MOST_LINES)
    }
}

/// Results of queries about the recorded traces.
pub struct Evidence {
    /// About the timeline alone, in which nothing is counted.
    answers: Answers,
    /// About everything; its document becomes the page.
    pub analysis: Analysis,
    /// The first GPU.
    pub gpu: Option<AgentFacts>,
}

impl Evidence {
    /// Reads what was recorded.
    ///
    /// # Errors
    /// When the traces cannot be read.
    pub fn read(recorded: &Recorded, registry: &Registry) -> Result<Self> {
        let timeline = &recorded.timeline.traces;
        let trace = open(timeline)?;
        let questions: BTreeSet<QueryRequest> = [
            timeline::shapes(),
            timeline::resources(),
            timeline::constants(),
            timeline::path(),
            timeline::path_summary(),
            timeline::savings(),
            timeline::slack(),
        ]
        .into();
        let answers = run_questions(&trace, registry, &questions, NameForm::Full)?;
        let mut agents = trace.members().iter().flat_map(|member| &member.process.facts.agents);
        let gpu = agents.find(|agent| agent.is_gpu()).cloned();
        let questions = vec![
            deeper::roofline(),
            deeper::bottlenecks(),
            deeper::metrics(),
            deeper::occupancy(),
            deeper::counters(),
            deeper::classes(),
            deeper::lines(),
            deeper::instructions(),
            deeper::waits(),
        ];
        let options =
            AnalysisOptions { registry: registry.clone(), rows: ROWS, questions, ..AnalysisOptions::builtin()? };
        let passes = recorded.passes.iter().flat_map(|pass| &pass.traces);
        let thread_trace = recorded.thread_trace.iter().filter_map(|traced| traced.as_ref().ok());
        let thread_trace = thread_trace.flat_map(|traced| &traced.traces);
        let all: Vec<PathBuf> = timeline.iter().chain(passes).chain(thread_trace).cloned().collect();
        let analysis = options.analyze(&open(&all)?)?;
        Ok(Self { answers, analysis, gpu })
    }

    /// An answer, about the timeline if it was asked about that; `None` where it has no rows.
    pub fn answer(&self, question: &QueryRequest) -> Option<&Answer> {
        self.answers.get(question).or_else(|| self.analysis.answers.get(question))
    }

    pub fn rows(&self, question: &QueryRequest) -> Rows<'_> {
        Rows::over(self.answer(question))
    }

    /// Why a question has no answer.
    pub(crate) fn why_not(&self, question: &QueryRequest) -> String {
        let unanswered = self.answers.unanswered(question).or_else(|| self.analysis.answers.unanswered(question));
        match unanswered {
            Some(Unanswered::NothingOf(table)) if !table.is_empty() => format!("the traces have no {table}"),
            Some(Unanswered::Failed(reason)) => reason.clone(),
            _ => "the traces have nothing about it".to_owned(),
        }
    }

    /// Rows of an answer that a test accepts, without what has no value.
    pub fn records(&self, question: &QueryRequest, is_asked: impl Fn(&Rows<'_>, usize) -> bool) -> Vec<Row> {
        let Some(answer) = self.answer(question) else { return Vec::new() };
        let rows = Rows::over(Some(answer));
        let record = |row: usize| {
            let cells =
                answer.frame.columns().iter().map(|column| (column.name().to_string(), Cell::new(column, row).json()));
            cells.filter(|(_, value)| !value.is_null()).collect::<Row>()
        };
        rows.places().filter(|row| is_asked(&rows, *row)).map(record).collect()
    }

    pub(crate) fn records_of(&self, question: &QueryRequest, kernel: &str) -> Vec<Row> {
        self.records(question, |rows, row| rows.text(row, "kernel_name") == Some(kernel))
    }

    /// The first row of a kernel.
    pub fn row_of(&self, question: &QueryRequest, kernel: &str) -> Option<usize> {
        let rows = self.rows(question);
        rows.places().find(|row| rows.text(*row, "kernel_name") == Some(kernel))
    }
}

fn open(traces: &[PathBuf]) -> Result<Trace> {
    let inputs = traces.iter().map(|path| path.to_string_lossy().into_owned());
    wavesieve_input::open(inputs).context("cannot read what was recorded")
}
