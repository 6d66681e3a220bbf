//! The document of a scan of source code.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::{Column, DataFrame, IntoColumn, NamedFrom, PlSmallStr, Series};

use super::document::{Block, Document, Figure, Note, Provenance, Section, Status, Table};
use wavesieve_engine::findings::{Command, Finding, Priority, RunViews};
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_source::scan::{self, DetectedKernel, DetectedPattern, Recommendation, SourceScan, TreeScan};
use wavesieve_tables::trace::views::View;

/// Maximum number of places that a row names.
const SHOWN_PLACES: usize = 3;

/// The document of a scan, with at most this many rows in a table, 0 for all.
///
/// # Errors
/// When a table cannot be made.
pub fn source_document(tree: &TreeScan, rows: usize) -> Result<Document> {
    let scan = &tree.scan;
    let findings: Vec<Finding> = scan.recommendations.iter().map(|advice| finding(advice, scan)).collect();
    let mut sections = vec![risks(scan)];
    if !scan.detected_kernels.is_empty() {
        sections.push(kernels(&scan.detected_kernels, rows, None)?);
    }
    if !scan.detected_patterns.is_empty() {
        sections.push(patterns(&scan.detected_patterns, rows)?);
    }
    sections.push(next(scan));
    Ok(Document {
        title: "GPU source code".to_owned(),
        summary: scan_summary(scan),
        views: RunViews::default(),
        head: Vec::new(),
        notes: Vec::new(),
        is_judged: true,
        tier: 0,
        figures: figures(scan),
        findings,
        sections,
        provenance: provenance(tree),
        names: Default::default(),
        timeline: None,
    })
}

/// The scan, summarized in a sentence.
pub(super) fn scan_summary(scan: &SourceScan) -> String {
    let many = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "{}: {} kernel{} in {} source file{}; programming model {}.",
        scan.source_dir,
        scan.kernel_count,
        many(scan.kernel_count),
        scan.files_scanned,
        many(scan.files_scanned),
        scan.programming_model
    )
}

fn figures(scan: &SourceScan) -> Vec<Figure> {
    let count = |id: &str, label: &str, doc: &str, value: usize, status: Status| Figure {
        status,
        ..Figure::count(id, label, doc, value)
    };
    let of =
        |id: &str| scan.detected_patterns.iter().find(|pattern| pattern.pattern_id == id).map_or(0, |one| one.count);
    let loops = of("LOOP_DEVICE_SYNC");
    let warns = |condition: bool| if condition { Status::Warning } else { Status::Neutral };
    vec![
        Figure::new(
            "programming_model",
            "Programming model",
            "how the GPU is programmed",
            Cell::Text(scan.programming_model.clone()),
            ColumnUnit::Text,
        ),
        count("files_scanned", "Files", "source files that were read", scan.files_scanned, Status::Neutral),
        count(
            "files_skipped",
            "Files left out",
            "source files that were not read",
            scan.files_skipped,
            warns(scan.files_skipped > 0),
        ),
        count("kernel_count", "Kernels", "different names of kernels", scan.kernel_count, Status::Neutral),
        count(
            "device_syncs_in_loops",
            "Device waits in loops",
            "places where the host waits for the whole device in a loop",
            loops,
            if loops > 0 { Status::Critical } else { Status::Good },
        ),
        count("roctx_marker_count", "Markers", "places with ROCTx markers", scan.roctx_marker_count, Status::Neutral),
    ]
}

pub(super) fn finding(advice: &Recommendation, scan: &SourceScan) -> Finding {
    Finding {
        id: advice.id.clone(),
        rule: advice.id.to_lowercase().replace('-', "_"),
        priority: match advice.priority {
            scan::Priority::High => Priority::High,
            scan::Priority::Medium => Priority::Medium,
            scan::Priority::Low => Priority::Low,
            scan::Priority::Info => Priority::Info,
        },
        category: advice.category.clone(),
        title: advice.issue.clone(),
        verdict: String::new(),
        explanation: format!("{}. {}.{}", advice.suggestion, advice.estimated_impact, found_at(advice, scan)),
        confidence: advice.confidence,
        subject: None,
        rank: None,
        cause: None,
        view: View::WholeRun,
        saving: None,
        evidence: Vec::new(),
        advice: advice.actions.clone(),
        commands: advice.commands.iter().map(command).collect(),
        kernel: None,
        handoff: None,
    }
}

