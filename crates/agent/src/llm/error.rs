//! Errors of requests to models.

use thiserror::Error;

/// Reasons why a request has no answer.
#[derive(Debug, Error)]
pub enum LlmError {
    /// Unusable options or variables.
    #[error("{0}")]
    Usage(String),
    /// Connections are forbidden.
    #[error("{provider} is not asked because WAVESIEVE_OFFLINE is set; unset it to allow connections")]
    Offline { provider: String },
    /// The provider rejects the key.
    #[error("{provider} did not accept the key{}: {detail}; set {variable}", status_text(*.status))]
    Authentication {
        provider: String,
        /// Status of the response, if any.
        status: Option<u16>,
        detail: String,
        /// The variable that holds the key.
        variable: String,
    },
    /// Too many requests in a short time.
    #[error("{provider} limits the rate of requests: {detail}; try again later, or name another provider in --llm a,b")]
    RateLimit { provider: String, detail: String },
    /// No connection was made, or it broke before any text arrived.
    #[error("cannot reach {provider} at {url}: {reason}; {advice}")]
    Unreachable { provider: String, url: String, reason: String, advice: String },
    /// The answer takes too long.
    #[error("{provider} did not answer within {seconds} s; raise --llm-timeout, or choose a smaller model")]
    Timeout { provider: String, seconds: u64 },
    /// The provider rejects the request.
    #[error("{provider} answered with status {status}: {detail}")]
    Status { provider: String, status: u16, detail: String },
    /// The reply is malformed or empty.
    #[error("{provider} sent no usable answer: {reason}")]
    Reply { provider: String, reason: String },
    /// The model refuses to answer.
    #[error("the model of {provider} refused to answer: {text}")]
    Refused { provider: String, text: String },
    /// The answer had no tokens left for text.
    #[error(
        "the model of {provider} used all {tokens} tokens before it wrote any text; choose a model that thinks less, or lower --llm-thinking"
    )]
    Budget { provider: String, tokens: u32 },
    /// A program that was started for the answer failed.
    #[error("cannot use the program of {provider}: {reason}")]
    Program { provider: String, reason: String },
    /// The request cannot be recorded before it is sent.
    #[error("cannot write --llm-audit {path}: {reason}; nothing was sent")]
    Audit { path: String, reason: String },
    /// A conversation cannot be saved.
    #[error("cannot keep --llm-conversation {path}: {reason}; the answer is in {history}")]
    Conversation { path: String, reason: String, history: String },
    /// The request would have contained private data.
    #[error(
        "nothing was sent to {provider}: a {token} would have remained in the request; report this as a mistake of wavesieve"
    )]
    Leak { provider: String, token: String },
    /// Nothing is sent, because the request is only to be shown.
    #[error("nothing was sent because of --llm-dry-run")]
    DryRun,
    /// No provider of the chain answered.
    #[error("no provider of --llm answered: {}", .0.iter().map(ToString::to_string).collect::<Vec<String>>().join("; "))]
    Exhausted(Vec<LlmError>),
    /// An error in built-in data.
    #[error("internal: {0}")]
    Internal(String),
}

fn status_text(status: Option<u16>) -> String {
    status.map(|status| format!(" (status {status})")).unwrap_or_default()
}

impl LlmError {
    /// Returns whether the user must see it as an error. All others only add a warning to the local analysis.
    pub fn reaches_user(&self) -> bool {
        match self {
            Self::Usage(_) | Self::Authentication { .. } | Self::RateLimit { .. } => true,
            Self::Audit { .. } | Self::Conversation { .. } | Self::Leak { .. } | Self::Internal(_) => true,
            Self::Exhausted(errors) => errors.iter().any(Self::reaches_user),
            _ => false,
        }
    }

    /// Returns whether to ask another provider of the chain: this one is busy, failing or unreachable, or does not have
    /// the model, and the request is valid.
    pub(crate) fn moves_on(&self) -> bool {
        match self {
            Self::RateLimit { .. } | Self::Unreachable { .. } | Self::Timeout { .. } | Self::Program { .. } => true,
            // Another provider may have the model or path.
            Self::Status { status, .. } => *status >= 500 || matches!(*status, 404 | 408 | 410),
            Self::Reply { .. } | Self::Budget { .. } => true,
            _ => false,
        }
    }
}
