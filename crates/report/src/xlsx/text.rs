//! Texts that fit into cells.

use std::borrow::Cow;

use wavesieve_model::text::hidden::picture;

/// Maximum number of UTF-16 units of the text of a cell.
pub(crate) const MAX_UNITS: usize = 32_767;
/// End of a shortened text.
const CUT: &str = "… (cut: longer than a cell)";

/// The text without characters that XML forbids, shortened to the size of a cell. Control characters become their
/// pictures.
pub(crate) fn cell_text(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| visible(character) == character;
    let text = if text.chars().all(is_plain) { Cow::Borrowed(text) } else { text.chars().map(visible).collect() };
    if text.len() <= MAX_UNITS || text.encode_utf16().count() <= MAX_UNITS {
        return text;
    }
    let mut left = MAX_UNITS - CUT.encode_utf16().count();
    let fits = |character: &char| {
        let units = character.len_utf16();
        let fits = units <= left;
        left = left.saturating_sub(units);
        fits
    };
    let mut shortened: String = text.chars().take_while(fits).collect();
    shortened.push_str(CUT);
    Cow::Owned(shortened)
}

fn visible(character: char) -> char {
    match character {
        '\n' | '\t' => character,
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        _ => picture(character).unwrap_or(character),
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_UNITS, cell_text};

    #[test]
    fn what_xml_forbids_is_shown() {
        assert_eq!(cell_text("a\0b\x1b[1m\r\n\tc\x7f\u{ffff}"), "a␀b␛[1m␍\n\tc␡\u{fffd}");
        assert_eq!(cell_text("=1+1"), "=1+1");
    }

    #[test]
    fn long_texts_end_with_a_mark() {
        let fitting = "x".repeat(MAX_UNITS);
        assert_eq!(cell_text(&fitting), fitting);
        for long in ["x".repeat(MAX_UNITS + 1), "𝄞".repeat(MAX_UNITS), "é𝄞".repeat(MAX_UNITS)] {
            let cut = cell_text(&long);
            assert!(cut.ends_with("(cut: longer than a cell)"));
            let units = cut.encode_utf16().count();
            assert!((MAX_UNITS - 1..=MAX_UNITS).contains(&units), "{units}");
        }
    }
}
