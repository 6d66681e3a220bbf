//! `/api/compare`: what differs between both inputs, computed in the background.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::{Value, json};
use wavesieve_report::compare::{CompareOptions, Digest, Side, TakeOptions, compare, document, take_digest};
use wavesieve_report::json;
use wavesieve_report::timeline::{SideTimeline, TimelineReader, compared};

use super::error::ApiError;
use super::findings::{names, state};
use super::parameters::only;
use crate::background::{Background, Known};
use crate::http::{Head, Status};
use crate::session::{Compared, Session, SideState};

/// Answers a request: the state, and the document of the comparison with its picture once they are there.
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
            let digest = |at: usize| -> anyhow::Result<(Digest, SideTimeline)> {
                let trace = &session.side(at)?.side.trace;
                let reader = TimelineReader::new(trace);
                let options = TakeOptions { timeline: Some(&reader), ..TakeOptions::default() };
                let digest = take_digest(trace, &[], &options)?;
                Ok((digest, SideTimeline::new(trace, reader)?))
            };
            let ((base, base_line), (new, new_line)) = (digest(1)?, digest(0)?);
            let comparison = compare(&Side { runs: vec![base] }, &Side { runs: vec![new] }, &CompareOptions::default());
            let (matched, readable) = (comparison.matched_names(), comparison.readable_names());
            let picture = compared(base_line, new_line, &matched, &readable)?;
            let document = document(&comparison).context("cannot present the comparison")?;
            let inputs = [1, 0].map(|at| session.side(at).map(SideState::input));
            let [base_input, new_input] = inputs;
            Ok(Compared {
                document: json::value(&document),
                names: names(&readable),
                picture: serde_json::to_value(&picture)?,
                inputs: [base_input?, new_input?],
            })
        },
    );
    let known = session.comparison.peek();
    let picture = match &known {
        Known::Done(Ok(done)) => {
            let [base, new] = &done.inputs;
            json!({ "picture": done.picture, "base": base, "new": new })
        }
        _ => Value::Null,
    };
    let mut answer = state(known, |compared: &Compared| (&compared.document, &compared.names), &command);
    if let Some(answer) = answer.as_object_mut().filter(|_| !picture.is_null()) {
        answer.insert("timeline".to_owned(), picture);
    }
    Ok(answer)
}
