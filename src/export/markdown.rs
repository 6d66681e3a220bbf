//! Answers as Markdown tables.

use std::io::Write;

use anyhow::Result;
use polars::prelude::DataFrame;

use super::cell::Cell;
use super::unit::{Display, is_number};

/// Writes a pipe table with readable units; numbers are aligned to the right.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, display: &[Display], out: &mut dyn Write) -> Result<()> {
    let headers: Vec<String> =
        frame.columns().iter().zip(display).map(|(column, display)| escape(&display.header(column.name()))).collect();
    writeln!(out, "| {} |", headers.join(" | "))?;
    let rules: Vec<&str> =
        frame.columns().iter().map(|column| if is_number(column) { "---:" } else { "---" }).collect();
    writeln!(out, "| {} |", rules.join(" | "))?;
    for row in 0..frame.height() {
        let cells: Vec<String> = frame
            .columns()
            .iter()
            .zip(display)
            .map(|(column, display)| escape(&display.text(&Cell::of(column, row))))
            .collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => escaped.push(' '),
            '|' | '\\' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '&' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn names_cannot_break_the_table() {
        assert_eq!(escape("a|b<int>*\n"), "a\\|b\\<int\\>\\* ");
    }
}
