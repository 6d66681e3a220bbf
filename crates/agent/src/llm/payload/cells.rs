//! Values and tables in the form that is sent.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use polars::prelude::DataFrame;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::level::Share;
use super::vocabulary::Vocabulary;
use crate::llm::guide::GUIDE;
use crate::llm::redaction::TokenMap;
use crate::mcp::tool_docs;
use wavesieve_engine::findings::{RULES, shortened};
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_model::schema::tables;

const WORDS: &str = data!("share/llm/words.toml");

const MOST_ROWS: usize = 10;
const LONGEST_NAME: usize = 160;
/// Significant digits of sent numbers; answers are compared with full precision.
const DIGITS: i32 = 6;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lists {
    words: BTreeSet<String>,
    /// Columns with sentences from this program.
    pub sentences: BTreeSet<String>,
    /// Words that form a name together with a number.
    pub indexed: BTreeSet<String>,
}

pub fn lists() -> &'static Lists {
    static LISTS: OnceLock<Lists> = OnceLock::new();
    LISTS.get_or_init(|| toml::from_str(WORDS).unwrap_or_default())
}

/// Public texts: the vocabulary table, ids of rules and tables, and the words of the guide. A range with such a name
/// reveals nothing.
pub fn words() -> &'static BTreeSet<String> {
    static FORM: OnceLock<BTreeSet<String>> = OnceLock::new();
    FORM.get_or_init(|| {
        let mut words = lists().words.clone();
        words.extend(RULES.iter().map(|rule| rule.id.to_owned()));
        words.extend(tables().iter().map(|table| table.name.to_owned()));
        // A tool that has the name of a range must keep it.
        words.extend(tool_docs().into_iter().map(|tool| tool.name));
        let of_guide = GUIDE.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.extend(of_guide.filter(|word| !word.is_empty()).map(ToOwned::to_owned));
        words
    })
}

/// Returns whether a column has command lines, which are not sent at any level.
pub fn is_command(column: &str) -> bool {
    column == "command"
}

/// The word in the token of a redacted name.
pub fn kind_of(column: &str, unit: ColumnUnit) -> &'static str {
    if is_command(column) {
        "COMMAND"
    } else if column.contains("kernel") {
        "KERNEL"
    } else if unit == ColumnUnit::Name {
        "NAME"
    } else {
        "TEXT"
    }
}

pub fn value(cell: &Cell, column: &str, unit: ColumnUnit, share: Share, names: &mut TokenMap) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(value) => Value::from(*value),
        Cell::Float(value) => number(*value),
        Cell::Bool(value) => Value::Bool(*value),
        Cell::Text(text) if share == Share::Figures && is_own(text, column, names) => Value::String(text.clone()),
        Cell::Text(text) if share == Share::Figures || is_command(column) => {
            Value::String(masked(text, kind_of(column, unit), names))
        }
        Cell::Text(text) => Value::String(shortened(text, LONGEST_NAME)),
    }
}

/// Returns whether a text in an own table comes from this program: a sentence without any name.
fn is_own(text: &str, column: &str, names: &TokenMap) -> bool {
    lists().sentences.contains(column)
        && Vocabulary::builtin().has_words(text)
        && !names.names().iter().any(|name| text.contains(&name.text))
}

/// A number with the useful digits.
pub fn number(value: f64) -> Value {
    if value == 0.0 || !value.is_finite() {
        return Number::from_f64(value).map_or(Value::Null, Value::Number);
    }
    let digits = DIGITS - 1 - value.abs().log10().floor() as i32;
    let rounded = format!("{value:.*}", usize::try_from(digits.clamp(0, 12)).unwrap_or(0));
    let rounded = rounded.parse::<f64>().unwrap_or(value);
    Number::from_f64(rounded).map_or(Value::Null, Value::Number)
}

/// A text at the level of figures: unchanged if it is public, otherwise a token. Kernel names always become tokens.
pub fn masked(text: &str, kind: &str, names: &mut TokenMap) -> String {
    if is_public(text, kind) { text.to_owned() } else { names.name(kind, text) }
}

