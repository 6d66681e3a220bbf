//! Turns an answer into a section of a document.

use super::answer::{limited, paragraphs, structured_commands};
use super::error::LlmError;
use super::gate::Gate;
use super::grounding::{Checked, Grounding, Suggested};
use super::models::answer_limits;
use super::request::Reply;
use wavesieve_engine::ColumnUnit;
use wavesieve_engine::findings::{counted, shortened};
use wavesieve_report::document::{Block, MODEL_SECTION, Note, Section, Table};
use wavesieve_report::source_document::text_table;

/// Maximum length of a model name in a document; servers may send anything.
const LONGEST_MODEL: usize = 80;

/// The name of a model for display.
pub fn shown_model(model: &str) -> String {
    shortened(model, LONGEST_MODEL)
}

/// Compares an answer with its source, and makes a section of it; `level` is the level of data that was sent.
pub(crate) fn answer_section(
    mut reply: Reply,
    gate: &Gate,
    grounding: &Grounding<'_>,
    level: &str,
    source: &str,
) -> Result<Section, LlmError> {
    let limits = answer_limits();
    let (texts, is_shortened) = limited(paragraphs(&reply.text), limits);
    if is_shortened {
        let most = counted(limits.characters as f64, "character");
        let text =
            format!("the answer is longer than {most} or {} paragraphs; the rest is left out", limits.paragraphs);
        reply.warnings.push(text);
    }
    let texts: Vec<String> = texts.iter().map(|text| gate.restored(text)).collect();
    let structured: Vec<String> =
        structured_commands(&reply.text).iter().map(|command| gate.restored(command)).collect();
    let commands = grounding.suggested(&texts, &structured);
    section(&reply, &grounding.check(&texts), &commands, level, source)
}

/// Its paragraphs, notes about it, statements without support, and suggested commands.
fn section(
    reply: &Reply,
    checked: &Checked,
    commands: &[Suggested],
    level: &str,
    source: &str,
) -> Result<Section, LlmError> {
    let asked = shown_model(&reply.model);
    let compared = compared(checked, source);
    let incomplete = if reply.is_cut { ", and its end is missing" } else { "" };
    let about = format!(
        "Written by the language model {asked} of {}, from {source} at the level {level}; it may be wrong{incomplete}. {compared}.",
        reply.provider
    );
    let note = |text: &String, is_warning| Block::Note(Note { is_warning, text: text.clone() });
    let mut blocks: Vec<Block> = checked.paragraphs.iter().map(|text| note(text, false)).collect();
    blocks.extend(reply.warnings.iter().map(|text| note(text, true)));
    let most = answer_limits().flaws;
    blocks.extend(checked.missing.iter().take(most).map(|text| note(text, true)));
    if let Some(more) = checked.missing.len().checked_sub(most).filter(|more| *more > 0) {
        blocks.push(note(&format!("{} more are marked [?] above", counted(more as f64, "statement")), true));
    }
    if !commands.is_empty() {
        blocks.push(Block::Table(Box::new(table(commands)?)));
    }
    Ok(Section { id: MODEL_SECTION.to_owned(), title: format!("Answer of the model {asked}"), about, blocks })
}

/// States how many numbers and commands were checked, and how many have no support.
fn compared(checked: &Checked, source: &str) -> String {
    let marked = |count: usize| format!("{} not found in {source} and marked [?]", counted(count as f64, "statement"));
    let looked_for = format!("{} and commands were looked for", counted(checked.looked_for as f64, "number"));
    match (checked.looked_for, checked.missing.len()) {
        (0, 0) => {
            "It has no numbers or commands that could be looked for, so that nothing of it is confirmed".to_owned()
        }
        (0, count) => format!("It has no numbers or commands that could be looked for. {}", marked(count)),
        (_, 0) => format!("{looked_for}. All of them were found in {source}"),
        (_, count) => format!("{looked_for}. {}", marked(count)),
    }
}

fn table(commands: &[Suggested]) -> Result<Table, LlmError> {
    let texts =
        |text: &dyn Fn(&Suggested) -> Option<String>| commands.iter().map(text).collect::<Vec<Option<String>>>();
    let confirmed = |one: &Suggested| Some(if one.problem.is_none() { "yes" } else { "no" }.to_owned());
    let columns = vec![
        ("command", ColumnUnit::Text, "What to run; APP stands for the program", texts(&|one| Some(one.line.clone()))),
        ("confirmed", ColumnUnit::Text, "Whether its program takes these options", texts(&confirmed)),
        ("problem", ColumnUnit::Text, "Why it is not confirmed", texts(&|one| one.problem.clone())),
    ];
    text_table("suggested_commands", "Suggested commands", columns, &["command"])
        .map_err(|error| LlmError::Internal(format!("the table of commands: {error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_found_where_nothing_was_looked_for() {
        for (looked_for, missing, expected) in [
            (0, 0, "so that nothing of it is confirmed"),
            (0, 1, "could be looked for. 1 statement not found in this document and marked [?]"),
            (3, 0, "3 numbers and commands were looked for. All of them were found in this document"),
            (3, 2, "3 numbers and commands were looked for. 2 statements not found"),
        ] {
            let missing = (0..missing).map(|number: usize| number.to_string()).collect();
            let text = compared(&Checked { paragraphs: Vec::new(), missing, looked_for }, "this document");
            assert!(text.contains(expected), "{text}");
            assert_eq!(text.contains("were found"), looked_for > 0 && text.contains("All of them"), "{text}");
        }
    }
}
