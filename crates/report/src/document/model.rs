//! The parts of a document. Renderers display it and compute nothing.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use polars::prelude::DataFrame;
use serde::Serialize;

use crate::charts::Chart;
use crate::timeline::Timeline;
use wavesieve_engine::findings::{Finding, Priority, QueryRequest, RunViews, bytes, duration};
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// Id of the section that a language model wrote.
pub const MODEL_SECTION: &str = "model_answer";

/// Ids of sections that are texts for people: the answer of a model, the rows without a model, the steps, and queries
/// that may answer instead.
pub(crate) const SECTIONS_IN_WORDS: [&str; 4] = [MODEL_SECTION, ROWS_SECTION, STEPS_SECTION, QUERIES_SECTION];
/// Id of the section with the rows of the query that fits a question best.
pub const ROWS_SECTION: &str = "rows";
/// Id of the section with the calls that a model made.
pub const STEPS_SECTION: &str = "steps";
/// Id of the section with queries that fit a question.
pub const QUERIES_SECTION: &str = "queries";

/// A whole document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its subject, in a line.
    pub title: String,
    /// One or two sentences that sum it up; of an analysis the verdict.
    pub summary: String,
    /// The notes in short, before the first finding: at most two lines.
    pub head: Vec<Note>,
    /// Notes about all numbers: effective filters, anomalies of the inputs. They come at the end if there are findings, otherwise at the start.
    pub notes: Vec<Note>,
    /// How the GPUs spent the run; the view of figures and findings comes first.
    pub views: RunViews,
    /// Whether rules looked for findings.
    pub is_judged: bool,
    /// Depth of the analysis: 0 source code, 1 traces, 2 counters, 3 thread traces.
    pub tier: u8,
    /// The numbers to read first.
    pub figures: Vec<Figure>,
    /// Findings, the most important first.
    pub findings: Vec<Finding>,
    /// The parts in order.
    pub sections: Vec<Section>,
    /// Its provenance.
    pub provenance: Provenance,
    /// Readable names of its kernels, for screens; none if they have another form.
    pub names: ReadableNames,
    /// The time line of the run, for pages.
    pub timeline: Option<Timeline>,
}

impl Document {
    /// Its depth, in words.
    pub fn depth(&self) -> String {
        let has = |id: &str| self.sections.iter().any(|section| section.id == id);
        let is_of_source = self.sections.iter().any(|section| section.id.starts_with("source_"));
        let parts: Vec<&str> = [
            (self.provenance.inputs.iter().any(|input| !input.is_thread_trace), "traces"),
            (has("counters"), "counters"),
            (has("thread_trace"), "instructions"),
            (is_of_source, "source code"),
        ]
        .into_iter()
        .filter_map(|(is_there, part)| is_there.then_some(part))
        .collect();
        match parts.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
            Some((only, _)) => (*only).to_owned(),
            None => String::new(),
        }
    }

    /// The sections before the findings, and those after them: the answer to a user's question comes first.
    pub(crate) fn around_findings(&self) -> (&[Section], &[Section]) {
        let is_first = self.sections.first().is_some_and(|section| section.id == MODEL_SECTION);
        self.sections.split_at(usize::from(is_first))
    }

    /// The lines between the summary and the first finding, at most three: the part of the run that findings are about, and what makes its
    /// numbers wrong. Without findings, all views and notes.
    pub(crate) fn opening(&self) -> (Vec<String>, &[Note]) {
        if self.findings.is_empty() {
            return (self.view_lines().collect(), &self.notes);
        }
        (self.views.short().map(|line| format!("{line}.")).into_iter().collect(), &self.head)
    }

    /// The views and notes that [`Self::opening`] shortens.
    pub(crate) fn details(&self) -> (Vec<String>, &[Note]) {
        if self.findings.is_empty() { (Vec::new(), &[]) } else { (self.view_lines().collect(), &self.notes) }
    }

    fn view_lines(&self) -> impl Iterator<Item = String> {
        self.views.lines().into_iter().map(|(_, label, line)| format!("{label}: {line}."))
    }

    /// `2 high, 1 medium`: how many findings there are of each priority that has any.
    pub(crate) fn counted_findings(&self) -> String {
        let count = |priority| self.findings.iter().filter(|finding| finding.priority == priority).count();
        let counts = Priority::ALL.map(|priority| (count(priority), priority.word())).into_iter();
        counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).join(", ")
    }

    /// The names of its chart files, without extensions.
    pub fn chart_names(&self) -> Vec<String> {
        let of_section = |section: &Section| {
            let names = section.blocks.iter().filter_map(|block| match block {
                Block::Chart(drawn) => Some(super::layout::chart_name(&section.id, &drawn.id)),
                _ => None,
            });
            names.collect::<Vec<String>>()
        };
        self.sections.iter().flat_map(of_section).collect()
    }

    /// Removes the charts, for formats that have no place for them. Sections with nothing else are removed too.
    pub fn drop_charts(&mut self) {
        for section in &mut self.sections {
            section.blocks.retain(|block| !matches!(block, Block::Chart(_)));
        }
        let (kept, empty): (Vec<Section>, Vec<Section>) =
            self.sections.drain(..).partition(|section| !section.blocks.is_empty());
        self.sections = kept;
        let left_out = empty.into_iter().map(|section| (section.title, "only charts to show".to_owned()));
        self.provenance.left_out.extend(left_out);
    }
}

