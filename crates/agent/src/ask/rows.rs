//! Answers without a model: the rows of the query that fits a question, or the reason why there are none.

use std::collections::BTreeSet;

use anyhow::Result;

use super::document::{document_of, note, queries_section};
use super::search::{Fit, Search, Suggested};
use wavesieve_engine::findings::{InputWords, QueryRequest};
use wavesieve_engine::{NameForm, Query, Registry, missing_tables, run_query, run_sql, why_empty};
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_report::document::{
    Block, Document, Note, ROWS_SECTION, Section, answer_table, head_notes, provenance, ranks,
};
use wavesieve_report::overview::Overview;
use wavesieve_tables::derive::health::{Missing, Others, Recorder, missing};
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::{effective, explained};

const DOMAINS: &str = include_str!("domains.sql");

/// The answer to a question without a model.
pub enum Unassisted {
    /// A query answers it.
    Answered(Box<Document>),
    /// A query fits, but its data was not recorded, or filters left no rows.
    NoRows { document: Box<Document>, reason: String },
    /// No query fits with certainty; `examples` are questions that this trace can answer.
    NotUnderstood { examples: Vec<String> },
}

/// A question with its inputs and options.
pub struct Unaided<'a> {
    pub question: &'a str,
    /// Words of the command line that name the inputs and the filters.
    pub words: &'a str,
    /// Rows of the table, 0 for all.
    pub rows: usize,
}

/// Runs the query that fits a question.
///
/// # Errors
/// When a table cannot be read or the query cannot be run.
pub fn unassisted(trace: &Trace, registry: &Registry, asked: &Unaided<'_>) -> Result<Unassisted> {
    let search = Search::new(registry);
    let overview = Overview::of(trace)?;
    let (with_rows, if_found) = overview.queries(trace, registry)?;
    let offered: BTreeSet<&str> = with_rows.iter().chain(&if_found).map(|query| query.name.as_str()).collect();
    let is_offered = |name: &str| offered.contains(name);
    let fits = search.fits(asked.question, asked.words);
    let Some(best) = best(&fits, &is_offered) else {
        // Queries that certainly have rows.
        let has_rows = |name: &str| with_rows.iter().any(|query| query.name == name);
        let examples = search.examples(&has_rows).into_iter().map(str::to_owned).collect();
        return Ok(Unassisted::NotUnderstood { examples });
    };
    let query = registry.get(&best.suggested.query)?;
    let recorded: BTreeSet<&'static str> = overview.filled_tables().into_iter().map(|(name, _)| name).collect();
    let lacking = lacking(trace, query, &search, &recorded)?;
    let mut blocks = Vec::new();
    let mut reason = None;
    let mut readable = ReadableNames::default();
    if is_offered(&query.name) {
        let question = QueryRequest::new(&query.name);
        let answer = run_query(trace, query, &question.options(NameForm::Readable))?;
        readable = answer.readable_names();
        let names: Vec<String> = answer.columns.iter().map(|column| column.name.clone()).collect();
        if answer.frame.height() > 0 {
            let table =
                answer_table(question, &query.declaration, &answer, &names, asked.rows, &InputWords::new(trace))?;
            blocks.push(Block::Table(Box::new(table)));
            blocks.extend(
                not_recorded(&lacking).map(|text| note(format!("These rows lack what was not recorded: {text}."))),
            );
        } else {
            reason = match not_recorded(&lacking) {
                Some(text) => Some(format!("not recorded: {text}")),
                None => why_empty(trace, query)?,
            };
            let (ranks, least) = (ranks(trace).len(), search.least_ranks(&query.name));
            let too_few = || {
                let text =
                    format!("it compares at least {least} ranks, and these inputs have {ranks}; name all of them");
                (ranks < least).then_some(text)
            };
            reason = unmatched(trace)?.or(reason).or_else(too_few);
            if reason.is_none() {
                blocks.push(note("The query ran and found nothing: it has no rows for this trace.".to_owned()));
            }
        }
    } else {
        let tables = missing_tables(query, &recorded);
        let of_tables = || format!("nothing in {}", tables.join(", "));
        let not_there = not_recorded(&lacking).map_or_else(of_tables, |text| format!("not recorded: {text}"));
        reason = Some(unmatched(trace)?.unwrap_or(not_there));
    }
    blocks.extend(
        reason.iter().map(|reason| Block::Note(Note { is_warning: true, text: format!("No rows: {reason}.") })),
    );
    blocks.push(note(format!("`{}`", best.suggested.command)));
    blocks.extend(hints(trace, &search, best, asked.question));
    let others: Vec<Suggested> = fits
        .iter()
        .map(|fit| &fit.suggested)
        .filter(|one| one.query != best.suggested.query && is_offered(&one.query))
        .cloned()
        .collect();
    let mut document = document(trace, query, asked.question, blocks, &others);
    document.names = readable;
    Ok(match reason {
        None => Unassisted::Answered(document),
        Some(reason) => Unassisted::NoRows { document, reason },
    })
}

