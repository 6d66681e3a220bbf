//! Sessions of rocpd: converts their fields.

use std::path::PathBuf;

use serde_json::Value;

use super::session::{EntryKind, HistoryEntry, Session, SessionKind};
use wavesieve_model::analysis::counter_plan::words;

/// Key of the state of a rocpd workflow.
const STATE: &str = "rocpd_state";

/// Fills the own fields of a session from the fields of rocpd.
pub(super) fn adopt(session: &mut Session) {
    if session.kind == SessionKind::Workflow {
        adopt_workflow(session);
    }
    if session.created_at.is_empty() {
        // Identifiers begin with the time.
        let id = session.session_id.trim_start_matches("workflow_");
        if super::instant(id).is_some() {
            session.created_at = id.chars().take(19).collect();
        }
    }
    if session.last_updated.is_empty() {
        session.last_updated.clone_from(&session.created_at);
    }
    if session.root.as_os_str().is_empty() {
        session.root = session.source_paths.first().cloned().unwrap_or_default();
    }
}

fn adopt_workflow(session: &mut Session) {
    let state = std::mem::take(&mut session.state);
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if session.application.is_empty() {
        let named = session.other.get("app_command").and_then(Value::as_str).map(str::to_owned);
        let line = named.unwrap_or_else(|| text(&state, "app_command"));
        session.application = words(&line).unwrap_or_else(|| vec![line]);
    }
    if session.source_paths.is_empty() {
        session.source_paths = strings(state.get("source_paths")).into_iter().map(PathBuf::from).collect();
    }
    if session.repository.is_none() {
        let root = text(&state, "repo_root");
        session.repository = Some(PathBuf::from(root)).filter(|root| !root.as_os_str().is_empty());
    }
    let listed = |key: &str| state.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let runs = listed("trace_history").into_iter().map(|run| HistoryEntry {
        kind: EntryKind::ProfilingRun,
        timestamp: text(&run, "timestamp"),
        db_paths: Some(text(&run, "db_path")).filter(|path| !path.is_empty()).map(PathBuf::from).into_iter().collect(),
        summary: text(&run, "command"),
        ..HistoryEntry::default()
    });
    let changes = listed("edit_history").into_iter().map(|edit| HistoryEntry {
        kind: EntryKind::CodeChange,
        timestamp: text(&edit, "timestamp"),
        files_modified: Some(text(&edit, "file_path")).filter(|path| !path.is_empty()).into_iter().collect(),
        checkpoint: edit.get("checkpoint_id").and_then(Value::as_u64),
        ..HistoryEntry::default()
    });
    if session.history.is_empty() {
        session.history = runs.chain(changes).collect();
        session.history.sort_by(|one, other| one.timestamp.cmp(&other.timestamp));
    }
    if !state.is_null() {
        session.other.insert(STATE.to_owned(), state);
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let listed = value.and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(Value::as_str).map(str::to_owned).collect()
}
