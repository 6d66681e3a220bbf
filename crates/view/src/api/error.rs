//! Reasons why a request has no answer.

use wavesieve_engine::QueryError;
use wavesieve_model::text::causes::with_causes;

use crate::http::{Response, Status};

/// A status with a message.
#[derive(Debug)]
pub struct ApiError(pub Status, pub String);

impl ApiError {
    /// A parameter that does not fit.
    pub fn parameter(name: &str, expected: &str) -> Self {
        Self(Status::BAD_REQUEST, format!("invalid parameter `{name}`: expected {expected}"))
    }

    /// The answer.
    pub fn response(&self) -> Response {
        Response::error(self.0, &self.1)
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(error: anyhow::Error) -> Self {
        Self(Status::INTERNAL, with_causes(&error))
    }
}

impl From<QueryError> for ApiError {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Other(error) => error.into(),
            other => Self(Status::UNPROCESSABLE, other.to_string()),
        }
    }
}
