//! A table as a sheet: headings in the first row, which stays visible, and rows that can be filtered.

use anyhow::{Context as _, Result};
use polars::prelude::{Column, DataFrame, DataType};
use rust_xlsxwriter::{ConditionalFormatCell, ConditionalFormatCellRule, Format, IgnoreError, Note, Worksheet};

use super::appearance;
use super::text::cell_text;
use crate::document::Status;
use crate::full_tables::FullTable;
use wavesieve_engine::{ColumnUnit, OutputColumn};
use wavesieve_export::cell::Cell;
use wavesieve_export::unit::{Display, TimeUnit, displays_alike};

/// Maximum number of table rows on a sheet: all of its rows but the heading.
pub const MAX_ROWS: usize = 1_048_575;
/// Whole numbers with more digits lose precision in a spreadsheet.
const MAX_EXACT: u64 = 999_999_999_999_999;
/// Smaller numbers are zero with three decimals.
const MIN_SHOWN: f64 = 0.001;
/// Number of rows for measuring the width of a column.
const MEASURED_ROWS: usize = 200;
/// Widths of columns, in characters.
const NARROWEST: usize = 9;
const WIDEST: usize = 60;
/// Width that the filter button takes from a heading.
const BUTTON: usize = 3;
/// Columns whose words get a background, and these words.
const SEVERITIES: [&str; 2] = ["priority", "severity"];
const TINTED_WORDS: [(&str, Status); 4] = [
    ("high", Status::Critical),
    ("error", Status::Critical),
    ("medium", Status::Warning),
    ("warning", Status::Warning),
];

/// How a column is written.
struct ColumnStyle {
    heading: String,
    note: String,
    divisor: f64,
    width: usize,
    format: Format,
    /// Whether its whole numbers have more digits than a spreadsheet keeps.
    is_long: bool,
}

/// Writes a table to a sheet, with at most this many of its rows.
pub fn write_table(table: &FullTable, unit: TimeUnit, most_rows: usize, sheet: &mut Worksheet) -> Result<()> {
    let (frame, columns) = visible_columns(table);
    let frame = frame.head(Some(most_rows));
    let styles = styles(table, &frame, &columns, unit);
    let last_row = u32::try_from(frame.height()).context("internal: a table is longer than a sheet")?;
    let heading = appearance::heading();
    for (place, (style, column)) in (0_u16..).zip(styles.iter().zip(frame.columns())) {
        sheet.write_string_with_format(0, place, cell_text(&style.heading), &heading)?;
        if !style.note.is_empty() {
            let note = Note::new(cell_text(&style.note)).add_author_prefix(false).set_width(260).set_height(70);
            sheet.insert_note(0, place, &note)?;
        }
        sheet.set_column_width(place, style.width as f64)?;
        write_column(column, style, place, sheet)?;
        if SEVERITIES.contains(&column.name().as_str()) && last_row > 0 {
            tint_words(place, last_row, sheet)?;
        }
        if style.is_long && last_row > 0 {
            sheet.ignore_error_range(1, place, last_row, place, IgnoreError::NumberStoredAsText)?;
        }
    }
    let width = u16::try_from(styles.len()).context("internal: a table is wider than a sheet")?;
    if let Some(last) = width.checked_sub(1) {
        sheet.autofilter(0, 0, last_row, last)?;
        sheet.set_freeze_panes(1, 0)?;
    }
    if let Some(remark) = remark(frame.height(), table.total_rows, most_rows) {
        sheet.write_string_with_format(0, width + 1, remark, &appearance::tinted(Format::new(), Status::Warning))?;
    }
    Ok(())
}

/// The columns of a table that are on its sheet, with their headings.
pub fn shown(table: &FullTable, unit: TimeUnit) -> (DataFrame, Vec<String>) {
    let (frame, columns) = visible_columns(table);
    let frame = frame.head(Some(MAX_ROWS));
    let headings = styles(table, &frame, &columns, unit).into_iter().map(|style| style.heading).collect();
    (frame, headings)
}

/// The note about rows that are not on the sheet.
fn remark(rows: usize, total_rows: usize, most_rows: usize) -> Option<String> {
    let why = if rows == most_rows {
        "a sheet holds no more; --format csv and parquet hold all"
    } else {
        "more were not asked for"
    };
    (rows < total_rows).then(|| format!("{rows} of {total_rows} rows: {why}"))
}

/// The columns with values, or all columns if the columns of the table are fixed.
fn visible_columns(table: &FullTable) -> (DataFrame, Vec<OutputColumn>) {
    let says = |column: &&OutputColumn| {
        table.is_exact || table.frame.column(&column.name).is_ok_and(|values| values.null_count() < values.len())
    };
    let columns: Vec<OutputColumn> = table.columns.iter().filter(says).cloned().collect();
    let frame = table.frame.select(columns.iter().map(|column| column.name.as_str()));
    frame.map_or_else(|_| (table.frame.clone(), table.columns.clone()), |frame| (frame, columns))
}

fn styles(table: &FullTable, frame: &DataFrame, columns: &[OutputColumn], unit: TimeUnit) -> Vec<ColumnStyle> {
    let displays = displays_alike(frame, columns, unit);
    let columns = frame.columns().iter().zip(columns).zip(&displays);
    columns.map(|((values, declared), display)| style(table, values, declared, display)).collect()
}