/// Returns whether a text of a kind is public. Kernel names never are.
pub(super) fn is_public(text: &str, kind: &str) -> bool {
    text.is_empty() || kind != "KERNEL" && Vocabulary::builtin().has_text(text) || is_number(text)
}

fn is_number(text: &str) -> bool {
    text.len() < 20
        && text.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-' | 'x' | ' '))
}

/// A table in the form that is sent, with the units of its columns.
pub fn table(
    frame: &DataFrame,
    columns: &[OutputColumn],
    total_rows: usize,
    share: Share,
    names: &mut TokenMap,
) -> Value {
    let rows: Vec<Value> = (0..frame.height().min(MOST_ROWS))
        .map(|row| {
            let cells = columns.iter().filter_map(|column| Some((column, frame.column(&column.name).ok()?)));
            cells
                .map(|(column, values)| value(&Cell::new(values, row), &column.name, column.unit, share, names))
                .collect()
        })
        .collect();
    let heads: Vec<String> = columns
        .iter()
        .filter(|column| frame.column(&column.name).is_ok())
        .map(|column| format!("{} ({})", column.name, column.unit.word()))
        .collect();
    json!({ "columns": heads, "rows": rows, "all_rows": total_rows })
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;

    use super::*;

    /// Facts 30 and 33: calls, shares and directions have the same names in every table; names are tokens, and shapes
    /// are numbers.
    #[test]
    fn values_are_called_as_the_tables_do() {
        let frame = df!("direction" => ["H2D"], "kernel_name" => ["conv2d_forward_kernel"], "calls" => [42i64],
            "pct" => [80.0], "grid" => ["256,256,1"])
        .unwrap();
        let units = [ColumnUnit::Name, ColumnUnit::Name, ColumnUnit::Count, ColumnUnit::Percent, ColumnUnit::Text];
        let names = frame.get_column_names_owned();
        let columns: Vec<OutputColumn> = names
            .iter()
            .zip(units)
            .map(|(name, unit)| OutputColumn { name: name.to_string(), unit, doc: String::new() })
            .collect();
        let shown = table(&frame, &columns, 1, Share::Figures, &mut TokenMap::default());
        let heads = ["direction (name)", "kernel_name (name)", "calls (count)", "pct (pct)", "grid (text)"];
        assert_eq!(shown["columns"], json!(heads));
        assert_eq!(shown["rows"], json!([["H2D", "[KERNEL_1]", 42, 80.0, "256,256,1"]]));
    }

    /// Texts of this program stay at every level, and a command line becomes a token.
    #[test]
    fn texts_of_the_program_stay() {
        let mut names = TokenMap::default();
        names.name("KERNEL", "slow idle kernel");
        let mut shown = |column: &str, text: &str, share: Share| {
            let shown = value(&Cell::Text(text.to_owned()), column, ColumnUnit::Text, share, &mut names);
            shown.as_str().unwrap().to_owned()
        };
        for (column, text) in [
            ("cause", "no_record"),
            ("verdict", "too few calls"),
            ("verdict", "throttling by power suspected"),
            ("detail", "2 kernels end before they start"),
            ("counter", "SQ_WAVES"),
            ("counter", "TCC_HIT_sum"),
            ("architecture", "gfx942"),
            ("format", "rocprofv3"),
            ("api_name", "hipMemcpyAsync"),
        ] {
            assert_eq!(shown(column, text, Share::Figures), text, "{column}");
        }
        for (column, text) in [
            ("message", "forward pass of the model"),
            ("kernel_name", "wait for memory"),
            ("verdict", "zebra is slow"),
            ("detail", "the slow idle kernel waits"),
            ("hostname", "atlas"),
        ] {
            assert!(shown(column, text, Share::Figures).starts_with('['), "{column}: {text}");
        }
        for share in [Share::Figures, Share::Names, Share::Source] {
            assert!(shown("command", "python3 train.py --ranks 4", share).starts_with("[COMMAND_"));
        }
    }
}
