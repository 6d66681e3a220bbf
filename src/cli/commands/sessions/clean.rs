//! `sessions clean`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Args;
use walkdir::WalkDir;

use crate::cli::exit::{DONE, Failure, PARTIAL, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::looping::{FaceArguments, StoreArguments};
use crate::cli::output::messages::{self, note};
use wavesieve_lab::interactive::checkpoints::Repository;
use wavesieve_lab::interactive::face::{Choice, Question, Reply};
use wavesieve_lab::interactive::sessions::{Owner, SessionError, Store};

const DAY: u64 = 86_400;

#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(false).args(["ids", "all", "older_than"]))]
pub(super) struct CleanArguments {
    /// Names of sessions
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Remove all sessions
    #[arg(long)]
    all: bool,
    /// Remove sessions that were not used for so many days
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Remove the checkpoints of the named sessions in this repository too, also where the session itself is gone
    #[arg(long, value_name = "DIR")]
    source_dir: Option<PathBuf>,
    /// Remove without a question
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArguments,
}

/// A session to remove.
struct Target {
    id: String,
    /// The repositories that may have its checkpoints.
    repositories: Vec<Repository>,
    /// Why a repository could not be opened.
    warning: Option<String>,
    checkpoints: usize,
    bytes: u64,
    is_stored: bool,
}

/// Removes sessions.
pub(super) fn run(arguments: &CleanArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let store = arguments.store.store()?;
    let mut code = DONE;
    let warn = |text: String| messages::print_note(format_args!("warning: {text}"));
    let ids = match arguments.ids.as_slice() {
        [] => {
            let (ids, warnings) = chosen(&store, arguments.older_than);
            if !warnings.is_empty() {
                code = PARTIAL;
            }
            warnings.into_iter().for_each(warn);
            ids
        }
        named => named.to_vec(),
    };
    let targets = ids.iter().map(|id| target(&store, id, arguments)).collect::<Result<Vec<Target>, Failure>>()?;
    if targets.is_empty() {
        note!(global, "no sessions to remove in {}", store.directory().display());
        return Ok(code);
    }
    if !arguments.yes && !confirm(&targets, global)? {
        messages::print_note("nothing was removed");
        return Ok(code);
    }
    let (mut sessions, mut checkpoints) = (0, 0);
    for target in targets {
        match remove(&store, &target) {
            Ok(count) => {
                sessions += 1;
                checkpoints += count;
                target.warning.into_iter().for_each(|reason| {
                    warn(format!("checkpoints of session `{}` may be left: {reason}", target.id));
                });
            }
            Err(reason) => {
                code = PARTIAL;
                warn(reason);
            }
        }
    }
    note!(global, "removed {} and {}", counted(sessions, "session"), counted(checkpoints, "checkpoint"));
    Ok(code)
}

/// All own sessions, or those that were unused for this many days, and warnings about files that are not sessions.
fn chosen(store: &Store, days: Option<u32>) -> (Vec<String>, Vec<String>) {
    let (listed, warnings) = store.list();
    let before = days.and_then(|days| SystemTime::now().checked_sub(Duration::from_secs(u64::from(days) * DAY)));
    let is_old = |last: Option<SystemTime>| match (days, before) {
        (None, _) => true,
        (Some(_), Some(before)) => last.is_some_and(|last| last <= before),
        (Some(_), None) => false,
    };
    let own = listed.into_iter().filter(|one| one.owner == Owner::Wavesieve && is_old(one.last_used()));
    let strays = store.strays().into_iter().filter(|(_, last)| is_old(*last)).map(|(id, _)| id);
    (own.map(|one| one.id).chain(strays).collect(), warnings)
}

/// The session with this name.
fn target(store: &Store, id: &str, arguments: &CleanArguments) -> Result<Target, Failure> {
    let named = arguments.source_dir.as_ref();
    let open = |path: &PathBuf| Repository::open(path).map_err(|reason| reason.to_string());
    let named = named
        .map(|path| open(path).map_err(|reason| Failure::Usage(format!("--source-dir {}: {reason}", path.display()))));
    let mut repositories: Vec<Repository> = named.transpose()?.into_iter().collect();
    let mut warning = None;
    let stored = store.is_own(id)?;
    if stored {
        match store.load(id).map(|session| session.repository) {
            Ok(None) => {}
            Ok(Some(path)) => match open(&path) {
                Ok(found) if repositories.iter().all(|known| known.root() != found.root()) => repositories.push(found),
                Ok(_) => {}
                Err(reason) => warning = Some(format!("{}: {reason}", path.display())),
            },
            Err(SessionError::NotFound { .. }) => {}
            Err(error) => warning = Some(error.to_string()),
        }
    }
    let count = |repository: &Repository| {
        let listed = repository.list().unwrap_or_default();
        listed.iter().filter(|one| one.session == id).count()
    };
    let checkpoints = repositories.iter().map(count).sum();
    if !stored && checkpoints == 0 {
        // The session belongs to another program, or does not exist.
        let (path, _) = store.find(id)?;
        return Err(SessionError::Foreign { id: id.to_owned(), path }.into());
    }
    let files = WalkDir::new(store.work_directory(id)).into_iter().flatten().filter_map(|entry| entry.metadata().ok());
    let bytes = files.filter(|data| data.is_file()).map(|data| data.len()).sum();
    Ok(Target { id: id.to_owned(), repositories, warning, checkpoints, bytes, is_stored: stored })
}

/// Removes a session, its checkpoints first: a session without them can still be removed.
fn remove(store: &Store, target: &Target) -> Result<usize, String> {
    let lock = target.is_stored.then(|| store.lock(&target.id)).transpose().map_err(|error| error.to_string())?;
    let mut removed = 0;
    for repository in &target.repositories {
        removed +=
            repository.remove(&target.id).map_err(|error| format!("session `{}` is kept: {error}", target.id))?;
    }
    if let Some(lock) = lock {
        store.remove_locked(lock).map_err(|error| error.to_string())?;
    }
    Ok(removed)
}

/// Asks the user to confirm the removal.
fn confirm(targets: &[Target], global: &GlobalArguments) -> Result<bool, Failure> {
    let mebibytes = targets.iter().map(|target| target.bytes).sum::<u64>() as f64 / 1_048_576.0;
    let checkpoints: usize = targets.iter().map(|target| target.checkpoints).sum();
    let names: Vec<String> = targets.iter().map(|target| format!("  {}\n", target.id)).collect();
    let text = format!(
        "{}Remove {} with {mebibytes:.1} MiB of traces and {}?",
        names.concat(),
        counted(targets.len(), "session"),
        counted(checkpoints, "checkpoint")
    );
    let question = Question {
        id: "sessions.clean",
        text,
        choices: vec![Choice::new("y", "yes"), Choice::new("n", "no")],
        default: Some("n".to_owned()),
        is_long: false,
    };
    match FaceArguments::default().console(global)?.ask(&question)? {
        Reply::Line(answer) => Ok(matches!(answer.to_lowercase().as_str(), "y" | "yes")),
        Reply::End => refuse!("nobody answers; add --yes to remove without a question"),
        Reply::Interrupted => Ok(false),
    }
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
