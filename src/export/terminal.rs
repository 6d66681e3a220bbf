//! Answers as aligned tables that fit the terminal.

use std::io::Write;

use anyhow::Result;
use polars::prelude::DataFrame;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::cell::Cell;
use super::unit::{Display, is_number};

/// Narrowest a name is made to let a table fit.
const NARROWEST_NAME: usize = 16;
const GAP: usize = 2;

/// Size and looks of a table.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Columns of the terminal; `None` for no limit.
    pub width: Option<usize>,
    /// Whether headings are highlighted.
    pub color: bool,
    /// Rows shown at most; `None` for all.
    pub rows: Option<usize>,
}

/// Writes a heading and one line per row, numbers to the right, names shortened in their middle so that lines fit. Rows
/// beyond the limit are counted below.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, display: &[Display], style: Style, out: &mut dyn Write) -> Result<()> {
    let shown = style.rows.map_or(frame.height(), |rows| rows.min(frame.height()));
    let headers: Vec<String> =
        frame.columns().iter().zip(display).map(|(column, display)| display.header(column.name())).collect();
    let cells: Vec<Vec<String>> = frame
        .columns()
        .iter()
        .zip(display)
        .map(|(column, display)| (0..shown).map(|row| one_line(&display.text(&Cell::of(column, row)))).collect())
        .collect();
    let natural = headers.iter().zip(&cells).map(|(header, cells)| {
        cells.iter().map(|cell| cell.width()).chain([header.width()]).max().unwrap_or(0)
    });
    let mut widths: Vec<usize> = natural.collect();
    if let Some(width) = style.width {
        shrink(&mut widths, &headers, display, width);
    }
    let right: Vec<bool> = frame.columns().iter().map(is_number).collect();

    let heading = line(headers.iter().map(String::as_str), &widths, &right);
    if style.color {
        let bold = anstyle::Style::new().bold();
        writeln!(out, "{bold}{heading}{bold:#}")?;
    } else {
        writeln!(out, "{heading}")?;
    }
    for row in 0..shown {
        let cells = cells.iter().map(|column| column.get(row).map_or("", String::as_str));
        writeln!(out, "{}", line(cells, &widths, &right))?;
    }
    if shown < frame.height() {
        writeln!(out, "… {} more rows; --rows 0 shows all", frame.height() - shown)?;
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Takes from the widest columns that may be shortened until the table fits, or none can give more.
fn shrink(widths: &mut [usize], headers: &[String], display: &[Display], limit: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    let floors: Vec<usize> = widths
        .iter()
        .zip(headers)
        .zip(display)
        .map(|((width, header), display)| {
            if display.shortens { header.width().max(NARROWEST_NAME).min(*width) } else { *width }
        })
        .collect();
    loop {
        let total = widths.iter().sum::<usize>() + gaps;
        let Some(excess) = total.checked_sub(limit).filter(|excess| *excess > 0) else { return };
        let widest = widths.iter().zip(&floors).enumerate().filter(|(_, (width, floor))| width > floor);
        let Some((index, spare)) = widest
            .map(|(index, (width, floor))| (index, width - floor))
            .max_by_key(|(index, spare)| (*spare, std::cmp::Reverse(*index)))
        else {
            return;
        };
        if let Some(width) = widths.get_mut(index) {
            *width -= excess.min(spare);
        }
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, widths: &[usize], right: &[bool]) -> String {
    let mut line = String::new();
    for (index, ((cell, width), right)) in cells.zip(widths).zip(right).enumerate() {
        if index > 0 {
            line.push_str(&" ".repeat(GAP));
        }
        let cell = shorten(cell, *width);
        let padding = " ".repeat(width.saturating_sub(cell.width()));
        if *right {
            line.push_str(&padding);
            line.push_str(&cell);
        } else {
            line.push_str(&cell);
            line.push_str(&padding);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Leaves out the middle of a text that is wider than `width`: both ends of a kernel's name tell it apart.
fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let keep = width.saturating_sub(1);
    let head = take_width(text.chars(), keep.div_ceil(2));
    let tail: String = take_width(text.chars().rev(), keep / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

fn take_width(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_left_out() {
        assert_eq!(shorten("abcdefghij", 7), "abc…hij");
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("äöüäöü", 3), "ä…ü");
        assert_eq!(shorten("abc", 1), "…");
    }
}