/// A command of a scan, as a command of a finding.
pub(super) fn command(command: &scan::Command) -> Command {
    Command { tool: command.tool.clone(), description: command.description.clone(), words: command.words.clone() }
}

/// Places in the source that are the reason for a recommendation, if there are single places; those of the most
/// important pattern first.
pub(super) fn found_at(advice: &Recommendation, scan: &SourceScan) -> String {
    let of = |id: &String| scan.detected_patterns.iter().find(|pattern| pattern.pattern_id == *id);
    let patterns = advice.trace_evidence.patterns.iter().filter_map(of);
    let mut seen = BTreeSet::new();
    let all: Vec<String> =
        patterns.flat_map(|pattern| &pattern.locations).filter(|place| seen.insert(*place)).cloned().collect();
    if all.is_empty() { String::new() } else { format!(" Found at {}.", places(&all, all.len())) }
}

fn note(text: String, is_warning: bool) -> Block {
    Block::Note(Note { is_warning, text })
}

fn risks(scan: &SourceScan) -> Section {
    let notes = scan.risk_areas.iter().map(|risk| note(format!("{risk}."), false));
    Section::new(
        "source_risks",
        "Risk areas",
        "What in the source may cost time on the GPU; only a trace tells how much.",
        notes,
    )
}

fn next(scan: &SourceScan) -> Section {
    let mut notes = vec![note(format!("Counters worth collecting: {}", scan.suggested_counters.join(" ")), false)];
    notes.extend(scan.suggested_first_command.as_ref().map(|command| note(format!("Begin with: {command}"), false)));
    Section::new("source_next", "What to measure first", "Then `wavesieve analyze` tells where the time goes.", notes)
}

/// Kernels by name. If there is a trace, those with the most time come first, with their calls and time there.
pub(super) fn kernels(
    kernels: &[DetectedKernel],
    rows: usize,
    measured: Option<&BTreeMap<String, (i64, i64)>>,
) -> Result<Section> {
    let time =
        |kernel: &DetectedKernel| measured.and_then(|times| times.get(&kernel.name)).copied().unwrap_or_default();
    let mut kernels: Vec<&DetectedKernel> = kernels.iter().collect();
    kernels.sort_by_key(|kernel| Reverse(time(kernel).1));
    let text = |name: &str, of: &dyn Fn(&DetectedKernel) -> String| {
        Series::new(name.into(), kernels.iter().map(|kernel| of(kernel)).collect::<Vec<String>>()).into_column()
    };
    let integer = |name: &str, of: &dyn Fn(&DetectedKernel) -> i64| {
        Series::new(name.into(), kernels.iter().map(|kernel| of(kernel)).collect::<Vec<i64>>()).into_column()
    };
    let count = |name: &str, of: &dyn Fn(&DetectedKernel) -> usize| {
        integer(name, &|kernel| i64::try_from(of(kernel)).unwrap_or(i64::MAX))
    };
    let mut columns = vec![
        (
            text("name", &|kernel| kernel.name.clone()),
            ColumnUnit::Name,
            "Name without namespace and template arguments",
        ),
        (
            text("place", &|kernel| format!("{}:{}", kernel.file, kernel.line)),
            ColumnUnit::Text,
            "Definition, else first mention",
        ),
        (text("found_as", &|kernel| kernel.launch_type.clone()), ColumnUnit::Text, "Pattern that fits there"),
        (count("definitions", &|kernel| kernel.definition_count), ColumnUnit::Count, "Definitions of that name"),
        (count("launches", &|kernel| kernel.launch_count), ColumnUnit::Count, "Places that launch it"),
        (
            text("launched_at", &|kernel| places(&kernel.launches, kernel.launch_count)),
            ColumnUnit::Text,
            "The first of them",
        ),
    ];
    if measured.is_some() {
        let calls = (integer("calls", &|kernel| time(kernel).0), ColumnUnit::Count, "Dispatches in the trace");
        let total = (
            integer("total_ns", &|kernel| time(kernel).1),
            ColumnUnit::Nanoseconds,
            "Their time; kernels of other namespaces with the same name count too",
        );
        columns.splice(1..1, [calls, total]);
    }
    let table = table("source_kernels", "Kernels by name", columns, &["name"], rows)?;
    let about = "Definitions and launches that have the same name belong together.";
    Ok(Section::new("source_kernels", "Kernels", about, vec![Block::Table(Box::new(table))]))
}

