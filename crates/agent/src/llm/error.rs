//! Errors between a question and an answer.

use thiserror::Error;

/// Why a request has no answer.
#[derive(Debug, Error)]
pub enum LlmError {
    /// The options or variables cannot be used.
    #[error("{0}")]
    Usage(String),
    /// No connection is wanted.
    #[error("{provider} is not asked because WAVESIEVE_OFFLINE is set; unset it to allow connections")]
    Offline { provider: String },
    /// The provider does not accept the key.
    #[error("{provider} did not accept the key{}: {detail}; set {variable}", status_text(*.status))]
    Authentication {
        provider: String,
        /// Status of the reply, if there was one.
        status: Option<u16>,
        detail: String,
        /// The variable that holds the key.
        variable: String,
    },
    /// Too much was asked for in too short a time.
    #[error("{provider} limits the rate of requests: {detail}; try again later, or name another provider in --llm a,b")]
    RateLimit { provider: String, detail: String },
    /// No connection came about, or it broke before there was any text.
    #[error("cannot reach {provider} at {url}: {reason}; {advice}")]
    Unreachable { provider: String, url: String, reason: String, advice: String },
    /// The answer takes too long.
    #[error("{provider} did not answer within {seconds} s; raise --llm-timeout, or choose a smaller model")]
    Timeout { provider: String, seconds: u64 },
    /// The provider does not take the request.
    #[error("{provider} answered with status {status}: {detail}")]
    Status { provider: String, status: u16, detail: String },
    /// The reply cannot be understood, or is empty.
    #[error("{provider} sent no usable answer: {reason}")]
    Reply { provider: String, reason: String },
    /// The model does not want to answer.
    #[error("the model of {provider} refused to answer: {text}")]
    Refused { provider: String, text: String },
    /// The answer had no room for any text.
    #[error(
        "the model of {provider} used all {tokens} tokens before it wrote any text; choose a model that thinks less, or lower --llm-thinking"
    )]
    Budget { provider: String, tokens: u32 },
    /// A program that was started for the answer failed.
    #[error("cannot use the program of {provider}: {reason}")]
    Program { provider: String, reason: String },
    /// The request cannot be written down before it is sent.
    #[error("cannot write --llm-audit {path}: {reason}; nothing was sent")]
    Audit { path: String, reason: String },
    /// A conversation cannot be kept.
    #[error("cannot keep --llm-conversation {path}: {reason}; the answer is in {history}")]
    Conversation { path: String, reason: String, history: String },
    /// The request would have held something that must stay.
    #[error(
        "nothing was sent to {provider}: a {token} would have remained in the request; report this as a mistake of wavesieve"
    )]
    Leak { provider: String, token: String },
    /// Nothing is sent, because it is only to be shown.
    #[error("nothing was sent because of --llm-dry-run")]
    DryRun,
    /// No provider of the chain answered.
    #[error("no provider of --llm answered: {}", .0.iter().map(ToString::to_string).collect::<Vec<String>>().join("; "))]
    Exhausted(Vec<LlmError>),
    /// A mistake in what is built in.
    #[error("internal: {0}")]
    Internal(String),
}

fn status_text(status: Option<u16>) -> String {
    status.map(|status| format!(" (status {status})")).unwrap_or_default()
}

impl LlmError {
    /// Whether it must reach the user as an error; all others leave the local analysis whole, with a warning.
    pub fn reaches_user(&self) -> bool {
        match self {
            Self::Usage(_) | Self::Authentication { .. } | Self::RateLimit { .. } => true,
            Self::Audit { .. } | Self::Conversation { .. } | Self::Leak { .. } | Self::Internal(_) => true,
            Self::Exhausted(errors) => errors.iter().any(Self::reaches_user),
            _ => false,
        }
    }

    /// Whether another provider of the chain may be asked: this one is busy, failing or unreachable, or does not have
    /// the model, and the request is not wrong.
    pub(crate) fn moves_on(&self) -> bool {
        match self {
            Self::RateLimit { .. } | Self::Unreachable { .. } | Self::Timeout { .. } | Self::Program { .. } => true,
            // A model or path that one provider does not have, another may.
            Self::Status { status, .. } => *status >= 500 || matches!(*status, 404 | 408 | 410),
            Self::Reply { .. } | Self::Budget { .. } => true,
            _ => false,
        }
    }
}
