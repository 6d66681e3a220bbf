//! Facts that source code and a trace of a program reveal together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;

use super::analysis::Analysis;
use super::document::{Block, Document, Note, Section, finding_counts};
use super::source_document::{
    command, finding, found_at, kernels, patterns, places, provenance, scan_summary, source_document, text_table,
};
use wavesieve_engine::ColumnUnit;
use wavesieve_engine::findings::{Answers, Collected, Finding, Priority, QueryRequest, Rows, headline, time_question};
use wavesieve_model::analysis::kernel_names::{base_name, mangled_base};
use wavesieve_source::scan::{self, Recommendation, SourceScan, TreeScan};

/// Verdict of a trace on a recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceVerdict {
    /// A finding has the same subject; its place.
    Found(usize),
    /// The trace would show it, but it has no significant cost there.
    NotFound,
    /// The trace contradicts it.
    Contradicted,
    /// The recommendation is to record data that the trace already has.
    Recorded,
    /// The trace does not have the records to check it.
    NotRecorded,
}

impl TraceVerdict {
    fn word(self) -> &'static str {
        match self {
            Self::Found(_) => "found",
            Self::NotFound => "no finding",
            Self::Contradicted => "contradicted",
            Self::Recorded => "recorded",
            Self::NotRecorded => "not recorded",
        }
    }
}

impl Analysis {
    /// An analysis without data, for a document that was made otherwise.
    pub fn of_document(document: Document, prompt: &str) -> Self {
        Self {
            document,
            answers: Answers::default(),
            collected: Collected::default(),
            verdict: None,
            unmatched: Vec::new(),
            is_empty: false,
            prompt: Some(prompt.to_owned()),
            source: None,
        }
    }

    /// An analysis of source code alone, with at most this many rows in a table, 0 for all.
    ///
    /// # Errors
    /// When a table cannot be made.
    pub fn of_source(tree: TreeScan, rows: usize, prompt: Option<String>) -> Result<Self> {
        Ok(Self {
            document: source_document(&tree, rows)?,
            answers: Answers::default(),
            collected: Collected::default(),
            verdict: None,
            unmatched: Vec::new(),
            is_empty: false,
            prompt,
            source: Some(tree),
        })
    }

    /// Adds results from the program's source code. If the trace shows what the source only suggests, the trace takes
    /// precedence, and its findings link to places in the source. Records that the trace already has are not requested.
    ///
    /// # Errors
    /// When a table cannot be made.
    pub fn with_source(mut self, tree: TreeScan, rows: usize) -> Result<Self> {
        let scan = &tree.scan;
        let kinds = kinds(&self);
        let measured = times_by_name(&self.answers);
        let findings = &mut self.document.findings;
        let relevance: Vec<TraceVerdict> =
            scan.recommendations.iter().map(|advice| relevance(advice, findings, &kinds)).collect();
        for one in findings.iter_mut() {
            one.explanation.push_str(&defined_at(one, scan));
        }
        for (advice, relevance) in scan.recommendations.iter().zip(&relevance) {
            if let TraceVerdict::Found(place) = relevance
                && let Some(one) = findings.get_mut(*place)
            {
                one.explanation.push_str(&seen_at(advice, scan));
            }
        }
        let ids: Vec<Option<String>> = relevance.iter().map(|relevance| found(*relevance, findings)).collect();
        let table = side_by_side(&scan.recommendations, &relevance, ids)?;
        for (advice, relevance) in scan.recommendations.iter().zip(&relevance) {
            if *relevance == TraceVerdict::NotRecorded {
                let mut one = trace_evidence(advice, scan, &kinds);
                one.advice.iter_mut().for_each(|text| *text = self.collected.inputs.filled(text));
                findings.push(one);
            }
        }
        let saved = |one: &Finding| one.saving.as_ref().map_or(0, |saving| saving.wall.whole_ns());
        findings.sort_by_key(|one| (one.priority, Reverse(saved(one))));
        let note = |text: String| Block::Note(Note { is_warning: false, text });
        let mut sections = vec![Section {
            id: "source_and_trace".to_owned(),
            title: "Source code and trace".to_owned(),
            about: "What the source suggests, and what the trace says of it: a finding about the same, no finding although it would show, the opposite, or nothing because it was not recorded.".to_owned(),
            blocks: std::iter::once(note(scan_summary(scan))).chain(table).collect(),
        }];
        if !scan.detected_kernels.is_empty() {
            sections.push(kernels(&scan.detected_kernels, rows, Some(&measured))?);
        }
        if !scan.detected_patterns.is_empty() {
            sections.push(patterns(&scan.detected_patterns, rows)?);
        }
        for section in sections.iter_mut().skip(1) {
            section.title = format!("Source code: {}", section.title.to_lowercase());
        }
        let document = &mut self.document;
        document.sections.extend(sections);
        document.title = "GPU trace and source code analysis".to_owned();
        document.summary = headline(&document.findings, &document.views)?;
        for counted in finding_counts(&document.findings) {
            if let Some(figure) = document.figures.iter_mut().find(|figure| figure.id == counted.id) {
                *figure = counted;
            }
        }
        let of_source = provenance(&tree);
        document.provenance.damage.extend(of_source.damage);
        document.provenance.left_out.extend(of_source.left_out);
        self.source = Some(tree);
        Ok(self)
    }
}

