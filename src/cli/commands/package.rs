//! `package INPUT… -o DIR.rpdb`: an index of rocpd databases.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::cli::exit::{DONE, Failure, PARTIAL, refuse};
use crate::cli::options::database_inputs::{DatabaseArguments, writing_failure};
use crate::cli::options::global::GlobalArguments;
use crate::cli::output::delivery::print_written;
use crate::cli::output::messages::{self, note};
use wavesieve_export::rocpd::{Packaging, package};
use wavesieve_export::target::resolved;
use wavesieve_input::PACKAGE;

/// Write an index of rocpd databases, to use them as one input
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "The folder holds index.yaml, which AMD's rocpd reads too. By default the index refers to the databases
by relative paths: keep the folder in its place next to them. Inputs are never moved.

Copies leave out the recorded environment and the profiler's configuration, which may hold secrets.
The rank that the environment names is kept.

Examples:
  wavesieve package traces/node0 traces/node1 -o run7.rpdb
  wavesieve package traces/node0 -o run7.rpdb --copy && wavesieve info run7.rpdb"
)]
pub(crate) struct PackageArguments {
    #[command(flatten)]
    input: DatabaseArguments,
    /// Folder to write, named *.rpdb; it appears only when it is complete
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Copy the databases into the folder
    #[arg(long)]
    copy: bool,
    /// Copy databases as they are, with the recorded environment and profiler configuration, which may hold secrets
    #[arg(long, requires = "copy")]
    keep_environment: bool,
}

pub(crate) fn run(arguments: &PackageArguments, global: &GlobalArguments) -> Result<u8, Failure> {
    let output = &arguments.output;
    check_folder(output)?;
    let databases = arguments.input.databases(global)?;
    let place = resolved(output);
    if arguments.copy {
        let trace = arguments.input.trace(&databases, global)?;
        let packaging = Packaging::Copy { trace: &trace, keep_environment: arguments.keep_environment };
        package(&databases, output, &place, &packaging).map_err(writing_failure)?;
    } else {
        let compressed = databases.iter().find(|database| database.path.extension().is_some_and(|end| end == "gz"));
        if let Some(database) = compressed {
            let shown = database.path.display();
            note!(global, "note: {shown} is compressed, which AMD's tools do not read; use --copy");
        }
        if arguments.input.names_ranks() {
            refuse!("--rank-from has no place in an index; add --copy, which writes the ranks into the databases");
        }
        let trace = arguments.input.trace(&databases, global)?;
        trace.inspect_structure();
        if messages::report_damage(&trace, global) {
            messages::print_note("note: nothing is written; `wavesieve convert` keeps what can be read");
            return Ok(PARTIAL);
        }
        package(&databases, output, &place, &Packaging::Refer)?;
    }
    print_written(output, global);
    Ok(DONE)
}

/// Rejects a folder that is not named like a package, or is not empty.
fn check_folder(output: &Path) -> Result<(), Failure> {
    let shown = output.display();
    if output.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case(PACKAGE)) {
        refuse!("{shown} is not named like a package; name a folder that ends in .{PACKAGE}");
    }
    if output.is_file() {
        refuse!("{shown} is a file; name another folder");
    }
    if std::fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_some()) {
        refuse!("{shown} is not empty; remove it, or name another folder");
    }
    Ok(())
}
