//! Columns that rows take from their event: domain, category, message, call stack and correlation.

use anyhow::Result;
use polars::prelude::*;
use rayon::prelude::*;
use serde_json::Value;

use crate::common::sqlite::{Columns, Condition, RowTest, Wanted, text};
use crate::common::{IdIndex, Texts, count_first, index_of};
use crate::rocpd::assembly::Assembly;
use crate::rocpd::database::KEY;
use crate::rocpd::events::Events;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_model::schema::domain::domain_of_category;
use wavesieve_tables::columns::frames::{dictionary_column_at, text_column_from_dictionary};
use wavesieve_tables::columns::values::{I64Values, integers};

const UNKNOWN: &str = "unknown";

/// Maximum events whose details are looked up one by one.
const SOUGHT_EVENTS: usize = 100_000;

/// All events between the first and the last wanted one are read, if they are fewer than this many times the wanted events.
const WIDEST: u64 = 4;

/// Canonical columns that come from the event of a row.
pub(crate) const EVENT_COLUMNS: &[&str] =
    &["domain", "category", "message", "call_stack", "correlation_id", "parent_correlation_id", "external_id"];

/// The strings and `unknown` as the last, with its position.
pub(crate) fn with_unknown(strings: &Texts) -> (Vec<Option<String>>, usize) {
    let mut dictionary = strings.values().to_vec();
    dictionary.push(Some(UNKNOWN.to_owned()));
    (dictionary, strings.values().len())
}

/// Adds the internal, the parent's and the external correlation id of the events of the rows. Id 0 counts as missing.
pub(crate) fn put_correlation(assembly: &mut Assembly<'_>, columns: &Columns, ids: &Int64Chunked) -> Result<()> {
    put_event_ids(assembly, &[], &columns.integers("event_id"), ids).map(drop)
}

/// Canonical columns of correlation, and their columns in the event table.
const CORRELATION: [(&[&str], &str); 3] = [
    (&["correlation_id"], "stack_id"),
    (&["parent_correlation_id"], "parent_stack_id"),
    (&["external_id"], "correlation_id"),
];