/// A part of a document.
#[derive(Clone, Debug)]
pub struct Section {
    /// Stable id, such as `hotspots`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// One or two sentences on how to read it.
    pub about: String,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

impl Section {
    pub fn new(id: &str, title: &str, about: &str, blocks: impl IntoIterator<Item = Block>) -> Self {
        let blocks = blocks.into_iter().collect();
        Self { id: id.to_owned(), title: title.to_owned(), about: about.to_owned(), blocks }
    }

    /// Its tables.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(&**table),
            _ => None,
        })
    }

    /// Its notes.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Note(note) => Some(note),
            _ => None,
        })
    }
}

/// A part of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A chart of an answer.
    Chart(Box<Drawn>),
    /// Rows of an answer.
    Table(Box<Table>),
    /// A note.
    Note(Note),
}

/// A number to read first.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Stable id, such as `busy_pct`.
    pub id: String,
    pub label: String,
    /// One line that explains it.
    pub doc: String,
    pub value: Cell,
    /// Unit of the value.
    pub unit: ColumnUnit,
    /// Whether the value is good.
    pub status: Status,
}

impl Figure {
    /// A figure without a rating.
    pub fn new(id: &str, label: &str, doc: &str, value: Cell, unit: ColumnUnit) -> Self {
        Self { id: id.to_owned(), label: label.to_owned(), doc: doc.to_owned(), value, unit, status: Status::Neutral }
    }

    /// A number of things.
    pub fn count(id: &str, label: &str, doc: &str, count: usize) -> Self {
        Self::new(id, label, doc, Cell::Integer(count as i64), ColumnUnit::Count)
    }

    /// The value in a suitable unit.
    pub fn shown(&self) -> String {
        let number = match &self.value {
            Cell::Integer(value) => *value as f64,
            Cell::Float(value) => *value,
            other => return other.plain(),
        };
        match self.unit {
            ColumnUnit::Nanoseconds => duration(number),
            ColumnUnit::Bytes => bytes(number),
            ColumnUnit::Percent => format!("{number:.1}%"),
            _ => self.value.plain(),
        }
    }
}

/// Whether a figure is good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It cannot be good or bad.
    #[default]
    Neutral,
    /// As it should be.
    Good,
    /// Worth a look.
    Warning,
    /// Costs much.
    Critical,
}

impl From<Priority> for Status {
    fn from(priority: Priority) -> Self {
        match priority {
            Priority::High => Self::Critical,
            Priority::Medium => Self::Warning,
            Priority::Low | Priority::Info => Self::Neutral,
        }
    }
}

