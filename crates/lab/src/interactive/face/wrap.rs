//! Wraps texts to the width of the terminal.

use unicode_width::UnicodeWidthStr;

/// Maximum line width that is easy to read.
const READABLE: usize = 100;

/// The lines of a text; continuation lines are indented by this many blanks.
pub(super) fn wrapped(line: &str, width: Option<usize>, indent: usize) -> Vec<String> {
    let Some(width) = width.map(|width| width.min(READABLE)).filter(|width| *width > indent + 10) else {
        return vec![line.to_owned()];
    };
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let start = line.len() - line.trim_start().len();
    let mut lines = Vec::new();
    let mut current = line.get(..start).unwrap_or_default().to_owned();
    let mut has_words = false;
    for word in line.split_whitespace() {
        if has_words && current.width() + 1 + word.width() > width {
            lines.push(std::mem::replace(&mut current, " ".repeat(indent)));
            has_words = false;
        }
        if has_words {
            current.push(' ');
        }
        current.push_str(word);
        has_words = true;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "  1  the quick brown fox jumps over the lazy dog";
        assert_eq!(wrapped(text, Some(30), 5), ["  1 the quick brown fox jumps", "     over the lazy dog"]);
        assert_eq!(wrapped(text, None, 5), [text]);
        assert_eq!(wrapped(text, Some(8), 5), [text]);
        let path = "x".repeat(120);
        assert_eq!(wrapped(&path, Some(80), 2), [path]);
    }
}
