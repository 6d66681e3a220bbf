//! Times in microseconds with decimals, as exact nanoseconds.

/// Nanoseconds of a number of microseconds, rounded if it has more than three decimals. The number may be a quoted text. Numbers that an
/// integer cannot hold become the largest integer.
pub fn nanoseconds(value: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(value).ok()?;
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).map_or(text, str::trim);
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    if let Some((mantissa, exponent)) = digits.split_once(['e', 'E']) {
        return Some(sign * shifted(mantissa, exponent)?);
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

/// Maximum digits of an integer.
const MAX_DIGITS: i64 = 19;

/// Nanoseconds of a number with an exponent. They are exact too: a floating point number does not hold the time since 1970 to the
/// nanosecond.
fn shifted(mantissa: &str, exponent: &str) -> Option<i64> {
    let exponent: i64 = exponent.parse::<i32>().ok()?.into();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let digits: Vec<i64> = whole.bytes().chain(fraction.bytes()).map(|digit| i64::from(digit - b'0')).collect();
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    let digits = digits.get(zeros..).unwrap_or_default();
    // Digits of whole nanoseconds; the digits behind them are a fraction.
    let places = whole.len() as i64 - zeros as i64 + exponent + 3;
    if digits.is_empty() || places < 0 {
        return Some(0);
    }
    if places > MAX_DIGITS {
        return Some(i64::MAX);
    }
    let mut rest = digits.iter().copied().chain(std::iter::repeat(0));
    let kept = rest.by_ref().take(places as usize);
    let sum = kept.fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(digit));
    Some(sum.saturating_add(i64::from(rest.next().is_some_and(|digit| digit >= 5))))
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
            ("1.682725898236567e15", Some(1_682_725_898_236_567_000)),
            ("1.682725898236567001E+15", Some(1_682_725_898_236_567_001)),
            ("2.048e+00", Some(2048)),
            ("-4.5e-4", Some(0)),
            ("5e-4", Some(1)),
            ("0.00012e4", Some(1200)),
            ("0e99", Some(0)),
            ("1e300", Some(i64::MAX)),
            ("1e-300", Some(0)),
            ("1e", None),
            ("e5", None),
            ("1.2.3e4", None),
            ("\"1682725898236660.5\"", Some(1_682_725_898_236_660_500)),
            ("\"2.5\"", Some(2500)),
            ("18446744073709551.615", Some(i64::MAX)),
            ("99999999999999999999", Some(i64::MAX)),
            ("", None),
            (".5", None),
            ("null", None),
            ("1.2.3", None),
            ("\"soon\"", None),
            ("\"", None),
        ] {
            assert_eq!(nanoseconds(text.as_bytes()), expected, "{text}");
        }
    }
}
