//! `sessions export`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::show::checkpoints;
use crate::cli::exit::{DONE, Failure};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::looping::StoreArguments;
use crate::cli::output::delivery::print_written;
use crate::cli::output::messages;
use wavesieve_export::atomic::write_directory;
use wavesieve_lab::interactive::checkpoints::Repository;
use wavesieve_lab::interactive::edits::Edit;
use wavesieve_lab::interactive::sessions::{EntryKind, Session};

/// Maximum characters of a summary in the name of a patch.
const NAME_CHARACTERS: usize = 40;

#[derive(Args, Clone, Debug)]
pub(super) struct ExportArguments {
    /// Name of the session, or path of its file
    #[arg(value_name = "ID")]
    id: String,
    /// Directory to write, made where there is none, and otherwise empty [default: the name of the session]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write the source files of this checkpoint too
    #[arg(long, value_name = "N")]
    checkpoint: Option<u64>,
    #[command(flatten)]
    store: StoreArguments,
}

/// Writes a session.
pub(super) fn run(arguments: &ExportArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let session = arguments.store.store()?.load(&arguments.id)?;
    let commit = arguments.checkpoint.map(|id| commit(&session, id)).transpose()?;
    let folder = arguments.output.clone().unwrap_or_else(|| PathBuf::from(&session.session_id));
    let patches = patches(&session);
    let mut json = serde_json::to_vec_pretty(&session).map_err(anyhow::Error::from)?;
    json.push(b'\n');
    write_directory(&folder, |folder| {
        let write = |path: PathBuf, bytes: &[u8]| {
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
        };
        write(folder.join("session.json"), &json)?;
        if !patches.is_empty() {
            fs::create_dir(folder.join("patches"))?;
        }
        for (name, text) in &patches {
            write(folder.join("patches").join(name), text.as_bytes())?;
        }
        if let (Some((repository, commit)), Some(id)) = (&commit, arguments.checkpoint) {
            let place = folder.join(format!("checkpoint-{id}"));
            fs::create_dir(&place)?;
            repository.export(commit, &place)?;
        }
        Ok(())
    })?;
    if !global.quiet {
        let count = patches.len();
        let files = if arguments.checkpoint.is_some() { ", and the files of the checkpoint" } else { "" };
        let noun = if count == 1 { "patch" } else { "patches" };
        messages::print_note(format_args!("the session, {count} {noun}{files}"));
    }
    print_written(&folder, global);
    Ok(DONE)
}

/// The repository and the commit of a checkpoint.
fn commit(session: &Session, id: u64) -> Result<(Repository, String), Failure> {
    let usage = |text: String| Failure::Usage(text);
    let name = &session.session_id;
    let of = checkpoints(session).map_err(|reason| usage(format!("no checkpoints of session `{name}`: {reason}")))?;
    let Some(found) = of.iter().find(|one| one.id == id) else {
        let known: Vec<String> = of.iter().map(|one| one.id.to_string()).collect();
        let known =
            if known.is_empty() { "it has none".to_owned() } else { format!("choose from {}", known.join(", ")) };
        return Err(usage(format!("session `{name}` has no checkpoint {id}; {known}")));
    };
    let place = session.repository.as_deref().unwrap_or(Path::new("."));
    let repository = Repository::open(place).map_err(|reason| usage(reason.to_string()))?;
    Ok((repository, found.commit.clone()))
}

/// The changes of a session in order: names of files, and unified diffs.
fn patches(session: &Session) -> Vec<(String, String)> {
    let changes = session.history.iter().filter(|entry| entry.kind == EntryKind::CodeChange);
    let edits = changes.filter_map(|entry| {
        let edit: Edit = serde_json::from_value(entry.edit.clone()?).ok()?;
        Some((edit.diff(), &entry.summary))
    });
    let named = edits.enumerate().map(|(place, (diff, summary))| {
        let plain = |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '-' };
        let words: String = summary.chars().map(plain).collect();
        let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
        let name: String = words.join("-").chars().take(NAME_CHARACTERS).collect();
        let name = name.trim_end_matches('-');
        let name = if name.is_empty() { "change" } else { name };
        (format!("{:04}-{name}.patch", place + 1), diff)
    });
    named.collect()
}
