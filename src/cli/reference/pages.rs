//! Common functions of the generators of manual pages and documents: find a command, write many files.

use std::path::Path;

use clap::Command;

use crate::cli::exit::{Failure, refuse};
use wavesieve_engine::closest;
use wavesieve_export::atomic::{make_directory, write_file};

/// The command at the end of a path of names: a verb, or a verb and a query.
pub(crate) fn find<'a>(command: &'a Command, path: &[String]) -> Result<&'a Command, Failure> {
    path.iter().try_fold(command, |command, name| {
        command.find_subcommand(name).ok_or_else(|| {
            let closest = closest(name, command.get_subcommands().map(Command::get_name));
            let suggestion = closest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
            let kind = if command.get_name() == "table" { "query" } else { "verb" };
            Failure::Usage(format!("{name} is not a {kind}{suggestion}; see wavesieve --help"))
        })
    })
}

/// Writes files into a directory, which is created if missing.
pub(crate) fn write(directory: &Path, pages: &[(String, Vec<u8>)]) -> Result<(), Failure> {
    if directory.exists() && !directory.is_dir() {
        refuse!("{} is not a directory; name one with -o", directory.display());
    }
    let _made = make_directory(directory)?;
    for (name, text) in pages {
        write_file(&directory.join(name), |out| Ok(out.write_all(text)?))?;
    }
    Ok(())
}
