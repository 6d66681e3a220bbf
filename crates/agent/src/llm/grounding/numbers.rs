//! Numbers of a text, with their units and nouns.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::forms::{NumberForm, digits, spelled};
use super::table::{Noun, UnitKind, stem, words};

/// Maximum number of words after a number that may be its noun.
const MOST_WORDS: usize = 5;
/// Maximum number in phrases such as `the top three`.
const MOST_PICKED: f64 = 20.0;

/// A number in a text.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its byte range, including the unit.
    pub place: Range<usize>,
    /// Its possible values, each with half a unit of its last digit as tolerance.
    pub readings: Vec<(f64, f64)>,
    /// Its quantity, with the possible factors from its unit to the base unit.
    pub kind: UnitKind,
    pub factors: Vec<f64>,
    /// Its possible nouns: the following words, in the singular.
    pub counts: Vec<String>,
    /// The kind of thing that it identifies.
    pub identifies: Option<&'static Noun>,
    pub has_decimals: bool,
    /// The parts of a fraction.
    pub parts: Option<(f64, f64)>,
}

impl Written {
    /// Its first reading.
    pub fn value(&self) -> f64 {
        self.readings.first().map_or(0.0, |(value, _)| *value)
    }

    /// The known nouns that it may count.
    pub(crate) fn nouns(&self) -> impl Iterator<Item = &'static Noun> {
        let is_of = |noun: &&Noun| noun.words.iter().any(|word| self.counts.contains(word));
        words().noun.iter().filter(is_of)
    }
}

static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\s?(?:-|–|—|to|and|or|bis)\s?~?[0-9][0-9.,]*([\s\u{a0}\u{202f}]?)([A-Za-zµμ%×/]+)").ok()
});
static SKIPPED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| words().skipped.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

