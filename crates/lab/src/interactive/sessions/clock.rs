//! Times in session files.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use regex::Regex;

use wavesieve_model::text::time::utc;

/// A time; in an identifier, text may follow.
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xs)^ (?<year>[0-9]{4}) [-:]? (?<month>[0-9]{2}) [-:]? (?<day>[0-9]{2})
        [Tt\x20_] (?<hour>[0-9]{2}) [-:]? (?<minute>[0-9]{2}) [-:]? (?<second>[0-9]{2}) (?:\.(?<fraction>[0-9]*))?
        (?: [Zz] | (?<sign>[-+]) (?<hours>[0-9]{2}) [-:]? (?<minutes>[0-9]{2}) | _.* )? $",
    )
    .ok()
});

/// A UTC time with milliseconds, such as `2026-01-31T12:00:00.125Z`.
pub(crate) fn utc_fraction(time: SystemTime) -> String {
    let milliseconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().subsec_millis();
    format!("{}.{milliseconds:03}Z", utc(time).trim_end_matches('Z'))
}

/// Parses a time such as `2026-01-31T12:00:00.123456+00:00`. The fraction and the offset are optional, and a blank may
/// replace the T. Identifiers have `2026-01-31_12-00-00` and `20260131_120000`.
pub fn instant(text: &str) -> Option<SystemTime> {
    let parts = TIME.as_ref()?.captures(text.trim())?;
    let number = |name: &str| parts.name(name)?.as_str().parse::<i64>().ok();
    let (month, day) = (number("month")?, number("day")?);
    let (hour, minute, second) = (number("hour")?, number("minute")?, number("second")?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction = parts.name("fraction").map_or("", |digits| digits.as_str());
    let nanoseconds = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let sign = if parts.name("sign").is_some_and(|sign| sign.as_str() == "-") { -1 } else { 1 };
    let ahead = sign * (number("hours").unwrap_or(0) * 3_600 + number("minutes").unwrap_or(0) * 60);
    let seconds = days(number("year")?, month, day)? * 86_400 + hour * 3_600 + minute * 60 + second - ahead;
    UNIX_EPOCH.checked_add(Duration::new(u64::try_from(seconds).ok()?, nanoseconds))
}

fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    // Years that begin in March end with the leap day.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    (year >= 1969).then_some(365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        for seconds in [0, 951_782_399, 951_782_400, 1_767_225_599, 4_102_444_800] {
            let time = UNIX_EPOCH + Duration::from_millis(seconds * 1_000 + 125);
            assert_eq!(instant(&utc_fraction(time)), Some(time));
            assert_eq!(instant(&utc(time)), Some(UNIX_EPOCH + Duration::from_secs(seconds)));
        }
    }

    #[test]
    fn times_of_others() {
        let expected = instant("2026-01-31T12:00:00Z");
        assert!(expected.is_some());
        for text in [
            "2026-01-31T12:00:00",
            "2026-01-31 12:00:00",
            "2026-01-31T12:00:00.000000+00:00",
            "2026-01-31T14:00:00+02:00",
            "2026-01-31T06:30:00-0530",
            "2026-01-31_12-00-00",
            "2026-01-31_12-00-00_app",
            "20260131_120000_app",
        ] {
            assert_eq!(instant(text), expected, "{text}");
        }
        for text in [
            "",
            "today",
            "2026-01-31",
            "2026-13-01T00:00:00Z",
            "2026-01-31T12:00:00Zx",
            "0001-01-01T00:00:00Z",
            "2026-01-31T12:00:00ü",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }
}
