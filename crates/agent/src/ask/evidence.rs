//! Evidence from tool results: the tables, numbers and texts that answers are checked against.

use anyhow::Result;
use polars::prelude::{Column, DataFrame, IntoColumn, NamedFrom, Series};
use serde_json::{Map, Value};

use super::step::DialogueStep;
use crate::llm::RESULTS_SECTION;
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_report::document::{Block, Document, Figure, Note, Section, Status, Table};

#[derive(Default)]
struct Evidence {
    tables: Vec<Table>,
    figures: Vec<Figure>,
    texts: Vec<Note>,
}

/// A document with the results of all steps, including all rows.
pub(crate) fn evidence_document(like: &Document, steps: &[DialogueStep]) -> Result<Document> {
    let mut all = Evidence::default();
    for step in steps.iter().filter(|step| !step.is_error && step.earlier.is_none()) {
        all.add(&step.result, &step.tool)?;
    }
    let Evidence { tables, figures, texts } = all;
    let blocks =
        tables.into_iter().map(|table| Block::Table(Box::new(table))).chain(texts.into_iter().map(Block::Note));
    let section = Section {
        id: RESULTS_SECTION.to_owned(),
        title: String::new(),
        about: String::new(),
        blocks: blocks.collect(),
    };
    Ok(Document {
        title: String::new(),
        summary: String::new(),
        views: Default::default(),
        head: Vec::new(),
        notes: Vec::new(),
        findings: Vec::new(),
        figures,
        sections: vec![section],
        provenance: Default::default(),
        ..like.clone()
    })
}

/// The tables of a step, with this many rows each, 0 for all. Only tables of its own rows are included, because
/// documents have many.
///
/// # Errors
/// When a table cannot be made.
pub fn tables_of(step: &DialogueStep, rows: usize) -> Result<Vec<Table>> {
    let table = step.result.as_object().map(|fields| table(fields, &step.tool)).transpose()?.flatten();
    let shown = table.map(|mut table| {
        let most = if rows == 0 { table.frame.height() } else { rows };
        table.frame = table.frame.head(Some(most));
        table
    });
    Ok(shown.filter(|table| table.frame.height() > 0).into_iter().collect())
}

