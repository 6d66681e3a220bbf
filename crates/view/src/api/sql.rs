//! `/api/sql`: a statement of the user.

use std::sync::Arc;

use super::error::ApiError;
use crate::http::{Response, Status};
use crate::session::Session;
use crate::statements::Statement;

/// Answers a request.
///
/// # Errors
/// When the body is not JSON with a statement, or the statement cannot be run.
pub fn answer(session: &Arc<Session>, body: &[u8]) -> Result<Response, ApiError> {
    let statement = Statement::parse(body)?;
    let side = &session.side(statement.side(session.sides.len())?)?.side;
    if let Some(answer) = statement.at_once(side)? {
        return Ok(Response::json(Status::OK, answer.to_string().into_bytes()));
    }
    let (code, body) = session.workers.run(&statement)?;
    let known = [Status::OK, Status::BAD_REQUEST, Status::NOT_FOUND, Status::UNPROCESSABLE];
    let status = known.into_iter().find(|status| status.0 == code).unwrap_or(Status::INTERNAL);
    Ok(Response::json(status, body.into_bytes()))
}
