//! `--llm`: language models that explain an analysis.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::{Args, ValueEnum};

use super::global::GlobalArguments;
use crate::cli::command_line::CommandLine;
use crate::cli::exit::{DONE, Failure, UNEXPECTED, refuse};
use crate::cli::output::messages;
use crate::cli::output::model_progress::ModelProgress;
use wavesieve_agent::llm::{LlmError, LlmOptions, Narrator, Outcome, Share, Variables};
use wavesieve_engine::Registry;
use wavesieve_report::analysis::Analysis;
use wavesieve_report::document::Note;

/// Servers that speak the protocol of the provider local.
const LOCAL_SERVERS: [&str; 3] = ["ollama", "vllm", "llama.cpp"];

/// How much of an analysis is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShareLevel {
    /// Numbers alone: no names, paths, hosts or users
    #[default]
    Figures,
    /// Also names of kernels and ranges, and texts of findings
    Names,
    /// Also source code of --source-dir
    Source,
}

impl From<ShareLevel> for Share {
    fn from(level: ShareLevel) -> Self {
        match level {
            ShareLevel::Figures => Self::Figures,
            ShareLevel::Names => Self::Names,
            ShareLevel::Source => Self::Source,
        }
    }
}

/// Options of verbs that may ask a language model.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Language models")]
pub(crate) struct LlmArguments {
    /// Ask a language model: anthropic, openai, private, local (Ollama and alike) or claude-code, each with :MODEL if it is not
    /// the default. Of several, the next is asked if one is busy or away
    #[arg(long, value_name = "PROVIDER,…", value_delimiter = ',', env = "WAVESIEVE_LLM", hide_env_values = true)]
    llm: Vec<String>,
    /// Model of the first provider
    #[arg(long, value_name = "MODEL")]
    llm_model: Option<String>,
    /// Model of the provider private
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    llm_private_model: Option<String>,
    /// Model of the provider local
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    llm_local_model: Option<String>,
    /// A server on this machine, as rocinsight has it: the same as --llm local
    #[arg(long, value_name = "NAME", value_parser = LOCAL_SERVERS, hide_short_help = true)]
    llm_local: Option<String>,
    /// Address of the first provider, such as http://localhost:11434/v1
    #[arg(long, value_name = "URL", env = "WAVESIEVE_LLM_URL", hide_env_values = true)]
    llm_url: Option<String>,
    /// Content that is sent; everything else stays on this machine
    #[arg(
        long,
        value_enum,
        value_name = "LEVEL",
        env = "WAVESIEVE_LLM_SHARE",
        hide_env_values = true,
        default_value_t
    )]
    llm_share: ShareLevel,
    /// Print exactly what would be sent, and send nothing
    #[arg(long)]
    llm_dry_run: bool,
    /// Continue the conversation of this file, which is made if it is not there: earlier questions and answers are sent again
    #[arg(long, value_name = "FILE")]
    llm_conversation: Option<PathBuf>,
    /// Let the model sum up the earlier turns of a conversation after every N answers [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), hide_short_help = true)]
    llm_compact_every: Option<u32>,
    /// Append what is sent to this file, as JSON lines
    #[arg(long, value_name = "FILE", env = "WAVESIEVE_LLM_AUDIT", hide_env_values = true)]
    llm_audit: Option<PathBuf>,
    /// Own rules for what is taken out of requests, in the form of share/llm/redaction.toml
    #[arg(long, value_name = "FILE", env = "WAVESIEVE_LLM_REDACT", hide_env_values = true, hide_short_help = true)]
    llm_redact: Option<PathBuf>,
    /// Tokens that the model may think for before it answers (anthropic)
    #[arg(long, value_name = "N", hide_short_help = true)]
    llm_thinking: Option<u32>,
    /// Seconds that the answer may take, with all attempts [default: by provider]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), hide_short_help = true)]
    llm_timeout: Option<u64>,
    /// Ask for the answer as a whole instead of a stream
    #[arg(long, hide_short_help = true)]
    llm_no_stream: bool,
    /// Certificates to trust besides those of the system, in PEM
    #[arg(long, value_name = "FILE", env = "WAVESIEVE_LLM_CA", hide_env_values = true, hide_short_help = true)]
    llm_ca: Option<PathBuf>,
    /// Do not check certificates, and allow keys without encryption
    #[arg(long, hide_short_help = true)]
    llm_insecure: bool,
}