/// Rows of an answer.
#[derive(Clone, Debug)]
pub struct Table {
    /// Stable id, unique in the document: the name of the query, with a number if the query is shown again.
    pub id: String,
    /// Heading.
    pub title: String,
    /// One or two sentences.
    pub about: String,
    /// The query; `None` if the table is not an answer to a query.
    pub question: Option<QueryRequest>,
    /// The command line that prints the whole answer, if it is one.
    pub command: Option<String>,
    /// Its columns, in order.
    pub columns: Vec<OutputColumn>,
    /// The rows that are shown.
    pub frame: DataFrame,
    /// Number of rows of the answer.
    pub total_rows: usize,
    /// Columns that identify its rows, even across runs.
    pub key: Vec<String>,
}

impl Table {
    /// A table that is not an answer to a query. It shows its first rows, 0 for all.
    pub fn new(
        (id, title, about): (&str, &str, &str),
        columns: Vec<OutputColumn>,
        frame: DataFrame,
        rows: usize,
        key: &[&str],
    ) -> Self {
        Self {
            id: id.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            question: None,
            command: None,
            columns,
            total_rows: frame.height(),
            frame: if rows > 0 { frame.head(Some(rows)) } else { frame },
            key: key.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    /// The key of each row, such as `rank=0/kernel_name=gemm`. Rows that differ only in their position get a number, as
    /// in `rank=0#2`.
    pub(crate) fn row_keys(&self) -> Vec<String> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let keys = (0..self.frame.height()).map(|row| {
            let key = self.row_key(row);
            let times = seen.entry(key.clone()).or_default();
            *times += 1;
            if *times == 1 { key } else { format!("{key}#{times}") }
        });
        keys.collect()
    }

    fn row_key(&self, row: usize) -> String {
        let part = |name: &String| {
            let value = Cell::new(self.frame.column(name).ok()?, row).plain();
            let value = value.replace('\\', "\\\\").replace('/', "\\/").replace('#', "\\#");
            Some(format!("{name}={value}"))
        };
        self.key.iter().filter_map(part).collect::<Vec<String>>().join("/")
    }
}

/// A chart with its origin.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Stable id, unique among the charts: the name of the query, with a number if another chart uses it too.
    pub id: String,
    /// The query of the chart; `None` if it is not drawn from an answer.
    pub question: Option<QueryRequest>,
    /// The command line that prints this answer.
    pub command: Option<String>,
    pub chart: Chart,
}

/// A note for readers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Whether it is a warning.
    pub is_warning: bool,
    pub text: String,
}

impl Note {
    /// The command, if the note is nothing else: one line of code, to be copied.
    pub fn command(&self) -> Option<&str> {
        let inner = self.text.strip_prefix('`')?.strip_suffix('`')?;
        Some(inner).filter(|inner| !self.is_warning && !inner.contains('`'))
    }
}

/// Provenance of a document.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Provenance {
    /// Version of the program.
    pub version: String,
    /// The inputs that were read.
    pub inputs: Vec<Input>,
    /// Processes of all inputs.
    pub processes: usize,
    /// Ranks in rising order.
    pub ranks: Vec<i64>,
    /// Options of the effective filters, with their values.
    pub filters: Vec<(String, String)>,
    /// Data that could not be read.
    pub damage: Vec<String>,
    /// Omitted sections, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Questions that could not be answered, with the reason.
    pub failures: Vec<(String, String)>,
}

/// A process that was read.
#[derive(Clone, Debug, Serialize)]
pub struct Input {
    /// The file, as it was named or found.
    pub path: String,
    pub format: String,
    pub schema_version: Option<String>,
    /// Rank of the process.
    pub rank: i64,
    /// Machine of the process.
    pub hostname: Option<String>,
    /// Names of its GPUs.
    pub gpus: Vec<String>,
    /// Whether it is a thread trace, which covers a dispatch and not a run.
    #[serde(skip)]
    pub is_thread_trace: bool,
}

impl Input {
    /// Its format, and its machine and GPUs if known.
    pub fn described(&self) -> String {
        let known = |word: &Option<String>| word.clone().unwrap_or_default();
        let format = format!("{} {}", self.format, known(&self.schema_version)).trim_end().to_owned();
        let with_host = match known(&self.hostname) {
            host if host.is_empty() => format,
            host => format!("{format}, {host}"),
        };
        if self.gpus.is_empty() { with_host } else { format!("{with_host}; {}", self.gpus.join(" ")) }
    }
}
