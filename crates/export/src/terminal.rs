//! Answers as aligned tables that fit the terminal.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use polars::prelude::DataFrame;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::cell::Cell;
use super::unit::{Display, is_number};
use wavesieve_engine::findings::{counted, shortened};
use wavesieve_model::text::hidden::escape_hidden;

/// Minimum width of a name that is shortened to let a table fit.
const NARROWEST_NAME: usize = 16;
/// Minimum width of a sentence.
const NARROWEST_SENTENCE: usize = 30;
/// Longest sentence that reports write out.
pub const LONGEST_SENTENCE: usize = 1000;
/// Names of a table at most of which the width is made distinct.
const MOST_NAMES: usize = 1000;
/// Columns that a name gets at most so that it is distinct.
const WIDENED: usize = 60;
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
    /// Maximum length of a sentence that continues on further lines if it does not fit. If `None`, sentences are
    /// shortened like names.
    pub wraps: Option<usize>,
}

/// A table as text: what is written for each column.
struct Grid {
    headers: Vec<String>,
    cells: Vec<Vec<String>>,
    widths: Vec<usize>,
    right: Vec<bool>,
    wraps: Vec<Option<usize>>,
    rows: usize,
}

/// Writes a heading and one line per row, numbers to the right. If lines would be too long, names are shortened in
/// their middle, or sentences are wrapped. Columns that still do not fit follow in further blocks, which repeat the
/// leading names. Rows beyond the limit are counted below.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, display: &[Display], style: Style, out: &mut dyn Write) -> Result<()> {
    let rows = style.rows.map_or(frame.height(), |rows| rows.min(frame.height()));
    let headers: Vec<String> =
        frame.columns().iter().zip(display).map(|(column, display)| display.header(column.name())).collect();
    let cells: Vec<Vec<String>> = frame
        .columns()
        .iter()
        .zip(display)
        .map(|(column, display)| {
            (0..rows).map(|row| escape_hidden(&display.text(&Cell::new(column, row))).into_owned()).collect()
        })
        .collect();
    let mut widths: Vec<usize> = headers
        .iter()
        .zip(&cells)
        .map(|(header, cells)| cells.iter().map(|cell| cell.width()).chain([header.width()]).max().unwrap_or(0))
        .collect();
    if let Some(width) = style.width {
        let natural = widths.clone();
        shrink(&mut widths, &headers, display, style);
        for (((shown, natural), display), cells) in widths.iter_mut().zip(&natural).zip(display).zip(&cells) {
            if display.shortens && *shown < *natural && !(style.wraps.is_some() && display.wraps) {
                *shown = distinct_width(cells, *shown, *natural);
            }
        }
        if total(&widths) > width {
            // Several blocks are needed anyway, so names may keep more of their length.
            for ((shown, natural), display) in widths.iter_mut().zip(natural).zip(display) {
                if display.shortens {
                    *shown = natural.min((width * 2 / 5).max(NARROWEST_NAME)).max(*shown);
                }
            }
        }
    }
    let right = frame.columns().iter().map(is_number).collect();
    let wraps = display.iter().map(|display| style.wraps.filter(|_| display.wraps)).collect();
    let grid = Grid { headers, cells, widths, right, wraps, rows };
    let leading = display.iter().take_while(|display| display.identifies).count();
    for (index, block) in blocks(&grid.widths, leading, style.width).into_iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        grid.write(&block, style.color, out)?;
    }
    if rows < frame.height() {
        let others = counted((frame.height() - rows) as f64, "more row");
        writeln!(out, "… {others}; --rows 0 shows all")?;
    }
    Ok(())
}

impl Grid {
    fn write(&self, block: &[usize], color: bool, out: &mut dyn Write) -> Result<()> {
        let heading = self.line(block, |column| self.headers.get(column).map_or("", String::as_str));
        if color {
            let bold = anstyle::Style::new().bold();
            writeln!(out, "{bold}{heading}{bold:#}")?;
        } else {
            writeln!(out, "{heading}")?;
        }
        for row in 0..self.rows {
            let cell =
                |column: usize| self.cells.get(column).and_then(|cells| cells.get(row)).map_or("", String::as_str);
            let lines: Vec<Vec<String>> = block.iter().map(|column| self.lines(*column, cell(*column))).collect();
            for number in 0..lines.iter().map(Vec::len).max().unwrap_or(0) {
                let part = |column: usize| {
                    let place = block.iter().position(|known| *known == column);
                    let lines = place.and_then(|place| lines.get(place));
                    lines.and_then(|lines| lines.get(number)).map_or("", String::as_str)
                };
                writeln!(out, "{}", self.line(block, part))?;
            }
        }
        Ok(())
    }

    /// The lines of a cell; only sentences have more than one.
    fn lines(&self, column: usize, cell: &str) -> Vec<String> {
        let width = self.widths.get(column).copied().unwrap_or(0);
        let wraps = self.wraps.get(column).copied().flatten();
        if let Some(longest) = wraps.filter(|_| cell.width() > width) {
            return wrapped(&shortened(cell, longest), width);
        }
        vec![cell.to_owned()]
    }