/// The numbers of a text that are statements about a trace, outside of the skipped ranges.
pub fn numbers(text: &str, skipped: &[Range<usize>]) -> Vec<Written> {
    let mut places: Vec<Range<usize>> = skipped.to_vec();
    places.extend(SKIPPED.iter().flat_map(|pattern| pattern.find_iter(text).map(|found| found.range())));
    let mut found = Vec::new();
    let mut start = 0;
    let mut previous = ' ';
    while let Some(letter) = text.get(start..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(start..).unwrap_or_default();
        let form = match letter {
            '0'..='9' => digits(rest),
            _ if letter.is_ascii_alphabetic() && !is_of_word(previous) => spelled(rest),
            _ => None,
        };
        let next = start + letter.len_utf8();
        let place = start;
        (start, previous) = (next, letter);
        let Some(form) = form.filter(|_| !places.iter().any(|taken| taken.contains(&place))) else { continue };
        let end = place + form.length;
        let (number, end) = match written(text, place, &form) {
            // A list with commas is several numbers.
            None if form.needs_unit && letter.is_ascii_digit() => {
                let whole = rest.split(',').next().map_or(0, str::len);
                let first = rest.get(..whole).and_then(digits);
                (first.and_then(|form| written(text, place, &form)), place + whole)
            }
            number => (number, end),
        };
        let is_read = number.is_some() || letter.is_ascii_digit();
        found.extend(number);
        if is_read {
            start = end.max(next);
            previous = '0';
        }
    }
    found
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// Blanks that are allowed between a number and its unit.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

fn is_of_unit(letter: char) -> bool {
    letter.is_alphabetic() || matches!(letter, '%' | '×' | '/')
}

fn written(text: &str, start: usize, form: &NumberForm) -> Option<Written> {
    let end = start + form.length;
    let (before, rest) = (text.get(..start)?, text.get(end..)?);
    // x99.9 is a factor.
    let is_factor = is_prefixed(before);
    let is_digits = text.get(start..).is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    if !is_factor && is_part_of_name(before) || is_part_of_version(rest) || is_mark_of_list(before, rest) {
        return None;
    }
    let last = last_word(before);
    let table = words();
    let has = |list: &[String], word: &str| list.iter().any(|known| known == word);
    if is_digits && has(&table.structure_before, &last) || before.ends_with('#') {
        return None;
    }
    if form.value <= MOST_PICKED && has(&table.picked_before, &last) {
        return None;
    }
    let is_loose = has(&table.loose, &last) || before.trim_end().ends_with(['~', '≈', '<', '>', '≥', '≤']);
    let mut scale = 1.0;
    let (mut rest, mut end) = (rest, end);
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
            // 256x256, or a name that starts with digits.
            return None;
        }
        end += blanks + length;
    } else if is_digits && scale == 1.0 && blanks == 0 && is_joined(rest, word) {
        return None;
    }
    if unit.is_none() {
        let range = RANGE.as_ref().and_then(|range| range.captures(rest));
        unit = range.and_then(|found| unit_of(found.get(2)?.as_str()));
    }
    let (counts, following) = counted(rest);
    if unit.is_none() && (counts.iter().take(2).any(|word| has(&table.structure_after, word)) || is_of_these(rest)) {
        return None;
    }
    let is_picked = form.value <= MOST_PICKED && following.first().is_some_and(|word| has(&table.picked_after, word));
    if unit.is_none() && is_picked {
        return None;
    }
    let (mut kind, factors) = unit.map_or((UnitKind::Plain, vec![1.0]), |(unit, _)| unit);
    if kind == UnitKind::Percent
        && [Some(&last), following.first(), following.get(1)]
            .into_iter()
            .flatten()
            .any(|word| has(&table.own_judgement, word))
    {
        return None;
    }
    if kind == UnitKind::Plain && is_factor {
        kind = UnitKind::Times;
    }
    // "Launched 288 times" is a count, "17 times faster" is not.
    let is_counted = word == "times" && !following.get(1).is_some_and(|word| has(&table.comparisons, word));
    let mut counts = if kind == UnitKind::Plain { counts } else { Vec::new() };
    if kind == UnitKind::Times && is_counted {
        (kind, counts) = (UnitKind::Plain, vec!["call".to_owned()]);
    }
    let zeros = if is_loose { form.zeros } else { 0 };
    let tolerance = form.tolerance * 10f64.powi(i32::try_from(zeros).unwrap_or(0));
    let mut readings = vec![(form.value * scale, tolerance * scale)];
    readings.extend(
        form.other.filter(|_| kind != UnitKind::Plain).map(|(value, tolerance)| (value * scale, tolerance * scale)),
    );
    let identifies = table.place.iter().find(|place| has(&place.words, &last));
    // In "to process 8 of them", `process` is a verb.
    let is_done = before.trim_end().strip_suffix(last.as_str()).is_some_and(|before| before.ends_with("to "));
    let identifies = identifies.filter(|_| kind == UnitKind::Plain && !is_done);
    let found = Written {
        place: (if is_factor { start - before.chars().next_back().map_or(0, char::len_utf8) } else { start })..end,
        readings,
        kind,
        factors,
        counts,
        identifies,
        has_decimals: form.has_decimals,
        parts: form.parts.filter(|_| kind == UnitKind::Plain),
    };
    let is_said = kind != UnitKind::Plain || !is_digits && found.nouns().next().is_some();
    (!form.needs_unit || is_said).then_some(found)
}

/// Returns whether letters or an underscore that are not a unit follow directly.
fn is_joined(rest: &str, word: &str) -> bool {
    (!word.is_empty() || rest.starts_with('_')) && !word.starts_with('/')
}