/// Adds the wanted correlation columns that are not null in all rows, and notes rows whose event is missing. The returned events have the
/// columns for `more` too; `None` if no column of events is wanted.
fn put_event_ids(
    assembly: &mut Assembly<'_>,
    more: &[(&[&str], &'static str)],
    event_ids: &Int64Chunked,
    ids: &Int64Chunked,
) -> Result<Option<Events>> {
    let needed = assembly.sources(&[more, &CORRELATION].concat());
    if needed.is_empty() {
        return Ok(None);
    }
    let (cache, context) = (&assembly.lookups.events, assembly.context);
    let events = Events::read(cache, assembly.database, &needed, context.threads, context.rows.is_some())?;
    assembly.absorb("event", &events.notes());
    let made = CORRELATION.into_iter().filter_map(|(names, source)| Some((*names.first()?, source)));
    let made = made.filter(|(name, source)| assembly.wants(&[*name]) && !events.have_nothing(source));
    let of_events = |(name, source)| {
        let values = events.values(source, event_ids).map(|value| value.filter(|value| *value != 0));
        (name, integers(name, values))
    };
    let columns: Vec<(&'static str, Int64Chunked)> = made.collect::<Vec<_>>().into_par_iter().map(of_events).collect();
    columns.into_iter().for_each(|(name, column)| assembly.put(name, column));
    let orphans = I64Values::new(event_ids).into_rows().map(|id| id.is_some_and(|id| !events.contain(id)));
    let (count, first) = count_first(orphans, ids);
    let detail = "rows refer to a missing event; they have no category and no correlation id";
    assembly.note("missing_event", Severity::Warning, count, first, detail);
    Ok(Some(events))
}

/// Adds domain, category, message, call stack and correlation of the events of the rows.
pub(crate) fn put_event_columns(
    assembly: &mut Assembly<'_>,
    event_ids: &Int64Chunked,
    ids: &Int64Chunked,
) -> Result<()> {
    let events = put_event_ids(assembly, &[(&["domain", "category"], "category_id")], event_ids, ids)?;
    if let Some(events) = events.as_ref().filter(|_| assembly.wants(&["domain", "category"])) {
        let categories = assembly.lookups.categories(assembly.database, assembly.context.threads)?;
        put_category(assembly, categories, events.values("category_id", event_ids))?;
    }
    let sources = assembly.sources(&[(&["message"], "extdata"), (&["call_stack"], "call_stack")]);
    if !sources.is_empty() && !event_ids.is_empty() {
        // Damage of other events is reported where their numbers are read.
        let sought = if events.is_none() { Condition::all() } else { of_events(event_ids) };
        let details = EventDetails::read(assembly, &sources, sought)?;
        if details.columns.height > 0 {
            let (wants_message, wants_stack) = (assembly.wants(&["message"]), assembly.wants(&["call_stack"]));
            let (messages, stacks) = rayon::join(
                || wants_message.then(|| details.join("message", "extdata", event_ids, message)).transpose(),
                || wants_stack.then(|| details.join("call_stack", "call_stack", event_ids, verbatim)).transpose(),
            );
            messages?.into_iter().for_each(|column| assembly.put("message", column));
            stacks?.into_iter().for_each(|column| assembly.put("call_stack", column));
        }
    }
    Ok(())
}

/// Condition for events: a range if many events between the first and the last are wanted, otherwise a list. If the list is too long, all
/// events are read.
fn of_events(event_ids: &Int64Chunked) -> Condition {
    let (Some(first), Some(last)) = (event_ids.min(), event_ids.max()) else { return Condition::all() };
    if last.abs_diff(first) < WIDEST * event_ids.len() as u64 {
        return Condition::all().and(RowTest::AtLeast(KEY, first)).and(RowTest::AtMost(KEY, last));
    }
    sought(event_ids).unwrap_or_default()
}

/// Condition for these events, unless they are too many to be looked up one by one.
pub(crate) fn sought(event_ids: &Int64Chunked) -> Option<Condition> {
    if event_ids.len() > SOUGHT_EVENTS {
        return None;
    }
    let mut ids: Vec<i64> = event_ids.iter().flatten().collect();
    ids.sort_unstable();
    ids.dedup();
    Some(Condition::all().and(RowTest::OneOf(KEY, ids)))
}

fn put_category(
    assembly: &mut Assembly<'_>,
    categories: &Texts,
    category_ids: impl Iterator<Item = Option<i64>>,
) -> Result<()> {
    let (dictionary, unknown) = with_unknown(categories);
    let code = |id| categories.position(id).unwrap_or(unknown) as IdxSize;
    let codes = IdxCa::from_vec("".into(), category_ids.map(code).collect());
    assembly.put_with("category", || Ok(dictionary_column_at("category", &dictionary, &codes)?))?;
    assembly.put_with("domain", || {
        let domain = |category: &Option<String>| domain_of_category(category.as_deref().unwrap_or(UNKNOWN));
        let domains: Vec<Option<String>> = dictionary.iter().map(domain).map(Some).collect();
        Ok(dictionary_column_at("domain", &domains, &codes)?)
    })
}

/// JSON columns of the event table, only for events in which they hold something.
pub(crate) struct EventDetails {
    index: IdIndex,
    columns: Columns,
}

impl EventDetails {
    /// Reads columns of the events that meet a condition.
    pub fn read(assembly: &mut Assembly<'_>, names: &[&'static str], events: Condition) -> Result<Self> {
        let table = assembly.database.partition().table("event");
        let known: Vec<&'static str> =
            names.iter().copied().filter(|name| table.is_some_and(|table| table.has(name))).collect();
        let wanted: Vec<Wanted> = known.iter().map(|name| text(name)).collect();
        let condition = events.and(RowTest::SaysSomething(known));
        let columns =
            if wanted.is_empty() { Columns::default() } else { assembly.read("event", &wanted, condition)? };
        Ok(Self { index: index_of(&columns.integers("id")), columns })
    }

    pub fn position(&self, event_id: Option<i64>) -> Option<usize> {
        self.index.position(event_id?)
    }

    /// The texts of a column by position.
    pub fn texts(&self, name: &str) -> StringChunked {
        self.columns.texts(name)
    }

    /// The result of `extract` on the column `source` for every event id.
    fn join(
        &self,
        name: &str,
        source: &str,
        event_ids: &Int64Chunked,
        extract: fn(&str) -> Option<String>,
    ) -> Result<Column> {
        let values: Vec<Option<String>> = self.texts(source).iter().map(|text| text.and_then(extract)).collect();
        if values.iter().all(Option::is_none) {
            return Ok(Column::full_null(name.into(), event_ids.len(), &DataType::String));
        }
        let codes = I64Values::new(event_ids).into_rows().map(|id| self.position(id));
        Ok(text_column_from_dictionary(name, &values, codes)?)
    }
}

fn message(json: &str) -> Option<String> {
    let details: Value = serde_json::from_str(json).ok()?;
    details.get("message")?.as_str().map(str::to_owned)
}

fn verbatim(json: &str) -> Option<String> {
    // SQL cannot test the text of a compressed column, so empty values remain.
    (!matches!(json, "" | "{}")).then(|| json.to_owned())
}
