//! Numbers of a text, with their units and what they count.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::table::{Kind, Noun, words};

/// A number as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// Its place with its unit, in bytes.
    pub place: Range<usize>,
    pub value: f64,
    /// Half of its last digit: how far what it stands for may be away.
    pub tolerance: f64,
    /// What it measures, with what its unit may be in the base of that.
    pub kind: Kind,
    pub factors: Vec<f64>,
    /// What is counted.
    pub noun: Option<&'static Noun>,
    /// What it identifies.
    pub identifies: Option<&'static Noun>,
    pub has_decimals: bool,
}

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[0-9]{1,3}(?:[,\u{a0}\u{202f}][0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").ok()
});
static RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s?(?:-|–|—|to|and|or)\s?~?[0-9][0-9.,]*(\s?)([A-Za-zµμ%×/]+)").ok());

/// The numbers of a text that say something about a trace; those in these places are left out.
pub(crate) fn numbers(text: &str, skipped: &[Range<usize>]) -> Vec<Written> {
    let Some(number) = NUMBER.as_ref() else { return Vec::new() };
    let is_skipped = |place: usize| skipped.iter().any(|range| range.contains(&place));
    number
        .find_iter(text)
        .filter(|found| !is_skipped(found.start()))
        .filter_map(|found| written(text, found.range()))
        .collect()
}

/// Blanks that may stand between a number and its unit.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{202f}')
}

fn is_of_unit(letter: char) -> bool {
    letter.is_alphabetic() || matches!(letter, '%' | '×' | '/')
}

fn written(text: &str, place: Range<usize>) -> Option<Written> {
    let (before, rest) = (text.get(..place.start)?, text.get(place.end..)?);
    let digits = text.get(place.clone())?;
    if is_part_of_name(before) || is_part_of_version(rest) || is_mark_of_list(before, rest) {
        return None;
    }
    let plain: String = digits.chars().filter(|letter| letter.is_ascii_digit() || ".eE+-".contains(*letter)).collect();
    let value = plain.parse::<f64>().ok().filter(|value| value.is_finite())?;
    let last = last_word(before);
    let table = words();
    let has = |list: &[String], word: &str| list.iter().any(|known| known == word);
    if has(&table.structure_before, &last) || before.ends_with('#') {
        return None;
    }
    let is_loose = has(&table.loose, &last) || before.trim_end().ends_with(['~', '≈', '<', '>', '≥', '≤']);
    let mut scale = 1.0;
    let (mut rest, mut end) = (rest, place.end);
    let (mut blanks, mut word) = next_unit(rest);
    if let Some(found) = table.scale.iter().find(|scale| has(&scale.words, word)) {
        scale = found.factor;
        let length = blanks + word.len();
        end += length;
        rest = rest.get(length..)?;
        (blanks, word) = next_unit(rest);
    }
    let mut unit = unit_of(word);
    if let Some((_, length)) = unit {
        let behind = rest.get(blanks + length..).unwrap_or_default();
        if behind.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
            // 256x256, or a name that begins with digits.
            return None;
        }
        end += blanks + length;
    } else if scale == 1.0 && blanks == 0 && (!word.is_empty() || rest.starts_with('_')) && !word.starts_with('/') {
        return None;
    }
    if unit.is_none() {
        let range = RANGE.as_ref().and_then(|range| range.captures(rest));
        unit = range.and_then(|found| unit_of(found.get(2)?.as_str()));
    }
    let following = next_words(rest);
    if unit.is_none() && following.first().is_some_and(|word| has(&table.structure_after, word)) {
        return None;
    }
    let noun = |nouns: &'static [Noun], word: &str| nouns.iter().find(|noun| has(&noun.words, word));
    let (mut kind, factors) = unit.map_or((Kind::Plain, vec![1.0]), |(unit, _)| unit);
    // Launched 288 times is a count, 17 times faster is none.
    let is_counted = word == "times" && !following.get(1).is_some_and(|word| has(&table.comparisons, word));
    if kind == Kind::Times && is_counted {
        kind = Kind::Plain;
    }
    let decimals =
        plain.split(['e', 'E']).next().and_then(|digits| digits.split_once('.')).map_or(0, |(_, part)| part.len());
    let zeros = if decimals == 0 && is_loose { plain.len() - plain.trim_end_matches('0').len() } else { 0 };
    let tolerance = 0.5 * 10f64.powi(i32::try_from(zeros).unwrap_or(0) - i32::try_from(decimals).unwrap_or(0));
    let is_plain = kind == Kind::Plain;
    Some(Written {
        place: place.start..end,
        value: value * scale,
        tolerance: tolerance * scale,
        kind,
        factors,
        noun: following.iter().filter(|_| is_plain).find_map(|word| noun(&table.noun, word)),
        identifies: noun(&table.place, &last).filter(|_| is_plain),
        has_decimals: decimals > 0,
    })
}