/// The best query. If its data is missing, another query that is known for the question and has data replaces it.
fn best<'a>(fits: &'a [Fit], is_offered: &dyn Fn(&str) -> bool) -> Option<&'a Fit> {
    let first = fits.first()?;
    let serves = |fit: &&Fit| fit.likeness >= first.likeness && is_offered(&fit.suggested.query);
    fits.iter().find(serves).or(Some(first))
}

/// The kinds of records that a query needs and that the trace lacks.
fn lacking(
    trace: &Trace,
    query: &Query,
    search: &Search<'_>,
    recorded: &BTreeSet<&'static str>,
) -> Result<Vec<Missing>> {
    let recorders: Vec<Recorder> = trace.members().iter().map(|member| Recorder::new(&member.process.facts)).collect();
    let recorder = Recorder {
        is_pytorch: recorders.iter().any(|recorder| recorder.is_pytorch),
        is_other: recorders.iter().any(|recorder| recorder.is_other),
    };
    let has_rows = |table: &str| recorded.contains(table);
    let missing = missing(&has_rows, &domains(trace, recorded)?, Others::default(), recorder);
    let (records, tables) = (search.records(&query.name), missing_tables(query, recorded));
    let is_about = |kind: &Missing| match records {
        [] => tables.iter().any(|table| table == kind.table),
        records => records.iter().any(|what| what == kind.kind),
    };
    Ok(missing.into_iter().filter(is_about).collect())
}

fn domains(trace: &Trace, recorded: &BTreeSet<&'static str>) -> Result<BTreeSet<String>> {
    if !recorded.contains("regions") {
        return Ok(BTreeSet::new());
    }
    let frame = run_sql(trace, DOMAINS)?.with_texts()?.frame;
    Ok(frame.column("domain")?.str()?.iter().flatten().map(str::to_owned).collect())
}

/// Filters that match nothing: then it is unknown what was recorded.
fn unmatched(trace: &Trace) -> Result<Option<String>> {
    Ok(explained(trace, true, false)?.into_iter().next())
}

fn not_recorded(lacking: &[Missing]) -> Option<String> {
    let texts: Vec<String> = lacking.iter().map(Missing::text).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Parts of the question that the rows do not cover.
fn hints(trace: &Trace, search: &Search<'_>, best: &Fit, question: &str) -> Vec<Block> {
    let mut hints = Vec::new();
    if !best.unheard.is_empty() {
        let words: Vec<String> = best.unheard.iter().map(|word| format!("\"{word}\"")).collect();
        hints.push(note(format!("Words of the question that did not count: {}.", words.join(", "))));
    }
    let given: BTreeSet<&str> = effective(trace.choice()).into_iter().map(|(filter, _)| filter.flag()).collect();
    let is_new = |option: &String| !option.split(' ').next().is_some_and(|flag| given.contains(flag));
    let options: Vec<String> = search.options(question).into_iter().filter(is_new).collect();
    if !options.is_empty() {
        let options = options.join("`, `");
        hints.push(note(format!(
            "The rows are about all of the inputs; to keep what the question names, add `{options}`."
        )));
    }
    hints
}

fn document(trace: &Trace, query: &Query, question: &str, blocks: Vec<Block>, others: &[Suggested]) -> Box<Document> {
    let declaration = &query.declaration;
    let mut sections = vec![Section {
        id: ROWS_SECTION.to_owned(),
        title: declaration.title.clone(),
        about: declaration.about.clone(),
        blocks,
    }];
    if !others.is_empty() {
        sections.push(queries_section(others));
    }
    let summary = format!("No language model was asked; the query {} fits the question best.", query.name);
    let mut document = document_of(question, summary, sections);
    document.notes = head_notes(trace, &[], declaration.needs.iter().map(String::as_str));
    document.provenance = provenance(trace);
    Box::new(document)
}
