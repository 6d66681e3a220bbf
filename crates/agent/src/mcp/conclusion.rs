//! Notes for an answer: damage, filters that match nothing, omitted rows, and reasons for missing rows.

use super::answer::ToolAnswer;
use super::failure::{Exit, ToolFailure};
use wavesieve_engine::{Query, why_empty, why_empty_of_tables};
use wavesieve_model::schema;
use wavesieve_model::schema::anomaly::{Damage, Severity};
use wavesieve_tables::columns::requests::Request;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::left_out::LeftOut;
use wavesieve_tables::trace::selection::{explained, lost_ranks, partly_unmatched, untouched};

/// Maximum notes of one kind: clients do not read more.
const NOTES_OF_A_KIND: usize = 10;

/// Adds the notes that the program prints, and the exit code; without rows, also the reason.
pub(super) fn conclude(
    answer: &mut ToolAnswer,
    trace: &Trace,
    request: &Request,
    is_empty: bool,
    query: Option<&Query>,
) -> Result<(), ToolFailure> {
    let warnings = trace.notes().iter().filter(|note| note.severity <= Severity::Warning).map(|note| {
        let key = note.first_key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default();
        format!("warning: {key}{}", note.detail)
    });
    add_notes(answer, warnings);
    let read: Vec<&str> = match query {
        Some(query) => query.declaration.needs.iter().map(String::as_str).collect(),
        None => request.keys().copied().collect(),
    };
    add_notes(answer, untouched(trace.choice(), read.into_iter()).into_iter().map(|note| format!("note: {note}")));
    add_notes(answer, partly_unmatched(trace).into_iter().map(|note| format!("note: {note}")));
    let source_rows =
        |name: &str| query.is_some() || schema::table(name).is_some_and(|table| table.origin.is_derived());
    let counted: Request = request.iter().filter(|(name, _)| source_rows(name)).map(|(k, v)| (*k, v.clone())).collect();
    for (table, LeftOut { invalid, all }) in trace.left_out(&counted)? {
        let name = table.name;
        answer.note(format!("note: {invalid} of {all} rows of {name} left out: invalid times; see the tool check"));
    }
    let unmatched = explained(trace, is_empty, is_empty)?;
    let what = if is_empty { "no rows" } else { "no match" };
    add_notes(answer, unmatched.iter().map(|sentence| format!("{what}: {sentence}")));
    if let Some(lost) = lost_ranks(trace) {
        answer.note(format!("note: {lost}"));
    }
    let is_damaged = add_damage(answer, trace);
    if is_empty && !is_damaged {
        let reason = match (unmatched.is_empty(), query) {
            (false, _) => Some(unmatched.join("; ")),
            (true, Some(query)) => why_empty(trace, query)?,
            (true, None) => None,
        };
        match reason {
            Some(reason) => answer.abstain(reason),
            None if query.is_none() => {}
            None => answer.note("no rows: what was asked for did not occur"),
        }
    }
    Ok(())
}

/// Abstains if the trace has no data for any table of a statement: then its result, no rows or sums of nothing, is
/// meaningless. Adds notes about empty tables if others have rows.
pub(super) fn conclude_tables(
    answer: &mut ToolAnswer,
    trace: &Trace,
    request: &Request,
    rows: usize,
) -> Result<(), ToolFailure> {
    if answer.has_abstained() || !trace.damage().is_empty() {
        return Ok(());
    }
    // If a result has many rows, its sources certainly have some.
    let may_be_empty = |name: &&str| rows <= 1 || schema::table(name).is_some_and(|table| !table.origin.is_derived());
    let reasons = why_empty_of_tables(trace, request.keys().copied().filter(may_be_empty))?;
    // An aggregate of no rows has one row.
    let has_nothing = rows == 0 || rows == 1 && reasons.len() == request.len();
    if !reasons.is_empty() && has_nothing {
        answer.abstain_and_be_done(reasons.join("; "));
    } else if rows == 0 {
        answer.note("no rows: what was asked for did not occur");
    }
    if !has_nothing {
        add_notes(answer, reasons.iter().map(|reason| format!("note: {reason}")));
    }
    Ok(())
}

/// Adds damage of the inputs; the result is partial then.
pub(super) fn add_damage(answer: &mut ToolAnswer, trace: &Trace) -> bool {
    let damage = trace.damage();
    add_notes(answer, damage.iter().map(Damage::line));
    if !damage.is_empty() {
        answer.note("the result is partial");
        answer.exit = Exit::Partial;
    }
    !damage.is_empty()
}

fn add_notes(answer: &mut ToolAnswer, notes: impl Iterator<Item = String>) {
    let notes: Vec<String> = notes.collect();
    let others = notes.len().saturating_sub(NOTES_OF_A_KIND);
    for note in notes.into_iter().take(NOTES_OF_A_KIND) {
        answer.note(note);
    }
    if others > 0 {
        answer.note(format!("… {others} more of this kind"));
    }
}
