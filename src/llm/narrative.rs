//! The section of a document that a model writes.

use super::answer::paragraphs;
use super::chain::{Listener, ask_chain};
use super::environment::Variables;
use super::error::LlmError;
use super::gate::{Gate, GateOptions};
use super::grounding::{Checked, Grounding};
use super::guide::GuideContext;
use super::models::model;
use super::payload::{known_names, payload};
use super::prompt::request;
use super::redaction::{Redactor, Rules, TokenMap};
use super::request::Reply;
use super::settings::{Endpoint, LlmOptions, endpoints};
use super::transport::Security;
use crate::engine::Registry;
use crate::findings::{counted, shortened};
use crate::report::analysis::Analysis;
use crate::report::document::{Block, MODEL_SECTION, Note, Section};

/// Longest name of a model in a document; servers may send anything.
const LONGEST_MODEL: usize = 80;

/// Asks models for a section, with all that was decided before anything is read.
pub(crate) struct Narrator {
    endpoints: Vec<Endpoint>,
    options: LlmOptions,
    variables: Variables,
    rules: Rules,
    /// What to warn of.
    pub warnings: Vec<String>,
}

/// What came of it.
pub(crate) enum Outcome {
    /// A section, and a line about what it took.
    Written { section: Section, line: String },
    /// What would have been sent.
    Shown(String),
}

impl Narrator {
    /// Checks the options.
    ///
    /// # Errors
    /// [`LlmError::Usage`] when they cannot be used.
    pub(crate) fn new(options: LlmOptions, variables: Variables) -> Result<Self, LlmError> {
        let (endpoints, warnings) = endpoints(&options, &variables)?;
        let rules = Rules::new(options.share, options.redact.as_deref())?;
        Ok(Self { endpoints, options, variables, rules, warnings })
    }

    /// Asks for a section about an analysis. `check_own` reports what is wrong with a command of this program.
    ///
    /// # Errors
    /// When there is no answer; [`LlmError::reaches_user`] reports which errors are more than a warning.
    pub(crate) fn narrate(
        &self,
        analysis: &Analysis,
        registry: &Registry,
        check_own: &dyn Fn(&[String]) -> Option<String>,
        listener: &dyn Listener,
    ) -> Result<Outcome, LlmError> {
        let share = self.options.share;
        let mut names = self.names(analysis);
        let mut data = payload(analysis, share, &mut names);
        let mut redactor = self.redactor(names);
        redactor.data(&mut data);
        let request = request(&GuideContext::new(analysis), &data, &self.variables)?;
        let gate = self.gate(redactor);
        let reply = match ask_chain(&gate, &self.endpoints, &request, listener) {
            Ok(reply) => reply,
            Err(LlmError::DryRun) => return Ok(Outcome::Shown(gate.shown())),
            Err(error) => return Err(error),
        };
        let texts: Vec<String> = paragraphs(&reply.text).iter().map(|text| gate.restored(text)).collect();
        let checked = Grounding::new(&analysis.document, registry, check_own).check(&texts);
        let asked = shortened(&reply.model, LONGEST_MODEL);
        let line = format!("asked {asked} of {}: {}", reply.provider, reply.usage.line(&model(&reply.model)));
        Ok(Outcome::Written { section: section(&reply, &checked, share.word(), "this document"), line })
    }
}

impl Narrator {
    /// The names of an analysis that are replaced, and the keys of the providers.
    pub(crate) fn names(&self, analysis: &Analysis) -> TokenMap {
        let mut names = known_names(analysis, self.options.share, &self.variables, &self.rules);
        for secret in self.endpoints.iter().flat_map(Endpoint::secrets) {
            let token = names.token("SECRET", secret, false);
            names.alias(secret, &token);
        }
        names
    }

    /// What takes these names out, by the rules of the level.
    pub(crate) fn redactor(&self, names: TokenMap) -> Redactor {
        Redactor::new(self.rules.clone(), names)
    }

    /// The way out.
    pub(crate) fn gate(&self, redactor: Redactor) -> Gate {
        let security =
            Security { is_insecure: self.options.is_insecure, authorities: self.options.authorities.clone() };
        let options = GateOptions {
            is_offline: self.variables.is_offline(),
            is_dry: self.options.is_dry,
            audit: self.options.audit.clone(),
            security,
        };
        Gate::new(options, redactor)
    }

    /// Who is asked.
    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// What was asked for.
    pub(crate) fn options(&self) -> &LlmOptions {
        &self.options
    }

    /// The environment.
    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }
}

/// The answer as a section: its paragraphs, what to know about it, and what is not in its source.
pub(crate) fn section(reply: &Reply, checked: &Checked, level: &str, source: &str) -> Section {
    let asked = shortened(&reply.model, LONGEST_MODEL);
    let compared = counted(checked.looked_for as f64, "number");
    let missing = match checked.missing.len() {
        0 => format!("Everything was found in {source}"),
        count => format!("{} not found in {source} and marked [?]", counted(count as f64, "statement")),
    };
    let incomplete = if reply.is_cut { ", and its end is missing" } else { "" };
    let about = format!(
        "Written by the language model {asked} of {}, from {source} at the level {level}; it may be wrong{incomplete}. {compared} and commands \
         were looked for. {missing}.",
        reply.provider
    );
    let note = |text: &String, is_warning| Block::Note(Note { is_warning, text: text.clone() });
    let mut blocks: Vec<Block> = checked.paragraphs.iter().map(|text| note(text, false)).collect();
    blocks.extend(reply.warnings.iter().map(|text| note(text, true)));
    blocks.extend(checked.missing.iter().map(|text| note(text, true)));
    Section { id: MODEL_SECTION.to_owned(), title: format!("Answer of the model {asked}"), about, blocks }
}
