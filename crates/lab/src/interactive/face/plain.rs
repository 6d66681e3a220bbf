//! Makes lines safe for a terminal.

use std::borrow::Cow;

use wavesieve_model::text::hidden::escape_hidden;

const TAB: usize = 8;

/// A line without terminal commands: colors of a child are removed, only the last state of a progress bar is kept, tabs
/// become blanks, and other control characters become visible signs.
pub fn plain(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    let last = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default();
    let mut shown = String::with_capacity(last.len());
    for (place, part) in without_sequences(last).split('\t').enumerate() {
        if place > 0 {
            let width = unicode_width::UnicodeWidthStr::width(shown.as_str());
            shown.extend(std::iter::repeat_n(' ', TAB - width % TAB));
        }
        shown.push_str(&escape_hidden(part));
    }
    shown
}

/// The text without ANSI sequences that set colors or erase.
fn without_sequences(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("\u{1b}[");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|one: char| one.is_ascii_digit() || matches!(one, ';' | ':' | '?'));
        match rest.strip_prefix(['m', 'K']) {
            Some(rest) => kept.push_str(rest),
            // Any other sequence becomes visible.
            None => {
                kept.push_str("\u{1b}[");
                kept.push_str(part);
            }
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn nothing_of_a_child_commands_the_terminal() {
        for (line, expected) in [
            ("plain größe\n", "plain größe"),
            ("\u{1b}[1;31merror:\u{1b}[0m no\u{1b}[K", "error: no"),
            ("10%\r50%\r100%\r\n", "100%"),
            ("a\tb\t\tc", "a       b               c"),
            ("title \u{1b}]0;x\u{7} \u{1b}[2J", "title ␛]0;x␇ ␛[2J"),
            ("\u{202e}evil\u{0}", "⟨U+202E⟩evil␀"),
            ("\u{1b}[\u{1b}[m", "␛["),
            ("", ""),
        ] {
            assert_eq!(plain(line), expected, "{line:?}");
        }
    }
}