/// Whether what stands before makes a number a part of a name.
fn is_part_of_name(before: &str) -> bool {
    let mut letters = before.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(letter), _) if letter.is_alphanumeric() || letter == '_' => true,
        (Some('.'), Some(letter)) => letter.is_alphanumeric(),
        (Some('-'), Some(letter)) => letter.is_alphabetic() || letter == '_',
        _ => false,
    }
}

fn is_part_of_version(rest: &str) -> bool {
    let mut letters = rest.chars();
    letters.next() == Some('.') && letters.next().is_some_and(|letter| letter.is_ascii_digit())
}

fn is_mark_of_list(before: &str, rest: &str) -> bool {
    let is_first = before.trim().is_empty() || before.ends_with('\n');
    is_first && rest.starts_with(['.', ')']) && !is_part_of_version(rest)
}

/// The number of blanks, at most one letter of them, and the letters of a unit behind.
fn next_unit(rest: &str) -> (usize, &str) {
    let blank = rest.chars().next().filter(|letter| is_blank(*letter)).map_or(0, char::len_utf8);
    let behind = rest.get(blank..).unwrap_or_default();
    let length = behind.find(|letter| !is_of_unit(letter)).unwrap_or(behind.len());
    (blank, behind.get(..length).unwrap_or_default())
}

/// What a unit is, with its length in bytes: all of the letters, or those before a slash as in `ms/iteration`.
fn unit_of(word: &str) -> Option<((Kind, Vec<f64>), usize)> {
    let known = |word: &str| words().unit.iter().find(|unit| unit.words.iter().any(|name| name == word));
    let (unit, length) = match known(word) {
        Some(unit) => (unit, word.len()),
        None => {
            let (head, _) = word.split_once('/')?;
            (known(head)?, head.len())
        }
    };
    Some(((unit.kind, unit.factors.clone()), length))
}

fn last_word(before: &str) -> String {
    let is_adjacent = before.ends_with(is_blank);
    before.split_whitespace().next_back().filter(|_| is_adjacent).map(cleaned).unwrap_or_default()
}

/// The next two words, or fewer where a part of the sentence ends before.
fn next_words(rest: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in rest.split_whitespace().take(2) {
        words.push(cleaned(word));
        if word.ends_with([',', ';', '.', ':', ')', '?', '!']) {
            break;
        }
    }
    words
}

fn cleaned(word: &str) -> String {
    word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(String, Kind)> {
        numbers(text, &[]).into_iter().map(|found| (text.get(found.place).unwrap().to_owned(), found.kind)).collect()
    }

    #[test]
    fn numbers_have_their_units() {
        let text = "busy 81.2%, 1,234 dispatches of 12.3 ms, 24.5GB/s, 1.5 GiB, 3x, 10-20% and 2.5 million calls";
        let expected = [
            ("81.2%", Kind::Percent),
            ("1,234", Kind::Plain),
            ("12.3 ms", Kind::Time),
            ("24.5GB/s", Kind::Rate),
            ("1.5 GiB", Kind::Bytes),
            ("3x", Kind::Times),
            ("10", Kind::Percent),
            ("20%", Kind::Percent),
            ("2.5 million", Kind::Plain),
        ];
        assert_eq!(shown(text), expected.map(|(text, kind)| (text.to_owned(), kind)));
    }

    #[test]
    fn parts_of_names_and_of_the_answer_are_left_out() {
        for text in
            ["1. gfx942 MI-300 v1.2.3 ROCm 7 gemm_128x128 3D 2nd 256x256", "3 recommendations, step 2, #4, top 5"]
        {
            assert_eq!(shown(text), [], "{text}");
        }
    }

    #[test]
    fn times_count_or_compare() {
        let expected = [("288 times", Kind::Plain), ("17 times", Kind::Times), ("3x", Kind::Times)];
        assert_eq!(
            shown("launched 288 times, 17 times faster, 3x"),
            expected.map(|(text, kind)| (text.to_owned(), kind))
        );
    }

    #[test]
    fn what_is_counted_is_known() {
        let found = numbers("8 GPUs, rank 3, 40 steady iterations", &[]);
        assert_eq!(found[0].noun.unwrap().names, ["gpu"]);
        assert_eq!(found[1].identifies.unwrap().names, ["rank"]);
        assert_eq!(found[2].noun.unwrap().names[0], "iteration");
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_numbers_or_none(text in "[0-9a-z .,%/µ×~#_()-]{0,60}") {
            for found in numbers(&text, &[]) {
                proptest::prop_assert!(text.get(found.place.clone()).is_some());
            }
        }
    }
}
