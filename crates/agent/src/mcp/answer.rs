//! The answer of a tool, and its limits.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::failure::{Exit, ToolFailure};
use wavesieve_engine::Answer;
use wavesieve_export::cell::Cell;

/// Minimum length of arrays and texts.
const FEWEST: usize = 1;
const SHORTEST: usize = 200;
/// Rows of fewer bytes are not cut before other parts.
const SMALL_ROWS: usize = 2000;

/// The field with the command line for the same answer. It is complete, or visibly cut, but never shortened like other
/// texts.
const COMMAND: &str = "command";
/// The command may take at most the answer size divided by this.
const COMMAND_SHARE: usize = 4;

#[derive(Debug, Default)]
pub(super) struct ToolAnswer {
    fields: Map<String, Value>,
    pub exit: Exit,
    /// The reason why the trace has no data for the request; an answer without rows is different.
    abstained: Option<String>,
    notes: Vec<String>,
    /// Parts that limits left out.
    cut: Vec<Cut>,
    /// A PNG picture.
    picture: Option<Vec<u8>>,
}

/// A part of an answer that is incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Cut {
    part: String,
    shown: usize,
    of: usize,
    limit: &'static str,
}

impl ToolAnswer {
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    /// Adds a note, once.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// States that the trace has no data for the request.
    pub(super) fn abstain(&mut self, reason: impl Into<String>) {
        self.abstained = Some(reason.into());
        if self.exit == Exit::Done {
            self.exit = Exit::NoData;
        }
    }

    /// States that the trace has no data for the request, with the success exit code: the program prints an empty
    /// result.
    pub(super) fn abstain_and_be_done(&mut self, reason: impl Into<String>) {
        self.abstained = Some(reason.into());
    }

    pub(super) fn has_abstained(&self) -> bool {
        self.abstained.is_some()
    }

    /// Adds the fields of another answer.
    pub(super) fn absorb(&mut self, other: Self) {
        self.fields.extend(other.fields);
    }

    pub(super) fn set_picture(&mut self, png: Vec<u8>) {
        self.picture = Some(png);
    }

    /// Adds columns and rows, at most `rows` of them.
    pub(super) fn set_table(&mut self, answer: &Answer, rows: usize) {
        let frame = &answer.frame;
        let shown = frame.height().min(rows);
        let values = |row: usize| frame.columns().iter().map(|column| Cell::new(column, row).json()).collect::<Value>();
        let columns = answer.columns.iter().map(|column| {
            let mut described = json!({ "name": column.name, "unit": column.unit.word() });
            if let (Some(fields), false) = (described.as_object_mut(), column.doc.is_empty()) {
                fields.insert("doc".to_owned(), json!(column.doc));
            }
            described
        });
        self.set("columns", columns.collect::<Value>());
        self.set("rows", (0..shown).map(values).collect::<Value>());
        self.set("total_rows", frame.height());
        if shown < frame.height() {
            self.cut.push(Cut { part: "rows".to_owned(), shown, of: frame.height(), limit: "rows" });
        }
    }

    /// Adds a document. Every array in it keeps at most `rows` elements.
    pub(super) fn set_document(&mut self, name: &str, mut value: Value, rows: usize) {
        limit_arrays(&mut value, name, rows, &mut self.cut);
        self.set(name, value);
    }

    /// The result of the call, with at most this many bytes of text.
    pub(super) fn result(mut self, max_bytes: usize) -> Result<Value, ToolFailure> {
        self.cut_command(max_bytes / COMMAND_SHARE);
        let picture = self
            .picture
            .as_ref()
            .map(|png| json!({ "type": "image", "data": STANDARD.encode(png), "mimeType": "image/png" }));
        let mut value = Value::Object(self.fields);
        let mut cut = self.cut;
        let mut envelope = json!({
            "abstained": self.abstained.is_some(),
            "exit": self.exit.json(),
            "notes": self.notes,
        });
        if let (Some(fields), Some(reason)) = (envelope.as_object_mut(), &self.abstained) {
            fields.insert("reason".to_owned(), json!(reason));
        }
        loop {
            let whole = joined(&envelope, &value, &cut);
            let text = whole.to_string();
            if text.len() <= max_bytes {
                let content: Vec<Value> =
                    [json!({ "type": "text", "text": text })].into_iter().chain(picture).collect();
                return Ok(json!({ "content": content, "structuredContent": whole, "isError": false }));
            }
            if !shorten(&mut value, text.len() - max_bytes, &mut cut) {
                let reason = format!("the answer has more than {max_bytes} bytes; ask for fewer columns or rows");
                return Err(ToolFailure::usage(reason));
            }
        }
    }
}

