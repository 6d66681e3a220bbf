//! A model that calls tools, step by step, until it answers.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::{Environment, context};
use serde_json::Value;

use super::step::DialogueStep;
use super::tools::{Asking, Toolkit};
use crate::llm::{
    Gate, GuideContext, Kept, Listener, LlmError, LlmOptions, Masking, Message, Narrator, Reply, Request, Role, Share,
    ToolCall, ToolResult, Turn, Usage, ask_chain, guide,
};
use crate::mcp::shortened_to;
use wavesieve_engine::{Query, Registry};
use wavesieve_report::analysis::Analysis;
use wavesieve_tables::trace::Trace;

const SYSTEM: &str = data!("templates/llm/ask.md");
const LAST: &str = data!("templates/llm/ask_last.md");

/// Rows of a table that a model gets by default, and at most.
const USUAL_ROWS: usize = 30;
const MOST_ROWS: usize = 200;
/// Maximum bytes of a result that a model gets.
const MOST_BYTES: usize = 16 << 10;
/// Punctuation around words of messages.
const PUNCTUATION: [char; 10] = ['`', '"', '\'', ',', ';', ':', '.', '(', ')', '='];
/// The text in place of an error with names, at the level without names.
const NAMED_ERROR: &str = "the call failed, and the reason has names that are not sent; check its arguments";

/// Receives finished steps.
pub trait StepListener: Listener {
    /// A step is done; `of` is the maximum number of steps.
    fn step(&self, step: &DialogueStep, of: usize);
}

/// Everything that a question needs: the gate, the tools, and the instructions.
pub struct Dialogue<'a> {
    narrator: &'a Narrator,
    gate: Gate,
    tools: Toolkit,
    system: String,
    /// Words from the model itself, which are not secret to it.
    written: BTreeSet<String>,
    /// Names of queries of this program.
    queries: BTreeSet<String>,
    steps: usize,
}

/// The outcome of a question.
pub struct Answered {
    /// The answer, or the reason why there is none.
    pub reply: Result<Reply, LlmError>,
    pub steps: Vec<DialogueStep>,
    /// Tokens of all requests.
    pub usage: Usage,
    /// The outcome of keeping the conversation.
    pub kept: Kept,
}

impl<'a> Dialogue<'a> {
    /// Prepares questions about an analyzed trace and an optional baseline, with a maximum number of steps each.
    ///
    /// # Errors
    /// When the user's own guide cannot be read.
    pub fn new(
        narrator: &'a Narrator,
        analysis: &Analysis,
        registry: &Registry,
        tools: Toolkit,
        baseline: Option<&Trace>,
        steps: usize,
    ) -> Result<Self, LlmError> {
        let share = narrator.options().share;
        let about = GuideContext::new(analysis);
        let mut tags = about.tags();
        // The template of `ask` has separate rules for answers.
        tags.remove("always");
        let guide = guide(&about, &tags, narrator.variables())?;
        // Names of the user's own queries are private.
        let is_shown = |query: &&Query| share >= Share::Names || query.is_builtin();
        let own = registry.iter().filter(|query| query.is_builtin()).map(|query| query.name.clone()).collect();
        let queries: Vec<minijinja::Value> = registry
            .iter()
            .filter(is_shown)
            .map(|query| context! { name => query.name.clone(), title => query.declaration.title.clone() })
            .collect();
        let system = Environment::new().render_str(SYSTEM, context! { steps, queries, guide });
        let system = system.map_err(|error| LlmError::Internal(format!("templates/llm/ask.md: {error}")))?;
        let mut names = narrator.names(analysis);
        for facts in baseline.iter().flat_map(|trace| trace.members()).map(|member| &member.process.facts) {
            for (kind, name) in
                [("HOST", &facts.hostname), ("COMMAND", &facts.command), ("PATH", &Some(facts.path.clone()))]
            {
                if let Some(name) = name {
                    let token = names.name(kind, name);
                    names.alias_anywhere(name, &token);
                }
            }
        }
        let gate = narrator.gate(narrator.redactor(names));
        let (system, written) = (system.trim().to_owned(), BTreeSet::new());
        Ok(Self { narrator, gate, tools, system, written, queries: own, steps })
    }

    /// Asks a question. It may build on earlier ones of the conversation, if any. If it is answered, it becomes a part
    /// of the conversation.
    pub fn ask(&mut self, question: &str, listener: &dyn StepListener) -> Answered {
        let mut answered = self.answered(question, listener);
        if let Ok(reply) = &answered.reply {
            answered.kept = self.narrator.keep(question, reply, &self.gate, listener);
        }
        answered
    }

