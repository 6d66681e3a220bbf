//! Diffs for the terminal.

use anstyle::{AnsiColor, Style};

use super::plain::plain;

const LINES: usize = 120;

/// The lines of a diff with their colors, and how many more there are.
pub(super) fn shown(diff: &str) -> Vec<(Style, String)> {
    let color = |color: AnsiColor| color.on_default();
    let style = |line: &str| match line.as_bytes().first() {
        _ if line.starts_with("+++") || line.starts_with("---") => Style::new().bold(),
        Some(b'+') => color(AnsiColor::Green),
        Some(b'-') => color(AnsiColor::Red),
        Some(b'@') => color(AnsiColor::Cyan),
        _ => Style::new(),
    };
    let all = diff.lines().count();
    let mut lines: Vec<(Style, String)> = diff.lines().take(LINES).map(|line| (style(line), plain(line))).collect();
    if all > LINES {
        let more = all - LINES;
        lines.push((Style::new().dimmed(), format!("… {more} more {}", if more == 1 { "line" } else { "lines" })));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut() {
        let diff: String = (0..LINES + 1).map(|line| format!("+{line}\n")).collect();
        let lines = shown(&diff);
        assert_eq!(lines.len(), LINES + 1);
        assert_eq!(lines.last().unwrap().1, "… 1 more line");
        assert_eq!(shown("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\u{1b}[2Ja\n+b\n").get(3).unwrap().1, "-␛[2Ja");
    }
}
