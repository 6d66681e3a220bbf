//! The section of a document that a model writes.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::SystemTime;

use serde_json::Value;

use super::answer::paragraphs;
use super::chain::{Listener, ask_chain};
use super::conversation::{Conversation, Turn, parts, summary};
use super::environment::Variables;
use super::error::LlmError;
use super::gate::{Gate, GateOptions};
use super::grounding::Grounding;
use super::guide::GuideContext;
use super::models::{important_tables, model};
use super::payload::{Masking, known_names, payload, within};
use super::prompt::{OVERVIEW, request};
use super::redaction::{Redactor, Rules, TokenMap};
use super::request::{Message, Reply, Request};
use super::section::{answer_section, shown_model};
use super::settings::{Endpoint, LlmOptions, endpoints};
use super::transport::Security;
use super::usage::Usage;
use wavesieve_engine::Registry;
use wavesieve_model::text::time::utc;
use wavesieve_report::analysis::Analysis;
use wavesieve_report::document::Section;

/// Asks models for a section. All options are checked before anything is read.
pub struct Narrator {
    endpoints: Vec<Endpoint>,
    options: LlmOptions,
    variables: Variables,
    rules: Rules,
    /// The conversation to continue.
    conversation: Option<RefCell<Conversation>>,
    /// The present time, only for the history of the conversation.
    pub time: Option<SystemTime>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// The outcome of a request.
pub enum Outcome {
    /// A section, and a line about its cost.
    Written {
        section: Section,
        line: String,
        /// Warnings for the user.
        warnings: Vec<String>,
        /// The reason why the conversation could not be saved.
        not_kept: Option<String>,
    },
    /// The request that would have been sent.
    Shown(String),
}

/// The outcome of keeping a turn of a conversation.
#[derive(Default)]
pub struct Kept {
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The reason why its file was not written.
    pub not_kept: Option<String>,
    /// Tokens of a summary.
    pub spent: Option<Usage>,
}

/// A question in the form that the conversation stores.
struct Asked {
    question: String,
    shared: Vec<String>,
}

impl Narrator {
    /// Checks the options.
    ///
    /// # Errors
    /// [`LlmError::Usage`] when they cannot be used.
    pub fn new(mut options: LlmOptions, variables: Variables) -> Result<Self, LlmError> {
        let conversation = Conversation::of_options(&mut options)?;
        let (endpoints, mut warnings) = endpoints(&options, &variables)?;
        let rules = Rules::new(options.share, options.redact.as_deref())?;
        let narrator = Self {
            endpoints,
            variables,
            rules,
            conversation: conversation.map(RefCell::new),
            time: None,
            warnings: Vec::new(),
            options,
        };
        narrator.security().check()?;
        if narrator.options.is_insecure {
            let text = "--llm-insecure: certificates are not checked, so that anyone on the way can read what is sent";
            warnings.push(text.to_owned());
        }
        Ok(Self { warnings, ..narrator })
    }

    fn security(&self) -> Security {
        Security { is_insecure: self.options.is_insecure, authorities: self.options.authorities.clone() }
    }

    /// Requests a section about an analysis. `check_own` returns the problem with a command of this program.
    ///
    /// # Errors
    /// When no provider answers; [`LlmError::reaches_user`] distinguishes errors from warnings.
    pub fn narrate(
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
        // All providers of a chain get the same data, so the smallest limit counts.
        let limits = self.endpoints.iter().filter_map(|endpoint| endpoint.provider.payload_bytes);
        if let Some(most) = limits.min() {
            within(&mut data, most, important_tables());
        }
        let gate = self.gate(redactor);
        if let Some(conversation) = &self.conversation {
            gate.learn(conversation.borrow().names());
        }
        let about = GuideContext::new(analysis);
        let prompt = about.prompt.as_ref().map(|prompt| self.sentence(&gate, prompt));
        let mut request = request(&GuideContext { prompt, ..about.clone() }, &data, &self.variables)?;
        let asked = self.continued(&mut request, &about, data, &gate)?;
        let reply = match ask_chain(&gate, &self.endpoints, &request, listener) {
            Ok(reply) => reply,
            Err(LlmError::DryRun) => return Ok(Outcome::Shown(gate.shown())),
            Err(error) => return Err(error),
        };
        let kept = asked.map(|asked| self.kept(asked, &reply, &gate, listener)).unwrap_or_default();
        let shown = shown_model(&reply.model);
        let mut line = format!("asked {shown} of {}: {}", reply.provider, reply.usage.line(&model(&reply.model)));
        if let Some(usage) = kept.spent {
            line.push_str(&format!("; the earlier turns were summed up: {}", usage.line(&model(&reply.model))));
        }
        let grounding = Grounding::new(&analysis.document, registry, check_own);
        let section = answer_section(reply, &gate, &grounding, share.word(), "this document")?;
        Ok(Outcome::Written { section, line, warnings: kept.warnings, not_kept: kept.not_kept })
    }

