//! `sessions list`.

use std::path::PathBuf;

use clap::Args;

use super::arguments::SessionFormat;
use crate::cli::exit::{DONE, Failure, PARTIAL};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::looping::{FaceArguments, StoreArguments};
use crate::cli::output::delivery::{to_stdout, write_json};
use crate::cli::output::messages::{self, note};
use wavesieve_lab::interactive::sessions::{Listed, Owner};

#[derive(Args, Clone, Debug)]
pub(super) struct ListArguments {
    /// List those of this source directory only
    #[arg(long, value_name = "DIR")]
    source_dir: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, help_heading = "Output")]
    format: SessionFormat,
    #[command(flatten)]
    store: StoreArguments,
}

/// Lists the sessions; warns about files that are not sessions.
pub(super) fn run(arguments: &ListArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let store = arguments.store.store()?;
    let (mut listed, warnings) = store.list();
    if let Some(root) = &arguments.source_dir {
        listed.retain(|one| one.is_of(root));
    }
    warnings.iter().for_each(|text| messages::print_note(format_args!("warning: {text}")));
    match arguments.format {
        SessionFormat::Json => to_stdout(|out| write_json(&listed, out))?,
        SessionFormat::Text if listed.is_empty() => {
            note!(global, "no sessions in {}", store.directory().display());
        }
        SessionFormat::Text => {
            let mut console = FaceArguments::default().console(global)?;
            let head = ["session", "type", "created", "runs", "changes", "findings", "state", "source"];
            console.table(&head, &listed.iter().map(row).collect::<Vec<_>>());
            console.finish()?;
        }
    }
    Ok(if warnings.is_empty() { DONE } else { PARTIAL })
}

fn row(session: &Listed) -> Vec<String> {
    let state = match (session.owner, session.is_in_use) {
        (Owner::Rocpd, _) => "of rocpd",
        (Owner::Wavesieve, true) => "in use",
        (Owner::Wavesieve, false) => "",
    };
    vec![
        session.id.clone(),
        session.kind.name().to_owned(),
        session.created_at.clone(),
        session.runs.to_string(),
        session.changes.to_string(),
        session.items.to_string(),
        state.to_owned(),
        session.root.display().to_string(),
    ]
}
