//! Tables, prepared for the templates.

use polars::prelude::{Column, DataFrame};
use serde::Serialize;

use super::anchors::anchor;
use super::finding_view::{Piece, text as pieces_of};
use super::words::words;
use crate::document::Table;
use wavesieve_engine::findings::{Evidence, shortened};
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_export::unit::{Display, TimeUnit, displays, is_number};
use wavesieve_model::analysis::kernel_names::ReadableNames;

/// Names with more characters are cut in the middle.
const LONG: usize = 34;
/// Longer words may be broken at any character.
const LONGEST_WORD: usize = 30;
/// Number of characters of a long name that are always visible at its end.
const TAIL: usize = 12;
/// Names with more characters are cut permanently where they are shown. The page has them once, in its list of long
/// names.
const LONGEST: usize = 400;

#[derive(Serialize)]
pub(crate) struct TableView {
    id: String,
    title: String,
    about: Vec<Piece>,
    columns: Vec<ColumnView>,
    rows: Vec<RowView>,
    shown: usize,
    /// Number of rows that the document leaves out.
    others: usize,
    /// Empty if the table has no query.
    command: String,
}

#[derive(Serialize)]
struct ColumnView {
    name: String,
    label: String,
    unit: String,
    doc: String,
    is_number: bool,
}

#[derive(Serialize)]
struct RowView {
    /// Empty if no link can point to the row.
    id: String,
    cells: Vec<CellView>,
}

#[derive(Serialize)]
struct CellView {
    text: String,
    /// The plain value of a number.
    raw: Option<String>,
    classes: String,
    /// Width of the bar of a share, from 0 to 1.
    share: Option<String>,
    /// End of a long name; `text` is its start.
    tail: Option<String>,
    /// The full name of a kernel, if `text` is its readable name.
    title: Option<String>,
    /// The whole name, if `text` and `tail` are not all of it.
    #[serde(skip)]
    whole: Option<String>,
}

impl TableView {
    /// A table of a section.
    pub fn of_table(table: &Table, names: &ReadableNames) -> Self {
        let keys = table.row_keys().iter().map(|key| anchor(&table.id, key)).collect();
        Self {
            about: pieces_of(&table.about),
            others: table.total_rows.saturating_sub(table.frame.height()),
            ..Self::from_frame((anchor("table", &table.id), &table.title), &table.frame, &table.columns, keys, names)
                .commanded(table.command.clone().unwrap_or_default())
        }
    }

    /// Rows that support a finding.
    pub fn of_evidence(evidence: &Evidence, id: String, names: &ReadableNames) -> Self {
        Self {
            others: evidence.rows.saturating_sub(evidence.frame.height()),
            ..Self::from_frame((id, &evidence.title), &evidence.frame, &evidence.columns, Vec::new(), names)
                .commanded(evidence.command.clone())
        }
    }

    /// The meaning of its columns, for the glossary.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &str)> {
        self.columns.iter().map(|column| (column.name.as_str(), column.doc.as_str()))
    }

    /// The full names that are cut in it.
    pub(crate) fn long_names(&self) -> impl Iterator<Item = String> {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let long = |cell: &CellView| Some(format!("{}{}", cell.text, cell.tail.as_ref()?));
        cells.filter_map(move |cell| cell.whole.clone().or_else(|| long(cell)))
    }

    /// The full names that it shows nowhere.
    pub(crate) fn cut_names(&self) -> impl Iterator<Item = String> {
        self.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.whole.clone())
    }

    /// Its heading and id.
    pub fn title(&self) -> (&str, &str) {
        (&self.title, &self.id)
    }

    fn from_frame(
        (id, title): (String, &str),
        frame: &DataFrame,
        columns: &[OutputColumn],
        keys: Vec<String>,
        names: &ReadableNames,
    ) -> Self {
        let display = displays(frame, columns, TimeUnit::Auto);
        let declared = || frame.columns().iter().zip(columns).zip(&display);
        let header = declared().map(|((column, declared), display)| header(column, declared, display)).collect();
        let by_column: Vec<Vec<CellView>> =
            declared().map(|((column, declared), display)| cells(column, declared, display, names)).collect();
        let mut by_column: Vec<_> = by_column.into_iter().map(Vec::into_iter).collect();
        let mut keys = keys.into_iter();
        let rows = (0..frame.height()).map(|_| RowView {
            id: keys.next().unwrap_or_default(),
            cells: by_column.iter_mut().filter_map(Iterator::next).collect(),
        });
        Self {
            rows: rows.collect(),
            id,
            title: title.to_owned(),
            about: Vec::new(),
            columns: header,
            shown: frame.height(),
            others: 0,
            command: String::new(),
        }
    }

    fn commanded(self, command: String) -> Self {
        Self { command, ..self }
    }
}

