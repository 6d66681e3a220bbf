//! `regions`, `marks` and `args` from the sections of calls.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use polars::prelude::*;

use super::dispatches::keyed_texts;
use crate::common::{IdIndex, or_else, zeros};
use crate::rocprofv3_json::capture::Capture;
use crate::rocprofv3_json::driver_events;
use crate::rocprofv3_json::integers::Integers;
use crate::rocprofv3_json::kinds::Kinds;
use crate::rocprofv3_json::layout::Selected;
use crate::rocprofv3_json::layouts::Activity;
use crate::rocprofv3_json::reading::{Reading, ordinals};
use crate::rocprofv3_json::structure::gathered::Keep;
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_model::schema::domain::domain_of_category;
use wavesieve_tables::columns::frames::{dictionary_column, text_column_from_dictionary};

const NAMES: &[&str] = &["domain", "category", "name", "message"];

/// Calls of all sections in the order in which they are numbered.
struct Calls {
    rows: Integers,
    /// Position in the list of sections, and number of rows, of each section.
    sections: Vec<(usize, usize)>,
}

fn calls(reading: &mut Reading<'_>, keep: Keep) -> Result<Calls> {
    let capture = reading.capture;
    let mut calls = Calls { rows: Integers::default(), sections: Vec::new() };
    let selected = Selected::new::<Activity>(keep, |columns| reading.builder.wants(columns));
    for (position, name) in capture.roles.calls.iter().enumerate() {
        for section in capture.process.named(name) {
            let rows = Integers::read::<Activity>(capture, section, &selected, &mut reading.findings)?;
            calls.sections.push((position, rows.height));
            calls.rows.append(rows);
        }
    }
    Ok(calls)
}

/// Assembles the calls that have a length.
pub fn read_regions(reading: &mut Reading<'_>) -> Result<()> {
    let mut calls = calls(reading, Keep::WithLength)?;
    reading.builder.set_height(calls.rows.height);
    let ids = ordinals(calls.rows.height);
    reading.put("region_id", ids);
    put_names(reading, &calls, Keep::WithLength)?;
    for name in ["tid", "correlation_id", "parent_correlation_id", "external_id"] {
        reading.builder.put_with(name, || Ok(calls.rows.take(name).into_column()))?;
    }
    reading.put_times(&mut calls.rows);
    Ok(())
}

/// Assembles the calls without a length.
pub(crate) fn read_marks(reading: &mut Reading<'_>) -> Result<()> {
    let calls = calls(reading, Keep::WithoutLength)?;
    reading.builder.set_height(calls.rows.height);
    reading.put("mark_id", ordinals(calls.rows.height));
    put_names(reading, &calls, Keep::WithoutLength)?;
    for name in ["tid", "correlation_id"] {
        reading.put(name, calls.rows.get(name));
    }
    reading.put("time_ns", or_else(&calls.rows.get("start"), &zeros(calls.rows.height)));
    Ok(())
}

/// Category and name of every distinct (section, kind, operation).
#[derive(Default)]
struct Names {
    domains: Vec<Option<String>>,
    categories: Vec<Option<String>>,
    names: Vec<Option<String>>,
    is_marker: Vec<bool>,
    unknown: Vec<bool>,
}

impl Names {
    /// Adds names and returns their index.
    fn push(&mut self, kinds: &Kinds, section: &str, kind: Option<i64>, operation: Option<i64>) -> u32 {
        let place = self.names.len() as u32;
        let recorded = kinds.kind(kind).map(str::to_owned);
        let name = kinds.operation(kind, operation).map(str::to_owned);
        self.unknown.push(recorded.is_none() || name.is_none());
        let key = section.rsplit('.').next().unwrap_or(section);
        let category = recorded.unwrap_or_else(|| key.to_uppercase());
        let domain = domain_of_category(&category);
        self.is_marker.push(domain == "marker");
        self.domains.push(Some(domain));
        self.categories.push(Some(category));
        let number = operation.map_or_else(|| "unknown".to_owned(), |number| format!("operation {number}"));
        self.names.push(Some(name.unwrap_or(number)));
        place
    }
}

