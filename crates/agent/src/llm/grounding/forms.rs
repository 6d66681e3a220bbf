//! Notations of numbers in texts.

use std::sync::LazyLock;

use regex::Regex;

use super::table::words;

/// Minimum spelled-out number that is checked; prose often has one and two.
const LEAST_SPELLED: f64 = 3.0;

/// A number without its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberForm {
    /// Its length in the text in bytes.
    pub length: usize,
    pub value: f64,
    /// Half a unit of its last digit.
    pub tolerance: f64,
    pub has_decimals: bool,
    /// Number of trailing zeros, which may be due to rounding.
    pub zeros: usize,
    /// Another possible value, with half a unit of its last digit: a comma may separate thousands or decimals.
    pub other: Option<(f64, f64)>,
    /// The parts of a fraction.
    pub parts: Option<(f64, f64)>,
    /// Whether it is a number only before a unit or a noun; otherwise it is a word or a list with commas.
    pub needs_unit: bool,
}

impl NumberForm {
    fn new(length: usize, plain: &str) -> Option<Self> {
        let value = plain.parse::<f64>().ok().filter(|value| value.is_finite())?;
        let (digits, exponent) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
        let decimals = digits.split_once('.').map_or(0, |(_, part)| part.len());
        let zeros = if decimals == 0 { digits.len() - digits.trim_end_matches('0').len() } else { 0 };
        let last = exponent.parse::<i32>().ok()?.saturating_sub(i32::try_from(decimals).unwrap_or(0));
        Some(Self {
            length,
            value,
            tolerance: 0.5 * 10f64.powi(last),
            has_decimals: decimals > 0,
            zeros,
            other: None,
            parts: None,
            needs_unit: false,
        })
    }
}

static FRACTION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^([0-9]{1,4})/([0-9]{1,4})").ok());
static THOUSANDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[0-9]{1,3}(?:[,'’_\u{a0}\u{202f}\u{2009}][0-9]{3})+(?:\.[0-9]+)?").ok());
static GERMAN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+").ok());
static COMMA: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[0-9]+,[0-9]+").ok());
static POWER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([0-9]+(?:\.[0-9]+)?)\s?[x×·*]\s?10(?:\^|\*\*)?([+-]?[0-9]+|[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)").ok()
});
static PLAIN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").ok());
static SPELLED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[A-Za-z]+").ok());

fn found<'a>(pattern: &LazyLock<Option<Regex>>, text: &'a str) -> Option<&'a str> {
    Some(pattern.as_ref()?.find(text)?.as_str())
}

/// The number in digits at the start of a text.
pub fn digits(text: &str) -> Option<NumberForm> {
    let is_end = |length: usize| {
        let next = text.get(length..).and_then(|rest| rest.chars().next());
        !next.is_some_and(|letter| letter.is_ascii_digit())
    };
    if let Some(parts) = FRACTION.as_ref().and_then(|fraction| fraction.captures(text)) {
        let number = |place: usize| parts.get(place).and_then(|part| part.as_str().parse::<f64>().ok());
        let (above, below) = (number(1)?, number(2)?);
        let length = parts.get(0)?.len();
        let next = text.get(length..).and_then(|rest| rest.chars().next());
        let is_alone = !next.is_some_and(|letter| letter.is_alphanumeric() || letter == '/');
        if is_alone && below > 0.0 {
            let form = NumberForm::new(length, &format!("{}", above / below))?;
            return Some(NumberForm { tolerance: 0.005, parts: Some((above, below)), ..form });
        }
    }
    if let Some(german) = found(&GERMAN, text) {
        return NumberForm::new(german.len(), &german.replace('.', "").replace(',', "."));
    }
    if let Some(grouped) = found(&THOUSANDS, text).filter(|grouped| is_end(grouped.len())) {
        let plain: String = grouped.chars().filter(|letter| letter.is_ascii_digit() || *letter == '.').collect();
        let form = NumberForm::new(grouped.len(), &plain)?;
        let other = grouped.split_once(',').filter(|(_, rest)| !rest.contains([',', '.']));
        let other = other.and_then(|(head, rest)| NumberForm::new(0, &format!("{head}.{rest}")));
        return Some(NumberForm { other: other.map(|other| (other.value, other.tolerance)), ..form });
    }
    if let Some(comma) = found(&COMMA, text) {
        let next = text.get(comma.len()..).and_then(|rest| rest.chars().next());
        if !next.is_some_and(|letter| letter == ',' || letter == '.' && !is_end(comma.len() + 1)) {
            let form = NumberForm::new(comma.len(), &comma.replacen(',', ".", 1))?;
            return Some(NumberForm { needs_unit: true, ..form });
        }
    }
    if let Some(power) = POWER.as_ref().and_then(|power| power.captures(text)) {
        let exponent: String = power.get(2)?.as_str().chars().map(raised).collect();
        return NumberForm::new(power.get(0)?.len(), &format!("{}e{exponent}", power.get(1)?.as_str()));
    }
    let plain = found(&PLAIN, text)?;
    NumberForm::new(plain.len(), plain)
}

fn raised(letter: char) -> char {
    match letter {
        '⁻' => '-',
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴' => '4',
        '⁵' => '5',
        '⁶' => '6',
        '⁷' => '7',
        '⁸' => '8',
        '⁹' => '9',
        other => other,
    }
}

/// The spelled-out number at the start of a text: `seventeen`, `twenty-four`, `three hundred`.
pub fn spelled(text: &str) -> Option<NumberForm> {
    let table = &words().spelled;
    let word = |text: &str| {
        let word = found(&SPELLED, text)?;
        Some((table.get(&word.to_lowercase()).copied()?, word.len()))
    };
    let (mut value, mut length) = word(text)?;
    let next = |length: usize| {
        let rest = text.get(length..).filter(|rest| rest.starts_with(['-', ' ']))?;
        word(rest.get(1..)?).map(|(value, word)| (value, length + 1 + word))
    };
    if let Some((ones, end)) = next(length).filter(|(ones, _)| (20.0..100.0).contains(&value) && *ones < 10.0) {
        (value, length) = (value + ones, end);
    }
    if let Some((_, end)) = next(length).filter(|(hundred, _)| *hundred == 100.0 && value < 100.0) {
        (value, length) = (value * 100.0, end);
    }
    if value < LEAST_SPELLED {
        return None;
    }
    Some(NumberForm { needs_unit: true, zeros: 0, ..NumberForm::new(length, &format!("{value}"))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_numbers() {
        for (text, value, length) in [
            ("1,234 calls", 1234.0, 5),
            ("1'234'567.5", 1_234_567.5, 11),
            ("1.5e6", 1.5e6, 5),
            ("1.5×10^6 x", 1.5e6, 9),
            ("2·10⁻³", 2e-3, 10),
            ("12,5 %", 12.5, 4),
            ("1.234,5", 1234.5, 7),
            ("3/8 of", 0.375, 3),
            ("3/8/2", 3.0, 1),
            ("10–20 %", 10.0, 2),
        ] {
            let form = digits(text).unwrap();
            assert_eq!((form.value, form.length), (value, length), "{text}");
        }
        assert_eq!(digits("12,345").unwrap().other.unwrap().0, 12.345);
        for (text, value) in [("seventeen kernels", 17.0), ("forty-two", 42.0), ("three hundred", 300.0)] {
            assert_eq!(spelled(text).unwrap().value, value, "{text}");
        }
        assert_eq!(spelled("one of them"), None);
    }
}
