//! An answer as a section of a document.

use super::error::LlmError;
use super::grounding::{Checked, Suggested};
use super::models::answer_limits;
use super::narrative::LONGEST_MODEL;
use super::request::Reply;
use crate::engine::ColumnUnit;
use crate::findings::{counted, shortened};
use crate::report::document::{Block, MODEL_SECTION, Note, Section, Table};
use crate::report::source_document::text_table;

/// Its paragraphs, what to know about it, what is not in the document, and the commands that it suggests.
///
/// # Errors
/// When the table of commands cannot be made.
pub(crate) fn section(
    reply: &Reply,
    checked: &Checked,
    commands: &[Suggested],
    level: &str,
) -> Result<Section, LlmError> {
    let asked = shortened(&reply.model, LONGEST_MODEL);
    let compared = counted(checked.looked_for as f64, "number");
    let missing = match checked.missing.len() {
        0 => "Everything was found in this document".to_owned(),
        count => format!("{} not found in this document and marked [?]", counted(count as f64, "statement")),
    };
    let incomplete = if reply.is_cut { ", and its end is missing" } else { "" };
    let about = format!(
        "Written by the language model {asked} of {}, from this document at the level {level}; it may be wrong{incomplete}. {compared} and commands \
         were looked for. {missing}.",
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