/// How a command ends after a model was asked.
pub(crate) enum Asked {
    /// As it would without a model.
    AsUsual,
    /// With an error that the user must know of, after the document is written.
    Failed,
    /// At once: what would be sent was printed.
    Shown,
}

impl Asked {
    /// The exit code: a failure to ask counts where nothing else does.
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
    /// The same, with requests that are only shown, if a model is named.
    pub(crate) fn dry(self) -> Self {
        let is_named = !self.llm.is_empty() || self.llm_local.is_some();
        Self { llm_dry_run: self.llm_dry_run || is_named, ..self }
    }

    /// The narrator that asks the model; `None` if that is not wanted. Everything is checked before a trace is read.
    pub(crate) fn narrator(&self, global: &GlobalArguments) -> Result<Option<Narrator>, Failure> {
        let mut providers: Vec<String> = self.llm.iter().filter(|name| !name.trim().is_empty()).cloned().collect();
        // An empty variable switches off what a profile sets; an empty option is a slip.
        let is_variable_empty = std::env::var("WAVESIEVE_LLM").is_ok_and(|value| value.trim().is_empty());
        if providers.is_empty() && !self.llm.is_empty() && !is_variable_empty {
            refuse!("--llm names no provider; choose from anthropic, claude-code, local, openai and private");
        }
        if self.llm_local.is_some() && !providers.iter().any(|name| name == "local" || name.starts_with("local:")) {
            providers.push("local".to_owned());
        }
        if providers.is_empty() {
            let alone = [
                (self.llm_dry_run, "--llm-dry-run"),
                (self.llm_insecure, "--llm-insecure"),
                (self.llm_conversation.is_some(), "--llm-conversation"),
                (self.llm_thinking.is_some(), "--llm-thinking"),
            ];
            return match alone.iter().find(|(is_given, _)| *is_given) {
                Some((_, option)) => refuse!("{option} needs a provider; name one with --llm"),
                None => Ok(None),
            };
        }
        let options = LlmOptions {
            providers,
            model: self.llm_model.clone(),
            private_model: self.llm_private_model.clone(),
            local_model: self.llm_local_model.clone(),
            url: self.llm_url.clone(),
            share: self.llm_share.into(),
            is_dry: self.llm_dry_run,
            audit: self.llm_audit.clone(),
            is_insecure: self.llm_insecure,
            authorities: self.llm_ca.clone(),
            thinking: self.llm_thinking,
            redact: self.llm_redact.clone(),
            timeout_s: self.llm_timeout,
            is_whole: self.llm_no_stream,
            conversation: self.llm_conversation.clone(),
            compact_every: self.llm_compact_every,
        };
        let mut narrator = Narrator::new(options, Variables::of_process())?;
        narrator.time = Some(SystemTime::now());
        if !global.quiet {
            for warning in &narrator.warnings {
                messages::print_note(format_args!("warning: {warning}"));
            }
        }
        Ok(Some(narrator))
    }
}

impl LlmArguments {
    /// The same for a session, which keeps its conversation in a file of its own.
    pub(crate) fn narrator_of_session(
        &self,
        conversation: &Path,
        global: &GlobalArguments,
    ) -> Result<Option<Narrator>, LlmError> {
        let is_asked = self.llm.iter().any(|name| !name.trim().is_empty()) || self.llm_local.is_some();
        let own = self.llm_conversation.clone().or_else(|| is_asked.then(|| conversation.to_owned()));
        let arguments = Self { llm_conversation: own, ..self.clone() };
        // The warnings were printed when the options were checked.
        let mut quiet = global.clone();
        quiet.quiet = true;
        arguments.narrator(&quiet).map_err(|failure| LlmError::Usage(failure.to_string()))
    }
}

/// Why this program, whose command line is `own`, does not take a command.
pub(crate) fn check_own(own: &CommandLine<'_>, words: &[String]) -> Option<String> {
    let error = own.whole().clone().try_get_matches_from(words).err().filter(clap::Error::use_stderr)?;
    let text = error.to_string();
    Some(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
}

/// Lets a model write its section, before all others; `own` is the command line of this program, by which commands of the
/// answer are checked. If it cannot, or has no model to ask, the analysis is as it would be without.
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
