//! Answers as comma- or tab-separated values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use memchr::{memchr_iter, memchr2};
use polars::prelude::{Column, DataFrame, DataType};
use rayon::prelude::*;

use super::cell::Cell;
use wavesieve_model::text::hidden::escape_commands;
use wavesieve_tables::columns::values::I64Values;

/// Rows that are formatted at a time.
const PIECE_ROWS: usize = 1 << 10;
/// Maximum number of pieces that all threads format while earlier ones are written.
const MAX_PIECES: usize = 16;

/// Whether texts that spreadsheets take for formulas are kept or defused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// They are written as they are.
    #[default]
    Kept,
    /// An apostrophe before them makes them texts.
    Defused,
}

impl Formulas {
    /// A text as it is written.
    pub fn written(self, text: &str) -> Cow<'_, str> {
        if self == Self::Defused && is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
    }
}

/// Whether a spreadsheet would run a text. Some spreadsheets ignore blanks before it, and full-width signs count as
/// signs. A number with a sign is not a formula.
fn is_formula(text: &str) -> bool {
    let trimmed = text.trim();
    let is_number = || {
        let is_of_number = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | 'e' | 'E' | '+' | '-');
        trimmed.chars().all(is_of_number) && trimmed.parse::<f64>().is_ok()
    };
    text.starts_with(['\t', '\r', '\n'])
        || trimmed.starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']) && !is_number()
}

/// Writes a header line and one line per row; missing values are empty.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, delimiter: u8, formulas: Formulas, out: &mut dyn Write) -> Result<()> {
    let style = Lines { delimiter, formulas };
    let mut head = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    head.write_record(frame.get_column_names().iter().map(|name| formulas.written(name).into_owned()))?;
    out.write_all(&head.into_inner()?)?;
    let starts: Vec<usize> = (0..frame.height()).step_by(PIECE_ROWS).collect();
    let lines = |starts: &[usize]| -> Result<Vec<Vec<u8>>> {
        starts.par_iter().map(|start| lines_of(&frame.slice(*start as i64, PIECE_ROWS), style)).collect()
    };
    let mut made = Ok(Vec::new());
    for starts in starts.chunks(MAX_PIECES).chain([[].as_slice()]) {
        let ready: Vec<Vec<u8>> = made?;
        made = Ok(Vec::new());
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| made = lines(starts));
            ready.iter().try_for_each(|piece| out.write_all(piece))
        })?;
    }
    out.flush()?;
    Ok(())
}

/// How lines are written.
#[derive(Clone, Copy)]
struct Lines {
    delimiter: u8,
    formulas: Formulas,
}

fn lines_of(frame: &DataFrame, style: Lines) -> Result<Vec<u8>> {
    let columns = frame.columns().iter().map(|column| fields(column, style));
    let mut columns = columns.collect::<Result<Vec<Fields<'_>>>>()?;
    let mut lines = Vec::new();
    for _ in 0..frame.height() {
        let start = lines.len();
        for (place, next) in columns.iter_mut().enumerate() {
            if place > 0 {
                lines.push(style.delimiter);
            }
            next(&mut lines)?;
        }
        if lines.len() == start {
            // Most readers skip empty lines.
            lines.extend_from_slice(b"\"\"");
        }
        lines.push(b'\n');
    }
    Ok(lines)
}

/// Appends the next value of a column to a line; nothing if it is missing.
type Fields<'a> = Box<dyn FnMut(&mut Vec<u8>) -> std::io::Result<()> + 'a>;

