//! Results of tools, and sentences, as they are sent.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::cells::{kind_of, masked, number};
use super::level::Share;
use super::vocabulary::Vocabulary;
use crate::engine::ColumnUnit;
use crate::llm::redaction::Redactor;

/// Words, and tokens that stand for some already.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[[A-Z]+_[0-9]+\]|[\p{L}\p{N}_]+(?:\.[0-9]+\b)*").ok());

/// Prepares what is sent about a trace at a level.
pub(crate) struct Masking<'a> {
    pub share: Share,
    pub redactor: &'a mut Redactor,
    /// Words that the model wrote itself, such as names of columns.
    pub written: &'a BTreeSet<String>,
}

impl Masking<'_> {
    /// A sentence: at the level of figures, every word that is no word of the language, the program or the model is a token.
    pub(crate) fn sentence(&mut self, text: &str) -> String {
        self.masked_words(text, &|word| Vocabulary::builtin().has_word(word))
    }

    fn masked_words(&mut self, text: &str, is_public: &dyn Fn(&str) -> bool) -> String {
        let text = self.redactor.text(&text.replace("\\/", "/"));
        let (Share::Figures, Some(word)) = (self.share, WORD.as_ref()) else { return text };
        let written = self.written;
        let names = self.redactor.map_mut();
        let replaced = word.replace_all(&text, |found: &Captures<'_>| {
            let word = found.get(0).map_or("", |part| part.as_str());
            let is_plain = word.starts_with('[') || is_public(word) || written.contains(word);
            // Only here: a word of a sentence may stand for something else elsewhere.
            if is_plain { word.to_owned() } else { names.token("TEXT", word, true) }
        });
        replaced.into_owned()
    }

    /// The result of a tool, with numbers as long as they are of use.
    pub(crate) fn result(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if self.share == Share::Figures && Vocabulary::builtin().has_text(text) => {}
            Value::String(text) => *text = self.sentence(text),
            Value::Number(found) if found.is_f64() => *value = found.as_f64().map(number).unwrap_or_default(),
            Value::Array(values) => values.iter_mut().for_each(|value| self.result(value)),
            Value::Object(fields) => self.object(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>) {
        // Before the columns are replaced themselves.
        let columns: Vec<(String, ColumnUnit)> =
            fields.get("columns").and_then(Value::as_array).into_iter().flatten().filter_map(column).collect();
        for (name, field) in fields.iter_mut() {
            match (name.as_str(), field) {
                ("rows", Value::Array(rows)) if !columns.is_empty() => {
                    rows.iter_mut().for_each(|row| self.row(row, &columns));
                }
                ("columns", Value::Array(columns)) => columns.iter_mut().for_each(|column| self.column(column)),
                ("subject", field) => self.cell(field, "subject", ColumnUnit::Name),
                (_, field) => self.result(field),
            }
        }
    }

    /// What a column is called: by the program or the model, and not by what was traced.
    fn column(&mut self, column: &mut Value) {
        let name = column.as_object_mut().and_then(|fields| fields.remove("name"));
        self.result(column);
        if let (Some(Value::String(name)), Some(fields)) = (name, column.as_object_mut()) {
            let vocabulary = Vocabulary::builtin();
            let is_public =
                |word: &str| vocabulary.has_word(word) || word.split('_').all(|part| vocabulary.has_word(part));
            fields.insert("name".to_owned(), Value::String(self.masked_words(&name, &is_public)));
        }
    }

    /// A row: values in the order of the columns, or by their names, which may lie in `values`.
    fn row(&mut self, row: &mut Value, columns: &[(String, ColumnUnit)]) {
        match row {
            Value::Array(values) => {
                for (value, (column, unit)) in values.iter_mut().zip(columns) {
                    self.cell(value, column, *unit);
                }
            }
            Value::Object(fields) => {
                // The key of a row repeats its names.
                fields.remove("key");
                match fields.get_mut("values") {
                    Some(values @ Value::Object(_)) => self.row(values, columns),
                    _ => {
                        for (name, value) in fields.iter_mut() {
                            let unit = columns.iter().find(|(column, _)| column == name).map(|(_, unit)| *unit);
                            self.cell(value, name, unit.unwrap_or(ColumnUnit::Text));
                        }
                    }
                }
            }
            other => self.result(other),
        }
    }

    /// A value of a table: its texts are names, whatever words they have.
    fn cell(&mut self, value: &mut Value, column: &str, unit: ColumnUnit) {
        match value {
            Value::String(text) if self.share == Share::Figures => {
                if !Vocabulary::builtin().has_text(text) {
                    *text = masked(text, kind_of(column, unit), self.redactor.map_mut());
                }
            }
            other => self.result(other),
        }
    }
}

/// Name and unit of a column.
fn column(described: &Value) -> Option<(String, ColumnUnit)> {
    let text = |name: &str| described.get(name).and_then(Value::as_str);
    let name = text("name")?;
    let unit = text("unit").and_then(ColumnUnit::parse).filter(|unit| *unit != ColumnUnit::Text);
    let unit = unit.or(ColumnUnit::of_name(name)).unwrap_or(ColumnUnit::Text);
    Some((name.to_owned(), unit))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::redaction::{Rules, TokenMap};

    fn redactor() -> Redactor {
        let mut names = TokenMap::default();
        names.name("KERNEL", "void zebra::gemm<float>(int)");
        Redactor::new(Rules::new(Share::Figures, None).unwrap(), names)
    }

    #[test]
    fn only_known_words_leave() {
        let written = BTreeSet::from(["total_zebra".to_owned()]);
        let mut redactor = redactor();
        let mut masking = Masking { share: Share::Figures, redactor: &mut redactor, written: &written };
        let text = "Why is void zebra::gemm<float>(int) slower on atlas17 than /home/me/x in rank 3, by 12.5%?";
        let expected = "Why is [KERNEL_1] slower on [TEXT_1] than [PATH_1] in rank 3, by 12.5%?";
        assert_eq!(masking.sentence(text), expected);
        assert_eq!(
            masking.sentence("no column total_zebra or zebra; did you mean total_ns"),
            "no column total_zebra or [TEXT_2]; did you mean total_ns"
        );
    }

    #[test]
    fn texts_of_rows_are_tokens_as_a_whole() {
        let mut value = json!({
            "title": "Kernel summary",
            "columns": [{"name": "kernel_name", "unit": "name"}, {"name": "used_gpus", "unit": "ns"}],
            "rows": [["fused idle kernel", 12], ["gemm", 3]],
            "findings": [{"subject": "the slow one", "evidence": {"columns": [{"name": "host", "unit": "text"}],
                "rows": [{"key": "host=a", "values": {"host": "idle time"}}]}}],
            "share": 0.123456789,
        });
        let mut redactor = redactor();
        Masking { share: Share::Figures, redactor: &mut redactor, written: &BTreeSet::new() }.result(&mut value);
        assert_eq!(value["rows"], json!([["[KERNEL_2]", 12], ["gemm", 3]]));
        assert_eq!(value["columns"][1]["name"], "used_gpus");
        let finding = &value["findings"][0];
        assert_eq!(finding["subject"], "[NAME_1]");
        assert_eq!(finding["evidence"]["rows"], json!([{"values": {"host": "[TEXT_1]"}}]));
        assert_eq!((&value["title"], &value["share"]), (&json!("Kernel summary"), &json!(0.123457)));
    }
}
