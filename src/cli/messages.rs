//! What is said beside an answer: texts on standard output, messages to people on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::LazyLock;
use std::time::Instant;

use super::arguments::GlobalArguments;
use super::exit::Failure;
use crate::trace::Trace;
use crate::trace::schema::{Origin, tables};
use crate::trace::source::Severity;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Begins the measurement of what [`detail`] tells.
pub fn start() {
    LazyLock::force(&START);
}

/// Writes a text to standard output.
///
/// # Errors
/// When it cannot be written; a reader that went away is told apart by [`Failure::is_broken_pipe`].
pub fn print(text: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref())?;
    Ok(out.flush()?)
}

/// Writes a line to standard error. Where nobody can read it there is no way to say so either.
pub fn say(message: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}

/// Writes a line to standard error with the time since the start, where details were asked for.
pub fn detail(global: &GlobalArguments, message: impl Display) {
    if global.verbose && !global.quiet {
        say(format_args!("[{:.2} s] {message}", START.elapsed().as_secs_f64()));
    }
}

/// Warns of what the user should know about the inputs before reading an answer.
pub fn warn(trace: &Trace, global: &GlobalArguments) {
    describe(trace, global);
    if global.quiet {
        return;
    }
    for note in trace.notes().iter().filter(|note| note.severity <= Severity::Warning) {
        match &note.first_key {
            Some(key) => say(format_args!("warning: {key}: {}", note.detail)),
            None => say(format_args!("warning: {}", note.detail)),
        }
    }
}

/// Tells what was recognised and how much it holds, where details were asked for.
pub fn describe(trace: &Trace, global: &GlobalArguments) {
    if !global.verbose || global.quiet {
        return;
    }
    for member in trace.members() {
        let (process, facts) = (&member.process, &member.process.facts);
        let rows: Vec<String> = tables()
            .iter()
            .filter(|table| table.origin == Origin::Source)
            .filter_map(|table| Some((table.name, trace.count_rows(member, table).ok().filter(|rows| *rows > 0)?)))
            .map(|(name, rows)| format!("{name} {rows}"))
            .collect();
        let schema = facts.schema_version.as_deref().unwrap_or("of unknown schema");
        let rows = rows.join(", ");
        detail(global, format_args!("{}: {} {schema}, rank {}: {rows}", facts.path, facts.format, process.rank));
    }
}

/// Lists what could not be read, and tells whether there was any.
pub fn report_damage(trace: &Trace) -> bool {
    let damage = trace.damage();
    for part in &damage {
        if part.part.is_empty() {
            say(format_args!("damaged: {}: {}", part.path, part.cause));
        } else {
            say(format_args!("damaged: {}: {}: {}", part.path, part.part, part.cause));
        }
    }
    if !damage.is_empty() {
        say("the result is partial");
    }
    !damage.is_empty()
}