/// Returns whether an `x` before a number makes it a factor.
fn is_prefixed(before: &str) -> bool {
    let mut letters = before.chars().rev();
    let is_sign = letters.next().is_some_and(|letter| matches!(letter, 'x' | '×'));
    is_sign && !letters.next().is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Returns whether the text before a number makes it a part of a name.
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

fn is_of_these(rest: &str) -> bool {
    let rest = rest.trim_start();
    ["of these", "of them", "of those"].iter().any(|words| rest.starts_with(words))
}

/// The length of the blank or hyphen before a unit in bytes, and the letters of the unit.
fn next_unit(rest: &str) -> (usize, &str) {
    let blank = rest.chars().next().filter(|letter| is_blank(*letter)).map_or(0, char::len_utf8);
    let letters = |start: usize| {
        let behind = rest.get(start..).unwrap_or_default();
        let length = behind.find(|letter| !is_of_unit(letter)).unwrap_or(behind.len());
        behind.get(..length).unwrap_or_default()
    };
    // 88-fold, 256-byte
    if rest.starts_with('-') && unit_of(letters(1)).is_some() {
        return (1, letters(1));
    }
    (blank, letters(blank))
}

/// The meaning of a unit, with its length in bytes: all letters, or the letters before a slash as in `ms/iteration`.
fn unit_of(word: &str) -> Option<((UnitKind, Vec<f64>), usize)> {
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

/// The possible nouns of a number in the singular, and the following words unchanged, up to the end of the clause.
fn counted(rest: &str) -> (Vec<String>, Vec<String>) {
    let table = words();
    let (mut counts, mut following) = (Vec::new(), Vec::new());
    let mut is_over = false;
    for word in rest.split_whitespace().take(MOST_WORDS) {
        let bare = cleaned(word);
        is_over |= table.noun_ends.contains(&bare);
        let is_number = bare.starts_with(|letter: char| letter.is_ascii_digit());
        if !is_over && !bare.is_empty() && !is_number && !matches!(bare.as_str(), "of" | "the" | "all" | "its") {
            counts.push(stem(&bare));
        }
        following.push(bare);
        if word.ends_with([',', ';', '.', ':', ')', '?', '!']) {
            break;
        }
    }
    (counts, following)
}

fn cleaned(word: &str) -> String {
    word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(String, UnitKind)> {
        numbers(text, &[]).into_iter().map(|found| (text.get(found.place).unwrap().to_owned(), found.kind)).collect()
    }

    #[test]
    fn numbers_have_their_units() {
        let text = "busy 81.2%, 1,234 dispatches of 12.3 ms, 24.5GB/s, 1.5 GiB, 3x, 10-20% and 2.5 million calls";
        let expected = [
            ("81.2%", UnitKind::Percent),
            ("1,234", UnitKind::Plain),
            ("12.3 ms", UnitKind::Time),
            ("24.5GB/s", UnitKind::Rate),
            ("1.5 GiB", UnitKind::Bytes),
            ("3x", UnitKind::Times),
            ("10", UnitKind::Percent),
            ("20%", UnitKind::Percent),
            ("2.5 million", UnitKind::Plain),
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
    fn numbers_in_all_forms() {
        let text =
            "x99.9 or 99.9x, an 88-fold gain at 2.1 GHz and 1,307 TFLOP/s, 12,5 %, seventeen kernels, ranks 1,2; 3/8";
        let expected = [
            ("x99.9", UnitKind::Times),
            ("99.9x", UnitKind::Times),
            ("88-fold", UnitKind::Times),
            ("2.1 GHz", UnitKind::Clock),
            ("1,307 TFLOP/s", UnitKind::Flops),
            ("12,5 %", UnitKind::Percent),
            ("seventeen", UnitKind::Plain),
            ("1", UnitKind::Plain),
            ("2", UnitKind::Plain),
            ("3/8", UnitKind::Plain),
        ];
        assert_eq!(shown(text), expected.map(|(text, kind)| (text.to_owned(), kind)));
        for skipped in
            ["on 2024-05-01 at 12:30", "in May 2024", "v7.0.1-rc2", "85% confidence", "three of them, one kernel"]
        {
            assert_eq!(shown(skipped), [], "{skipped}");
        }
    }

    #[test]
    fn times_count_or_compare() {
        let expected = [("288 times", UnitKind::Plain), ("17 times", UnitKind::Times), ("3x", UnitKind::Times)];
        assert_eq!(
            shown("launched 288 times, 17 times faster, 3x"),
            expected.map(|(text, kind)| (text.to_owned(), kind))
        );
    }

    #[test]
    fn what_is_counted_is_known() {
        let found = numbers("8 GPUs, rank 3, 40 steady iterations", &[]);
        assert_eq!(found[0].nouns().next().unwrap().names, ["gpu"]);
        assert_eq!(found[1].identifies.unwrap().names, ["rank"]);
        assert_eq!(found[2].nouns().next().unwrap().names[0], "iteration");
        assert_eq!(numbers("37 of the 39 iterations", &[])[0].counts, ["iteration"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_numbers_or_none(text in "[0-9a-z .,%/µ×~#_()’⁶-]{0,60}") {
            for found in numbers(&text, &[]) {
                proptest::prop_assert!(text.get(found.place.clone()).is_some());
            }
        }
    }
}
