//! `regions` and `marks` from rocpd_region and rocpd_sample, `args` from rocpd_arg.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;
use serde_json::Value;

use super::assembly::Assembly;
use super::database::Database;
use super::dispatches::{note_missing_events, put_event_ids};
use super::hint;
use super::lookups::Events;
use crate::input::common::sqlite::{Columns, Wanted, integer, text};
use crate::input::common::{IdIndex, Texts, count_first, index_of, or_else, zeros};
use crate::trace::domain::domain_of_category;
use crate::trace::frames::{dictionary_column, text_column_from_dictionary};
use crate::trace::source::Severity;

const UNKNOWN: &str = "unknown";
/// Condition for the rows of `regions`.
pub const WITH_LENGTH: &str = "(\"start\" = \"end\") IS NOT 1";
/// Condition for the rows of rocpd_region that are `marks`.
pub const WITHOUT_LENGTH: &str = "\"start\" = \"end\"";

const SOURCES: &[(&[&str], &str)] = &[
    (&["name"], "name_id"),
    (&["tid"], "tid"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "start"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "end"),
];

const EVENT_COLUMNS: &[&str] =
    &["domain", "category", "message", "call_stack", "correlation_id", "parent_correlation_id", "external_id"];

/// Assembles the regions that have a length.
///
/// # Errors
/// When the file cannot be opened.
pub fn read_regions(assembly: &mut Assembly<'_>) -> Result<()> {
    let mut wanted: Vec<Wanted> = assembly.sources(SOURCES).into_iter().map(integer).collect();
    if assembly.wants(EVENT_COLUMNS) {
        wanted.push(integer("event_id"));
    }
    let condition = hint::condition(assembly, "region", WITH_LENGTH);
    let columns = assembly.database.read_where("region", &wanted, &condition, assembly.context.threads)?;
    assembly.absorb("region", &columns);
    assembly.set_height(columns.height);
    let ids = columns.integers("id");
    assembly.put("region_id", ids.clone().into_series());
    let strings = assembly.lookups.strings(assembly.database, assembly.context.threads)?;
    put_region_name(assembly, strings, &columns.integers("name_id"), &ids)?;
    assembly.put_place(&columns)?;
    put_event_columns(assembly, strings, &columns.integers("event_id"), &ids)?;
    assembly.put_times(&columns.integers("start"), &columns.integers("end"));
    Ok(())
}

fn put_region_name(
    assembly: &mut Assembly<'_>,
    strings: &Texts,
    names: &Int64Chunked,
    ids: &Int64Chunked,
) -> Result<()> {
    if !assembly.wants(&["name"]) {
        return Ok(());
    }
    let (dictionary, unknown) = with_unknown(strings);
    let codes = names.iter().map(|id| strings.position(id).or(Some(unknown)));
    let column = dictionary_column("name", &dictionary, codes)?;
    assembly.put("name", column);
    let (count, first) = count_first(names.iter().map(|id| strings.position(id).is_none()), ids);
    assembly.note(
        "missing_string",
        Severity::Warning,
        count,
        first,
        "regions name no known string; they appear as unknown",
    );
    Ok(())
}

/// The strings with one more at the end for what is unknown.
fn with_unknown(strings: &Texts) -> (Vec<Option<String>>, usize) {
    let mut dictionary = strings.values().to_vec();
    dictionary.push(Some(UNKNOWN.to_owned()));
    (dictionary, strings.values().len())
}

/// Adds domain, category, message, call stack and correlation of the events of the rows.
fn put_event_columns(
    assembly: &mut Assembly<'_>,
    strings: &Texts,
    event_ids: &Int64Chunked,
    ids: &Int64Chunked,
) -> Result<()> {
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
            put_category(assembly, strings, &events.join("category_id", event_ids))?;
        }
        note_missing_events(assembly, &events, event_ids, ids);
    }
    for (name, source) in [("message", "extdata"), ("call_stack", "call_stack")] {
        if assembly.wants(&[name]) {
            let details = EventDetails::read(assembly, source)?;
            let column = details.join(name, event_ids, if name == "message" { message } else { verbatim })?;
            assembly.put(name, column);
        }
    }
    Ok(())
}