impl ToolAnswer {
    /// Cuts a command that leaves no room for the answer, so that the rest does not look like a complete command.
    fn cut_command(&mut self, max_bytes: usize) {
        let Some(Value::String(command)) = self.fields.get_mut(COMMAND) else { return };
        let of = command.len();
        if of <= max_bytes {
            return;
        }
        let shown = command.floor_char_boundary(max_bytes / 2);
        command.truncate(shown);
        command.push_str(" … (cut)");
        self.cut.push(Cut { part: COMMAND.to_owned(), shown, of, limit: "bytes" });
        self.note("note: the command is too long to repeat; its start is shown");
    }
}

/// Limits a result to this many rows and, if possible, to this many bytes; `cut` names the omitted parts.
pub(crate) fn shortened_to(mut value: Value, rows: usize, max_bytes: usize) -> Value {
    let mut cut = Vec::new();
    if let Some(fields) = value.as_object_mut() {
        // The columns of a row are never left out.
        for (name, field) in fields.iter_mut().filter(|(name, _)| *name != "columns") {
            match (name.as_str(), field.as_array_mut()) {
                ("rows", Some(all)) if all.len() > rows => {
                    cut.push(Cut { part: name.clone(), shown: rows, of: all.len(), limit: "rows" });
                    all.truncate(rows);
                }
                _ => {}
            }
        }
    }
    let empty = Value::Object(Map::new());
    loop {
        let whole = joined(&value, &empty, &cut);
        let bytes = whole.to_string().len();
        if bytes <= max_bytes || !shorten(&mut value, bytes - max_bytes, &mut cut) {
            return whole;
        }
    }
}

