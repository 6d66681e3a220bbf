//! `/api/findings`: the document of the analysis, computed in the background.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use wavesieve_model::analysis::kernel_names::ReadableNames;
use wavesieve_report::json;

use super::error::ApiError;
use super::parameters::{integer, only};
use crate::background::{Background, Known};
use crate::http::Head;
use crate::session::{Analyzed, Session};

/// Answers a request: the state, and the document once it is there. `start=1` starts the analysis.
///
/// # Errors
/// When parameters are wrong.
pub fn answer(session: &Arc<Session>, head: &Head) -> Result<Value, ApiError> {
    only(head, &["start"])?;
    let starts = integer(head, "start", Some(1), (0, 1))? == 1;
    let command = session.side(0)?.command(&["analyze"], &[]);
    if starts {
        Background::start(session, |session: &Session| &session.findings, analyzed);
    }
    Ok(state(session.findings.peek(), |analyzed| (&analyzed.document, &analyzed.names), &command))
}

fn analyzed(session: &Arc<Session>) -> anyhow::Result<Analyzed> {
    let analyzed = session.analysis.analyze(&session.side(0)?.side.trace)?;
    let picture = analyzed.document.timeline.as_ref().map(|timeline| &timeline.picture);
    Ok(Analyzed {
        document: json::value(&analyzed.document),
        names: names(&analyzed.document.names),
        places: picture.map(|picture| picture.places.clone()).unwrap_or_default(),
        marks: picture.map(|picture| picture.overview.marks.clone()).unwrap_or_default(),
        origin_ns: picture.and_then(|picture| picture.origin_ns.parse().ok()).unwrap_or(0),
    })
}

/// Readable names by full ones.
pub fn names(names: &ReadableNames) -> Value {
    names.pairs().map(|(full, shown)| (full.to_owned(), json!(shown))).collect::<Map<String, Value>>().into()
}

/// The state of a result with its document and the readable names of its kernels.
pub fn state<T>(known: Known<T>, parts: impl Fn(&T) -> (&Value, &Value), command: &str) -> Value {
    match known {
        Known::Idle => json!({ "state": "idle", "command": command }),
        Known::Running => json!({ "state": "running", "command": command }),
        Known::Done(Ok(done)) => {
            let (document, names) = parts(&done);
            json!({ "state": "done", "document": document, "names": names, "command": command })
        }
        Known::Done(Err(reason)) => json!({ "state": "failed", "reason": reason, "command": command }),
    }
}
