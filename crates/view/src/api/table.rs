//! Answers of queries as JSON.

use serde_json::{Map, Value, json};
use wavesieve_engine::Answer;
use wavesieve_export::cell::Cell;

/// Columns and the first rows of an answer, with readable names of kernels.
pub fn table(answer: &Answer, rows: usize) -> Map<String, Value> {
    let frame = &answer.frame;
    let columns = answer.columns.iter();
    let columns: Vec<Value> =
        columns.map(|column| json!({ "name": column.name, "unit": column.unit.word(), "doc": column.doc })).collect();
    let shown = frame.height().min(rows);
    let row = |row: usize| frame.columns().iter().map(|column| Cell::new(column, row).json()).collect::<Vec<Value>>();
    let names = answer.readable_names();
    let names: Map<String, Value> = names.pairs().map(|(full, short)| (full.to_owned(), json!(short))).collect();
    let mut table = Map::new();
    table.insert("columns".to_owned(), json!(columns));
    table.insert("rows".to_owned(), (0..shown).map(row).collect::<Vec<_>>().into());
    table.insert("total_rows".to_owned(), json!(frame.height()));
    table.insert("names".to_owned(), names.into());
    table
}
