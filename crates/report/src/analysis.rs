//! The guided analysis of a trace, from questions to a document.

use anyhow::Result;

use super::document::{Document, Layout, Sources, document, ranks};
use super::timeline::{PictureOptions, Timeline, TimelineInputs, TimelineReader, picture};
use wavesieve_engine::findings::{
    Answers, BROKEN_SPAN, Collected, Judged, Judgement, QueryRequest, RuleBook, Spans, Verdict, verdict,
};
use wavesieve_engine::{NameForm, Registry};
use wavesieve_model::analysis::counter_plan::RocmVersion;
use wavesieve_source::scan::TreeScan;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::{effective, emptying, explained};

/// Content of an analysis, and its criteria.
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// The queries.
    pub registry: Registry,
    /// Thresholds and texts.
    pub rules: RuleBook,
    /// Sections and tables.
    pub layout: Layout,
    /// Form of kernel names to show and group by.
    pub name: NameForm,
    /// Rows of tables; 0 for all.
    pub rows: usize,
    /// Questions in addition to those of rules and sections.
    pub questions: Vec<QueryRequest>,
    /// The user's question, in words.
    pub prompt: Option<String>,
    /// Heading of the document, if not the usual one.
    pub title: Option<String>,
    /// Whether figures and findings cover the whole run even if a part of it repeats evenly.
    pub whole_run: bool,
    /// Whether the document has a time line: pages do.
    pub with_timeline: bool,
    /// Release of ROCm that commands from source code are for, if no trace names one.
    pub rocm: Option<RocmVersion>,
}

/// A trace with its results.
pub struct Analysis {
    /// The document.
    pub document: Document,
    /// The answers that the document is made of.
    pub answers: Answers,
    /// Records in the trace.
    pub collected: Collected,
    /// The main limit of the run; `None` if no GPU worked.
    pub verdict: Option<Verdict>,
    /// Messages about filters that match nothing.
    pub unmatched: Vec<String>,
    /// Whether nothing is left to analyze.
    pub is_empty: bool,
    /// The user's question, in words.
    pub prompt: Option<String>,
    /// Scan of the program's source code.
    pub source: Option<TreeScan>,
}

impl AnalysisOptions {
    /// Options with the built-in queries, rules and sections, and ten rows of each table.
    ///
    /// # Errors
    /// When something built in is wrong, which the tests exclude.
    pub fn builtin() -> Result<Self> {
        Ok(Self {
            registry: Registry::embedded(),
            rules: RuleBook::builtin()?,
            layout: Layout::builtin()?,
            name: NameForm::Readable,
            rows: 10,
            questions: Vec::new(),
            prompt: None,
            title: None,
            whole_run: false,
            with_timeline: false,
            rocm: None,
        })
    }
}

impl AnalysisOptions {
    /// Analyzes a trace: runs the queries of all rules and sections, and makes a document of findings and tables.
    /// Figures, findings, and charts and tables about repeating work cover the part of the run that repeats evenly, if there is one; other tables
    /// cover the whole run.
    ///
    /// # Errors
    /// When the tables cannot be read, or a rule or section does not fit the queries.
    pub fn analyze(&self, trace: &Trace) -> Result<Analysis> {
        let ranks = ranks(trace);
        // A chosen interval has no steady part of its own.
        let with_steady = !self.whole_run && !trace.choice().is_windowed();
        let others = self.layout.questions(ranks.len(), with_steady).into_iter().chain(self.questions.iter().cloned());
        let Self { registry, rules, name, whole_run, .. } = self;
        let judgement = Judgement { registry, rules, name: *name, whole_run: *whole_run };
        let reader = self.with_timeline.then(|| TimelineReader::new(trace));
        let consumer = reader.as_ref().map(TimelineReader::consumer);
        let consumers: Vec<_> = consumer.iter().collect();
        let Judged { answers, collected, views, findings } = judgement.of_with_consumers(trace, others, &consumers)?;
        drop(consumer);
        let headline = views.headline();
        let spans = Spans::new(&answers, headline, self.rules.get(BROKEN_SPAN));
        let (is_empty, unmatched) = unmatched(trace, &answers)?;
        let mut document = document(Sources {
            trace,
            registry: &self.registry,
            answers: &answers,
            findings,
            spans: &spans,
            views,
            layout: &self.layout,
            ranks: ranks.len(),
            inputs: &collected.inputs,
            unmatched: &unmatched,
            rows: self.rows,
        })?;
        if let Some(title) = &self.title {
            document.title.clone_from(title);
        }
        if let Some(reader) = reader {
            let Document { findings, names, .. } = &document;
            let options = PictureOptions { registry, findings, names, form: *name };
            let picture = picture(trace, reader, &options)?;
            document.timeline = Some(Timeline { picture, inputs: TimelineInputs::run(trace.inputs()) });
        }
        let verdict = verdict(&answers, &self.registry, &self.rules, &collected, headline);
        Ok(Analysis {
            document,
            answers,
            collected,
            verdict,
            unmatched,
            is_empty,
            prompt: self.prompt.clone(),
            source: None,
        })
    }
}

/// Whether filters leave nothing to analyze, and the messages about filters that match nothing.
fn unmatched(trace: &Trace, answers: &Answers) -> Result<(bool, Vec<String>)> {
    if effective(trace.choice()).is_empty() {
        return Ok((false, Vec::new()));
    }
    let emptying = emptying(trace, answers.recorded())?;
    let no_match = trace.members().is_empty() || !emptying.is_empty();
    let is_left = |table: &&str| answers.recorded().contains(*table);
    let is_empty = no_match && !["kernels", "memory_copies", "regions"].iter().any(is_left);
    Ok((is_empty, explained(trace, no_match, no_match)?))
}
