//! The program: builds the command line, runs the verb, turns failures into messages and exit codes.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::arguments::{GlobalArguments, registry};
use super::exit::{DONE, Failure, UNEXPECTED, USAGE};
use super::{check, convert, info, schema, sql, table};
use crate::engine::Registry;

const ABOUT: &str = "Sifts GPU traces: rocpd databases of any number of ranks into tables, answers and Parquet";

const AFTER_HELP: &str = "\
Look:      info, check, table, sql
Export:    convert
Maintain:  schema

Exit codes: 0 done, 1 unexpected failure, 2 wrong usage or no such file, 3 no trace or no data of the kind asked for,
4 a threshold was exceeded (check), 5 an input was damaged and the result is partial.

Examples:
  wavesieve info traces/
  wavesieve table kernel_summary traces/ --by rank
  wavesieve convert traces/ -o dataset";

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    ExitCode::from(match run() {
        Ok(code) => code,
        Err(failure) => {
            if !failure.is_broken_pipe() {
                eprintln!("error: {}", message(&failure));
            }
            failure.exit_code()
        }
    })
}

fn message(failure: &Failure) -> String {
    match failure {
        Failure::Other(error) => format!("{error:#}"),
        other => other.to_string(),
    }
}

fn run() -> Result<u8, Failure> {
    // User queries become subcommands, so that they must be known before the command line is understood.
    let registry = registry(queries_argument().as_ref())?;
    let matches = match command(&registry).try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            let code = if error.use_stderr() { USAGE } else { DONE };
            // A reader that went away is no failure, and there is nowhere else to say so.
            let _ = error.print();
            return Ok(code);
        }
    };
    let usage = |error: clap::Error| Failure::Usage(error.to_string());
    let global = GlobalArguments::from_arg_matches(&matches).map_err(usage)?;
    use_threads(global.threads());
    let Some((verb, matches)) = matches.subcommand() else { return Ok(UNEXPECTED) };
    match verb {
        "info" => info::run(&parsed(matches)?, &registry, &global),
        "check" => check::run(&parsed(matches)?, &registry, &global),
        "table" => table::run(matches, &registry, &global),
        "sql" => sql::run(&parsed(matches)?, &global),
        "convert" => convert::run(&parsed(matches)?, &global),
        "schema" => schema::run(&parsed(matches)?, &registry),
        other => Err(Failure::Usage(format!("{other} is no verb; see wavesieve --help"))),
    }
}

fn parsed<T: FromArgMatches>(matches: &ArgMatches) -> Result<T, Failure> {
    T::from_arg_matches(matches).map_err(|error| Failure::Usage(error.to_string()))
}

/// The whole command line.
pub fn command(registry: &Registry) -> Command {
    let command = Command::new("wavesieve")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(AFTER_HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(info::InfoArguments::augment_args(Command::new("info")))
        .subcommand(check::CheckArguments::augment_args(Command::new("check")))
        .subcommand(table::command(registry))
        .subcommand(sql::SqlArguments::augment_args(Command::new("sql")))
        .subcommand(convert::ConvertArguments::augment_args(Command::new("convert")))
        .subcommand(schema::SchemaArguments::augment_args(Command::new("schema")));
    GlobalArguments::augment_args(command).about(ABOUT).long_about(ABOUT)
}

/// The value of `--queries` wherever it stands, else that of its environment variable.
fn queries_argument() -> Option<PathBuf> {
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--queries" {
            return arguments.next().map(PathBuf::from);
        }
        let value = argument.to_str().and_then(|text| text.strip_prefix("--queries="));
        if let Some(value) = value {
            return Some(PathBuf::from(value));
        }
    }
    std::env::var_os("WAVESIEVE_QUERIES").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Tells polars, connectorx and the readers how many threads to start. Their pools read it when they first work.
fn use_threads(threads: usize) {
    for name in ["POLARS_MAX_THREADS", "RAYON_NUM_THREADS"] {
        // SAFETY: no other thread runs yet that could read the environment at the same time.
        unsafe { std::env::set_var(name, threads.to_string()) };
    }
}