    /// Adds the earlier messages to the request, if there is a conversation.
    fn continued(
        &self,
        request: &mut Request,
        about: &GuideContext,
        data: Value,
        gate: &Gate,
    ) -> Result<Option<Asked>, LlmError> {
        let Some(conversation) = &self.conversation else { return Ok(None) };
        let question = about.prompt.clone().unwrap_or_else(|| OVERVIEW.trim().to_owned());
        let masked = |text: &str| self.sentence(gate, text);
        let (messages, shared) = conversation.borrow().with_question(&question, &parts(data), about.tier, &masked)?;
        request.messages = messages;
        Ok(Some(Asked { question, shared }))
    }

    /// Earlier questions and answers of the conversation. The gate then knows their names.
    pub fn earlier(&self, gate: &Gate) -> Vec<Message> {
        let Some(conversation) = &self.conversation else { return Vec::new() };
        let conversation = conversation.borrow();
        gate.learn(conversation.names());
        conversation.messages()
    }

    /// Adds a question and its answer to the conversation, if there is one.
    pub fn keep(&self, question: &str, reply: &Reply, gate: &Gate, listener: &dyn Listener) -> Kept {
        self.kept(Asked { question: question.to_owned(), shared: Vec::new() }, reply, gate, listener)
    }

    /// Adds the answer to the conversation and writes its file.
    fn kept(&self, asked: Asked, reply: &Reply, gate: &Gate, listener: &dyn Listener) -> Kept {
        let Some(conversation) = &self.conversation else { return Kept::default() };
        let mut conversation = conversation.borrow_mut();
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.provider.name == reply.provider);
        let model = endpoint.map_or(reply.model.as_str(), |endpoint| endpoint.model.as_str());
        conversation.held_with(&reply.provider, model, self.options.share);
        let turn = Turn {
            question: gate.remembered(&asked.question),
            answer: gate.remembered(&paragraphs(&reply.text).join("\n\n")),
            shared: asked.shared,
            time: self.time.map(utc),
        };
        let mut spent = None;
        let warnings = conversation.answered(turn, &mut |old| {
            let masked = |one: &Message| Message { text: self.sentence(gate, &one.text), ..one.clone() };
            let old: Vec<Message> = old.iter().map(masked).collect();
            let reply = summary(gate, &self.endpoints, listener, &old)?;
            spent = Some(reply.usage);
            Ok(gate.remembered(&reply.text))
        });
        Kept { warnings, not_kept: conversation.save().err().map(|error| error.to_string()), spent }
    }
}

impl Narrator {
    /// The names of an analysis to redact, and the keys of the providers.
    pub fn names(&self, analysis: &Analysis) -> TokenMap {
        let mut names = known_names(analysis, self.options.share, &self.variables, &self.rules);
        for secret in self.endpoints.iter().flat_map(Endpoint::secrets) {
            let token = names.token("SECRET", secret, false);
            names.alias(secret, &token);
        }
        names
    }

    /// A redactor for these names, with the rules of the level.
    pub fn redactor(&self, names: TokenMap) -> Redactor {
        Redactor::new(self.rules.clone(), names)
    }

    /// A question, or another text of a conversation, masked for the level.
    fn sentence(&self, gate: &Gate, text: &str) -> String {
        let mut redactor = gate.redactor().borrow_mut();
        Masking::new(self.options.share, &mut redactor, &BTreeSet::new()).sentence(text)
    }

    /// Makes the gate for requests.
    pub fn gate(&self, redactor: Redactor) -> Gate {
        let options = GateOptions {
            is_offline: self.variables.is_offline(),
            is_dry: self.options.is_dry,
            audit: self.options.audit.clone(),
            security: self.security(),
        };
        Gate::new(options, redactor)
    }

    /// The providers to ask, in order.
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The options that were given.
    pub fn options(&self) -> &LlmOptions {
        &self.options
    }

    /// The environment.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }
}
