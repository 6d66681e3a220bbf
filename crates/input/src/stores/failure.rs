//! The meaning of a failed request to a store, in words without credentials.

use std::error::Error as _;

use thiserror::Error;

/// Words in the cause of an expired credential, because the library does not report it as such.
const EXPIRED: [&str; 4] = ["expiredtoken", "token has expired", "expired token", "authenticationfailed"];

/// Reasons of a failed request to a store.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StoreFailure {
    /// The object does not exist.
    #[error("there is no {0}")]
    NotFound(String),
    /// The store does not allow it.
    #[error("the store refuses access to {0}; check the credentials in the environment and what they allow")]
    Refused(String),
    /// The credentials were valid once.
    #[error("the store refuses access to {0}: the credentials have expired; renew them and run the same command again")]
    Expired(String),
    /// No credentials were found.
    #[error(
        "there are no credentials for {0}; set them in the environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )]
    NoCredentials(String),
    /// There is no response in time, or the connection breaks.
    #[error("the store does not answer for {0}; check the address and the network, and run the same command again")]
    NoAnswer(String),
    /// The server cannot do it.
    #[error(
        "the server cannot do this for {0}; use a store that can list, write and delete, or copy the dataset there"
    )]
    Unsupported(String),
    /// Any other error response.
    #[error("the store answers with an error for {0}{1}; run the same command again, or ask who runs it")]
    Error(String, String),
}

impl StoreFailure {
    /// The meaning of an error of the library, for an object with this name.
    pub fn of(error: &object_store::Error, name: &str) -> Self {
        let name = name.to_owned();
        let mut causes = error.to_string().to_lowercase();
        let mut cause = error.source();
        while let Some(inner) = cause {
            causes.push('\n');
            causes.push_str(&inner.to_string().to_lowercase());
            cause = inner.source();
        }
        let has = |words: &[&str]| words.iter().any(|word| causes.contains(word));
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound(name),
            _ if has(&EXPIRED) => Self::Expired(name),
            _ if has(&["169.254.169.254", "metadata.google", "no credentials", "missing credentials"]) => {
                Self::NoCredentials(name)
            }
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                Self::Refused(name)
            }
            object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. } => {
                Self::Unsupported(name)
            }
            _ if has(&["405 method not allowed", "501 not implemented"]) => Self::Unsupported(name),
            _ if has(&["401 unauthorized", "403 forbidden"]) => Self::Refused(name),
            _ if has(&[
                "timed out",
                "timeout",
                "error sending request",
                "connect",
                "connection",
                "dns",
                "error decoding response body",
                "incomplete",
            ]) =>
            {
                Self::NoAnswer(name)
            }
            _ => Self::Error(name, status_in(&causes)),
        }
    }
}

/// The status of a response, such as ` (503 service unavailable)`: the only part of the cause that is safe to repeat.
fn status_in(causes: &str) -> String {
    let statuses = [
        "500 internal server error",
        "502 bad gateway",
        "503 service unavailable",
        "504 gateway timeout",
        "429 too many requests",
        "400 bad request",
    ];
    statuses.iter().find(|status| causes.contains(**status)).map_or_else(String::new, |status| format!(" ({status})"))
}
