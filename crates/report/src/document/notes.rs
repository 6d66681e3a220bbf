//! Notes to read before the first number.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::model::Note;
use wavesieve_engine::findings::{Finding, InputWords, caveats, counted};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_model::text::hidden::escape_hidden;
use wavesieve_tables::trace::Trace;
use wavesieve_tables::trace::selection::{Filter, UNIT, beyond, effective, lost_ranks, partly_unmatched, untouched};

/// Maximum number of notes of a kind that are written out; the rest is counted.
const NOTES_OF_A_KIND: usize = 3;

/// Longest clause of the line about what makes numbers wrong.
const LONGEST_CLAUSE: usize = 70;
/// Clauses of that line; the rest is counted.
const CLAUSES: usize = 2;
/// End of that line.
const SEE_END: &str = "; see the end.";

/// The lines before the first finding: what makes numbers wrong, and the effective filters.
pub fn head(trace: &Trace, unmatched: &[String], findings: &[Finding]) -> Vec<Note> {
    let damaged = Some(trace.damage().len()).filter(|parts| *parts > 0);
    let damaged = damaged.map(|parts| format!("{} of the inputs could not be read", counted(parts as f64, "part")));
    let no_match =
        unmatched.iter().cloned().chain(partly_unmatched(trace)).map(|sentence| format!("no match: {sentence}"));
    let lost = lost_ranks(trace).map(|sentence| format!("of the ranks, {sentence}"));
    let clauses: Vec<String> = damaged.into_iter().chain(no_match).chain(lost).chain(caveats(findings)).collect();
    let mut line: String = clauses.iter().take(CLAUSES).map(|clause| clipped(clause, LONGEST_CLAUSE)).join("; ");
    if clauses.len() > CLAUSES {
        line.push_str(&format!("; {} more", clauses.len() - CLAUSES));
    }
    let wrong = (!line.is_empty()).then(|| Note { is_warning: true, text: format!("{line}{SEE_END}") });
    let filters = filters(trace);
    let filters = (!filters.is_empty()).then(|| Note { is_warning: false, text: format!("filters: {filters}.") });
    wrong.into_iter().chain(filters).collect()
}

/// The line about what makes numbers wrong with its first clause only, for narrow screens. Other lines stay.
pub(crate) fn first_clause(line: &str) -> String {
    let clauses = line.strip_suffix(SEE_END).and_then(|clauses| clauses.split_once("; "));
    clauses.map_or_else(|| line.to_owned(), |(first, _)| format!("{first}; more at the end."))
}

/// A text with at most this many characters. It is cut at the end of a word, because a cut in the middle joins words to
/// false sentences.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    let text = escape_hidden(text);
    if text.chars().count() <= most {
        return text.into_owned();
    }
    // Room for a backtick and the sign.
    let kept: String = text.chars().take(most.saturating_sub(2)).collect();
    let is_whole = text.get(kept.len()..).is_some_and(|rest| rest.starts_with(' '));
    let words = if is_whole { None } else { kept.rsplit_once(' ') };
    let words = words.map_or(kept.as_str(), |(words, _)| words).trim_end_matches([' ', ',', ';', ':']);
    let closing = if words.matches('`').count() % 2 == 1 { "`" } else { "" };
    format!("{words}…{closing}")
}

/// The effective filters as code. Values from a model would come back as tokens if they are names.
fn filters(trace: &Trace) -> String {
    let is_masked = trace.choice().is_masked();
    let filters = effective(trace.choice()).into_iter();
    filters
        .map(
            |(filter, value)| {
                if is_masked { format!("`{}`", filter.flag()) } else { format!("`{} {value}`", filter.flag()) }
            },
        )
        .join(" ")
}

/// Notes about a trace as a whole: the effective filters, filters that match nothing, suspicious facts about the
/// inputs, and parts that could not be read. `figures` are the tables behind the times of GPUs.
pub fn head_notes<'a>(trace: &Trace, unmatched: &[String], figures: impl Iterator<Item = &'a str>) -> Vec<Note> {
    let note = |is_warning: bool, text: String| Note { is_warning, text };
    let mut notes = Vec::new();
    let filters = filters(trace);
    if !filters.is_empty() {
        let mut text = format!("Numbers are of what these filters choose: {filters}.");
        let beyond: Vec<&str> = beyond(trace.choice(), figures).into_iter().map(Filter::flag).collect();
        if !beyond.is_empty() {
            let flags = beyond.join("`, `");
            text.push_str(&format!(" But `{flags}` cannot choose among times of a GPU as a whole: span, busy, computing, communicating, copying and idle time are of all work, and so is what is found in them."));
        }
        notes.push(note(false, text));
    }
    let unit = &trace.choice().unit;
    if !unit.is_auto() {
        let effect = if unit.is_certain() {
            " chooses the unit of work: iterations, layers, warm-up and steady part are of it."
        } else {
            ": no unit of work, so no warm-up and no steady part."
        };
        notes.push(note(false, format!("`{UNIT} {unit}`{effect}")));
    }
    let partly = partly_unmatched(trace);
    notes.extend(unmatched.iter().chain(&partly).map(|sentence| note(true, format!("No match: {sentence}."))));
    notes.extend(lost_ranks(trace).map(|sentence| note(true, format!("Of the ranks, {sentence}."))));
    let mut by_check: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for anomaly in trace.notes().iter().filter(|anomaly| anomaly.severity <= Severity::Warning) {
        let key = anomaly.first_key.as_ref().map(|key| format!("{key}: ")).unwrap_or_default();
        by_check.entry(anomaly.check_id).or_default().push(format!("{key}{}.", anomaly.detail));
    }
    for (check, texts) in by_check {
        let others = texts.len().saturating_sub(NOTES_OF_A_KIND);
        notes.extend(texts.into_iter().take(NOTES_OF_A_KIND).map(|text| note(true, text)));
        if others > 0 {
            let text = format!("{others} more of the kind {check}; `wavesieve check INPUT -v` lists all.");
            notes.push(note(true, InputWords::new(trace).filled(&text)));
        }
    }
    let damaged = trace.damage().len();
    if damaged > 0 {
        let parts = if damaged == 1 { "1 part".to_owned() } else { format!("{damaged} parts") };
        let text =
            format!("{parts} of the inputs could not be read; all numbers are of the rest. The appendix tells which.");
        notes.push(note(true, text));
    }
    notes
}

/// Notes on filters that do not narrow the tables of a section.
pub(crate) fn section_notes<'a>(trace: &Trace, tables: impl Iterator<Item = &'a str>) -> Vec<Note> {
    let sentences = untouched(trace.choice(), tables).into_iter();
    sentences.map(|sentence| Note { is_warning: false, text: format!("Not narrowed here: {sentence}.") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_between_words_and_clauses() {
        assert_eq!(clipped("durations are unreliable", 24), "durations are unreliable");
        assert_eq!(clipped("durations are unreliable", 23), "durations are…");
        assert_eq!(clipped("durations are unreliable", 15), "durations are…");
        assert_eq!(clipped("filters: `--kernel a b c`", 22), "filters: `--kernel a…`");
        assert_eq!(clipped("unbreakable", 6), "unbr…");
        assert_eq!(first_clause("one; other; 2 more; see the end."), "one; more at the end.");
        assert_eq!(first_clause("one; see the end."), "one; see the end.");
    }
}