/// Kinds of records of the trace, and the facts that follow from them.
fn kinds(analysis: &Analysis) -> BTreeSet<String> {
    let mut kinds = analysis.collected.kinds.clone();
    let time = time_question();
    let rows = Rows::over(analysis.answers.get(&time));
    let sum = |column: &str| rows.sum(rows.places(), column);
    let hidden_ns = sum("copy_ns") - sum("exposed_copy_ns") + sum("comm_ns") - sum("exposed_comm_ns");
    let beside_ns = sum("kernel_sum_ns") - (sum("busy_ns") - sum("exposed_copy_ns"));
    for (kind, is_there) in [
        ("overlap", hidden_ns > 0 || beside_ns > 0),
        ("communication", sum("comm_ns") > 0),
        ("ranks", analysis.document.provenance.ranks.len() > 1),
        ("counters", !analysis.collected.counters.is_empty()),
    ] {
        if is_there {
            kinds.insert(kind.to_owned());
        }
    }
    kinds
}

fn relevance(advice: &Recommendation, findings: &[Finding], kinds: &BTreeSet<String>) -> TraceVerdict {
    let evidence = &advice.trace_evidence;
    if evidence.against.iter().any(|kind| kinds.contains(kind)) {
        return TraceVerdict::Contradicted;
    }
    // Findings are in the order of their cost.
    if let Some(place) = findings.iter().position(|one| evidence.rules.contains(&one.rule)) {
        return TraceVerdict::Found(place);
    }
    if evidence.records.is_empty() || !evidence.records.iter().all(|kind| kinds.contains(kind)) {
        return TraceVerdict::NotRecorded;
    }
    if evidence.rules.is_empty() { TraceVerdict::Recorded } else { TraceVerdict::NotFound }
}

fn found(relevance: TraceVerdict, findings: &[Finding]) -> Option<String> {
    match relevance {
        TraceVerdict::Found(place) => findings.get(place).map(|one| one.id.clone()),
        _ => None,
    }
}

/// Place in the source of the kernel that a finding is about.
fn defined_at(finding: &Finding, scan: &SourceScan) -> String {
    let Some(subject) = &finding.subject else { return String::new() };
    let name = own_name(subject);
    let Some(kernel) = scan.detected_kernels.iter().find(|kernel| kernel.name == name) else { return String::new() };
    let launched = match kernel.launches.as_slice() {
        [] => String::new(),
        launches => format!(", launched at {}", places(launches, kernel.launch_count)),
    };
    let is_defined = if kernel.definition_count > 0 { "defined" } else { "named" };
    format!(" In the source it is {is_defined} at {}:{}{launched}.", kernel.file, kernel.line)
}