    fn answered(&mut self, question: &str, listener: &dyn StepListener) -> Answered {
        let asked = Message { role: Role::User, text: question.to_owned() };
        let messages = self.narrator.earlier(&self.gate).into_iter().chain([asked]);
        let messages = messages.map(|message| Message { text: self.sentence(&message.text), ..message }).collect();
        let mut request =
            Request { system: self.system.clone(), messages, tools: self.tools.specs(), ..Request::default() };
        let mut answered = Answered {
            reply: Err(LlmError::DryRun),
            steps: Vec::new(),
            usage: Usage::default(),
            kept: Kept::default(),
        };
        loop {
            if answered.steps.len() >= self.steps {
                request.closing = Some(LAST.trim().to_owned());
            }
            let reply = match ask_chain(&self.gate, self.narrator.endpoints(), &request, listener) {
                Ok(reply) => reply,
                Err(error) => {
                    answered.reply = Err(error);
                    return answered;
                }
            };
            answered.usage += reply.usage;
            request.is_by_text |= reply.is_by_text;
            if reply.calls.is_empty() {
                answered.reply = Ok(reply);
                return answered;
            }
            if request.closing.is_some() {
                // Not every server prevents further calls of a model.
                answered.reply = match reply.text.trim().is_empty() {
                    true => Err(LlmError::Reply {
                        provider: reply.provider,
                        reason: format!(
                            "it calls tools after {} steps instead of answering; raise --steps",
                            self.steps
                        ),
                    }),
                    false => Ok(reply),
                };
                return answered;
            }
            let turn = self.turn(reply, &mut answered.steps, listener);
            request.turns.push(turn);
        }
    }

    /// Executes the calls of a reply.
    fn turn(&mut self, reply: Reply, steps: &mut Vec<DialogueStep>, listener: &dyn StepListener) -> Turn {
        let mut calls = Vec::new();
        {
            let mut redactor = self.gate.redactor().borrow_mut();
            let calls = reply.calls.iter().flat_map(|call| [&call.arguments, &call.name, &call.id]);
            let written = calls.chain([&reply.text]);
            written.filter(|text| !text.is_empty()).for_each(|text| redactor.returns(text));
        }
        for (place, mut call) in reply.calls.into_iter().enumerate() {
            if call.id.is_empty() {
                call.id = format!("call_{}_{place}", steps.len() + 1);
            }
            if steps.len() >= self.steps {
                let text = serde_json::json!({ "error": "no steps are left; answer" }).to_string();
                calls.push((call, ToolResult { text, is_error: true }));
                continue;
            }
            let step = {
                let LlmOptions { share, redact, .. } = self.narrator.options();
                let mut redactor = self.gate.redactor().borrow_mut();
                let mut asking = Asking { share: *share, redact: redact.as_deref(), redactor: &mut redactor };
                self.tools.call(steps.len() + 1, &call, &mut asking)
            };
            listener.step(&step, self.steps);
            let result = ToolResult { text: self.sent(&call, &step), is_error: step.is_error };
            steps.push(step);
            calls.push((call, result));
        }
        Turn { text: reply.text, calls }
    }

    /// The result of a step in the form that a model gets.
    fn sent(&mut self, call: &ToolCall, step: &DialogueStep) -> String {
        let said = said(&call.parsed().map(Value::Object).unwrap_or_default());
        let said = [&[call.arguments.clone(), call.name.clone()][..], &said].concat().join("\n");
        let words = said.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        self.written.extend(words.filter(|word| !word.is_empty()).map(ToOwned::to_owned));
        let asked = call.parsed().and_then(|arguments| arguments.get("rows")?.as_u64());
        let rows = asked.map_or(USUAL_ROWS, |rows| usize::try_from(rows).unwrap_or(MOST_ROWS)).clamp(1, MOST_ROWS);
        let over_tokens = step.over_tokens.as_ref();
        let mut value = over_tokens.map_or(&step.result, |over_tokens| &over_tokens.result).clone();
        if let Some(fields) = value.as_object_mut() {
            // The command is for users, and has paths.
            fields.remove("command");
            if let Some(earlier) = step.earlier {
                let note =
                    format!("the same call as in step {earlier}: do not repeat it, answer or ask something else");
                fields.insert("repeated".to_owned(), Value::from(note));
            }
        }
        // Omitted rows are not prepared; tokens may be longer than names.
        let mut value = shortened_to(value, rows, MOST_BYTES);
        let is_own = self.is_own(call);
        let is_figures = self.narrator.options().share == Share::Figures;
        let is_echo = is_figures && is_echo(call, step, &said);
        if is_figures && step.is_error && !is_echo {
            // A correct guess in the error would become a token, and so be confirmed.
            value = serde_json::json!({ "error": NAMED_ERROR });
        }
        self.masking(over_tokens.map(|tokens| &tokens.originals), &mut |masking| {
            (masking.is_own, masking.repeats, masking.is_echo) = (is_own, step.is_error || is_echo, is_echo);
            masking.result(&mut value);
        });
        let text = shortened_to(value, rows, MOST_BYTES).to_string();
        if is_echo || over_tokens.is_some() {
            self.gate.redactor().borrow_mut().returns(&text);
        }
        text
    }