fn joined(envelope: &Value, value: &Value, cut: &[Cut]) -> Value {
    let mut whole = Map::new();
    for fields in [envelope, value].into_iter().filter_map(Value::as_object) {
        whole.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    if !cut.is_empty() {
        whole.insert("cut".to_owned(), json!(cut));
    }
    Value::Object(whole)
}

/// Limits every array to this many elements.
fn limit_arrays(value: &mut Value, path: &str, rows: usize, cut: &mut Vec<Cut>) {
    match value {
        Value::Array(elements) => {
            if elements.len() > rows {
                cut.push(Cut { part: path.to_owned(), shown: rows, of: elements.len(), limit: "rows" });
                elements.truncate(rows);
            }
            for (at, element) in elements.iter_mut().enumerate() {
                limit_arrays(element, &format!("{path}.{at}"), rows, cut);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                limit_arrays(field, &format!("{path}.{name}"), rows, cut);
            }
        }
        _ => {}
    }
}

/// The largest part of a value that can be cut.
struct Largest {
    path: String,
    pointer: String,
    bytes: usize,
    is_rows: bool,
}

/// Cuts about `excess` bytes from the largest part: rows first, then other arrays and texts. Returns whether there was
/// such a part.
fn shorten(value: &mut Value, excess: usize, cut: &mut Vec<Cut>) -> bool {
    let mut largest: Option<Largest> = None;
    find_largest(value, "", "", &mut largest);
    let Some(Largest { path, pointer, bytes, .. }) = largest else { return false };
    // Slightly more than needed, because the cut must be named.
    let keeps = |len: usize| {
        let keep = len.saturating_mul(bytes.saturating_sub(excess + 100)) / bytes.max(1);
        // At most half at once: parts differ in size.
        keep.max(len / 2).min(len.saturating_sub(1))
    };
    match value.pointer_mut(&pointer) {
        Some(Value::Array(elements)) => {
            let (of, keep) = (elements.len(), keeps(elements.len()).max(FEWEST));
            elements.truncate(keep);
            record(cut, path, keep, of);
        }
        Some(Value::String(text)) => {
            let of = text.len();
            let mut keep = keeps(of).max(SHORTEST / 2);
            while !text.is_char_boundary(keep) {
                keep -= 1;
            }
            text.truncate(keep);
            record(cut, path, keep, of);
        }
        _ => return false,
    }
    true
}

fn record(cut: &mut Vec<Cut>, part: String, shown: usize, of: usize) {
    // Cuts in removed elements are not listed.
    let below = format!("{part}.");
    let is_gone = |other: &Cut| {
        let index = other.part.strip_prefix(&below).and_then(|rest| rest.split('.').next()?.parse::<usize>().ok());
        index.is_some_and(|index| index >= shown)
    };
    cut.retain(|other| !is_gone(other));
    match cut.iter_mut().find(|earlier| earlier.part == part) {
        Some(earlier) => (earlier.shown, earlier.limit) = (shown, "bytes"),
        None => cut.push(Cut { part, shown, of, limit: "bytes" }),
    }
}

fn find_largest(value: &Value, path: &str, pointer: &str, largest: &mut Option<Largest>) {
    let mut offer = |bytes: usize, is_rows: bool| {
        let rank = |is_rows: bool, bytes: usize| (is_rows && bytes > SMALL_ROWS, bytes);
        let is_larger = |known: &Largest| rank(is_rows, bytes) > rank(known.is_rows, known.bytes);
        if largest.as_ref().is_none_or(is_larger) {
            *largest = Some(Largest { path: path.to_owned(), pointer: pointer.to_owned(), bytes, is_rows });
        }
    };
    match value {
        Value::Array(elements) if elements.len() > FEWEST => {
            let is_rows = path == "rows" || path.ends_with(".rows");
            offer(value.to_string().len(), is_rows);
        }
        Value::String(text) if text.len() > SHORTEST && path != COMMAND => offer(text.len(), false),
        _ => {}
    }
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                find_largest(element, &below(&at.to_string()), &format!("{pointer}/{at}"), largest);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                find_largest(field, &below(name), &format!("{pointer}/{escaped}"), largest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(result: &Value) -> Value {
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    #[test]
    fn what_is_too_large_is_cut_and_named() {
        let rows: Vec<Value> = (0..1000).map(|row| json!([row, "x".repeat(50)])).collect();
        let mut answer = ToolAnswer::default();
        answer.set("rows", rows);
        answer.set("title", "t");
        let result = answer.result(5000).unwrap();
        assert!(result["content"][0]["text"].as_str().unwrap().len() <= 5000);
        let shown = text_of(&result);
        let kept = shown["rows"].as_array().unwrap().len();
        assert!(kept > 50 && kept < 90, "{kept}");
        assert_eq!(shown["cut"], json!([{ "part": "rows", "shown": kept, "of": 1000, "limit": "bytes" }]));
        assert_eq!(shown, result["structuredContent"]);
    }

    #[test]
    fn texts_are_cut_too_and_what_cannot_be_cut_is_an_error() {
        let mut answer = ToolAnswer::default();
        answer.set("text", "ä".repeat(5000));
        let shown = text_of(&answer.result(3000).unwrap());
        assert!(shown["text"].as_str().unwrap().chars().all(|letter| letter == 'ä'));
        let mut answer = ToolAnswer::default();
        for field in 0..100 {
            answer.set(&field.to_string(), "x".repeat(100));
        }
        assert!(answer.result(3000).unwrap_err().message.contains("more than 3000 bytes"));
    }

    #[test]
    fn a_command_is_whole_or_visibly_cut() {
        for (length, is_whole) in [(900, true), (9000, false)] {
            let mut answer = ToolAnswer::default();
            answer.set("command", "c".repeat(length));
            answer.set("text", "x".repeat(9000));
            let shown = text_of(&answer.result(4096).unwrap());
            let command = shown["command"].as_str().unwrap();
            assert_eq!(command.len() == length, is_whole, "{command}");
            assert_eq!(command.ends_with("… (cut)"), !is_whole);
            assert_eq!(shown["cut"][0]["part"] == "command", !is_whole, "{shown}");
            assert_eq!(shown["notes"].as_array().unwrap().is_empty(), is_whole);
        }
    }

    #[test]
    fn arrays_of_documents_keep_as_many_elements_as_asked() {
        let mut answer = ToolAnswer::default();
        answer.set_document("doc", json!({ "a": [[1, 2, 3], 2, 3], "b": { "c": [1] } }), 2);
        let shown = text_of(&answer.result(10_000).unwrap());
        assert_eq!(shown["doc"], json!({ "a": [[1, 2], 2], "b": { "c": [1] } }));
        let parts: Vec<&str> =
            shown["cut"].as_array().unwrap().iter().map(|cut| cut["part"].as_str().unwrap()).collect();
        assert_eq!(parts, ["doc.a", "doc.a.0"]);
    }

    #[test]
    fn an_answer_that_abstains_says_why() {
        let mut answer = ToolAnswer::default();
        answer.abstain("counters is empty");
        let shown = text_of(&answer.result(1000).unwrap());
        assert_eq!((&shown["abstained"], &shown["reason"]), (&json!(true), &json!("counters is empty")));
        assert_eq!(shown["exit"], json!({ "code": 3, "name": "no_data" }));
    }
}
