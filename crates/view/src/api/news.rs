//! `/api/news` and `/api/closed`: a window looks for news, which keeps it open, and reports its end.

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::ApiError;
use super::parameters::only;
use crate::http::Head;
use crate::session::Session;

/// Maximum length of the id of a window.
const MAX_ID: usize = 64;

/// The id of the window that sent a request.
///
/// # Errors
/// When it is missing or not a short word.
pub fn window(head: &Head) -> Result<&str, ApiError> {
    let id = head.target.get("window").unwrap_or_default();
    if is_window(id) { Ok(id) } else { Err(ApiError::parameter("window", WINDOW)) }
}

/// Form of an id.
pub const WINDOW: &str = "1 to 64 letters and digits";

/// Whether a text is the id of a window: letters and digits.
pub fn is_window(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The number of the last change.
///
/// # Errors
/// When parameters are wrong.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Value, ApiError> {
    only(head, &["window"])?;
    Ok(json!({ "news": session.windows.look(window(head)?) }))
}

/// Closes a window.
///
/// # Errors
/// When parameters are wrong.
pub fn closed(session: &Arc<Session>, head: &Head) -> Result<Value, ApiError> {
    only(head, &["window"])?;
    let id = window(head)?;
    session.workers.stop(id);
    session.windows.close(id);
    Ok(json!({}))
}

/// Stops the statement of a window.
///
/// # Errors
/// When parameters are wrong.
pub fn stopped(session: &Arc<Session>, head: &Head) -> Result<Value, ApiError> {
    only(head, &["window"])?;
    Ok(json!({ "stopped": session.workers.stop(window(head)?) }))
}
