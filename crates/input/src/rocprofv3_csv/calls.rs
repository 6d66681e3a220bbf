//! `regions` and `marks` from the files of calls.

use std::collections::BTreeMap;

use anyhow::Result;

use super::census::{has_length, is_process_range};
use super::columns::Col;
use super::fields::{Fields, Plan};
use super::kinds::RecordKind;
use super::reading::Reading;
use super::rows::UnderstoodRow;
use crate::common::{Rule, Source, or, ordinals};
use wavesieve_model::schema::domain::domain_of_category;
use wavesieve_tables::columns::frames::{dictionary_column, text_column_from_dictionary};

const TIMES: &[&str] = &["start_ns", "end_ns", "duration_ns", "valid", "time_ns"];
const NAMES: &[&str] = &["domain", "category", "name", "message"];

/// The name of a marker: its file only has the text.
const UNKNOWN: &str = "unknown";
/// The name of a range without a thread.
const PROCESS_RANGE: &str = "roctxProcessRangeA";

const LAYOUT: &[Source<Col>] = &[
    (Col::ThreadId, &["tid"], Rule::Used),
    (Col::Correlation, &["correlation_id"], Rule::NotZero),
    (Col::Start, TIMES, Rule::Used),
    (Col::End, TIMES, Rule::Used),
    (Col::Domain, NAMES, Rule::UsedText),
    (Col::Function, NAMES, Rule::UsedText),
];

const fn plan(keep: fn(&UnderstoodRow<'_>) -> bool) -> Plan {
    Plan { keep, mark: is_process_range, ..Plan::new(RecordKind::Calls, LAYOUT, &[]) }
}

/// Assembles the calls that have a length.
pub fn read_regions(reading: &mut Reading<'_>) -> Result<()> {
    let rows = reading.rows(&plan(has_length))?;
    reading.put("region_id", ordinals(rows.height));
    put_common(reading, &rows, true)
}

/// Assembles the calls without a length.
pub(crate) fn read_marks(reading: &mut Reading<'_>) -> Result<()> {
    let rows = reading.rows(&plan(|row| !has_length(row)))?;
    reading.put("mark_id", ordinals(rows.height));
    reading.put("time_ns", or(&rows.get(Col::Start), 0));
    put_common(reading, &rows, false)
}

fn put_common(reading: &mut Reading<'_>, rows: &Fields, are_ranges: bool) -> Result<()> {
    let threads = rows.get(Col::ThreadId);
    let threads = threads.iter().zip(&rows.marks).map(|(thread, of_process)| thread.filter(|_| !of_process));
    reading.builder.put_integers("tid", threads);
    if reading.builder.wants(NAMES) {
        put_names(reading, rows, are_ranges)?;
    }
    Ok(())
}

/// Adds the names of calls. The text of a marker is its message. The file does not have the function that made it, except that a range of
/// the whole process has no thread.
fn put_names(reading: &mut Reading<'_>, rows: &Fields, are_ranges: bool) -> Result<()> {
    let (categories, functions) = (rows.words(Col::Domain), rows.words(Col::Function));
    let category_list = categories.list();
    let mut category_names = category_list.clone();
    category_names.push(Some(UNKNOWN.to_owned()));
    let domains: Vec<Option<String>> = category_names
        .iter()
        .map(|category| Some(domain_of_category(category.as_deref().unwrap_or_default())))
        .collect();
    let unnamed = category_list.len();
    let codes: Vec<usize> = categories.codes.iter().map(|code| code.unwrap_or(unnamed)).collect();
    for (name, dictionary) in [("domain", &domains), ("category", &category_names)] {
        reading.builder.put_with(name, || Ok(dictionary_column(name, dictionary, codes.iter().copied().map(Some))?))?;
    }
    let is_marker = |code: &usize| domains.get(*code).and_then(Option::as_deref) == Some("marker");
    let texts = functions.list();
    reading.builder.put_with("message", || {
        let messages = codes.iter().zip(&functions.codes).map(|(domain, text)| text.filter(|_| is_marker(domain)));
        Ok(text_column_from_dictionary("message", &texts, messages)?)
    })?;
    reading.builder.put_with("name", || {
        // Only the names of calls: the texts of markers do not belong in a dictionary of functions.
        let mut dictionary = vec![Some(UNKNOWN.to_owned()), Some(PROCESS_RANGE.to_owned())];
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        let names: Vec<Option<usize>> = codes
            .iter()
            .zip(&functions.codes)
            .zip(&rows.marks)
            .map(|((domain, text), of_process)| match (is_marker(domain), text) {
                (true, _) if !are_ranges => None,
                (true, _) => Some(usize::from(*of_process)),
                (false, None) => Some(0),
                (false, Some(text)) => Some(*known.entry(*text).or_insert_with(|| {
                    dictionary.push(texts.get(*text).cloned().flatten());
                    dictionary.len() - 1
                })),
            })
            .collect();
        Ok(dictionary_column("name", &dictionary, names.into_iter())?)
    })
}