/// Numbers of kinds by row, for driver events whose kind is not recorded but follows from their members.
fn kinds_shown(capture: &Capture, kinds: &Kinds, calls: &Calls, keep: Keep) -> Result<BTreeMap<usize, i64>> {
    let mut shown = BTreeMap::new();
    let sections = capture.roles.calls.iter().flat_map(|name| capture.process.named(name));
    let mut first = 0;
    for (section, (_, rows)) in sections.zip(&calls.sections) {
        let mut recorded = calls.rows.rows("kind").skip(first).take(*rows);
        if driver_events::are_in(&section.name) && recorded.any(|kind| kind.is_none()) {
            let of_section = driver_events::kinds(capture, section, keep)?;
            let numbered = (first..).zip(of_section).take(*rows);
            shown.extend(numbered.filter_map(|(row, kind)| Some((row, kinds.number(kind?)?))));
        }
        first += rows;
    }
    Ok(shown)
}

fn put_names(reading: &mut Reading<'_>, calls: &Calls, keep: Keep) -> Result<()> {
    if !reading.builder.wants(NAMES) {
        return Ok(());
    }
    let capture = reading.capture;
    let (kinds, findings) = capture.kinds()?;
    reading.findings.extend(findings);
    let shown = kinds_shown(capture, kinds, calls, keep)?;
    let kind = calls.rows.rows("kind").enumerate().map(|(row, kind)| kind.or_else(|| shown.get(&row).copied()));
    let operation = calls.rows.rows("operation");
    let mut names = Names::default();
    let mut known: BTreeMap<(usize, Option<i64>, Option<i64>), u32> = BTreeMap::new();
    let mut codes: Vec<u32> = Vec::with_capacity(calls.rows.height);
    let sections = calls.sections.iter().flat_map(|(section, rows)| std::iter::repeat_n(*section, *rows));
    let mut last = None;
    for (section, (kind, operation)) in sections.zip(kind.zip(operation)) {
        let key = (section, kind, operation);
        let code = match last {
            Some((known, code)) if known == key => code,
            _ => *known.entry(key).or_insert_with(|| {
                let section = capture.roles.calls.get(section).map_or("", String::as_str);
                names.push(kinds, section, kind, operation)
            }),
        };
        last = Some((key, code));
        codes.push(code);
    }
    for (name, dictionary) in [("domain", &names.domains), ("category", &names.categories), ("name", &names.names)] {
        reading.builder.put_with(name, || {
            Ok(dictionary_column(name, dictionary, codes.iter().map(|code| Some(*code as usize)))?)
        })?;
    }
    let unknown = codes.iter().filter(|code| names.unknown.get(**code as usize) == Some(&true)).count();
    let sections: BTreeSet<&str> = known
        .iter()
        .filter(|(_, code)| names.unknown.get(**code as usize) == Some(&true))
        .filter_map(|((section, _, _), _)| capture.roles.calls.get(*section))
        .map(String::as_str)
        .collect();
    let detail = format!(
        "calls of {} have a kind or operation that the file does not name; shown under the name of their section \
         and as operation <n>",
        sections.into_iter().collect::<Vec<&str>>().join(", ")
    );
    reading.builder.note("unknown_kind", Severity::Warning, unknown, None, &detail);
    if reading.builder.wants(&["message"]) {
        let is_marker = |code: &u32| names.is_marker.get(*code as usize) == Some(&true);
        let markers: Vec<bool> = codes.iter().map(is_marker).collect();
        put_messages(reading, &calls.rows.get("correlation_id"), &markers)?;
    }
    Ok(())
}

/// Adds the texts of markers, which are listed by internal correlation id.
fn put_messages(reading: &mut Reading<'_>, correlation: &Int64Chunked, is_marker: &[bool]) -> Result<()> {
    let texts = keyed_texts(reading, "strings.marker_api")?;
    let index = IdIndex::new(&texts.iter().map(|(key, _)| *key).collect::<Vec<i64>>());
    let texts: Vec<Option<String>> = texts.into_iter().map(|(_, text)| Some(text)).collect();
    let codes = correlation
        .iter()
        .zip(is_marker)
        .map(|(id, is_marker)| id.filter(|_| *is_marker).and_then(|id| index.position(id)));
    let column = text_column_from_dictionary("message", &texts, codes)?;
    reading.builder.put("message", column);
    Ok(())
}
