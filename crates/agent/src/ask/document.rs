//! The document of a question: the answer, its evidence, and commands to run.

use anyhow::Result;

use super::dialogue::{Answered, Dialogue};
use super::evidence::{evidence_document, tables_of};
use super::search::Suggested;
use super::step::DialogueStep;
use crate::llm::{CheckOwn, Grounding, Reply, answer_section};
use wavesieve_engine::Registry;
use wavesieve_engine::findings::{counted, shortened};
use wavesieve_report::document::{Block, Document, Note, Provenance, QUERIES_SECTION, STEPS_SECTION, Section};

const LONGEST_TITLE: usize = 200;

/// Turns a document into one about the question, with the steps and the grounded answer, if any. `rows` limits the
/// tables, 0 for all.
///
/// # Errors
/// When a table cannot be made.
pub fn add_answer(
    document: &mut Document,
    question: &str,
    answered: &Answered,
    dialogue: &Dialogue<'_>,
    registry: &Registry,
    check_own: CheckOwn<'_>,
    rows: usize,
) -> Result<()> {
    become_answer(document, question, answered.steps.len());
    if let Ok(reply) = &answered.reply {
        let evidence = evidence_document(document, &answered.steps)?;
        let grounding = Grounding::new(&evidence, registry, check_own);
        let reply = Reply { warnings: warnings(reply, &answered.steps), ..reply.clone() };
        let source = "the results of its calls";
        document.sections.push(answer_section(reply, dialogue.gate(), &grounding, dialogue.level(), source)?);
    }
    if !answered.steps.is_empty() {
        document.sections.push(steps_section(&answered.steps, rows)?);
    }
    Ok(())
}

/// Adds the reason for the missing answer, and queries that may answer it.
pub fn add_failure(document: &mut Document, reason: String, suggested: &[Suggested]) {
    document.notes.push(Note { is_warning: true, text: reason });
    document.sections.push(queries_section(suggested));
}

/// A document about a question without a model.
pub(crate) fn document_of(question: &str, summary: String, sections: Vec<Section>) -> Document {
    Document {
        title: title(question),
        summary,
        head: Vec::new(),
        notes: Vec::new(),
        views: Default::default(),
        is_judged: false,
        tier: 1,
        figures: Vec::new(),
        findings: Vec::new(),
        sections,
        provenance: Provenance { version: env!("CARGO_PKG_VERSION").to_owned(), ..Provenance::default() },
        names: Default::default(),
        timeline: None,
    }
}

fn title(question: &str) -> String {
    shortened(question.trim(), LONGEST_TITLE)
}

/// Keeps the parts about the inputs, and removes those about the analysis.
fn become_answer(document: &mut Document, question: &str, steps: usize) {
    document.title = title(question);
    document.summary = format!("A language model was asked; it called tools {}.", counted(steps as f64, "time"));
    document.views = Default::default();
    document.is_judged = false;
    (document.figures, document.findings, document.sections) = (Vec::new(), Vec::new(), Vec::new());
    (document.provenance.left_out, document.provenance.failures) = (Vec::new(), Vec::new());
}

/// Warnings about an answer, for example that no result supports it.
fn warnings(reply: &Reply, steps: &[DialogueStep]) -> Vec<String> {
    let mut warnings = reply.warnings.clone();
    if steps.iter().all(|step| step.is_error) {
        warnings.push("no call of a tool had a result, so that nothing supports the answer".to_owned());
    }
    warnings
}

pub fn note(text: String) -> Block {
    Block::Note(Note { is_warning: false, text })
}

fn steps_section(steps: &[DialogueStep], rows: usize) -> Result<Section> {
    let mut blocks = Vec::new();
    for step in steps {
        blocks.push(note(format!("Step {}: {}: {}", step.number, step.tool, step.outcome())));
        if step.earlier.is_some() || step.is_error {
            continue;
        }
        blocks.extend(step.command.iter().map(|command| note(format!("`{command}`"))));
        for mut table in tables_of(step, rows)? {
            // Several steps may use the same query.
            table.id = format!("step_{}", step.number);
            blocks.push(Block::Table(Box::new(table)));
        }
    }
    let about = if steps.iter().any(|step| step.over_tokens.is_some()) {
        "The calls of the model in order, with commands for the same results. Statements of the model ran over tokens in place of names: \
         where one asks for letters of names, such as their order, length or parts, its command prints something else."
    } else {
        "The calls of the model in order; each command prints the same result."
    };
    Ok(Section {
        id: STEPS_SECTION.to_owned(),
        title: "What the answer rests on".to_owned(),
        about: about.to_owned(),
        blocks,
    })
}

/// Named queries as commands, with their titles.
pub(crate) fn queries_section(suggested: &[Suggested]) -> Section {
    let blocks = suggested
        .iter()
        .flat_map(|one| [note(format!("{}: {}", one.title, one.about)), note(format!("`{}`", one.command))]);
    Section {
        id: QUERIES_SECTION.to_owned(),
        title: "Closest queries".to_owned(),
        about: "Named queries by the words of the question, the best first.".to_owned(),
        blocks: blocks.collect(),
    }
}
