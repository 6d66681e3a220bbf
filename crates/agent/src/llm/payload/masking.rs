//! Masks tool results and sentences before they are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::cells::{is_command, kind_of, lists, masked, number};
use super::commands::without_program_in;
use super::level::Share;
use super::vocabulary::Vocabulary;
use crate::llm::redaction::{Redactor, TokenMap};
use wavesieve_engine::ColumnUnit;

/// Words, and existing tokens.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[[A-Z]+_[0-9]+\]|[\p{L}\p{N}_]+(?:\.[0-9]+\b)*").ok());

/// Replaces a word that the model did not write.
const OTHER_WORD: &str = "[WORD]";
/// The start of commands of this program.
const PROGRAM: &str = "wavesieve ";

/// Masks data about a trace at a level.
pub(crate) struct Masking<'a> {
    pub share: Share,
    pub redactor: &'a mut Redactor,
    /// Words that the model wrote itself, such as column names.
    pub written: &'a BTreeSet<String>,
    /// Whether sentences repeat such words, as errors do. In other sentences, a repeated word would confirm a guess.
    pub repeats: bool,
    /// Whether the only names in texts are those that the model wrote: a name among them that became its token would
    /// confirm a guess.
    pub is_echo: bool,
    /// Whether only this program determines the texts in the columns, unlike in results of SQL.
    pub is_own: bool,
    /// Original texts by hashed token, if rows come from a statement over tokens. Everything else in such rows is a
    /// number, a part of a token or a word of the model: a literal that became the token of a name would confirm a
    /// guess.
    pub originals: Option<&'a BTreeMap<String, String>>,
}

impl<'a> Masking<'a> {
    /// Makes a mask for sentences and tables of this program, which do not repeat words of the model.
    pub fn new(share: Share, redactor: &'a mut Redactor, written: &'a BTreeSet<String>) -> Self {
        Self { share, redactor, written, repeats: false, is_echo: false, is_own: true, originals: None }
    }

    /// Masks a sentence: at the level of figures, every word outside of the vocabularies of the language, the program
    /// and the model becomes a token.
    pub fn sentence(&mut self, text: &str) -> String {
        let (written, repeats) = (self.written, self.repeats);
        // A word may end in a dot and a number.
        let is_written = |word: &str| word.split('.').all(|part| written.contains(part));
        self.masked_words(text, &|word| Vocabulary::builtin().has_word(word) || repeats && is_written(word))
    }

    fn masked_words(&mut self, text: &str, is_public: &dyn Fn(&str) -> bool) -> String {
        let text = if self.is_echo { text.to_owned() } else { self.redactor.text(&text.replace("\\/", "/")) };
        let (Share::Figures, Some(word)) = (self.share, WORD.as_ref()) else { return text };
        let is_echo = self.is_echo;
        let names = self.redactor.map_mut();
        let replaced = word.replace_all(&text, |found: &Captures<'_>| {
            let word = found.get(0).map_or("", |part| part.as_str());
            let is_plain = word.starts_with('[') || is_public(word);
            // Only here: the word may have another meaning elsewhere.
            match (is_plain, is_echo) {
                (true, _) => word.to_owned(),
                // A token would confirm that it is a name.
                (false, true) => OTHER_WORD.to_owned(),
                (false, false) => names.token("TEXT", word, true),
            }
        });
        replaced.into_owned()
    }

    /// Masks the result of a tool, and rounds its numbers.
    pub fn result(&mut self, value: &mut Value) {
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
        without_program_in(fields);
        // The columns are read before they are masked themselves.
        let columns: Vec<(String, ColumnUnit)> =
            fields.get("columns").and_then(Value::as_array).into_iter().flatten().filter_map(column).collect();
        for (name, field) in fields.iter_mut() {
            match (name.as_str(), field) {
                ("rows", Value::Array(rows)) if !columns.is_empty() => {
                    rows.iter_mut().for_each(|row| self.row(row, &columns));
                }
                ("columns", Value::Array(columns)) => columns.iter_mut().for_each(|column| self.column(column)),
                // Commands of this program are not private.
                (name, Value::String(text)) if is_command(name) && !text.starts_with(PROGRAM) => {
                    *text = masked(text, "COMMAND", self.redactor.map_mut());
                }
                ("subject", field) => self.cell(field, "subject", ColumnUnit::Name),
                (_, field) => self.result(field),
            }
        }
    }

    /// Column names come from the program or the model, not from the trace.
    fn column(&mut self, column: &mut Value) {
        let is_alias = self.originals.is_some();
        let name = column.as_object_mut().and_then(|fields| fields.remove("name"));
        self.result(column);
        if let (Some(Value::String(name)), Some(fields)) = (name, column.as_object_mut()) {
            let (vocabulary, written) = (Vocabulary::builtin(), self.written);
            let is_public = |word: &str| {
                vocabulary.has_word(word)
                    || word.split('_').all(|part| vocabulary.has_word(part))
                    || written.contains(word)
            };
            let name = if is_alias { name } else { self.masked_words(&name, &is_public) };
            fields.insert("name".to_owned(), Value::String(name));
        }
    }

    /// Masks a row: values in the order of the columns, or by name, possibly within `values`.
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

    /// Masks a value of a table: its texts are names, whatever words they contain.
    fn cell(&mut self, value: &mut Value, column: &str, unit: ColumnUnit) {
        if let Some(originals) = self.originals {
            return known(value, kind_of(column, unit), originals, self.redactor.map_mut());
        }
        match value {
            Value::String(text) if is_command(column) => *text = masked(text, "COMMAND", self.redactor.map_mut()),
            Value::String(text) if self.share == Share::Figures => {
                *text = if self.is_own && lists().sentences.contains(column) && !Vocabulary::builtin().has_text(text) {
                    self.sentence(text)
                } else {
                    masked(text, kind_of(column, unit), self.redactor.map_mut())
                };
            }
            other => self.result(other),
        }
    }
}

