//! Texts on standard output, and messages to users on standard error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::LazyLock;
use std::time::Instant;

use crate::cli::exit::Failure;
use crate::cli::options::global::GlobalArguments;
use crate::invocation::{with_stderr, with_stdout};
use wavesieve_input::DEAD_LINK;
use wavesieve_model::schema::anomaly::{Anomaly, Damage, Severity};
use wavesieve_model::schema::{Origin, tables};
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::left_out::LeftOut;

/// Maximum lines of one kind: users do not read more.
const LINES_OF_A_KIND: usize = 20;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Starts the clock of [`detail`].
pub(crate) fn start() {
    LazyLock::force(&START);
}

/// Writes a text to standard output.
///
/// # Errors
/// When it cannot be written; [`Failure::is_broken_pipe`] recognizes a closed output.
pub(crate) fn print(text: impl AsRef<[u8]>) -> Result<(), Failure> {
    Ok(with_stdout(|out| out.write_all(text.as_ref()).and_then(|()| out.flush()))?)
}

/// Writes a line to standard error, without characters that a terminal would take as commands. A failure to write
/// cannot be reported.
pub(crate) fn print_note(message: impl Display) {
    let text = message.to_string();
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(escape_hidden).collect();
    let _ = with_stderr(|out| writeln!(out, "{}", lines.join("\n")));
}

/// Writes a line to standard error, with arguments as for `format!`, unless the user silenced notes.
macro_rules! note {
    ($global:expr, $($text:tt)+) => {
        if !$global.quiet {
            $crate::cli::output::messages::print_note(format_args!($($text)+));
        }
    };
}
pub(crate) use note;

/// Writes a line with the elapsed time to standard error, if details were requested.
pub(crate) fn detail(global: &GlobalArguments, message: impl Display) {
    if global.verbose && !global.quiet {
        print_note(format_args!("[{:.2} s] {message}", START.elapsed().as_secs_f64()));
    }
}

/// Warns about problems of the inputs that affect the answer.
pub(crate) fn warn(trace: &Trace, global: &GlobalArguments) {
    describe(trace, global);
    if global.quiet {
        return;
    }
    let warnings = trace.notes().iter().filter(|note| note.severity <= Severity::Warning);
    let mut by_check: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for note in warnings {
        let key = note.first_key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default();
        by_check.entry(note.check_id).or_default().push(format!("warning: {key}{}", note.detail));
    }
    for lines in by_check.into_values() {
        print_notes(&lines, "warning: ", global);
    }
    let about_ranks = |note: &&Anomaly| note.check_id == "rank_assignment" && note.severity == Severity::Info;
    for note in trace.notes().iter().filter(about_ranks) {
        print_note(format_args!("note: {}", note.detail));
    }
    let dead_links = trace.notes().iter().filter(|note| note.check_id == DEAD_LINK);
    let dead_links: Vec<String> = dead_links
        .map(|note| format!("note: {}: {}", note.first_key.as_deref().unwrap_or_default(), note.detail))
        .collect();
    print_notes(&dead_links, "note: ", global);
}

/// Reports the first lines of a kind and their number, or all lines if details were requested.
pub(crate) fn print_notes(lines: &[String], prefix: &str, global: &GlobalArguments) {
    let shown = if global.verbose { lines.len() } else { LINES_OF_A_KIND };
    for line in lines.iter().take(shown) {
        print_note(line);
    }
    let others = lines.len().saturating_sub(shown);
    if others > 0 {
        print_note(format_args!("{prefix}… {others} more of this kind; -v shows all"));
    }
}

/// Prints the recognized inputs and their sizes, if details were requested.
pub(crate) fn describe(trace: &Trace, global: &GlobalArguments) {
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

/// Notes rows with invalid times, which answers to a request exclude.
pub(crate) fn note_left_out(trace: &Trace, request: &Request, global: &GlobalArguments) -> Result<(), Failure> {
    if global.quiet {
        return Ok(());
    }
    for (table, LeftOut { invalid, all }) in trace.left_out(request)? {
        let name = table.name;
        print_note(format_args!(
            "note: {invalid} of {all} rows of {name} left out: invalid times; see `wavesieve check`"
        ));
    }
    Ok(())
}

/// Lists the data that could not be read, and returns whether there is any.
pub(crate) fn report_damage(trace: &Trace, global: &GlobalArguments) -> bool {
    list_damage(&trace.damage(), global)
}

/// [`report_damage`] for damage that is already known.
pub(crate) fn list_damage(damage: &[Damage], global: &GlobalArguments) -> bool {
    let lines: Vec<String> = damage.iter().map(Damage::line).collect();
    print_notes(&lines, "damaged: ", global);
    if !damage.is_empty() {
        print_note("the result is partial");
    }
    !damage.is_empty()
}