impl Evidence {
    fn add(&mut self, value: &Value, name: &str) -> Result<()> {
        let number = |value: &Value| match (value.as_i64(), value.as_f64()) {
            (Some(whole), _) => Some(Cell::Integer(whole)),
            (None, Some(number)) => Some(Cell::Float(number)),
            (None, None) => None,
        };
        match value {
            Value::String(text) => self.texts.push(Note { is_warning: false, text: text.clone() }),
            Value::Number(_) => {
                if let Some(cell) = number(value) {
                    self.figures.push(figure(name, cell, ColumnUnit::of_name(name).unwrap_or(ColumnUnit::Number)));
                }
            }
            Value::Array(values) => values.iter().try_for_each(|value| self.add(value, name))?,
            Value::Object(fields) => {
                let table = table(fields, name)?;
                let is_table = table.is_some();
                self.tables.extend(table);
                let text = |name: &str| fields.get(name).and_then(Value::as_str);
                let unit = text("unit").and_then(ColumnUnit::parse);
                let own = fields.get("value").and_then(number);
                if let (Some(id), Some(unit), Some(cell)) = (text("id"), unit, own) {
                    self.figures.push(figure(id, cell, unit));
                }
                // Omissions because of limits are not facts about the trace.
                let is_other =
                    |name: &&String| !(is_table && *name == "rows" || matches!(name.as_str(), "cut" | "exit"));
                for (name, value) in fields.iter().filter(|(name, _)| is_other(name)) {
                    self.add(value, name)?;
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
        Ok(())
    }
}

fn figure(id: &str, value: Cell, unit: ColumnUnit) -> Figure {
    Figure { id: id.to_owned(), label: String::new(), doc: String::new(), value, unit, status: Status::Neutral }
}

/// Makes a table from an object with columns and rows.
fn table(fields: &Map<String, Value>, name: &str) -> Result<Option<Table>> {
    let list = |name: &str| fields.get(name).and_then(Value::as_array);
    let (Some(described), Some(rows)) = (list("columns"), list("rows")) else { return Ok(None) };
    let columns: Vec<OutputColumn> = described.iter().filter_map(output_column).collect();
    let made = columns.iter().enumerate().map(|(place, column)| {
        let values: Vec<&Value> = rows.iter().map(|row| cell(row, place, &column.name)).collect();
        series(&column.name, &values)
    });
    let frame = DataFrame::new(rows.len(), made.collect())?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(ToOwned::to_owned);
    let total_rows = fields.get("total_rows").and_then(Value::as_u64).map_or(rows.len(), |rows| rows as usize);
    Ok(Some(Table {
        id: text("id").unwrap_or_else(|| name.to_owned()),
        title: text("title").unwrap_or_else(|| "Rows".to_owned()),
        about: String::new(),
        question: None,
        command: None,
        columns,
        frame,
        total_rows,
        key: Vec::new(),
    }))
}

fn output_column(described: &Value) -> Option<OutputColumn> {
    let text = |name: &str| described.get(name).and_then(Value::as_str);
    let name = text("name")?.to_owned();
    let unit = text("unit").and_then(ColumnUnit::parse).unwrap_or(ColumnUnit::Text);
    Some(OutputColumn { name, unit, doc: text("doc").unwrap_or_default().to_owned() })
}

/// A value of a row. A row is a list, a record, or a record with a key.
fn cell<'a>(row: &'a Value, place: usize, name: &str) -> &'a Value {
    let found = match row {
        Value::Array(values) => values.get(place),
        _ => row.get("values").unwrap_or(row).get(name),
    };
    found.unwrap_or(&Value::Null)
}

fn series(name: &str, values: &[&Value]) -> Column {
    let all = |is: fn(&Value) -> bool| values.iter().all(|value| value.is_null() || is(value));
    let series = if all(Value::is_i64) {
        Series::new(name.into(), values.iter().map(|value| value.as_i64()).collect::<Vec<_>>())
    } else if all(Value::is_number) {
        Series::new(name.into(), values.iter().map(|value| value.as_f64()).collect::<Vec<_>>())
    } else if all(Value::is_boolean) {
        Series::new(name.into(), values.iter().map(|value| value.as_bool()).collect::<Vec<_>>())
    } else {
        let text = |value: &&Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Series::new(name.into(), values.iter().map(text).collect::<Vec<_>>())
    };
    series.into_column()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::document::document_of;
    use super::*;
    use crate::llm::Grounding;
    use wavesieve_engine::Registry;

    /// Unsupported parts of an answer that is based on the result of a statement with one count.
    fn missing(column: &str, count: i64, answer: &str) -> Vec<String> {
        let columns = json!([{"name": "kernel_name", "unit": "name"}, {"name": column, "unit": "text"}]);
        let result = json!({"columns": columns, "rows": [["fill_optimizer", count]], "total_rows": 1});
        let info = json!({"processes": [{"pid": 4100, "hostname": "node0", "gpus": ["gfx942"]}]});
        let step = |tool: &str, result| DialogueStep { tool: tool.to_owned(), result, ..DialogueStep::default() };
        let steps = [step("sql", result), step("info", info)];
        let document = evidence_document(&document_of("q", String::new(), Vec::new()), &steps).unwrap();
        let registry = Registry::builtin().unwrap();
        Grounding::new(&document, &registry, &|_| None).check(&[answer.to_owned()]).missing
    }

    #[test]
    fn counts_of_statements_support_what_they_may_count() {
        for (column, answer) in [
            ("n", "`fill_optimizer` ran 60 times."),
            ("n", "It has 60 dispatches, was called 60 times, and 60 calls are 60 launches."),
            ("count(*)", "There are 60 kernels."),
            ("k", "There are 60 different kernels."),
            ("dispatches", "60 optimizer kernels ran 60 times."),
            ("n", "It made 60 copies."),
            ("ranks", "60 ranks took part, and pid 4100 on gfx942."),
            ("ms", "It takes 60 ms."),
        ] {
            assert_eq!(missing(column, 60, answer), Vec::<String>::new(), "{column}: {answer}");
        }
        for (column, answer) in
            [("ranks", "60 kernels ran."), ("copies", "60 ranks took part."), ("n", "59 kernels ran on an H100.")]
        {
            let missing = missing(column, 60, answer);
            assert!(
                !missing.is_empty() && missing.iter().all(|text| text.contains("not in the results")),
                "{missing:?}"
            );
        }
    }
}
