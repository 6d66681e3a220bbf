//! Parameters of requests.

use super::error::ApiError;
use crate::http::{Head, Status};
use crate::session::Session;

/// A whole number within bounds.
///
/// # Errors
/// When it is missing without a default, no number, or out of bounds.
pub fn integer(head: &Head, name: &str, default: Option<i64>, (least, most): (i64, i64)) -> Result<i64, ApiError> {
    let wrong = || ApiError::parameter(name, &format!("a whole number from {least} to {most}"));
    let value = match head.target.get(name) {
        Some(text) => text.parse::<i64>().map_err(|_| wrong())?,
        None => default.ok_or_else(wrong)?,
    };
    if (least..=most).contains(&value) { Ok(value) } else { Err(wrong()) }
}

/// The side of a request: `new`, the viewed trace, by default.
///
/// # Errors
/// When there is no such side.
pub fn side(head: &Head, session: &Session) -> Result<usize, ApiError> {
    match head.target.get("of") {
        None | Some("new") => Ok(0),
        Some("base") if session.sides.len() > 1 => Ok(1),
        Some("base") => Err(ApiError(Status::NOT_FOUND, "no other input; start with --compare OTHER".to_owned())),
        Some(_) => Err(ApiError::parameter("of", "new or base")),
    }
}

/// Refuses parameters that a path does not have.
///
/// # Errors
/// When there is one.
pub fn only(head: &Head, known: &[&str]) -> Result<(), ApiError> {
    let is_unknown = |name: &&String| *name != "token" && !known.contains(&name.as_str()) && !name.starts_with("set.");
    match head.target.parameters.iter().map(|(name, _)| name).find(is_unknown) {
        Some(name) => Err(ApiError(Status::BAD_REQUEST, format!("unknown parameter `{name}`"))),
        None => Ok(()),
    }
}
