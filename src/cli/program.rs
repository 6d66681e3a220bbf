//! The program: builds the command line, runs the command, and turns failures into messages and exit codes.

use std::ffi::OsString;
use std::io::{self, Write};
use std::iter::once;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{ArgMatches, ColorChoice, FromArgMatches};

use super::command_line::CommandLine;
use super::commands::{
    analyze, ask, check, compare, completions, config, convert, info, interactive, lab, licenses, man, mcp, merge,
    package, plan, report, scan, schema, sessions, sql, table, trim, view, workflow,
};
use super::exit::{DONE, Failure, PARTIAL, UNEXPECTED, USAGE, refuse};
use super::options::global::GlobalArguments;
use super::options::query::registry;
use super::output::messages::note;
use super::output::{mail, messages};
use super::reference::arrangement::arranged;
use super::settings::{Settings, selected};
use super::thread_count::startable;
use super::{signals, suggest, written};
use crate::invocation::{self, RunOutcome};
use wavesieve_engine::Registry;
use wavesieve_files::mapped::{others_were_cut, see_to_others};
use wavesieve_model::set_build_name;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    fail_at_limits();
    signals::watch();
    see_to_others();
    let code = exit_code();
    if others_were_cut() {
        messages::print_note(
            "error: a file was cut while it was read, so that what was written of it is wrong; run again when nothing writes it",
        );
        return ExitCode::from(PARTIAL);
    }
    ExitCode::from(code)
}

/// Runs the program inside this process with other arguments, and returns its output. Signals and the number of threads
/// are left to the caller. Verbs that restart the program or use a terminal need a separate process.
pub fn run_in_process<T: Into<OsString>>(arguments: impl IntoIterator<Item = T>) -> RunOutcome {
    let words = once("wavesieve".into()).chain(arguments.into_iter().map(Into::into));
    invocation::run_inside(words.collect(), exit_code)
}

/// Runs the program, and reports a failure.
fn exit_code() -> u8 {
    set_build_name(env!("WAVESIEVE_BUILD"));
    match run() {
        Ok(code) => code,
        Err(failure) => {
            if !failure.is_broken_pipe() {
                messages::print_note(format_args!("error: {}", failure.message()));
            }
            failure.exit_code()
        }
    }
}