fn fields(column: &Column, style: Lines) -> Result<Fields<'_>> {
    let series = column.as_materialized_series();
    Ok(match series.dtype() {
        DataType::Int64 => {
            let mut values = I64Values::new(series.i64()?).into_rows();
            let mut digits = itoa::Buffer::new();
            Box::new(move |line| {
                if let Some(value) = values.next().flatten() {
                    line.extend_from_slice(digits.format(value).as_bytes());
                }
                Ok(())
            })
        }
        DataType::Float64 => {
            let mut values = series.f64()?.iter();
            Box::new(move |line| values.next().flatten().map_or(Ok(()), |value| write!(line, "{value}")))
        }
        DataType::String => {
            let mut values = series.str()?.iter();
            Box::new(move |line| {
                put_text(values.next().flatten().unwrap_or_default(), style, line);
                Ok(())
            })
        }
        DataType::Categorical(_, _) => {
            let texts = series.cat32()?;
            let mapping = texts.get_mapping();
            let mut codes = texts.physical().iter();
            let mut known: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
            Box::new(move |line| {
                if let Some(code) = codes.next().flatten() {
                    let field = known.entry(code).or_insert_with(|| {
                        let mut field = Vec::new();
                        put_text(mapping.cat_to_str(code).unwrap_or_default(), style, &mut field);
                        field
                    });
                    line.extend_from_slice(field);
                }
                Ok(())
            })
        }
        _ => {
            let mut rows = 0..column.len();
            Box::new(move |line| {
                if let Some(row) = rows.next() {
                    put_text(&Cell::new(column, row).plain(), style, line);
                }
                Ok(())
            })
        }
    })
}

/// Appends a text, in quotes if a reader could misread a part of it.
fn put_text(text: &str, style: Lines, line: &mut Vec<u8>) {
    let Lines { delimiter, formulas } = style;
    let text = formulas.written(text);
    // Files are shown in terminals too.
    let text = escape_commands(&text);
    let bytes = text.as_bytes();
    if memchr2(delimiter, b'"', bytes).is_none() && memchr2(b'\r', b'\n', bytes).is_none() {
        line.extend_from_slice(bytes);
        return;
    }
    line.reserve(bytes.len().saturating_add(2));
    line.push(b'"');
    let mut written = 0;
    for quote in memchr_iter(b'"', bytes) {
        // The quote ends this part and starts the next one.
        line.extend_from_slice(bytes.get(written..=quote).unwrap_or_default());
        written = quote;
    }
    line.extend_from_slice(bytes.get(written..).unwrap_or_default());
    line.push(b'"');
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;
    use proptest::prelude::*;

    use super::*;
    use wavesieve_tables::columns::frames::categorical;

    proptest! {
        #[test]
        fn lines_are_those_of_the_csv_crate(
            rows in prop::collection::vec(
                (prop::option::of("[a,\t\"\r\n é]{0,6}"), prop::option::of(any::<i64>()), prop::option::of(-1e9_f64..1e9)),
                0..20,
            ),
            is_tab in any::<bool>(),
        ) {
            let delimiter = if is_tab { b'\t' } else { b',' };
            let texts: Vec<Option<&str>> = rows.iter().map(|row| row.0.as_deref()).collect();
            let integers: Vec<Option<i64>> = rows.iter().map(|row| row.1).collect();
            let floats: Vec<Option<f64>> = rows.iter().map(|row| row.2).collect();
            let frame = df!("text" => &texts, "code" => &texts, "a,b" => integers, "float" => floats).unwrap()
                .lazy().with_column(col("code").cast(categorical())).collect().unwrap();
            for columns in [vec!["text", "code", "a,b", "float"], vec!["text"], vec!["code"], vec!["a,b"]] {
                let frame = frame.select(columns.iter().copied()).unwrap();
                let mut expected = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
                expected.write_record(&columns).unwrap();
                for row in 0..frame.height() {
                    let cells = frame.columns().iter().map(|column| Cell::new(column, row).plain());
                    expected.write_record(cells.collect::<Vec<_>>()).unwrap();
                }
                let mut found = Vec::new();
                write(&frame, delimiter, Formulas::Kept, &mut found).unwrap();
                prop_assert_eq!(String::from_utf8(found).unwrap(), String::from_utf8(expected.into_inner().unwrap()).unwrap());
            }
        }
    }
}
