//! Sentences with numbers in them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior};

use wavesieve_model::text::hidden::escape_hidden;

/// A day; durations from one day on are in days.
const DAY_NS: f64 = 8.64e13;
/// Maximum length of a name in a sentence.
const LONGEST_NAME: usize = 60;
/// Text for an unknown number.
const UNKNOWN: &str = "an unknown amount";

/// A name as the texts of findings have it.
pub fn shortened_as_in_findings(name: &str) -> String {
    let text = shortened(name, LONGEST_NAME).replace('`', "'");
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Fills a template with values. Text between backticks is code; values contain no backticks, so that they cannot end it. `duration`,
/// `bytes`, `pct`, `count` and `name` are filters for numbers with units and for names. `counted("call")` is a number with its noun,
/// `agrees("is", "are")` the word for one or for several.
///
/// # Errors
/// When the template is wrong, or requests a value that is missing.
pub fn rendered(template: &str, values: &BTreeMap<String, Value>) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(|out, _, value| {
        let text = if value.is_undefined() || value.is_none() { String::new() } else { value.to_string() };
        Ok(out.write_str(&text.replace('`', "'"))?)
    });
    environment.add_filter("duration", |ns: Value| number(ns, duration));
    environment.add_filter("bytes", |count: Value| number(count, bytes));
    environment.add_filter("pct", |pct: Value| number(pct, |pct| format!("{pct:.1}%")));
    environment.add_filter("count", |count: Value| number(count, thousands));
    environment.add_filter("counted", |count: Value, noun: String| number(count, |count| counted(count, &noun)));
    environment.add_filter("agrees", |count: Value, one: String, several: String| match f64::try_from(count) {
        Ok(count) if is_one(count) => one,
        _ => several,
    });
    environment.add_filter("name", |name: String| shortened(&name, LONGEST_NAME));
    let text = environment.render_str(template, values).with_context(|| format!("cannot fill in \"{template}\""))?;
    Ok(text.split_whitespace().collect::<Vec<&str>>().join(" "))
}

/// The parts of the text of a finding, each with whether it is code.
pub fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split('`').enumerate().map(|(place, piece)| (place % 2 == 1, piece)).filter(|(_, piece)| !piece.is_empty())
}

/// A number in words; unknown values are reported as such.
fn number(value: Value, shown: impl Fn(f64) -> String) -> Result<String, minijinja::Error> {
    if value.is_none() {
        return Ok(UNKNOWN.to_owned());
    }
    f64::try_from(value).map(shown)
}

/// A number with its noun: `1 call`, `1,200 calls`.
pub fn counted(count: f64, noun: &str) -> String {
    let noun = match noun.strip_suffix('y') {
        _ if is_one(count) => noun.to_owned(),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        Some(_) => format!("{noun}s"),
        None if noun.ends_with("ch") || noun.ends_with('s') => format!("{noun}es"),
        None => format!("{noun}s"),
    };
    format!("{} {noun}", thousands(count))
}

/// Whether a number is 1 when rounded for display.
fn is_one(count: f64) -> bool {
    count.round() == 1.0
}

/// A duration in nanoseconds in the unit that suits it, with three digits.
pub fn duration(ns: f64) -> String {
    with_unit(ns, &[(DAY_NS, "days"), (3.6e12, "h"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")])
}

/// A number of bytes in the unit that suits it.
pub fn bytes(count: f64) -> String {
    with_unit(count, &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")])
}

fn with_unit(value: f64, units: &[(f64, &str)]) -> String {
    let (divisor, unit) =
        units.iter().find(|(divisor, _)| value.abs() >= *divisor).or(units.last()).copied().unwrap_or((1.0, ""));
    let scaled = value / divisor;
    let decimals = match scaled.abs() {
        scaled if divisor == 1.0 && scaled.fract() == 0.0 => 0,
        scaled if scaled >= 100.0 => 0,
        scaled if scaled >= 10.0 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$} {unit}")
}

/// A whole number with its digits in groups.
pub fn thousands(count: f64) -> String {
    let digits = format!("{count:.0}");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

/// A name with its middle omitted if it is longer than `most` characters, and with signs for invisible characters.
pub fn shortened(name: &str, most: usize) -> String {
    let characters: Vec<char> = escape_hidden(name).chars().collect();
    if characters.len() <= most {
        return characters.into_iter().collect();
    }
    let kept = most.saturating_sub(1);
    let head = kept.div_ceil(2);
    let tail = characters.iter().skip(characters.len() - (kept - head));
    characters.iter().take(head).chain([&'…']).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_that_suit_them() {
        let shown: Vec<String> = [0.0, 999.0, 1_500.0, 12_340_000.0, 4.5e11].into_iter().map(duration).collect();
        assert_eq!(shown, ["0 ns", "999 ns", "1.50 µs", "12.3 ms", "450 s"]);
        assert_eq!(bytes(1536.0), "1.50 KiB");
        assert_eq!(thousands(-1_234_567.0), "-1,234,567");
        assert_eq!(thousands(999.0), "999");
        assert_eq!((duration(4.32e14), duration(7.2e12)), ("5.00 days".to_owned(), "2.00 h".to_owned()));
    }

    #[test]
    fn nouns_follow_their_numbers() {
        let shown =
            [(1.0, "call"), (1200.0, "call"), (2.0, "copy"), (0.0, "dispatch")].map(|(n, noun)| counted(n, noun));
        assert_eq!(shown, ["1 call", "1,200 calls", "2 copies", "0 dispatches"]);
        let values = BTreeMap::from([("n".to_owned(), Value::from(1))]);
        assert_eq!(
            rendered("{{ n | counted('check') }} {{ n | agrees('fails', 'fail') }}", &values).unwrap(),
            "1 check fails"
        );
    }

    #[test]
    fn values_cannot_become_code() {
        let values = BTreeMap::from([("name".to_owned(), Value::from("a`b"))]);
        let text = rendered("{{ name }} by `run {{ name }}`", &values).unwrap();
        assert_eq!(text, "a'b by `run a'b`");
        assert_eq!(pieces(&text).collect::<Vec<_>>(), [(false, "a'b by "), (true, "run a'b")]);
        assert!(rendered("{{ other }}", &values).is_err());
    }

    #[test]
    fn numbers_that_are_not_known_are_said_to_be_that() {
        let values = BTreeMap::from([("none".to_owned(), Value::from(None::<f64>))]);
        assert_eq!(rendered("for {{ none | duration }}", &values).unwrap(), "for an unknown amount");
        assert!(rendered("for {{ other | duration }}", &values).is_err());
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("abcdefghij", 5), "ab…ij");
        assert_eq!(shortened("a\nb", 5), "a␊b");
    }
}