fn run() -> Result<u8, Failure> {
    messages::start();
    let settings = Settings::load();
    // User queries become subcommands, so they must be known before the command line is parsed.
    let early = |name, is_path| {
        early_argument(name).or_else(|| settings.as_ref().ok().and_then(|settings| settings.early(name, is_path)))
    };
    let registry = registry(early("queries", true).map(PathBuf::from).as_ref())?;
    let color = match early("color", false).as_deref() {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    let line = CommandLine::new(&registry, color);
    let mut words = invocation::words();
    // Help works with any settings.
    let mut matches = match line.parse(&words, |command| command) {
        Ok(matches) => matches,
        Err(error) => {
            let other = sql::with_file(&words, &error);
            let Some(matches) = other.as_ref().and_then(|words| line.parse(words, |command| command).ok()) else {
                return Ok(show(error, &line));
            };
            words = other.unwrap_or(words);
            matches
        }
    };
    let settings = settings?;
    if !settings.is_empty() {
        settings.check(line.whole())?;
        let verb = selected(&matches);
        matches = match line.parse(&words, |command| settings.apply(command, &verb)) {
            Ok(matches) => matches,
            Err(error) => return Ok(show(error, &line)),
        };
    }
    written::check(&matches, settings.files())?;
    let mut global = GlobalArguments::from_arg_matches(&matches).map_err(Failure::usage)?;
    use_threads(&mut global)?;
    if let Some(note) = settings.ignored() {
        note!(global, "note: {note}");
    }
    for file in settings.files() {
        messages::detail(&global, format_args!("settings of {}", file.display()));
    }
    let code = dispatch(&matches, &registry, &global, &settings, &line)?;
    mail::send_written(matches.subcommand_name().unwrap_or_default(), &global)?;
    messages::detail(&global, "done");
    Ok(code)
}

fn dispatch(
    matches: &ArgMatches,
    registry: &Registry,
    global: &GlobalArguments,
    settings: &Settings,
    line: &CommandLine<'_>,
) -> Result<u8, Failure> {
    let Some((verb, matches)) = matches.subcommand() else { return Ok(UNEXPECTED) };
    match verb {
        "info" => info::run(&parsed(matches)?, registry, global),
        "check" => check::run(&parsed(matches)?, registry, global),
        "table" => table::run(matches, registry, global),
        "sql" => sql::run(&parsed(matches)?, global),
        "analyze" => analyze::run(&parsed(matches)?, registry, line, global),
        "ask" => ask::run(&parsed(matches)?, registry, line, global),
        "report" => report::run(&parsed(matches)?, registry, line, global),
        "interactive" => interactive::run(&parsed(matches)?, registry, line, global),
        "view" => view::run(&parsed(matches)?, registry, global),
        "workflow" => workflow::run(&parsed(matches)?, registry, line, global),
        "lab" => lab::run(&parsed(matches)?, registry, global),
        "sessions" => sessions::run(&parsed(matches)?, registry, line, global),
        "compare" => compare::run(&parsed(matches)?, global),
        "convert" => convert::run(matches, registry, global),
        "trim" => trim::run(&parsed(matches)?, global),
        "merge" => merge::run(&parsed(matches)?, global),
        "package" => package::run(&parsed(matches)?, global),
        "scan" => scan::run(&parsed(matches)?, registry, line, global),
        "plan" => plan::run(&parsed(matches)?, global),
        "mcp" => mcp::run(&parsed(matches)?, registry, global),
        "completions" => completions::run(&parsed(matches)?, line.whole().clone()),
        "man" => man::run(&parsed(matches)?, arranged(line.whole().clone())),
        "licenses" => licenses::run(&parsed(matches)?),
        "config" => config::run(matches, settings, line.whole(), global),
        "schema" => schema::run(&parsed(matches)?, registry, line),
        other => refuse!("unknown command `{other}`; see wavesieve --help"),
    }
}

/// Prints help, or the problem with the command line.
fn show(mut error: clap::Error, line: &CommandLine<'_>) -> u8 {
    suggest::narrow(&mut error, line);
    match print(&error, line) {
        _ if error.use_stderr() => USAGE,
        Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => {
            messages::print_note(format_args!("error: {failed}"));
            UNEXPECTED
        }
        _ => DONE,
    }
}

/// Prints it in colors if the stream and the user allow them.
fn print(error: &clap::Error, line: &CommandLine<'_>) -> io::Result<()> {
    if !invocation::is_inside() {
        return error.print();
    }
    let text = error.render();
    let text = if line.color() == ColorChoice::Always { text.ansi().to_string() } else { text.to_string() };
    let write = |out: &mut dyn Write| out.write_all(text.as_bytes());
    if error.use_stderr() { invocation::with_stderr(write) } else { invocation::with_stdout(write) }
}

fn parsed<T: FromArgMatches>(matches: &ArgMatches) -> Result<T, Failure> {
    T::from_arg_matches(matches).map_err(Failure::usage)
}

/// Turns exceeding the user's file size limit into a write error, so that no partial file stays. By default it would
/// end the program.
fn fail_at_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// The value of a global option at any position, before the options are parsed.
fn early_argument(name: &str) -> Option<String> {
    let mut arguments = invocation::arguments();
    while let Some(argument) = arguments.next().filter(|argument| argument != "--") {
        match argument.strip_prefix("--").and_then(|argument| argument.strip_prefix(name)) {
            Some("") => return arguments.next(),
            Some(value) if value.starts_with('=') => return value.get(1..).map(ToOwned::to_owned),
            _ => {}
        }
    }
    None
}

/// Sets the number of threads for polars, connectorx and the readers. Their pools read it at their first use. Inside
/// another process these pools already exist, and the environment belongs to that process.
fn use_threads(global: &mut GlobalArguments) -> Result<(), Failure> {
    if invocation::is_inside() {
        return Ok(());
    }
    let threads = startable(global.threads())?;
    global.reduce_threads(threads);
    for name in ["POLARS_MAX_THREADS", "RAYON_NUM_THREADS"] {
        // SAFETY: no other thread runs yet that could read the environment at the same time.
        unsafe { std::env::set_var(name, threads.to_string()) };
    }
    Ok(())
}
