//! Makes a document from answers and findings.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::chart_layout::ChartLayout;
use super::figures::figures;
use super::layout::{Layout, SectionLayout, TableLayout, numbered};
use super::model::{Block, Document, Drawn, Input, Note, Provenance, Section, Table};
use super::notes::{head, head_notes, section_notes};
use crate::charts::{Chart, Plot};
use wavesieve_engine::findings::{
    Answers, Finding, InputWords, QueryRequest, RunViews, Spans, Unanswered, headline, time_question,
};
use wavesieve_engine::{Answer, ColumnUnit, OutputColumn, QueryDeclaration, Registry, readable_names};
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_model::schema::facts::Role;
use wavesieve_tables::trace::selection::effective;
use wavesieve_tables::trace::views::View;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Sources of a document.
pub struct Sources<'a> {
    pub trace: &'a Trace,
    /// Declarations of the queries.
    pub registry: &'a Registry,
    /// The answers to the questions of the layout, of the rules and of the figures.
    pub answers: &'a Answers,
    /// The findings.
    pub findings: Vec<Finding>,
    /// Spans of the GPUs in the view that the figures are about.
    pub spans: &'a Spans,
    /// Views of the run to report.
    pub views: RunViews,
    /// Sections and tables.
    pub layout: &'a Layout,
    /// Ranks of the trace.
    pub ranks: usize,
    /// The words that name the inputs.
    pub inputs: &'a InputWords,
    /// Messages about filters that match nothing.
    pub unmatched: &'a [String],
    /// Default number of rows in tables.
    pub rows: usize,
}

/// Text that is added to sections if findings cover only a part of the run.
const OF_WHOLE_RUN: &str = " Shows the whole run; `--window steady` shows its steady part.";
/// The same for sections about that part.
const OF_STEADY_PART: &str = " Shows the steady part, as the findings do; `--whole-run` shows all.";
/// Ends the headings of tables in such sections, and of all charts: they are files too.
pub(crate) const STEADY_PART: &str = ", steady part";
pub(crate) const WHOLE_RUN: &str = ", whole run";

/// The document of an analysis.
///
/// # Errors
/// When a result lacks a column of the layout.
pub fn document(sources: Sources<'_>) -> Result<Document> {
    let mut provenance = provenance(sources.trace);
    let names = readable_names(sources.answers.all());
    let mut sections = Vec::new();
    let mut ids = Ids::default();
    for layout in &sources.layout.sections {
        match section(layout, &sources, &names, &mut ids)? {
            Ok(section) => sections.push(section),
            Err(reason) => provenance.left_out.push((layout.title.clone(), reason)),
        }
    }
    let failures = sources.answers.failures();
    provenance.failures = failures.map(|(question, reason)| (question.query.clone(), reason.to_owned())).collect();
    let of_figures = &sources.registry.get(&time_question().query)?.declaration.needs;
    let has = |id: &str| sections.iter().any(|section| section.id == id);
    let tier = if has("thread_trace") {
        3
    } else if has("counters") {
        2
    } else {
        1
    };
    Ok(Document {
        title: "GPU trace analysis".to_owned(),
        summary: headline(&sources.findings, &sources.views)?,
        head: head(sources.trace, sources.unmatched, &sources.findings),
        notes: head_notes(sources.trace, sources.unmatched, of_figures.iter().map(String::as_str)),
        is_judged: true,
        tier,
        figures: figures(sources.answers, &sources.findings, sources.spans, &sources.views, &provenance),
        views: sources.views,
        findings: sources.findings,
        sections,
        provenance,
        names,
        timeline: None,
    })
}

/// Ids that are in use.
#[derive(Default)]
struct Ids {
    charts: BTreeSet<String>,
    tables: BTreeSet<String>,
}

impl Ids {
    /// The name, with a number if it is already in use.
    fn next(taken: &mut BTreeSet<String>, name: &str) -> String {
        let mut ids = (1..).map(|times| numbered(name, times));
        ids.find(|id| taken.insert(id.clone())).unwrap_or_else(|| name.to_owned())
    }
}

