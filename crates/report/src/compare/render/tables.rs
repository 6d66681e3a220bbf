//! A comparison as tables, one for each array of its JSON.

use std::collections::BTreeSet;

use anyhow::Result;
use polars::prelude::{Column, DataFrame};
use serde_json::{Map, Value};

use crate::compare::document::Comparison;

/// A table with the name of its array.
pub struct Frame {
    pub name: &'static str,
    pub frame: DataFrame,
}

/// The arrays that become tables.
const TABLES: [&str; 14] = [
    "comparability",
    "totals",
    "decomposition",
    "kernels",
    "new_kernels",
    "gone",
    "replaced",
    "renamed",
    "path",
    "counters",
    "ranges",
    "categories",
    "ranks",
    "iterations",
];
/// First columns of the tables, in order; others follow by name.
const ORDER: [&str; 32] = [
    "side",
    "run",
    "metric",
    "check",
    "level",
    "part",
    "parent",
    "kind",
    "key",
    "kernel",
    "counter",
    "name",
    "category",
    "verdict",
    "rank",
    "gpu",
    "iteration",
    "delta_ns",
    "base_ns",
    "new_ns",
    "base_total_ns",
    "new_total_ns",
    "total_ns",
    "base_calls",
    "new_calls",
    "calls",
    "ratio",
    "ci_low",
    "ci_high",
    "pct",
    "ci_low_pct",
    "ci_high_pct",
];
/// Suffixes of the names of fields that hold fractions; nanoseconds and other numbers are whole.
const FRACTIONS: [&str; 6] = ["_pct", "pct", "ratio", "calls", "_low", "_high"];
const WHOLE: [&str; 7] = ["samples", "dispatches", "rank", "gpu", "iteration", "run", "_ns"];

/// All arrays with rows.
///
/// # Errors
/// When a table cannot be built, which is a defect.
pub fn frames(comparison: &Comparison) -> Result<Vec<Frame>> {
    let value = serde_json::to_value(comparison)?;
    let rows = |name: &str| value.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let frame = |name: &'static str| {
        let rows: Vec<Map<String, Value>> =
            rows(name).into_iter().filter_map(|row| row.as_object().cloned()).map(flat).collect();
        Ok((!rows.is_empty()).then_some(Frame { name, frame: frame_of(name, &rows)? }))
    };
    TABLES.into_iter().filter_map(|name| frame(name).transpose()).collect()
}

/// Flattens an object: fields of nested objects become its own, and lists become JSON.
fn flat(row: Map<String, Value>) -> Map<String, Value> {
    let mut all = Map::new();
    for (name, value) in row {
        match value {
            Value::Object(inner) => all.extend(inner),
            Value::Array(list) if list.is_empty() => drop(all.insert(name, Value::Null)),
            Value::Array(list) => drop(all.insert(name, Value::String(Value::Array(list).to_string()))),
            value => drop(all.insert(name, value)),
        }
    }
    all
}

fn frame_of(table: &str, rows: &[Map<String, Value>]) -> Result<DataFrame> {
    let mut names: Vec<&String> = rows.iter().flat_map(Map::keys).collect::<BTreeSet<&String>>().into_iter().collect();
    names.sort_by_key(|name| ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()));
    let column = |name: &String| {
        let values = rows.iter().map(|row| row.get(name));
        let ends_in = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        // The name of a GPU in the decomposition is a text.
        let is_text = table == "decomposition" && name == "gpu";
        let is_counter = table == "counters" && ["base", "new", "delta"].contains(&name.as_str());
        if !is_text && (ends_in(&FRACTIONS) || name == "p_holm" || is_counter) {
            return Column::new(name.as_str().into(), values.map(|value| value?.as_f64()).collect::<Vec<_>>());
        }
        if !is_text && ends_in(&WHOLE) {
            return Column::new(name.as_str().into(), values.map(|value| value?.as_i64()).collect::<Vec<_>>());
        }
        Column::new(
            name.as_str().into(),
            values.map(|value| Some(value?.as_str()?.to_owned())).collect::<Vec<Option<String>>>(),
        )
    };
    Ok(DataFrame::new_infer_height(names.into_iter().map(column).collect())?)
}
