//! `sessions show`.

use clap::Args;

use super::arguments::SessionFormat;
use crate::cli::exit::{DONE, Failure};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::looping::{FaceArguments, StoreArguments};
use crate::cli::output::delivery::{to_stdout, write_json};
use wavesieve_lab::interactive::checkpoints::{Checkpoint, Repository};
use wavesieve_lab::interactive::face::{Console, Level};
use wavesieve_lab::interactive::sessions::{EntryKind, HistoryEntry, Session};
use wavesieve_model::analysis::counter_plan::quoted;

#[derive(Args, Clone, Debug)]
pub(super) struct ShowArguments {
    /// Name of the session, or path of its file
    #[arg(value_name = "ID")]
    id: String,
    /// Output format; json is the file of the session
    #[arg(short, long, value_enum, default_value_t, help_heading = "Output")]
    format: SessionFormat,
    #[command(flatten)]
    store: StoreArguments,
}

pub(super) fn run(arguments: &ShowArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let session = arguments.store.store()?.load(&arguments.id)?;
    if arguments.format == SessionFormat::Json {
        to_stdout(|out| write_json(&session, out))?;
        return Ok(DONE);
    }
    let mut console = FaceArguments::default().console(global)?;
    show(&session, &mut console);
    console.finish()?;
    Ok(DONE)
}

fn show(session: &Session, face: &mut Console) {
    let paths = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let application: Vec<String> = session.application.iter().map(|word| quoted(word)).collect();
    let facts = [
        ("session", session.session_id.clone()),
        ("type", session.kind.name().to_owned()),
        ("created", session.created_at.clone()),
        ("last used", session.last_updated.clone()),
        ("source", session.root.display().to_string()),
        ("program", application.join(" ")),
        ("traces", paths(&session.inputs)),
        ("repository", session.repository.as_ref().map(|path| path.display().to_string()).unwrap_or_default()),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        face.say(Level::Text, &format!("{name:<10}  {value}"));
    }
    if !session.history.is_empty() {
        face.say(Level::Heading, "History");
        let rows: Vec<Vec<String>> = session.history.iter().map(entry).collect();
        face.table(&["time", "what", "checkpoint", "summary", "files"], &rows);
    }
    if !session.persistent_menu_items.is_empty() {
        face.say(Level::Heading, "Saved findings");
        let items = session.persistent_menu_items.iter();
        let rows: Vec<Vec<String>> =
            items.map(|item| vec![item.priority.clone(), item.title.clone(), item.added_at.clone()]).collect();
        face.table(&["priority", "title", "added"], &rows);
    }
    match checkpoints(session) {
        Ok(found) if found.is_empty() => {}
        Ok(found) => {
            face.say(Level::Heading, "Checkpoints");
            let rows: Vec<Vec<String>> = found
                .into_iter()
                .map(|one| vec![one.id.to_string(), one.commit.chars().take(12).collect(), one.subject])
                .collect();
            face.table(&["id", "commit", "summary"], &rows);
        }
        Err(reason) => face.say(Level::Warning, &format!("the checkpoints cannot be listed: {reason}")),
    }
}

fn entry(entry: &HistoryEntry) -> Vec<String> {
    let what = match &entry.kind {
        EntryKind::ProfilingRun => "run",
        EntryKind::CodeChange => "change",
        EntryKind::Other(name) => name,
    };
    let traces = entry.db_paths.iter().map(|path| path.display().to_string());
    let files: Vec<String> = entry.files_modified.iter().cloned().chain(traces).collect();
    let checkpoint = entry.checkpoint.map(|id| id.to_string()).unwrap_or_default();
    vec![entry.timestamp.clone(), what.to_owned(), checkpoint, entry.summary.clone(), files.join(", ")]
}

/// The checkpoints of a session; empty for sessions of rocpd.
pub(super) fn checkpoints(session: &Session) -> Result<Vec<Checkpoint>, String> {
    let Some(path) = session.repository.as_ref().filter(|_| session.format > 0) else { return Ok(Vec::new()) };
    let repository = Repository::open(path).map_err(|reason| reason.to_string())?;
    let all = repository.list().map_err(|error| error.to_string())?;
    Ok(all.into_iter().filter(|one| one.session == session.session_id).collect())
}