/// A section with its tables, or the reason why it is left out.
fn section(
    layout: &SectionLayout,
    sources: &Sources<'_>,
    names: &ReadableNames,
    ids: &mut Ids,
) -> Result<Result<Section, String>> {
    let mut blocks = Vec::new();
    let mut missing: BTreeSet<String> = BTreeSet::new();
    for chart_layout in layout.charts.iter().filter(|chart| chart.least_ranks <= sources.ranks) {
        blocks.extend(chart(chart_layout, sources, names, ids)?);
    }
    for table_layout in &layout.tables {
        if table_layout.least_ranks > sources.ranks {
            missing.insert(format!("{} needs {} ranks", table_layout.query, table_layout.least_ranks));
            continue;
        }
        match table(table_layout, sources, ids)? {
            Some(table) => blocks.push(Block::Table(Box::new(table))),
            None => {
                missing.insert(match sources.answers.unanswered(&table_layout.question()) {
                    Some(Unanswered::NothingOf(table)) => format!("no rows in {table}"),
                    Some(Unanswered::Failed(_)) => format!("{} could not be answered", table_layout.query),
                    None => format!("{} has nothing to tell", table_layout.query),
                });
            }
        }
    }
    if blocks.is_empty() {
        return Ok(Err(missing.into_iter().collect::<Vec<String>>().join(", ")));
    }
    let mut needs: BTreeSet<&str> = BTreeSet::new();
    let mut has_times = false;
    for block in &blocks {
        let query = match block {
            Block::Chart(drawn) => drawn.question.as_ref().map(|question| &question.query),
            Block::Table(table) => table.question.as_ref().map(|question| &question.query),
            Block::Note(_) => None,
        };
        if let Some(query) = query {
            let declaration = &sources.registry.get(query)?.declaration;
            needs.extend(declaration.needs.iter().map(String::as_str));
            has_times |= declaration.kind != "health";
        }
    }
    blocks.extend(section_notes(sources.trace, needs.into_iter()).into_iter().map(Block::Note));
    let (id, title, mut about) = (layout.id.clone(), layout.title.clone(), sources.inputs.filled(&layout.about()));
    if has_times && sources.views.headline() != View::WholeRun {
        about.push_str(if end_with_parts(&mut blocks) { OF_STEADY_PART } else { OF_WHOLE_RUN });
    }
    Ok(Ok(Section { id, title, about, blocks }))
}

/// Ends headings with the part of the run that they are about. Whether any is about the steady part.
fn end_with_parts(blocks: &mut [Block]) -> bool {
    let view_of = |block: &Block| match block {
        Block::Chart(drawn) => drawn.question.as_ref().map(|question| question.view),
        Block::Table(table) => table.question.as_ref().map(|question| question.view),
        Block::Note(_) => None,
    };
    let has_steady = blocks.iter().any(|block| view_of(block) == Some(View::Steady));
    for block in blocks {
        let part = if view_of(block) == Some(View::Steady) { STEADY_PART } else { WHOLE_RUN };
        match block {
            Block::Chart(drawn) => drawn.chart.title.push_str(part),
            Block::Table(table) => table.title.push_str(part),
            Block::Note(_) => {}
        }
    }
    has_steady
}

/// The question about the part of the run that findings are about, if that has rows; otherwise about the whole run.
fn of_findings(question: QueryRequest, repeats: bool, sources: &Sources<'_>) -> QueryRequest {
    let of_view = question.clone().of_view(sources.views.headline());
    if repeats && sources.answers.get(&of_view).is_some() { of_view } else { question }
}

/// The chart of an answer, or a sentence in its place; `None` if there is nothing to draw.
fn chart(layout: &ChartLayout, sources: &Sources<'_>, names: &ReadableNames, ids: &mut Ids) -> Result<Option<Block>> {
    let question = of_findings(layout.question(), layout.repeats, sources);
    let Some(answer) = sources.answers.get(&question) else { return Ok(None) };
    let declaration = &sources.registry.get(&layout.query)?.declaration;
    let Some(mut chart) = Chart::of_answer(declaration, &answer.shown_with(names))? else { return Ok(None) };
    if let Some(title) = &layout.title {
        chart.title.clone_from(title);
    }
    if !has_values(&chart) {
        let is_constant = matches!(&chart.plot, Plot::Histogram(histogram) if !histogram.bins.is_empty());
        let note = Note { is_warning: false, text: format!("{}.", chart.alternative()) };
        return Ok(is_constant.then_some(Block::Note(note)));
    }
    let command = Some(sources.inputs.command_line(&question));
    let id = Ids::next(&mut ids.charts, &layout.query);
    Ok(Some(Block::Chart(Box::new(Drawn { id, question: Some(question), command, chart }))))
}

/// Whether a chart shows more than its frame. The roofs of a roofline are known even without counters.
fn has_values(chart: &Chart) -> bool {
    let is_drawn = |value: Option<f64>| value.is_some_and(|value| value > 0.0);
    match &chart.plot {
        Plot::Roofline(roofline) => {
            roofline.points.iter().any(|point| is_drawn(point.intensity) && is_drawn(point.gflops))
        }
        _ => !chart.is_empty(),
    }
}

