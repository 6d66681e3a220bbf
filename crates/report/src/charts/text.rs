//! Texts of drawings: without characters that XML forbids, measured with the font, and short enough for their place.

use std::sync::LazyLock;

use plotters::style::{FontStyle, IntoFont, register_font};
use unicode_width::UnicodeWidthChar;

/// Name that the font is registered under.
pub const FAMILY: &str = "wavesieve";
/// The size of a font for one pixel of em in bitmaps. Sizes are heights from descender to ascender there, which is
/// 1.164 em for DejaVu Sans.
pub(crate) const HEIGHT_OF_EM: f64 = 1.164;

static FONT: &[u8] = data_bytes!("share/fonts/DejaVuSans-subset.ttf");

static REGISTERED: LazyLock<bool> = LazyLock::new(|| register_font(FAMILY, FontStyle::Normal, FONT).is_ok());

/// Registers the font once; returns whether that worked.
pub fn prepared() -> bool {
    *REGISTERED
}

/// Widths of the printable characters of ASCII in thousandths of an em.
static WIDTHS: LazyLock<Vec<f64>> = LazyLock::new(|| (' '..='~').map(measured).collect());

fn measured(character: char) -> f64 {
    const EM: f64 = 1000.0;
    if !prepared() {
        return 0.6 * EM;
    }
    let mut bytes = [0; 4];
    let font = (FAMILY, EM * HEIGHT_OF_EM).into_font();
    font.layout_box(character.encode_utf8(&mut bytes)).map_or(0.6 * EM, |(_, (right, _))| f64::from(right))
}

/// Width of a text in pixels, at a font size in pixels.
pub fn width(text: &str, size: f64) -> f64 {
    let thousandths: f64 = text
        .chars()
        .map(|character| {
            let known = (character as usize).checked_sub(' ' as usize).and_then(|index| WIDTHS.get(index));
            // The font lacks wide characters; the substitute font displays them as wide as they are high.
            known.copied().unwrap_or_else(|| match character.width() {
                Some(0) => 0.0,
                Some(2) => 1000.0,
                _ => measured(character),
            })
        })
        .sum();
    thousandths * size / 1000.0
}

/// The text on one line, without characters that must not be shown or that XML forbids.
pub fn clean(text: &str) -> String {
    const LONGEST: usize = 2000;
    let mut cleaned = String::with_capacity(text.len().min(LONGEST));
    for character in text.chars().take(LONGEST) {
        let code = character as u32;
        let hidden = matches!(code, 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF);
        let noncharacter = (code & 0xFFFE) == 0xFFFE || (0xFDD0..=0xFDEF).contains(&code);
        cleaned.push(if character.is_control() || hidden {
            ' '
        } else if noncharacter {
            '\u{fffd}'
        } else {
            character
        });
    }
    cleaned.trim().to_owned()
}

/// The text, shortened in its middle to a width in pixels.
pub fn shortened(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let with = |kept: usize| -> String {
        let head = kept.div_ceil(2);
        let tail = characters.len() - (kept - head);
        characters.iter().take(head).chain(&['…']).chain(characters.iter().skip(tail)).collect()
    };
    let (mut least, mut most) = (0, characters.len().saturating_sub(1));
    while least < most {
        let middle = (least + most).div_ceil(2);
        if width(&with(middle), size) <= limit {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    with(least)
}

/// The text in lines of a width in pixels; words that are too long are shortened.
pub fn wrapped(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shortened(word, size, limit);
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(&word, size) <= limit => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_is_ours() {
        assert!(prepared());
        // Advance widths of DejaVu Sans: 'i' 569 and 'W' 2025 of 2048.
        assert!((width("i", 1000.0) - 277.0).abs() < 2.0, "{}", width("i", 1000.0));
        assert!((width("W", 1000.0) - 989.0).abs() < 2.0, "{}", width("W", 1000.0));
        assert_eq!(width("中", 10.0), 10.0);
    }

    #[test]
    fn long_names_keep_both_ends() {
        let short = shortened("Cijk_Ailk_Bljk_HHS_BH_MT256x256x16_SE_K1", 12.0, 100.0);
        assert!(short.starts_with("Cijk") && short.contains('…') && short.ends_with("K1"), "{short}");
        assert!(width(&short, 12.0) <= 100.0);
        assert_eq!(shortened("abc", 12.0, 1.0), "…");
    }

    #[test]
    fn hidden_characters_are_spaces() {
        assert_eq!(clean("a\u{0}b\u{202e}c\nd\u{ffff}"), "a b c d\u{fffd}");
    }
}
