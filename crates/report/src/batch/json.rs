//! The index as JSON, by the schema `share/schemas/index.json`.

use std::io::Write;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::entry::{Outcome, RunEntry};
use super::index::Index;

/// Version of the schema. The first number changes when a field is removed or changes its meaning.
pub const SCHEMA_VERSION: &str = "1.0";

pub const SCHEMA: &str = data!("share/schemas/index.json");

/// Value of `schema` in an index.
const NAME: &str = "wavesieve-index";

/// Writes the index as one JSON object, indented.
///
/// # Errors
/// When writing fails.
pub fn write(index: &Index, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, &value(index))?;
    writeln!(out)?;
    Ok(())
}

/// The index as a JSON object.
pub fn value(index: &Index) -> Value {
    json!({
        "schema": NAME,
        "schema_version": SCHEMA_VERSION,
        "program": "wavesieve",
        "version": env!("CARGO_PKG_VERSION"),
        "title": index.title,
        "baseline": index.baseline,
        "filters": index.filters.iter().map(|(option, value)| json!({ "option": option, "value": value })).collect::<Vec<Value>>(),
        "runs": index.entries.iter().map(|entry| run(index, entry)).collect::<Vec<Value>>(),
    })
}

pub fn is_index(text: &str) -> bool {
    read(text).is_some()
}

fn read(text: &str) -> Option<Value> {
    let index = serde_json::from_str::<Value>(text).ok()?;
    (index.get("schema").and_then(Value::as_str) == Some(NAME)).then_some(index)
}

/// The files of documents that an index lists; empty if the text is not an index.
pub fn listed_files(text: &str) -> Vec<String> {
    let Some(index) = read(text) else { return Vec::new() };
    let runs = index.get("runs").and_then(Value::as_array).into_iter().flatten();
    let files = |run: &Value| {
        let comparison = run.get("comparison").and_then(|comparison| comparison.get("file"));
        let both = [run.get("file"), comparison];
        both.into_iter().flatten().filter_map(|file| Some(file.as_str()?.to_owned())).collect::<Vec<String>>()
    };
    runs.flat_map(files).collect()
}

fn run(index: &Index, entry: &RunEntry) -> Value {
    let (status, file, reason) = match &entry.outcome {
        Outcome::Done { file, figures } if figures.health.damage > 0 => ("partial", Some(file), None),
        Outcome::Done { file, .. } => ("done", Some(file), None),
        Outcome::Failed { reason } => ("failed", None, Some(reason)),
    };
    let change = |change: super::Change| {
        let (id, unit) = match change.is_points {
            true => (change.figure.trim_end_matches("_pct"), "percentage_points"),
            false => (change.figure.trim_end_matches("_ns"), "percent"),
        };
        (id.to_owned(), json!({ "amount": change.amount, "unit": unit, "verdict": change.verdict.word() }))
    };
    let changes: Map<String, Value> = index.changes(entry).into_iter().map(change).collect();
    json!({
        "name": entry.name,
        "status": status,
        "file": file,
        "reason": reason,
        "inputs": entry.places,
        "figures": entry.figures(),
        "comparison": entry.comparison,
        "changes": (!changes.is_empty()).then_some(changes),
    })
}