    /// Returns whether only this program determines the columns of a call's result.
    fn is_own(&self, call: &ToolCall) -> bool {
        let query = call.parsed().and_then(|arguments| Some(arguments.get("query")?.as_str()?.to_owned()));
        call.name != "sql" && query.is_none_or(|query| self.queries.contains(&query))
    }

    fn sentence(&self, text: &str) -> String {
        let mut sentence = String::new();
        self.masking(None, &mut |masking| sentence = masking.sentence(text));
        sentence
    }

    fn masking(&self, originals: Option<&BTreeMap<String, String>>, work: &mut dyn FnMut(&mut Masking<'_>)) {
        let mut redactor = self.gate.redactor().borrow_mut();
        let share = self.narrator.options().share;
        work(&mut Masking { originals, ..Masking::new(share, &mut redactor, &self.written) });
    }

    /// The requests that a dry run would have sent.
    pub fn shown(&self) -> String {
        self.gate.shown()
    }

    /// The name of the level at which it asks.
    pub fn level(&self) -> &'static str {
        self.narrator.options().share.word()
    }

    /// The gate, which knows the texts behind the tokens of an answer.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }
}

/// Returns whether the result of a call has only words of the model and of this program, and no text of the trace. That
/// is true for the program's own queries, and for an error of a call without restored names. `said` is the text from
/// the model.
fn is_echo(call: &ToolCall, step: &DialogueStep, said: &str) -> bool {
    if step.has_names {
        return false;
    }
    // Paths belong to the user, unless the model wrote something similar.
    let is_foreign = |word: &str| word.contains(['/', '\\']) && !said.contains(word.trim_matches(PUNCTUATION));
    let has_path = |error: &str| error.split_whitespace().any(is_foreign);
    match (call.name.as_str(), step.result.get("error").and_then(Value::as_str).filter(|_| step.is_error)) {
        ("tables", None) => true,
        ("findings" | "sql" | "table" | "tables", Some(error)) => !has_path(error),
        (_, Some(_)) => step.is_refused,
        _ => false,
    }
}

/// All texts in arguments, without JSON escapes.
fn said(arguments: &Value) -> Vec<String> {
    match arguments {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(said).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [vec![name.clone()], said(value)].concat()).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_words_of_the_model_and_the_program_are_repeated() {
        for (name, has_names, is_error, error, expected) in [
            ("sql", false, true, "unable to find column \"a\"", true),
            ("sql", false, true, "cannot divide `a/b`", true),
            ("table", false, true, "no column zebra", true),
            ("findings", false, true, "no finding none", true),
            ("analyze", false, true, "no section zebra", false),
            ("zebra", false, true, "no tool zebra", false),
            ("tables", false, false, "", true),
            ("tables", true, false, "", false),
            ("sql", true, true, "invalid window `@train step/999`", false),
            ("sql", false, true, "cannot open /home/falcon/x.db", false),
            ("sql", false, false, "", false),
        ] {
            let call = ToolCall { id: String::new(), name: name.to_owned(), arguments: String::new() };
            let step =
                DialogueStep { is_error, has_names, result: json!({ "error": error }), ..DialogueStep::default() };
            assert_eq!(is_echo(&call, &step, "SELECT a/b FROM kernels"), expected, "{name}: {error}");
            let refused = DialogueStep { is_refused: true, ..step };
            assert!(!is_error || has_names || error.contains('/') || is_echo(&call, &refused, ""), "{name}: {error}");
        }
    }
}