/// Files and lines that a finding is about, as the scan names them: the definition of its kernel, then the places of
/// the patterns of its recommendation, the most important first.
pub fn source_places(finding: &Finding, scan: &SourceScan) -> Vec<(PathBuf, u32)> {
    let name = finding.subject.as_deref().map(own_name);
    let kernel = scan.detected_kernels.iter().find(|kernel| Some(&kernel.name) == name.as_ref());
    let defined = kernel.map(|kernel| (PathBuf::from(&kernel.file), kernel.line));
    let is_about =
        |advice: &&Recommendation| advice.id == finding.id || advice.trace_evidence.rules.contains(&finding.rule);
    let advice = scan.recommendations.iter().filter(is_about);
    let patterns = advice.flat_map(|advice| &advice.trace_evidence.patterns);
    let found = patterns.filter_map(|id| scan.detected_patterns.iter().find(|pattern| pattern.pattern_id == *id));
    let places = found.flat_map(|pattern| &pattern.locations).filter_map(|place| {
        let (file, line) = place.rsplit_once(':')?;
        Some((PathBuf::from(file), line.parse().ok()?))
    });
    let mut unique = Vec::new();
    for place in defined.into_iter().chain(places) {
        if !unique.contains(&place) {
            unique.push(place);
        }
    }
    unique
}

/// Sentence about the source that is added to a finding of the trace.
fn seen_at(advice: &Recommendation, scan: &SourceScan) -> String {
    format!(" In the source: {}.{}", advice.issue, found_at(advice, scan))
}

/// The finding for a recommendation that the trace cannot check. No suggestion outranks a measurement, and existing
/// records are not requested again.
fn trace_evidence(advice: &Recommendation, scan: &SourceScan, kinds: &BTreeSet<String>) -> Finding {
    let mut finding = finding(advice, scan);
    if kinds.contains("kernels") {
        finding.priority = finding.priority.max(Priority::Medium);
    }
    let has = |names: &[&str]| names.iter().all(|kind| kinds.contains(*kind));
    let is_recorded = |command: &&scan::Command| {
        let own = command.purpose().into_iter().take_while(|word| *word != "--");
        match own.collect::<Vec<&str>>().as_slice() {
            ["rocprof-sys-sample", "--trace" | "--output-format", others @ ..] if !others.contains(&"--device") => {
                has(&["kernels", "hip"])
            }
            ["rocprofv3", "--sys-trace"] => has(&["kernels", "hip", "copies"]),
            _ => false,
        }
    };
    finding.commands = advice.all_commands.iter().filter(|command| !is_recorded(command)).map(command).collect();
    finding
}

/// The name of a kernel in source code.
fn own_name(kernel: &str) -> String {
    mangled_base(kernel).map_or_else(|| base_name(kernel), ToOwned::to_owned)
}

/// Calls and time of the kernels of a trace by their names in source code.
fn times_by_name(answers: &Answers) -> BTreeMap<String, (i64, i64)> {
    let question = QueryRequest::new("kernel_summary");
    let rows = Rows::over(answers.get(&question));
    let mut times: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for row in rows.places() {
        let (calls, total_ns) = times.entry(own_name(rows.text(row, "kernel_name").unwrap_or_default())).or_default();
        *calls = calls.saturating_add(rows.integer(row, "calls").unwrap_or_default());
        *total_ns = total_ns.saturating_add(rows.integer(row, "total_ns").unwrap_or_default());
    }
    times
}

/// The table that compares suggestions from the source with the trace.
fn side_by_side(
    advice: &[Recommendation],
    relevance: &[TraceVerdict],
    ids: Vec<Option<String>>,
) -> Result<Option<Block>> {
    if advice.is_empty() {
        return Ok(None);
    }
    let texts = |of: &dyn Fn(&Recommendation) -> String| advice.iter().map(|one| Some(of(one))).collect();
    let columns = vec![
        ("advice", ColumnUnit::Name, "Stable name of the advice", texts(&|one| one.id.clone())),
        ("source", ColumnUnit::Text, "What the source has", texts(&|one| one.issue.clone())),
        (
            "trace",
            ColumnUnit::Text,
            "What the trace says of it",
            relevance.iter().map(|one| Some(one.word().to_owned())).collect(),
        ),
        ("finding", ColumnUnit::Name, "The finding about the same", ids),
    ];
    let table = text_table("source_and_trace", "What the source suggests and the trace shows", columns, &["advice"])?;
    Ok(Some(Block::Table(Box::new(table))))
}
