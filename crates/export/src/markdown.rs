//! Answers as Markdown tables.

use std::io::Write;

use anyhow::Result;
use polars::prelude::DataFrame;

use super::cell::Cell;
use super::unit::{Display, is_number};
use wavesieve_engine::findings::shortened;
use wavesieve_model::text::hidden::escape_hidden;

/// Writes a pipe table with readable units; numbers are aligned to the right. Names with more than `longest_name`
/// characters keep both ends.
///
/// # Errors
/// When writing fails.
pub fn write(frame: &DataFrame, display: &[Display], longest_name: Option<usize>, out: &mut dyn Write) -> Result<()> {
    let shown = |display: &Display, cell: &Cell| match longest_name.filter(|_| display.shortens) {
        // Sentences keep more characters, which they need for their meaning.
        Some(longest) => escape(&shortened(&display.text(cell), if display.wraps { longest * 4 } else { longest })),
        None => escape(&display.text(cell)),
    };
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
            .map(|(column, display)| shown(display, &Cell::new(column, row)))
            .collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in escape_hidden(text).chars() {
        match character {
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
        assert_eq!(escape("a|b<int>*\n"), "a\\|b\\<int\\>\\*␊");
        assert_eq!(escape("a\u{1b}[31m\u{202e}b"), "a␛\\[31m⟨U+202E⟩b");
    }
}