/// Patterns found in code.
pub(super) fn patterns(patterns: &[DetectedPattern], rows: usize) -> Result<Section> {
    let text = |name: &str, of: &dyn Fn(&DetectedPattern) -> String| {
        Series::new(name.into(), patterns.iter().map(of).collect::<Vec<String>>()).into_column()
    };
    let count = |name: &str, of: &dyn Fn(&DetectedPattern) -> usize| {
        Series::new(name.into(), patterns.iter().map(|pattern| of(pattern) as i64).collect::<Vec<i64>>()).into_column()
    };
    let severity = |pattern: &DetectedPattern| format!("{:?}", pattern.severity).to_lowercase();
    let columns = vec![
        (text("severity", &severity), ColumnUnit::Text, "How much it matters"),
        (text("pattern", &|pattern| pattern.pattern_id.clone()), ColumnUnit::Name, "Stable name"),
        (text("what", &|pattern| pattern.description.clone()), ColumnUnit::Text, "What it is"),
        (count("count", &|pattern| pattern.count), ColumnUnit::Count, "Places"),
        (count("in_loops", &|pattern| pattern.in_loops), ColumnUnit::Count, "Those of them in loops"),
        (text("places", &|pattern| places(&pattern.locations, pattern.count)), ColumnUnit::Text, "The first of them"),
    ];
    let table = table("source_patterns", "Patterns, the most severe first", columns, &["pattern"], rows)?;
    let about = "Names and forms that were found in code; comments, literals and what `#if 0` leaves out do not count.";
    Ok(Section::new("source_patterns", "Patterns", about, vec![Block::Table(Box::new(table))]))
}

/// The first of these places, with the number of all.
pub(super) fn places(places: &[String], count: usize) -> String {
    let shown = places.iter().take(SHOWN_PLACES).cloned().collect::<Vec<String>>().join(", ");
    if count > SHOWN_PLACES { format!("{shown}, …") } else { shown }
}

/// A column of texts: its name, unit, documentation and values.
pub type Texts<'a> = (&'a str, ColumnUnit, &'a str, Vec<Option<String>>);

/// A table of texts.
///
/// # Errors
/// When a column does not fit the others.
pub fn text_table(id: &str, title: &str, columns: Vec<Texts<'_>>, key: &[&str]) -> Result<Table> {
    let column = |(name, unit, doc, values)| (Series::new(PlSmallStr::from_str(name), values).into_column(), unit, doc);
    table(id, title, columns.into_iter().map(column).collect(), key, 0)
}

fn table(id: &str, title: &str, columns: Vec<(Column, ColumnUnit, &str)>, key: &[&str], rows: usize) -> Result<Table> {
    let output =
        |(column, unit, doc): &(Column, ColumnUnit, &str)| OutputColumn::new(column.name().as_str(), *unit, *doc);
    let outputs = columns.iter().map(output).collect();
    let height = columns.first().map_or(0, |(column, ..)| column.len());
    let frame = DataFrame::new(height, columns.into_iter().map(|(column, ..)| column).collect())?;
    Ok(Table::new((id, title, ""), outputs, frame, rows, key))
}

/// The provenance, with the files that were left out.
pub(super) fn provenance(tree: &TreeScan) -> Provenance {
    let mut left_out = Vec::new();
    if tree.beyond > 0 {
        left_out.push((format!("{} source files", tree.beyond), "beyond the limit of --max-files".to_owned()));
    }
    left_out.extend(tree.large.iter().map(|path| (scan::shown(path), "larger than --max-file-size".to_owned())));
    let damage = tree.unreadable.iter().map(|(path, cause)| format!("{}: {cause}", scan::shown(path)));
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        damage: damage.collect(),
        left_out,
        ..Provenance::default()
    }
}
