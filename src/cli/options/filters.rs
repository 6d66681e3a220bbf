//! Notes about the user's filters.

use super::global::GlobalArguments;
use crate::cli::exit::{DONE, Failure, NO_DATA, PARTIAL};
use crate::cli::output::messages::{self, note};
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::{explained, lost_ranks, partly_unmatched, untouched};

/// Reports filters that do not filter some of the tables that are read, or have no effect at all.
pub(crate) fn note_untouched<'a>(trace: &Trace, tables: impl Iterator<Item = &'a str>, global: &GlobalArguments) {
    for sentence in untouched(trace.choice(), tables) {
        note!(global, "note: {sentence}");
    }
}

/// Reports filters that match nothing, and returns whether there are any. Costly checks run only if the result has no
/// rows; then filters that match nothing only in combination are named too.
pub(crate) fn explain_unmatched(trace: &Trace, no_rows: bool, global: &GlobalArguments) -> Result<bool, Failure> {
    print_partly_unmatched(trace, global);
    Ok(print_unmatched(trace, &explained(trace, no_rows, no_rows)?, no_rows, global))
}

/// [`explain_unmatched`] for outputs of all tables, with filters that only large tables can answer.
pub(crate) fn explain_all_unmatched(trace: &Trace, no_rows: bool, global: &GlobalArguments) -> Result<bool, Failure> {
    print_partly_unmatched(trace, global);
    Ok(print_unmatched(trace, &explained(trace, true, no_rows)?, no_rows, global))
}

/// The exit code after writing a result, with reports of damage or of filters that match nothing.
pub(crate) fn end(trace: &Trace, no_rows: bool, global: &GlobalArguments) -> Result<u8, Failure> {
    if messages::report_damage(trace, global) {
        return Ok(PARTIAL);
    }
    Ok(if explain_unmatched(trace, no_rows, global)? { NO_DATA } else { DONE })
}

/// [`end`] for outputs of all tables, with rows.
pub(crate) fn end_of_all(trace: &Trace, global: &GlobalArguments) -> Result<u8, Failure> {
    if messages::report_damage(trace, global) {
        return Ok(PARTIAL);
    }
    Ok(if explain_all_unmatched(trace, false, global)? { NO_DATA } else { DONE })
}

/// Reports which parts of filters match nothing while others do.
pub(crate) fn print_partly_unmatched(trace: &Trace, global: &GlobalArguments) {
    for sentence in partly_unmatched(trace) {
        note!(global, "note: {sentence}");
    }
}

/// Prints these sentences about filters that match nothing, and returns whether there are any.
pub(crate) fn print_unmatched(trace: &Trace, sentences: &[String], no_rows: bool, global: &GlobalArguments) -> bool {
    if !global.quiet {
        if let Some(lost) = lost_ranks(trace) {
            messages::print_note(format_args!("note: {lost}"));
        }
        let what = if no_rows { "no rows" } else { "no match" };
        for sentence in sentences {
            messages::print_note(format_args!("{what}: {sentence}"));
        }
    }
    !sentences.is_empty()
}
