//! Times in microseconds with decimals, as exact nanoseconds.

/// Nanoseconds of a number of microseconds, rounded where it has more than three decimals. Numbers beyond what an integer holds
/// become the largest there is.
pub(crate) fn nanoseconds(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    if digits.contains(['e', 'E']) {
        // Only programs that hold times as floating point numbers write exponents.
        let microseconds: f64 = digits.parse().ok()?;
        return Some(sign * (microseconds * 1000.0).round() as i64);
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let mut decimals = fraction.bytes().chain(std::iter::repeat(b'0')).map(|digit| i64::from(digit - b'0'));
    let below = decimals.by_ref().take(3).fold(0, |sum, digit| sum * 10 + digit);
    let rounded = below + i64::from(decimals.next().is_some_and(|digit| digit >= 5));
    let whole = whole.parse::<i64>().unwrap_or(i64::MAX);
    Some(sign * whole.saturating_mul(1000).saturating_add(rounded))
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn decimals_are_exact() {
        for (text, expected) in [
            ("3743411230047.485", Some(3_743_411_230_047_485)),
            ("1682725898236567", Some(1_682_725_898_236_567_000)),
            ("67.32", Some(67_320)),
            ("0.0004", Some(0)),
            ("0.0005", Some(1)),
            ("0.9999", Some(1000)),
            ("-1.5", Some(-1500)),
            ("1e-3", Some(1)),
            ("18446744073709551.615", Some(i64::MAX)),
            ("99999999999999999999", Some(i64::MAX)),
            ("", None),
            (".5", None),
            ("null", None),
            ("1.2.3", None),
            ("\"5\"", None),
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), expected, "{text}");
        }
    }
}