fn header(column: &Column, declared: &OutputColumn, display: &Display) -> ColumnView {
    // The heading of the other formats ends in the unit of the column.
    let with_unit = display.header(&declared.name);
    let unit = match declared.unit {
        ColumnUnit::Percent => "%".to_owned(),
        _ if with_unit == declared.name => String::new(),
        _ => with_unit.rsplit(' ').next().unwrap_or_default().replace("us", "µs"),
    };
    let label = match declared.name.as_str() {
        "pct" => "share".to_owned(),
        "bytes" => "size".to_owned(),
        "gb_per_s" => "bandwidth".to_owned(),
        name => words(name),
    };
    ColumnView {
        label,
        unit,
        name: declared.name.clone(),
        doc: declared.doc.replace('`', ""),
        is_number: is_number(column) && declared.unit != ColumnUnit::Id,
    }
}

fn cells(column: &Column, declared: &OutputColumn, display: &Display, names: &ReadableNames) -> Vec<CellView> {
    let values: Vec<Cell> = (0..column.len()).map(|row| Cell::new(column, row)).collect();
    let share = |cell: &Cell| match cell {
        Cell::Float(pct) if declared.unit == ColumnUnit::Percent && (0.0..=100.0).contains(pct) => Some(*pct),
        _ => None,
    };
    // Bars are shown only if the whole column can be compared by them: not with negative changes or more than 100 %.
    let has_bars = values.iter().all(|cell| *cell == Cell::Null || share(cell).is_some());
    let is_numeric = is_number(column);
    let groups = is_numeric && declared.unit != ColumnUnit::Id;
    let view = |cell: Cell| {
        let full = display.text(&cell);
        let text = names.shown(&full).into_owned();
        let title = (text != full).then(|| capped(full.clone()));
        let is_missing = matches!(&cell, Cell::Null) || matches!(&cell, Cell::Float(value) if !value.is_finite());
        let is_name = declared.unit == ColumnUnit::Name;
        let whole = (title.is_some() || is_name && full.chars().nth(LONGEST).is_some()).then_some(full);
        let (text, tail) = match declared.unit {
            ColumnUnit::Name => halves(text),
            _ if groups => (grouped(&text), None),
            _ => (text, None),
        };
        let share = share(&cell).filter(|_| has_bars);
        let is_long = tail.is_none() && text.split_whitespace().any(|word| word.chars().count() > LONGEST_WORD);
        let classes = [(groups, "n"), (share.is_some(), "share"), (is_missing, "missing"), (is_long, "long")];
        CellView {
            raw: (is_numeric && !is_missing).then(|| cell.plain()),
            share: share.map(|pct| format!("{:.3}", pct / 100.0)),
            text: if is_missing { String::new() } else { text },
            classes: classes
                .iter()
                .filter(|(holds, _)| *holds)
                .map(|(_, class)| *class)
                .collect::<Vec<&str>>()
                .join(" "),
            tail,
            title,
            whole,
        }
    };
    values.into_iter().map(view).collect()
}

/// A long text in two parts, of which the end is always visible. Texts longer than any name lose their middle.
pub fn halves(text: String) -> (String, Option<String>) {
    let text = capped(text);
    let count = text.chars().count();
    if count <= LONG {
        return (text, None);
    }
    let head = count - TAIL;
    (text.chars().take(head).collect(), Some(text.chars().skip(head).collect()))
}

/// A text without its middle, if it is longer than any name.
pub(crate) fn capped(text: String) -> String {
    if text.chars().nth(LONGEST).is_some() { shortened(&text, LONGEST) } else { text }
}

/// A number with commas as thousands separators.
pub fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    if whole.len() <= 4 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut text = sign.to_owned();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, shown) in [("1234", "1234"), ("20512", "20,512"), ("-1234567.25", "-1,234,567.25"), ("-", "-")] {
            assert_eq!(grouped(number), shown);
        }
    }

    #[test]
    fn long_names_keep_every_character() {
        let name = "void größer<矩阵>::".repeat(9);
        let (head, tail) = halves(name.clone());
        assert_eq!(format!("{head}{}", tail.unwrap()), name);
        assert_eq!(halves("short".to_owned()), ("short".to_owned(), None));
    }
}
