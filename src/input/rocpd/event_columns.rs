//! What rows take from their event: domain, category, message, call stack and correlation.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;
use serde_json::Value;

use super::assembly::Assembly;
use super::dispatches::{note_missing_events, put_event_ids};
use super::lookups::Events;
use crate::input::common::sqlite::{Columns, Condition, RowTest, text};
use crate::input::common::{IdIndex, Texts, index_of};
use crate::trace::domain::domain_of_category;
use crate::trace::frames::{dictionary_column, text_column_from_dictionary};

const UNKNOWN: &str = "unknown";

/// Canonical columns that come from the event of a row.
pub const EVENT_COLUMNS: &[&str] =
    &["domain", "category", "message", "call_stack", "correlation_id", "parent_correlation_id", "external_id"];

/// The strings with one more at the end for what is unknown.
pub fn with_unknown(strings: &Texts) -> (Vec<Option<String>>, usize) {
    let mut dictionary = strings.values().to_vec();
    dictionary.push(Some(UNKNOWN.to_owned()));
    (dictionary, strings.values().len())
}

/// Adds domain, category, message, call stack and correlation of the events of the rows.
///
/// # Errors
/// When the file cannot be opened.
pub fn put_event_columns(assembly: &mut Assembly<'_>, event_ids: &Int64Chunked, ids: &Int64Chunked) -> Result<()> {
    let needed = assembly.sources(&[
        (&["domain", "category"], "category_id"),
        (&["correlation_id"], "stack_id"),
        (&["parent_correlation_id"], "parent_stack_id"),
        (&["external_id"], "correlation_id"),
    ]);
    if !needed.is_empty() {
        let events = Events::read(assembly.database, &needed, assembly.context.threads)?;
        assembly.absorb("event", events.columns());
        put_event_ids(assembly, &events, event_ids);
        if assembly.wants(&["domain", "category"]) {
            let categories = assembly.lookups.categories(assembly.database, assembly.context.threads)?;
            put_category(assembly, categories, &events.join("category_id", event_ids))?;
        }
        note_missing_events(assembly, &events, event_ids, ids);
    }
    for (name, source) in [("message", "extdata"), ("call_stack", "call_stack")] {
        if assembly.wants(&[name]) {
            let details = EventDetails::read(assembly, source, "")?;
            let column = details.join(name, event_ids, if name == "message" { message } else { verbatim })?;
            assembly.put(name, column);
        }
    }
    Ok(())
}

fn put_category(assembly: &mut Assembly<'_>, categories: &Texts, category_ids: &Int64Chunked) -> Result<()> {
    let (dictionary, unknown) = with_unknown(categories);
    let codes: Vec<usize> = category_ids.iter().map(|id| categories.position(id).unwrap_or(unknown)).collect();
    assembly
        .put_with("category", || Ok(dictionary_column("category", &dictionary, codes.iter().copied().map(Some))?))?;
    assembly.put_with("domain", || {
        let mut domains: BTreeMap<usize, String> = BTreeMap::new();
        for code in &codes {
            domains.entry(*code).or_insert_with(|| {
                let category = dictionary.get(*code).and_then(Option::as_deref).unwrap_or(UNKNOWN);
                domain_of_category(category)
            });
        }
        let names: Vec<Option<String>> = domains.values().cloned().map(Some).collect();
        let places: BTreeMap<usize, usize> = domains.keys().copied().enumerate().map(|(at, code)| (code, at)).collect();
        Ok(dictionary_column("domain", &names, codes.iter().map(|code| places.get(code).copied()))?)
    })
}

/// A JSON column of the event table, only where it says something.
pub struct EventDetails {
    index: IdIndex,
    texts: StringChunked,
}

impl EventDetails {
    /// Reads a column of the events that fulfil a condition, if one is given.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn read(assembly: &mut Assembly<'_>, column: &'static str, events: &str) -> Result<Self> {
        let condition = Condition::all().and(RowTest::SaysSomething(column)).and_sql(events);
        let known = assembly.database.partition().table("event").is_some_and(|table| table.has(column));
        let columns = if known {
            assembly.database.read_where("event", &[text(column)], condition, assembly.context.threads)?
        } else {
            Columns::default()
        };
        assembly.absorb("event", &columns);
        Ok(Self { index: index_of(&columns.integers("id")), texts: columns.texts(column) })
    }

    /// The text of an event.
    pub fn text(&self, event_id: Option<i64>) -> Option<&str> {
        event_id.and_then(|id| self.index.position(id)).and_then(|at| self.texts.get(at))
    }

    fn join(&self, name: &str, event_ids: &Int64Chunked, extract: fn(&str) -> Option<String>) -> Result<Column> {
        let values: Vec<Option<String>> = self.texts.iter().map(|text| text.and_then(extract)).collect();
        let codes = event_ids.iter().map(|id| id.and_then(|id| self.index.position(id)));
        Ok(text_column_from_dictionary(name, &values, codes)?)
    }
}

fn message(json: &str) -> Option<String> {
    let details: Value = serde_json::from_str(json).ok()?;
    details.get("message")?.as_str().map(str::to_owned)
}

fn verbatim(json: &str) -> Option<String> {
    // A compressed column cannot be chosen from by its text.
    (!matches!(json, "" | "{}")).then(|| json.to_owned())
}