fn table(layout: &TableLayout, sources: &Sources<'_>, ids: &mut Ids) -> Result<Option<Table>> {
    let question = of_findings(layout.question(), layout.repeats, sources);
    let Some(answer) = sources.answers.get(&question) else { return Ok(None) };
    let declaration = &sources.registry.get(&layout.query)?.declaration;
    let names =
        layout.columns.clone().unwrap_or_else(|| answer.columns.iter().map(|column| column.name.clone()).collect());
    let shown = layout.rows.unwrap_or(sources.rows);
    let frame = answer.frame.select(names.iter().map(String::as_str));
    let frame = frame.with_context(|| format!("{} has not all columns of its table", layout.query))?;
    let is_known = |name: &String| frame.column(name).is_ok_and(|column| column.null_count() < column.len());
    if !layout.requires_any.is_empty() && !layout.requires_any.iter().any(is_known) {
        return Ok(None);
    }
    let mut table = answer_table(question, declaration, answer, &names, shown, sources.inputs)?;
    table.id = Ids::next(&mut ids.tables, layout.id.as_ref().unwrap_or(&layout.query));
    if let Some(title) = &layout.title {
        table.title.clone_from(title);
    }
    Ok(Some(table))
}

/// The table of an answer: the named columns that have values, and the first rows, 0 for all.
///
/// # Errors
/// When the answer lacks a column.
pub fn answer_table(
    question: QueryRequest,
    declaration: &QueryDeclaration,
    answer: &Answer,
    names: &[String],
    rows: usize,
    inputs: &InputWords,
) -> Result<Table> {
    let is_known = |name: &&String| answer.frame.column(name).is_ok_and(|column| column.null_count() < column.len());
    let names: Vec<String> = names.iter().filter(is_known).cloned().collect();
    let frame = answer.frame.select(names.iter().map(String::as_str)).context("internal: a column vanished")?;
    let total_rows = frame.height();
    let frame = if rows > 0 { frame.head(Some(rows)) } else { frame };
    let columns: Vec<_> =
        names.iter().filter_map(|name| answer.columns.iter().find(|column| column.name == *name).cloned()).collect();
    let by = question.by.as_ref().unwrap_or(&declaration.by);
    let key = key(&columns, by);
    Ok(Table {
        id: question.query.clone(),
        title: declaration.title.clone(),
        about: declaration.about.clone(),
        command: Some(inputs.command_line(&question)),
        question: Some(question),
        columns,
        frame,
        total_rows,
        key,
    })
}

/// The columns that identify rows: grouping columns, ids and names; texts only if there is no other column.
fn key(columns: &[OutputColumn], by: &[String]) -> Vec<String> {
    let named =
        |column: &&OutputColumn| by.contains(&column.name) || matches!(column.unit, ColumnUnit::Id | ColumnUnit::Name);
    let of = |filter: &dyn Fn(&&OutputColumn) -> bool| -> Vec<String> {
        columns.iter().filter(filter).map(|column| column.name.clone()).collect()
    };
    let key = of(&named);
    if key.is_empty() { of(&|column| column.unit == ColumnUnit::Text) } else { key }
}

/// The ranks of a trace. A thread trace covers a dispatch, not a run, and adds no rank if there are other traces.
pub fn ranks(trace: &Trace) -> BTreeSet<i64> {
    let is_run = |member: &&TraceProcess| member.process.role != Role::ThreadTrace;
    let of_runs: BTreeSet<i64> = trace.members().iter().filter(is_run).map(|member| member.process.rank).collect();
    match of_runs.is_empty() {
        true => trace.members().iter().map(|member| member.process.rank).collect(),
        false => of_runs,
    }
}

/// The provenance of a document about a trace.
pub fn provenance(trace: &Trace) -> Provenance {
    let input = |member: &TraceProcess| {
        let (process, facts) = (&member.process, &member.process.facts);
        let gpus: BTreeSet<&String> =
            facts.agents.iter().filter(|agent| agent.is_gpu()).map(|agent| &agent.name).collect();
        Input {
            path: facts.path.clone(),
            format: facts.format.clone(),
            schema_version: facts.schema_version.clone(),
            rank: process.rank,
            hostname: facts.hostname.clone(),
            gpus: gpus.into_iter().cloned().collect(),
            is_thread_trace: process.role == Role::ThreadTrace,
        }
    };
    let damage = trace.damage().into_iter().map(|damage| format!("{}: {}", damage.path, damage.cause));
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: trace.members().iter().map(input).collect(),
        processes: trace.members().len(),
        ranks: ranks(trace).into_iter().collect(),
        filters: effective(trace.choice())
            .into_iter()
            .map(|(filter, value)| (filter.flag().to_owned(), value))
            .collect(),
        damage: damage.collect(),
        ..Provenance::default()
    }
}