fn style(table: &FullTable, values: &Column, declared: &OutputColumn, display: &Display) -> ColumnStyle {
    let heading = if table.is_exact { declared.name.clone() } else { display.header(&declared.name) };
    // TraceLens's whole numbers stay whole, even if its headings would need a fraction.
    let decimals = if *values.dtype() == DataType::Int64 && display.divisor() == 1.0 { 0 } else { display.decimals() };
    let is_text = matches!(values.dtype(), DataType::String | DataType::Boolean);
    let is_long = display.divisor() == 1.0
        && values.i64().is_ok_and(|values| values.iter().flatten().any(|value| value.unsigned_abs() > MAX_EXACT));
    let format = if is_text {
        if declared.unit == ColumnUnit::Text { appearance::wrapped() } else { Format::new() }
    } else {
        let is_small = |value: f64| value != 0.0 && value.abs() < MIN_SHOWN;
        let has_small = values.f64().is_ok_and(|values| values.iter().flatten().any(is_small));
        Format::new().set_num_format(appearance::number_format(declared.unit, decimals, has_small))
    };
    let texts = (0..values.len().min(MEASURED_ROWS)).map(|row| {
        let text = display.text(&Cell::new(values, row));
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        if is_text { longest } else { longest + longest / 3 }
    });
    let longest_word = heading.split(' ').map(|word| word.chars().count() + BUTTON).max().unwrap_or(0);
    let width = texts.chain([longest_word]).max().unwrap_or(0).clamp(NARROWEST, WIDEST);
    let note = match (declared.doc.as_str(), is_long) {
        ("", _) => String::new(),
        (doc, true) => format!("{doc} (as text, because numbers of spreadsheets have 15 digits)"),
        (doc, false) => doc.to_owned(),
    };
    ColumnStyle { heading, note, divisor: display.divisor(), width, format, is_long }
}

fn tint_words(place: u16, last_row: u32, sheet: &mut Worksheet) -> Result<()> {
    for (word, status) in TINTED_WORDS {
        let rule = ConditionalFormatCellRule::EqualTo(word.to_owned());
        let tinted = ConditionalFormatCell::new().set_rule(rule).set_format(appearance::tinted(Format::new(), status));
        sheet.add_conditional_format(1, place, last_row, place, &tinted)?;
    }
    Ok(())
}

/// Writes the values below the heading; missing ones, and floats that are not finite, stay empty.
fn write_column(column: &Column, style: &ColumnStyle, place: u16, sheet: &mut Worksheet) -> Result<()> {
    let rows = 1_u32..;
    match column.dtype() {
        DataType::Int64 => {
            for (row, value) in rows.zip(column.i64()?.iter()) {
                match value {
                    Some(value) if style.is_long => {
                        sheet.write_string_with_format(row, place, value.to_string(), &style.format)?
                    }
                    Some(value) => {
                        sheet.write_number_with_format(row, place, value as f64 / style.divisor, &style.format)?
                    }
                    None => continue,
                };
            }
        }
        DataType::Float64 => {
            for (row, value) in rows.zip(column.f64()?.iter()) {
                if let Some(value) = value.filter(|value| value.is_finite()) {
                    sheet.write_number_with_format(row, place, value / style.divisor, &style.format)?;
                }
            }
        }
        DataType::String => {
            for (row, value) in rows.zip(column.str()?.iter()) {
                if let Some(value) = value.filter(|value| !value.is_empty()) {
                    sheet.write_string_with_format(row, place, cell_text(value), &style.format)?;
                }
            }
        }
        _ => {
            for (row, place_of_value) in rows.zip(0..column.len()) {
                match Cell::new(column, place_of_value) {
                    Cell::Null => {}
                    Cell::Bool(value) => {
                        sheet.write_boolean(row, place, value)?;
                    }
                    other => {
                        sheet.write_string_with_format(row, place, cell_text(&other.plain()), &style.format)?;
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use polars::prelude::df;
    use rust_xlsxwriter::Workbook;

    use super::*;

    #[test]
    fn a_sheet_that_lacks_rows_says_why() {
        assert_eq!(remark(3, 3, 3), None);
        assert_eq!(remark(2, 3, 2).unwrap(), "2 of 3 rows: a sheet holds no more; --format csv and parquet hold all");
        assert_eq!(remark(1, 3, 2).unwrap(), "1 of 3 rows: more were not asked for");
    }

    #[test]
    fn odd_values_fit_into_a_sheet() {
        let frame = df!(
            "name" => ["=1+1", "", "a\0"],
            "value" => [f64::NAN, f64::INFINITY, 1e300],
            "start_ns" => [i64::MIN, i64::MAX, 0],
            "flag" => [Some(true), None, Some(false)],
            "none" => [None::<&str>, None, None],
        )
        .unwrap();
        let units = [ColumnUnit::Name, ColumnUnit::Number, ColumnUnit::Nanoseconds, ColumnUnit::Text, ColumnUnit::Text];
        let names = frame.get_column_names().into_iter().zip(units);
        let columns = names.map(|(name, unit)| OutputColumn::new(name.as_str(), unit, "what it holds")).collect();
        let table = FullTable::new("odd", "", "", columns, frame);
        for most_rows in [0, 2, 3] {
            let mut workbook = Workbook::new();
            write_table(&table, TimeUnit::Auto, most_rows, workbook.add_worksheet()).unwrap();
            assert!(!workbook.save_to_buffer().unwrap().is_empty());
        }
    }
}
