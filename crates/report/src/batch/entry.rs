//! Facts about a run in the index.

use serde::{Serialize, Serializer};

use crate::analysis::Analysis;
use crate::document::Sentences;
use wavesieve_engine::findings::{Priority, QueryRequest, Rows, time_question};
use wavesieve_export::cell::Cell;

/// A run in the index.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEntry {
    /// Name of the run.
    pub name: String,
    /// Paths of its traces.
    pub places: Vec<String>,
    /// Its outcome.
    pub outcome: Outcome,
    /// Comparison with the baseline.
    pub comparison: Option<RunComparison>,
}

/// Comparison of a run with the baseline. Verdicts are `slower`, `faster`, `same` or `unclear`, and `None` without a
/// test.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunComparison {
    /// The page of the comparison, relative to the index.
    pub file: String,
    /// Verdict on the span; also `not_comparable`.
    pub verdict: String,
    /// The verdict in one sentence.
    pub reason: String,
    /// Verdict on the kernels, if all changed ones changed in one direction.
    #[serde(skip)]
    pub kernels: Option<String>,
    /// Verdict on the idle time.
    #[serde(skip)]
    pub idle: Option<String>,
    /// Verdict on the exposed communication.
    #[serde(skip)]
    pub exposed_comm: Option<String>,
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has a document.
    Done {
        /// The document, relative to the index.
        file: String,
        /// Figures to compare.
        figures: Box<RunFigures>,
    },
    /// It has no document.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// Figures that are compared between runs; `None` for those that were not recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunFigures {
    /// Ranks with a trace.
    pub ranks: Option<i64>,
    /// GPUs that worked, over all processes.
    pub gpus: Option<i64>,
    /// Longest span of the GPU activity of a process.
    pub span_ns: Option<i64>,
    /// Sum of the durations of all kernels.
    pub kernel_time_ns: Option<i64>,
    /// Share of the spans in which a GPU was busy.
    pub busy_pct: Option<f64>,
    /// Share of the spans in which GPUs computed.
    pub compute_pct: Option<f64>,
    /// Share of the spans in which GPUs communicated and computed nothing.
    pub exposed_comm_pct: Option<f64>,
    /// Share of the spans in which only copies ran.
    pub exposed_copy_pct: Option<f64>,
    /// Share of the spans in which nothing ran.
    pub idle_pct: Option<f64>,
    /// The kernel with the most time.
    pub top_kernel: Option<TopKernel>,
    /// Number of findings of each priority, in the order of [`Priority::ALL`].
    #[serde(serialize_with = "by_priority")]
    pub findings: [usize; 4],
    /// The most important finding.
    pub top_finding: Option<TopFinding>,
    /// Anomalies of the recording.
    pub health: Health,
}

fn by_priority<S: Serializer>(counts: &[usize; 4], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(Priority::ALL.iter().map(|priority| priority.word()).zip(counts))
}

/// The kernel with the most time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopKernel {
    pub name: String,
    /// Whether screens show its readable name.
    #[serde(skip)]
    pub is_readable: bool,
    /// Sum of the durations of its dispatches.
    pub total_ns: Option<i64>,
    /// Its share of all kernel time.
    pub pct: Option<f64>,
}

/// The most important finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopFinding {
    /// Its id, as in the document.
    pub id: String,
    /// How much it matters.
    pub priority: Priority,
    pub title: String,
    /// The title with readable names of kernels.
    #[serde(skip)]
    pub shown: String,
}

/// Anomalies of a recording, and data that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Kinds of anomalies that make numbers wrong.
    pub errors: usize,
    /// Kinds of anomalies that may make numbers wrong.
    pub warnings: usize,
    /// Parts of the inputs that could not be read.
    pub damage: usize,
}

/// A figure that is compared to the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Its id.
    pub figure: &'static str,
    /// Its value: nanoseconds, or percent of a share.
    pub value: Option<f64>,
    pub is_share: bool,
}

/// Queries that the index needs, whatever the document shows.
pub fn index_questions() -> Vec<QueryRequest> {
    vec![time_question(), kernels(), health()]
}

fn kernels() -> QueryRequest {
    QueryRequest::new("kernel_summary")
}

fn health() -> QueryRequest {
    QueryRequest::new("trace_health")
}

impl RunFigures {
    /// The figures of an analysis that answered [`index_questions`].
    pub fn new(analysis: &Analysis) -> Self {
        let document = &analysis.document;
        let value = |id: &str| document.figures.iter().find(|figure| figure.id == id).map(|figure| &figure.value);
        let integer = |id: &str| match value(id) {
            Some(Cell::Integer(value)) => Some(*value),
            _ => None,
        };
        // Runs are compared as a whole, because the steady parts of two runs may have different lengths.
        let whole = document.views.all().last();
        let share = |id: &str| {
            let (_, pct) = whole?.shares.iter().find(|(known, _)| *known == id)?;
            Some(*pct)
        };
        let kernels = Rows::over(analysis.answers.get(&kernels()));
        let health = Rows::over(analysis.answers.get(&health()));
        let kinds = |severity: &str| health.matching(|rows, row| rows.text(row, "severity") == Some(severity)).len();
        let count = |priority| document.findings.iter().filter(|finding| finding.priority == priority).count();
        Self {
            ranks: integer("ranks"),
            gpus: integer("gpus"),
            span_ns: whole.map(|view| view.span_ns).or(integer("span_ns")),
            kernel_time_ns: (!kernels.is_empty()).then(|| kernels.sum(kernels.places(), "total_ns")),
            busy_pct: share("busy_pct"),
            compute_pct: share("compute_pct"),
            exposed_comm_pct: share("exposed_comm_pct"),
            exposed_copy_pct: share("exposed_copy_pct"),
            idle_pct: share("idle_pct"),
            top_kernel: kernels.text(0, "kernel_name").map(|name| TopKernel {
                name: name.to_owned(),
                is_readable: !document.names.is_empty(),
                total_ns: kernels.integer(0, "total_ns"),
                pct: kernels.number(0, "pct"),
            }),
            findings: Priority::ALL.map(count),
            top_finding: document.findings.first().map(|finding| TopFinding {
                id: finding.id.clone(),
                priority: finding.priority,
                title: finding.title.clone(),
                shown: Sentences::new(&document.names).shown(&finding.title, Some(finding)),
            }),
            health: Health {
                errors: kinds("error"),
                warnings: kinds("warning"),
                damage: document.provenance.damage.len(),
            },
        }
    }

    /// Figures that are compared to the baseline.
    pub fn compared(&self) -> [Compared; 4] {
        let time = |figure, ns: Option<i64>| Compared { figure, value: ns.map(|ns| ns as f64), is_share: false };
        let share = |figure, value| Compared { figure, value, is_share: true };
        [
            time("span_ns", self.span_ns),
            time("kernel_time_ns", self.kernel_time_ns),
            share("busy_pct", self.busy_pct),
            share("exposed_comm_pct", self.exposed_comm_pct),
        ]
    }
}
