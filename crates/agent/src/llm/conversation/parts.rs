//! The data of a question, in parts that are each sent once.

use std::collections::BTreeSet;

use minijinja::context;
use serde_json::{Value, json};

use super::file::hash;
use super::state::Conversation;
use crate::llm::error::LlmError;
use crate::llm::prompt::filled;
use crate::llm::request::{Message, Role};

const TURN: &str = data!("templates/llm/turn.md");

/// A part of the data: the analysis, or the code of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataPart {
    /// The source file; `None` for the analysis.
    pub file: Option<String>,
    pub text: String,
    pub hash: String,
}

/// Splits the data to send: each source file is a separate part.
pub fn parts(mut data: Value) -> Vec<DataPart> {
    let kernels = data.pointer_mut("/source/kernels").map(Value::take);
    let mut files: Vec<(String, Vec<Value>)> = Vec::new();
    for kernel in kernels.as_ref().and_then(Value::as_array).into_iter().flatten() {
        let file = kernel.get("file").and_then(Value::as_str).unwrap_or_default();
        match files.iter_mut().find(|(known, _)| known == file) {
            Some((_, kernels)) => kernels.push(kernel.clone()),
            None => files.push((file.to_owned(), vec![kernel.clone()])),
        }
    }
    let part = |file: Option<String>, text: String| DataPart { hash: hash(text.as_bytes()), file, text };
    let mut parts = vec![part(None, data.to_string())];
    parts.extend(files.into_iter().map(|(file, kernels)| part(Some(file), json!(kernels).to_string())));
    parts
}

impl Conversation {
    /// The messages of a request with the next question, and the hashes of its new parts. Each part is sent where it
    /// was first shared, and only mentioned later; a part that changed is sent again. Questions and answers are sent in
    /// the form that `masked` returns.
    pub(crate) fn with_question(
        &self,
        question: &str,
        parts: &[DataPart],
        tier: u8,
        masked: &dyn Fn(&str) -> String,
    ) -> Result<(Vec<Message>, Vec<String>), LlmError> {
        let mut sent: BTreeSet<String> = BTreeSet::new();
        let mut messages = Vec::new();
        for kept in self.kept() {
            let text = match kept.role {
                Role::Assistant => masked(&kept.content),
                Role::User => {
                    let of_it = parts.iter().filter(|part| kept.shared.contains(&part.hash));
                    let shown: Vec<&DataPart> = of_it.filter(|part| sent.insert(part.hash.clone())).collect();
                    let is_there = |hash: &String| parts.iter().any(|part| part.hash == *hash);
                    let is_gone = !kept.shared.iter().all(is_there);
                    written(&masked(&kept.content), &shown, &[], tier, is_gone, false)?
                }
            };
            messages.push(Message { role: kept.role, text });
        }
        let (already, new): (Vec<&DataPart>, Vec<&DataPart>) = parts.iter().partition(|part| sent.contains(&part.hash));
        let text = written(&masked(question), &new, &already, tier, false, true)?;
        messages.push(Message { role: Role::User, text });
        Ok((messages, new.into_iter().map(|part| part.hash.clone()).collect()))
    }
}

/// A question with its parts, and a mention of the parts above.
fn written(
    question: &str,
    shown: &[&DataPart],
    already: &[&DataPart],
    tier: u8,
    is_gone: bool,
    is_last: bool,
) -> Result<String, LlmError> {
    let data = shown.iter().find(|part| part.file.is_none()).map(|part| part.text.clone());
    let files: Vec<String> = shown.iter().filter(|part| part.file.is_some()).map(|part| part.text.clone()).collect();
    let name = |part: &&DataPart| part.file.clone().unwrap_or_else(|| "the data".to_owned());
    let mentioned: Vec<String> = already.iter().map(name).collect();
    let values = context! { question, data, files, already => mentioned, tier, is_gone, is_last };
    filled("turn.md", TURN, values)
}