/// Replaces hashed tokens with the tokens that the model knows, or will know.
fn known(value: &mut Value, kind: &str, originals: &BTreeMap<String, String>, names: &mut TokenMap) {
    match value {
        Value::String(text) if text.contains('[') => {
            for (token, original) in originals {
                if text.contains(token.as_str()) {
                    *text = text.replace(token.as_str(), &names.name(kind, original));
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| known(value, kind, originals, names)),
        Value::Object(fields) => fields.values_mut().for_each(|value| known(value, kind, originals, names)),
        Value::Number(found) if found.is_f64() => *value = found.as_f64().map(number).unwrap_or_default(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

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
    use crate::llm::redaction::Rules;

    fn redactor() -> Redactor {
        let mut names = TokenMap::default();
        names.name("KERNEL", "void zebra::gemm<float>(int)");
        Redactor::new(Rules::new(Share::Figures, None).unwrap(), names)
    }

    fn masking<'a>(share: Share, redactor: &'a mut Redactor, written: &'a BTreeSet<String>) -> Masking<'a> {
        Masking { repeats: true, ..Masking::new(share, redactor, written) }
    }

    /// A command line is not sent at any level: neither in a suggested command nor in a cell.
    #[test]
    fn arguments_of_the_program_do_not_leave() {
        let command = "python3 train.py --ranks 4";
        for share in [Share::Figures, Share::Names, Share::Source] {
            let mut names = TokenMap::default();
            let token = names.name("COMMAND", command);
            names.alias_anywhere(command, &token);
            let mut value = json!({
                "findings": [{"commands": [{
                    "tool": "rocprofv3",
                    "words": ["rocprofv3", "--kernel-trace", "--", "python3", "train.py", "--ranks", "4"],
                    "line": format!("rocprofv3 --kernel-trace -- {command}"),
                }]}],
                "commands": [format!("rocprofv3 --sys-trace -- {command}")],
                "columns": [{"name": "command", "unit": "text"}, {"name": "x", "unit": "text"}],
                "rows": [[command, format!("x={}", command.to_uppercase())]],
                "processes": [{"command": command}],
            });
            let mut redactor = Redactor::new(Rules::new(share, None).unwrap(), names);
            masking(share, &mut redactor, &BTreeSet::new()).result(&mut value);
            let text = value.to_string();
            for part in ["train", "ranks", "TRAIN", "RANKS"] {
                assert!(!text.contains(part), "{part}: {text}");
            }
            let shown = &value["findings"][0]["commands"][0];
            assert_eq!(shown["words"], json!(["rocprofv3", "--kernel-trace", "--", "APP"]));
            assert_eq!(shown["line"], "rocprofv3 --kernel-trace -- APP");
            assert_eq!(value["commands"][0], "rocprofv3 --sys-trace -- APP");
            assert_eq!(value["rows"][0][0], "[COMMAND_1]");
        }
    }

    /// Results of this program stay readable; a statement may use the same column names.
    #[test]
    fn sentences_of_the_program_stay_in_its_own_tables() {
        let result =
            json!({"columns": [{"name": "detail", "unit": "text"}], "rows": [["the wait of atlas for memory"]]});
        let shown = |is_own: bool| {
            let (mut value, mut redactor, written) = (result.clone(), redactor(), BTreeSet::new());
            Masking { is_own, ..masking(Share::Figures, &mut redactor, &written) }.result(&mut value);
            value["rows"][0][0].as_str().unwrap().to_owned()
        };
        assert_eq!((shown(true).as_str(), shown(false).as_str()), ("the wait of [TEXT_1] for memory", "[TEXT_1]"));
    }

    #[test]
    fn names_of_interfaces_and_words_of_the_field_stay_in_sentences() {
        let mut redactor = redactor();
        let text = "Did hipMemcpyAsync or ncclAllReduce of the all-reduce in layer3 on rank3 wait yesterday, a project's dataloader, \
                    VRAM memcpys, prefill, decode, password, fp16, int8, sha256, conv2d, gpu0, gfx942, mi300x, PyTorch, vLLM?";
        let mut masking = masking(Share::Figures, &mut redactor, written());
        assert_eq!(masking.sentence(text), text);
        assert_eq!(masking.sentence("unknown size of a copy"), "unknown size of a copy");
    }

    fn written() -> &'static BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        &NONE
    }

    #[test]
    fn only_known_words_leave() {
        let written = BTreeSet::from(["total_zebra".to_owned()]);
        let mut redactor = redactor();
        let mut masking = masking(Share::Figures, &mut redactor, &written);
        let text = "Why is void zebra::gemm<float>(int) slower on atlas17 than /home/me/x in rank 3, by 12.5%?";
        let expected = "Why is [KERNEL_1] slower on [HOST_1] than [PATH_1] in rank 3, by 12.5%?";
        assert_eq!(masking.sentence(text), expected);
        assert_eq!(
            masking.sentence("no column total_zebra or zebra; did you mean total_ns"),
            "no column total_zebra or [TEXT_1]; did you mean total_ns"
        );
    }

    /// Rows of a statement over tokens: words of the model and parts of tokens stay unchanged, even if they equal a
    /// name.
    #[test]
    fn words_of_a_statement_come_back_as_they_were_written() {
        let name = "void zebra::gemm<float>(int)";
        let hashed = "[TEXT_x0123456789abcdef]";
        let originals = BTreeMap::from([(hashed.to_owned(), "train step".to_owned())]);
        let mut redactor = redactor();
        let written = BTreeSet::new();
        let mut masking =
            Masking { originals: Some(&originals), is_own: false, ..masking(Share::Figures, &mut redactor, &written) };
        let mut value = json!({
            "columns": [{"name": name, "unit": "text"}, {"name": "message", "unit": "name"}],
            "rows": [[name, hashed], ["[KERNEL_1]", "RNEL_1]"], [format!("x{hashed}y"), name.to_uppercase()]],
            "notes": [format!("rows of {name}")],
        });
        masking.result(&mut value);
        assert_eq!(
            value["rows"],
            json!([[name, "[NAME_1]"], ["[KERNEL_1]", "RNEL_1]"], ["x[NAME_1]y", name.to_uppercase()]])
        );
        assert_eq!((&value["columns"][0]["name"], &value["notes"]), (&json!(name), &json!(["rows of [KERNEL_1]"])));
        assert_eq!(redactor.map().token_of("RNEL_1]"), None);
    }

    #[test]
    fn texts_of_rows_are_tokens_as_a_whole() {
        let mut value = json!({
            "title": "Kernel summary",
            "columns": [{"name": "kernel_name", "unit": "name"}, {"name": "used_gpus", "unit": "ns"}],
            "rows": [["fused idle kernel", 12], ["gemm", 3]],
            "findings": [{"subject": "the slow one", "evidence": {"columns": [{"name": "host", "unit": "text"}],
                "rows": [{"key": "host=a", "values": {"host": "early idle time of it"}}]}}],
            "share": 0.123456789,
        });
        let mut redactor = redactor();
        masking(Share::Figures, &mut redactor, &BTreeSet::new()).result(&mut value);
        assert_eq!(value["rows"], json!([["[KERNEL_2]", 12], ["[KERNEL_3]", 3]]));
        assert_eq!(value["columns"][1]["name"], "used_gpus");
        let finding = &value["findings"][0];
        assert_eq!(finding["subject"], "[NAME_1]");
        assert_eq!(finding["evidence"]["rows"], json!([{"values": {"host": "[TEXT_1]"}}]));
        assert_eq!((&value["title"], &value["share"]), (&json!("Kernel summary"), &json!(0.123457)));
    }
}
