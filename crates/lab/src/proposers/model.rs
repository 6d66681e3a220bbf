//! A language model as proposer.

use std::path::{Path, PathBuf};

use minijinja::context;

use super::facts::KernelFacts;
use crate::interactive::edits::Edit;
use crate::interactive::machine::{Analyzed, edit_of_answer};
use wavesieve_agent::llm::{LlmError, Message, Narrator, Request, Role, Share, ask_chain, filled};
use wavesieve_engine::Registry;
use wavesieve_source::kernels::SourceKernel;

const SYSTEM: &str = data!("templates/llm/edit.md");
const REQUEST: &str = data!("templates/llm/optimize_request.md");

/// Maximum number of findings that are sent to a model.
const MOST_FINDINGS: usize = 6;
/// Maximum number of earlier attempts that are sent to a model.
const MOST_TRIED: usize = 4;
/// Maximum bytes of source that are sent to a model.
const SOURCE_BYTES: usize = 60_000;

/// Asks a model for changes.
pub struct ModelProposer<'a> {
    narrator: &'a Narrator,
    analyzed: Analyzed,
}

/// A request for a change to a model.
pub struct Question<'a> {
    /// The root folder.
    pub root: &'a Path,
    /// The file, relative to the root.
    pub file: &'a Path,
    pub text: &'a str,
    pub kernel: &'a SourceKernel,
    pub facts: &'a KernelFacts,
    /// Earlier attempts with their outcomes.
    pub tried: Vec<String>,
    /// The reason why its last answer was rejected.
    pub problem: Option<String>,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Prompted {
    /// A change.
    Edit { edit: Edit, prompt: String, reply: String },
    /// An answer that is not a usable change, with the reason.
    Refused { reason: String, prompt: String, reply: String },
    /// The request that would have been sent.
    Shown(String),
}

impl<'a> ModelProposer<'a> {
    /// Makes a proposer that knows the facts from traces and source.
    ///
    /// # Errors
    /// When the traces cannot be analyzed, or source must not be sent to the model.
    pub fn new(
        narrator: &'a Narrator,
        traces: &[PathBuf],
        source: &Path,
        registry: &Registry,
    ) -> Result<Self, LlmError> {
        check_share(narrator)?;
        let analyzed = Analyzed::new(traces, &[source.to_owned()], registry);
        let analyzed = analyzed.map_err(|error| LlmError::Usage(format!("cannot analyse the runs: {error:#}")))?;
        Ok(Self { narrator, analyzed })
    }

    /// Checks whether a file may be sent to a model.
    ///
    /// # Errors
    /// When it must not be sent, or is too large.
    pub fn check(narrator: &Narrator, file: &Path, text: &str) -> Result<(), LlmError> {
        check_share(narrator)?;
        check_size(file, text)
    }

    /// Asks for a change of the kernel.
    ///
    /// # Errors
    /// When the model does not answer.
    pub fn ask(&self, question: &Question<'_>) -> Result<Prompted, LlmError> {
        check_size(question.file, question.text)?;
        let findings = self.analyzed.items.iter().take(MOST_FINDINGS).map(|item| {
            context! {
                title => item.title.clone(), explanation => item.explanation.clone(), advice => item.advice.clone(),
                priority => item.priority.word(),
            }
        });
        let first = question.tried.len().saturating_sub(MOST_TRIED);
        let values = context! {
            kernel => question.kernel.name.clone(),
            signature => question.text.get(question.kernel.signature.clone()).map(str::to_owned),
            facts => shown(question.facts),
            findings => findings.collect::<Vec<_>>(),
            tried => question.tried.iter().skip(first).cloned().collect::<Vec<_>>(),
            problem => question.problem.clone(),
            file => question.file.display().to_string(),
            source => question.text.to_owned(),
        };
        let prompt = filled("optimize_request.md", REQUEST, values)?;
        let request = Request {
            system: SYSTEM.trim().to_owned(),
            messages: vec![Message { role: Role::User, text: prompt.clone() }],
            ..Request::default()
        };
        let narrator = self.narrator;
        let gate = narrator.gate(narrator.redactor(narrator.names(&self.analyzed.analysis)));
        let reply = match ask_chain(&gate, narrator.endpoints(), &request, &()) {
            Ok(reply) => reply,
            Err(LlmError::DryRun) => return Ok(Prompted::Shown(gate.shown())),
            Err(error) => return Err(error),
        };
        // The record has the prompt in the form that was sent.
        let prompt = gate.redactor().borrow_mut().text(&prompt);
        let answer = gate.restored(&reply.text);
        let refused = |reason: String| Prompted::Refused { reason, prompt: prompt.clone(), reply: answer.clone() };
        if reply.is_cut {
            return Ok(refused("the answer is cut off by its length, and half a change is none".to_owned()));
        }
        Ok(match edit_of_answer(question.root, &answer, question.file) {
            Ok(edit) => Prompted::Edit { edit, prompt, reply: answer },
            Err(reason) => refused(reason),
        })
    }
}

fn check_share(narrator: &Narrator) -> Result<(), LlmError> {
    if narrator.options().share >= Share::Source {
        return Ok(());
    }
    Err(LlmError::Usage("a model can change source only if it may see it; add --llm-share source".to_owned()))
}

fn check_size(file: &Path, text: &str) -> Result<(), LlmError> {
    let (bytes, file) = (text.len(), file.display());
    if bytes <= SOURCE_BYTES {
        return Ok(());
    }
    let advice = "move the kernel into a file of its own";
    Err(LlmError::Usage(format!("{file} has {bytes} bytes; a model is sent {SOURCE_BYTES} at most: {advice}")))
}

fn shown(facts: &KernelFacts) -> Vec<String> {
    let workgroup = facts.work_items.map(|count| format!("workgroups of at most {count} work-items"));
    let stall = facts.stall.map(|share| format!("it waits in {:.0}% of its cycles", 100.0 * share));
    let limits = facts.bottlenecks.as_ref().map(|found| format!("it is limited by: {}", found.join(", ")));
    [workgroup, stall, limits].into_iter().flatten().collect()
}
