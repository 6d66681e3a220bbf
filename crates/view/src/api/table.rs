//! Answers of queries as JSON.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use wavesieve_engine::Answer;
use wavesieve_export::cell::Cell;

/// Bytes of the texts and numbers of a table, about: rows end here. Names of kernels may be long.
const MAX_BYTES: usize = 32 << 20;
/// Bytes that a number takes, about.
const NUMBER_BYTES: usize = 20;

/// Columns and the first rows of an answer, with readable names of kernels.
pub fn table(answer: &Answer, rows: usize) -> Map<String, Value> {
    within(answer, rows, MAX_BYTES)
}

/// The first rows of about this many bytes, at least one: if it does not fit, its texts are cut, and `cut` counts them.
fn within(answer: &Answer, rows: usize, bytes: usize) -> Map<String, Value> {
    let frame = &answer.frame;
    let columns = answer.columns.iter();
    let columns: Vec<Value> =
        columns.map(|column| json!({ "name": column.name, "unit": column.unit.word(), "doc": column.doc })).collect();
    let mut left = bytes;
    let mut cut = 0_usize;
    let mut shown: Vec<Vec<Value>> = Vec::new();
    let mut texts: BTreeSet<String> = BTreeSet::new();
    for row in 0..frame.height().min(rows) {
        if left == 0 {
            break;
        }
        let mut found: Vec<Cell> = frame.columns().iter().map(|column| Cell::new(column, row)).collect();
        if row > 0 && found.iter().map(length).sum::<usize>() > left {
            break;
        }
        for cell in &mut found {
            if let Cell::Text(text) = cell
                && text.len() > left
            {
                text.truncate(text.floor_char_boundary(left));
                text.push('…');
                cut += 1;
            }
            left = left.saturating_sub(length(cell));
        }
        let mut cells = Vec::with_capacity(found.len());
        for cell in found {
            if let Cell::Text(text) = &cell
                && !texts.contains(text)
            {
                texts.insert(text.clone());
            }
            cells.push(cell.json());
        }
        shown.push(cells);
    }
    let names = answer.readable_names();
    let shown_names = names.pairs().filter(|(full, _)| texts.contains(*full));
    let names: Map<String, Value> = shown_names.map(|(full, short)| (full.to_owned(), json!(short))).collect();
    let mut table = Map::new();
    table.insert("columns".to_owned(), json!(columns));
    table.insert("rows".to_owned(), shown.into());
    table.insert("total_rows".to_owned(), json!(frame.height()));
    table.insert("names".to_owned(), names.into());
    table.insert("cut".to_owned(), json!(cut));
    table
}

/// Bytes of a value, about.
fn length(cell: &Cell) -> usize {
    if let Cell::Text(text) = cell { text.len() } else { NUMBER_BYTES }
}

#[cfg(test)]
mod tests {
    use polars::prelude::{DataFrame, IntoColumn, NamedFrom, Series};

    use super::*;

    #[test]
    fn rows_end_at_the_limit_of_bytes() {
        let texts: Vec<String> = (0..100).map(|row| format!("{row:0>1000}")).collect();
        let frame = DataFrame::new(100, vec![Series::new("text".into(), texts).into_column()]).unwrap();
        let answer = Answer { frame, columns: Vec::new(), is_readable: false };
        let rows = |bytes: usize| within(&answer, 60, bytes)["rows"].as_array().unwrap().len();
        assert_eq!((rows(1), rows(10_000), rows(10_999), rows(1 << 20)), (1, 10, 10, 60));
        assert_eq!(within(&answer, 60, 1)["total_rows"], 100);
        assert_eq!(within(&answer, 60, 10_000)["cut"], 0);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters() {
        let frame = DataFrame::new(1, vec![Series::new("text".into(), vec!["é".repeat(1000)]).into_column()]).unwrap();
        let answer = Answer { frame, columns: Vec::new(), is_readable: false };
        let table = within(&answer, 1, 7);
        assert_eq!((&table["rows"], &table["cut"]), (&json!([["ééé…"]]), &json!(1)));
        let whole = within(&answer, 1, 2000);
        assert_eq!((whole["rows"][0][0].as_str().unwrap().len(), &whole["cut"]), (2000, &json!(0)));
    }
}
