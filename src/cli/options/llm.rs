//! `--llm`: language models that explain an analysis.

use std::path::Path;
use std::time::SystemTime;

use clap::Args;

use super::global::GlobalArguments;
use crate::cli::command_line::CommandLine;
use crate::cli::exit::{DONE, Failure, UNEXPECTED, refuse};
use crate::cli::output::messages::{self, note};
use crate::cli::output::model_progress::ModelProgress;
use wavesieve_agent::llm::{LlmError, LlmOptions, Narrator, Outcome, Variables};
use wavesieve_engine::Registry;
use wavesieve_report::analysis::Analysis;
use wavesieve_report::document::Note;

/// Options of verbs that may ask a language model.
#[derive(Args, Clone, Debug)]
pub(crate) struct LlmArguments {
    #[command(flatten)]
    options: LlmOptions,
}

/// How a command ends after asking a model.
pub(crate) enum Asked {
    /// The same as without a model.
    AsUsual,
    /// With an error after the document is written, which the user must know.
    Failed,
    /// At once: the request was only printed.
    Shown,
}

impl Asked {
    /// The exit code: a failure of the model counts only if there is no other failure.
    pub(crate) fn exit_code(&self, code: u8) -> u8 {
        if matches!(self, Self::Failed) && code == DONE { UNEXPECTED } else { code }
    }
}

impl From<LlmError> for Failure {
    fn from(error: LlmError) -> Self {
        match error {
            LlmError::Usage(text) => Self::Usage(text),
            other => Self::Other(other.into()),
        }
    }
}

impl LlmArguments {
    /// The same options, with requests that are only shown, if a model is named.
    pub(crate) fn dry(self) -> Self {
        let is_named = !self.options.providers.is_empty() || self.options.local.is_some();
        Self { options: LlmOptions { is_dry: self.options.is_dry || is_named, ..self.options } }
    }

    /// The narrator that asks the model; `None` if no model is requested. All options are checked before a trace is
    /// read.
    pub(crate) fn narrator(&self, global: &GlobalArguments) -> Result<Option<Narrator>, Failure> {
        let options = &self.options;
        let mut providers: Vec<String> =
            options.providers.iter().filter(|name| !name.trim().is_empty()).cloned().collect();
        // An empty variable switches off the model of a profile; an empty option is a mistake.
        let is_variable_empty = std::env::var("WAVESIEVE_LLM").is_ok_and(|value| value.trim().is_empty());
        if providers.is_empty() && !options.providers.is_empty() && !is_variable_empty {
            refuse!("--llm names no provider; choose from anthropic, claude-code, local, openai and private");
        }
        if options.local.is_some() && !providers.iter().any(|name| name == "local" || name.starts_with("local:")) {
            providers.push("local".to_owned());
        }
        if providers.is_empty() {
            let alone = [
                (options.is_dry, "--llm-dry-run"),
                (options.is_insecure, "--llm-insecure"),
                (options.conversation.is_some(), "--llm-conversation"),
                (options.thinking.is_some(), "--llm-thinking"),
            ];
            return match alone.iter().find(|(is_given, _)| *is_given) {
                Some((_, option)) => refuse!("{option} needs a provider; name one with --llm"),
                None => Ok(None),
            };
        }
        let options = LlmOptions { providers, ..options.clone() };
        let mut narrator = Narrator::new(options, Variables::of_process())?;
        narrator.time = Some(SystemTime::now());
        for warning in &narrator.warnings {
            note!(global, "warning: {warning}");
        }
        Ok(Some(narrator))
    }
}

impl LlmArguments {
    /// [`Self::narrator`] for a session, which keeps its conversation in a separate file.
    pub(crate) fn narrator_of_session(
        &self,
        conversation: &Path,
        global: &GlobalArguments,
    ) -> Result<Option<Narrator>, LlmError> {
        let options = &self.options;
        let is_asked = options.providers.iter().any(|name| !name.trim().is_empty()) || options.local.is_some();
        let conversation = options.conversation.clone().or_else(|| is_asked.then(|| conversation.to_owned()));
        let arguments = Self { options: LlmOptions { conversation, ..options.clone() } };
        // The warnings were printed when the options were checked.
        let mut quiet = global.clone();
        quiet.quiet = true;
        arguments.narrator(&quiet).map_err(|failure| LlmError::Usage(failure.to_string()))
    }
}

/// The reason why this program, whose command line is `own`, rejects a command.
pub(crate) fn check_own(own: &CommandLine<'_>, words: &[String]) -> Option<String> {
    let error = own.whole().clone().try_get_matches_from(words).err().filter(clap::Error::use_stderr)?;
    let text = error.to_string();
    Some(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
}

/// Lets a model write its section, before all others; `own` is the command line of this program, which checks the
/// commands of the answer. Without a model, or if the model fails, the analysis stays the same.
pub(crate) fn narrate(
    narrator: Option<&Narrator>,
    analysis: &mut Analysis,
    registry: &Registry,
    own: &CommandLine<'_>,
    global: &GlobalArguments,
) -> Result<Asked, Failure> {
    let Some(narrator) = narrator else { return Ok(Asked::AsUsual) };
    let check_own = |words: &[String]| check_own(own, words);
    let progress = ModelProgress::new(global);
    let outcome = narrator.narrate(analysis, registry, &check_own, &progress);
    progress.finish();
    match outcome {
        Ok(Outcome::Written { section, line, warnings, not_kept }) => {
            analysis.document.sections.insert(0, section);
            if !global.quiet {
                messages::print_note(line);
                warnings.iter().for_each(|text| messages::print_note(format_args!("warning: {text}")));
            }
            let Some(error) = not_kept else { return Ok(Asked::AsUsual) };
            messages::print_note(format_args!("error: {error}"));
            Ok(Asked::Failed)
        }
        Ok(Outcome::Shown(text)) => {
            messages::print(text)?;
            Ok(Asked::Shown)
        }
        Err(LlmError::Usage(text)) => Err(Failure::Usage(text)),
        Err(error) => {
            let text = format!("no model explains this analysis: {error}");
            let must_know = error.reaches_user();
            messages::print_note(format_args!("{}: {text}", if must_know { "error" } else { "warning" }));
            analysis.document.notes.push(Note { is_warning: true, text });
            Ok(if must_know { Asked::Failed } else { Asked::AsUsual })
        }
    }
}