fn put_category(assembly: &mut Assembly<'_>, strings: &Texts, category_ids: &Int64Chunked) -> Result<()> {
    let (dictionary, unknown) = with_unknown(strings);
    let codes: Vec<usize> = category_ids.iter().map(|id| strings.position(id).unwrap_or(unknown)).collect();
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
struct EventDetails {
    index: IdIndex,
    texts: StringChunked,
}

impl EventDetails {
    fn read(assembly: &mut Assembly<'_>, column: &'static str) -> Result<Self> {
        let condition = format!("\"{column}\" IS NOT NULL AND \"{column}\" NOT IN ('{{}}', '')");
        let known = assembly.database.partition().table("event").is_some_and(|table| table.has(column));
        let columns = if known {
            assembly.database.read_where("event", &[text(column)], &condition, assembly.context.threads)?
        } else {
            Columns::default()
        };
        assembly.absorb("event", &columns);
        Ok(Self { index: index_of(&columns.integers("id")), texts: columns.texts(column) })
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
    Some(json.to_owned())
}

/// Assembles the records without length: samples on tracks, then regions that end when they start. They are numbered
/// from 1 in this order.
///
/// # Errors
/// When the file cannot be opened.
pub fn read_marks(assembly: &mut Assembly<'_>) -> Result<()> {
    let threads = assembly.context.threads;
    let strings = assembly.lookups.strings(assembly.database, threads)?;
    let samples =
        assembly.database.read("sample", &[integer("track_id"), integer("timestamp"), integer("event_id")], threads)?;
    assembly.absorb("sample", &samples);
    let wanted = [integer("name_id"), integer("tid"), integer("start"), integer("event_id")];
    let instants = assembly.database.read_where("region", &wanted, WITHOUT_LENGTH, threads)?;
    assembly.absorb("region", &instants);

    let tracks = Tracks::read(assembly.database)?;
    let track_ids = samples.integers("track_id");
    let joined = |first: Int64Chunked, second: Int64Chunked| -> Int64Chunked {
        first.iter().chain(second.iter()).collect_ca("".into())
    };
    let height = samples.height + instants.height;
    assembly.set_height(height);
    let ids = Int64Chunked::from_iter_values("mark_id".into(), (1..).take(height));
    assembly.put("mark_id", ids.clone().into_series());
    let name_ids = joined(tracks.values(&tracks.name_ids, &track_ids), instants.integers("name_id"));
    assembly.put_with("name", || {
        Ok(dictionary_column("name", strings.values(), name_ids.iter().map(|id| strings.position(id)))?)
    })?;
    let threads = joined(tracks.values(&tracks.threads, &track_ids), instants.integers("tid"));
    let tids = assembly.lookups.thread_ids(assembly.database, &threads)?;
    assembly.put("tid", tids.into_series());
    let event_ids = joined(samples.integers("event_id"), instants.integers("event_id"));
    put_event_columns(assembly, strings, &event_ids, &ids)?;
    let times = joined(samples.integers("timestamp"), instants.integers("start"));
    assembly.put("time_ns", or_else(&times, &zeros(height)).into_series());
    Ok(())
}

struct Tracks {
    index: IdIndex,
    name_ids: Vec<Option<i64>>,
    threads: Vec<Option<i64>>,
}

impl Tracks {
    fn read(database: &Database) -> Result<Self> {
        let columns = database.read("track", &[integer("name_id"), integer("tid")], 1)?;
        Ok(Self {
            index: index_of(&columns.integers("id")),
            name_ids: columns.integers("name_id").iter().collect(),
            threads: columns.integers("tid").iter().collect(),
        })
    }

    fn values(&self, values: &[Option<i64>], track_ids: &Int64Chunked) -> Int64Chunked {
        let value = |id: i64| self.index.position(id).and_then(|at| values.get(at).copied().flatten());
        track_ids.iter().map(|id| id.and_then(value)).collect_ca("".into())
    }
}

/// Assembles the arguments of regions, kernels and copies.
///
/// # Errors
/// When the file cannot be opened.
pub fn read_args(assembly: &mut Assembly<'_>) -> Result<()> {
    let wanted = [integer("event_id"), integer("position"), text("type"), text("name"), text("value")];
    let columns = assembly.database.read("arg", &wanted, assembly.context.threads)?;
    assembly.absorb("arg", &columns);
    let owners = Owners::read(assembly)?;
    let event_ids = columns.integers("event_id");
    let found: Vec<Option<(usize, i64)>> = event_ids.iter().map(|id| id.and_then(|id| owners.find(id))).collect();
    let ids = columns.integers("id");
    let (count, first) = count_first(found.iter().map(Option::is_none), &ids);
    assembly.note(
        "missing_owner",
        Severity::Info,
        count,
        first,
        "arguments belong to no region, kernel or copy; they are left out",
    );

    let rows: Vec<(usize, usize, i64)> =
        found.iter().enumerate().filter_map(|(row, owner)| owner.map(|(kind, id)| (row, kind, id))).collect();
    assembly.set_height(rows.len());
    let kinds: Vec<Option<String>> = OWNERS.iter().map(|(kind, _, _)| Some((*kind).to_owned())).collect();
    let owner = dictionary_column("owner", &kinds, rows.iter().map(|(_, kind, _)| Some(*kind)))?;
    assembly.put("owner", owner);
    let owner_ids: Int64Chunked = rows.iter().map(|(_, _, id)| Some(*id)).collect_ca("".into());
    assembly.put("owner_id", owner_ids.into_series());
    let positions = columns.integers("position");
    let positions: Int64Chunked =
        rows.iter().map(|(row, _, _)| Some(positions.get(*row).unwrap_or(0))).collect_ca("".into());
    assembly.put("position", positions.into_series());
    for name in ["type", "name", "value"] {
        let texts = columns.texts(name);
        let texts: StringChunked = rows.iter().map(|(row, _, _)| texts.get(*row)).collect_ca(name.into());
        let column = texts.into_series().into_column();
        let column = if name == "name" {
            column.fill_null(FillNullStrategy::Zero)?.cast(&crate::trace::frames::categorical())?
        } else {
            column
        };
        assembly.put(name, column);
    }
    Ok(())
}

/// Who owns arguments: canonical word, source table, and its key column.
const OWNERS: &[(&str, &str, &str)] =
    &[("region", "region", "id"), ("kernel", "kernel_dispatch", "dispatch_id"), ("copy", "memory_copy", "id")];

struct Owners {
    tables: Vec<(IdIndex, Vec<Option<i64>>)>,
}

impl Owners {
    fn read(assembly: &Assembly<'_>) -> Result<Self> {
        let mut tables = Vec::new();
        for (_, base, key) in OWNERS {
            let wanted: Vec<Wanted> =
                ["event_id", key].iter().filter(|name| **name != "id").map(|name| integer(name)).collect();
            let columns = assembly.database.read(base, &wanted, assembly.context.threads)?;
            let pairs: Vec<(i64, Option<i64>)> = columns
                .integers("event_id")
                .iter()
                .zip(columns.integers(key).iter())
                .filter_map(|(event, key)| event.map(|event| (event, key)))
                .collect();
            let index = IdIndex::new(&pairs.iter().map(|(event, _)| *event).collect::<Vec<i64>>());
            tables.push((index, pairs.into_iter().map(|(_, key)| key).collect()));
        }
        Ok(Self { tables })
    }

    fn find(&self, event_id: i64) -> Option<(usize, i64)> {
        self.tables.iter().enumerate().find_map(|(kind, (index, keys))| {
            let key = index.position(event_id).and_then(|at| keys.get(at).copied().flatten())?;
            Some((kind, key))
        })
    }
}
