//! Tables for the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::plain::plain;

const GAP: usize = 2;
/// Minimum width to which a column is cut.
const LEAST: usize = 6;

/// The lines of a table, the head first. Numbers are right-aligned, and lines fit the terminal if possible.
pub(super) fn lines(head: &[&str], rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let count = rows.iter().map(Vec::len).chain([head.len()]).max().unwrap_or(0);
    let cells =
        |row: Vec<String>| row.into_iter().chain(std::iter::repeat(String::new())).take(count).collect::<Vec<_>>();
    let plain_row = |row: &Vec<String>| cells(row.iter().map(|cell| plain(&cell.replace('\n', " "))).collect());
    let rows: Vec<Vec<String>> = rows.iter().map(plain_row).collect();
    let head = cells(head.iter().map(|name| plain(name)).collect());
    let column = |place: usize| rows.iter().filter_map(move |row| row.get(place));
    let widest = |place: usize| column(place).chain(head.get(place)).map(|cell| cell.width()).max().unwrap_or(0);
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    let is_right: Vec<bool> = (0..count).map(|place| is_of_numbers(column(place))).collect();
    if let Some(width) = width {
        narrow(&mut widths, width.saturating_sub(GAP * count.saturating_sub(1)));
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).zip(&is_right).map(|((cell, width), is_right)| {
            let cell = cut(cell, *width);
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            if *is_right { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
        });
        cells.collect::<Vec<_>>().join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    [&head].into_iter().chain(&rows).map(line).collect()
}

/// Shrinks the widest columns until the table fits.
fn narrow(widths: &mut [usize], to: usize) {
    while widths.iter().sum::<usize>() > to {
        let Some(widest) = widths.iter_mut().max_by_key(|width| **width).filter(|width| **width > LEAST) else {
            return;
        };
        *widest -= 1;
    }
}

/// Returns whether a column holds numbers, which may have units.
fn is_of_numbers<'a>(cells: impl Iterator<Item = &'a String>) -> bool {
    let mut filled = cells.filter(|cell| !cell.is_empty() && *cell != "-").peekable();
    let is_number = |cell: &String| {
        let digits = cell.trim_start_matches(['+', '-', '−', '~']);
        let is_known = |one: char| one.is_ascii_digit() || matches!(one, '.' | ',' | '%' | '±' | '+' | '-' | ' ');
        digits.starts_with(|one: char| one.is_ascii_digit())
            && cell
                .trim_end_matches(|one: char| one.is_alphabetic() || one == '%')
                .chars()
                .all(|one| is_known(one) || one == '−' || one == '~')
    };
    filled.peek().is_some() && filled.all(is_number)
}

/// The start of a text that fits into this many columns.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(character);
    }
    kept + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        vec![row(["gemm_kernel_with_a_long_name", "12.5 ms", "-3.1%"]), row(["矩阵\u{1b}[2J", "1.5 µs", "+10.0%"])]
    }

    #[test]
    fn columns_are_aligned() {
        let expected = [
            "kernel                           time  change",
            "gemm_kernel_with_a_long_name  12.5 ms   -3.1%",
            "矩阵␛[2J                       1.5 µs  +10.0%",
        ];
        assert_eq!(lines(&["kernel", "time", "change"], &rows(), None), expected);
    }

    #[test]
    fn the_widest_column_is_cut() {
        for line in lines(&["kernel", "time", "change"], &rows(), Some(30)) {
            assert!(line.width() <= 30, "{line}");
        }
        let cut = lines(&["kernel", "time", "change"], &rows(), Some(30));
        assert_eq!(cut.get(1).unwrap(), "gemm_kernel_…  12.5 ms   -3.1%");
        assert_eq!(lines(&[], &[], Some(3)), [""]);
        assert_eq!(lines(&["a", "b"], &[vec!["x".to_owned()]], None), ["a  b", "x"]);
    }
}
