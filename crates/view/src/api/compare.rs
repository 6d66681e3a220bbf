//! `/api/compare`: what differs between both inputs, computed in the background.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::Value;
use wavesieve_report::compare::{CompareOptions, Digest, Side, TakeOptions, compare, document, take_digest};
use wavesieve_report::json;

use super::error::ApiError;
use super::findings::state;
use super::parameters::only;
use crate::background::Background;
use crate::http::{Head, Status};
use crate::session::Session;

/// Answers a request: the state, and the document of the comparison once it is there.
///
/// # Errors
/// When there is one input only.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Value, ApiError> {
    only(head, &[])?;
    let Some(base) = session.sides.get(1) else {
        return Err(ApiError(Status::NOT_FOUND, "no other input; start with --compare OTHER".to_owned()));
    };
    let words = |words: &[String]| words.to_vec();
    let new = session.side(0)?;
    let mut after = vec!["--new".to_owned()];
    after.extend(words(&new.side.words));
    let command = base.command(&["compare", "--base"], &after);
    Background::start(
        session,
        |session: &Session| &session.comparison,
        |session| {
            let digest = |at: usize| -> anyhow::Result<Digest> {
                take_digest(&session.side(at)?.side.trace, &[], &TakeOptions::default())
            };
            let (base, new) = (Side { runs: vec![digest(1)?] }, Side { runs: vec![digest(0)?] });
            let compared = document(&compare(&base, &new, &CompareOptions::default()));
            Ok(json::value(&compared.context("cannot present the comparison")?))
        },
    );
    Ok(state(session.comparison.peek(), |document| document, &command))
}