    fn line<'a>(&self, block: &[usize], text: impl Fn(usize) -> &'a str) -> String {
        let mut line = String::new();
        for (index, &column) in block.iter().enumerate() {
            let width = self.widths.get(column).copied().unwrap_or(0);
            let cell = shorten(text(column), width);
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            if index > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            if self.right.get(column) == Some(&true) {
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
}

/// Columns of each block: all in one where they fit, otherwise as many as fit after the leading ones.
fn blocks(widths: &[usize], leading: usize, limit: Option<usize>) -> Vec<Vec<usize>> {
    let needed = |columns: &[usize]| {
        let widths: usize = columns.iter().filter_map(|column| widths.get(*column)).sum();
        widths + GAP * columns.len().saturating_sub(1)
    };
    let all: Vec<usize> = (0..widths.len()).collect();
    let Some(limit) = limit.filter(|limit| needed(&all) > *limit) else { return vec![all] };
    // Repeated columns leave at least half of the width to the others.
    let leading = if leading < widths.len() { leading } else { 0 };
    let mut keys: Vec<usize> = (0..leading).collect();
    while needed(&keys) > limit / 2 && keys.len() > 1 {
        keys.pop();
    }
    let leading = keys.len();
    let mut blocks = Vec::new();
    let mut block = keys.clone();
    for column in leading..widths.len() {
        block.push(column);
        if needed(&block) > limit && block.len() > leading + 1 {
            block.pop();
            blocks.push(std::mem::replace(&mut block, keys.clone()));
            block.push(column);
        }
    }
    blocks.push(block);
    blocks
}

/// Width of a line with all columns.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// A text in lines of at most so many columns; words that are longer are broken.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => {
                let mut rest = word;
                while rest.width() > width.max(1) {
                    let head = take_width(rest.chars(), width.max(1));
                    // A character may be wider than the line.
                    let taken = head.len().max(rest.chars().next().map_or(0, char::len_utf8));
                    let Some((head, tail)) = rest.split_at_checked(taken) else { break };
                    lines.push(head.to_owned());
                    rest = tail;
                }
                if !rest.is_empty() {
                    lines.push(rest.to_owned());
                }
            }
        }
    }
    lines
}

/// Narrows the widest of the columns that may be shortened, until the table fits or no column can be narrower.
fn shrink(widths: &mut [usize], headers: &[String], display: &[Display], style: Style) {
    let limit = style.width.unwrap_or(usize::MAX);
    let floors: Vec<usize> = widths
        .iter()
        .zip(headers)
        .zip(display)
        .map(|((width, header), display)| {
            let narrowest = if style.wraps.is_some() && display.wraps { NARROWEST_SENTENCE } else { NARROWEST_NAME };
            if display.shortens { header.width().max(narrowest).min(*width) } else { *width }
        })
        .collect();
    loop {
        let Some(excess) = total(widths).checked_sub(limit).filter(|excess| *excess > 0) else { return };
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

/// The least width, from the given one on, at which different names stay different.
fn distinct_width(cells: &[String], width: usize, natural: usize) -> usize {
    let names: BTreeSet<&str> = cells.iter().map(String::as_str).collect();
    if names.len() > MOST_NAMES {
        return width;
    }
    let is_distinct = |width: &usize| {
        names.iter().map(|name| shorten(name, *width)).collect::<BTreeSet<String>>().len() == names.len()
    };
    (width..natural.min(width + WIDENED)).find(is_distinct).unwrap_or(width)
}

/// Removes the middle of a text that is wider than `width`: kernel names are distinguished by both ends.
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
    fn blocks_repeat_the_leading_columns() {
        assert_eq!(blocks(&[3, 4, 4, 4], 1, Some(19)), [vec![0, 1, 2], vec![0, 3]]);
        assert_eq!(blocks(&[3, 4, 4, 4], 1, Some(21)), [vec![0, 1, 2, 3]]);
        assert_eq!(blocks(&[3, 4], 1, Some(1)), [vec![0, 1]]);
        assert_eq!(blocks(&[30, 40], 2, Some(9)), [vec![0], vec![1]]);
        assert_eq!(blocks(&[3, 9, 4, 9], 2, Some(20)), [vec![0, 1, 2], vec![0, 3]]);
    }

    #[test]
    fn sentences_are_put_on_lines() {
        assert_eq!(wrapped("rows are left out", 8), ["rows are", "left out"]);
        assert_eq!(wrapped("see /very/long/path now", 6), ["see", "/very/", "long/p", "ath", "now"]);
        assert_eq!(wrapped("矩阵", 1), ["矩", "阵"]);
    }

    #[test]
    fn different_names_stay_different() {
        let cells = ["kernel<float, 4>".to_owned(), "kernel<bf16, 4>".to_owned(), "kernel<bf16, 4>".to_owned()];
        assert_eq!(distinct_width(&cells, 7, 16), 11);
        assert_eq!(distinct_width(&cells, 12, 16), 12);
        assert_eq!(distinct_width(&["a".repeat(90), "a".repeat(91)], 10, 91), 10);
    }

    #[test]
    fn the_middle_is_left_out() {
        assert_eq!(shorten("abcdefghij", 7), "abc…hij");
        assert_eq!(shorten("abcdefghij", 10), "abcdefghij");
        assert_eq!(shorten("äöüäöü", 3), "ä…ü");
        assert_eq!(shorten("abc", 1), "…");
    }
}
