//! Durations as users write them: `10us`, `1.5ms`, `500`.

/// Units and their nanoseconds, longest spelling first so that `s` is not found in `ms`.
const UNITS: &[(&str, i64)] =
    &[("min", 60_000_000_000), ("ns", 1), ("us", 1_000), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Integer nanoseconds of a duration; a number without unit is in nanoseconds, a fraction needs a unit.
///
/// # Errors
/// When the text is not a duration. The message states what to write.
pub fn parse_duration_ns(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text} is not a duration; write a number with ns, us, ms, s or min, such as 1.5ms");
    let text = text.trim();
    let (number, unit_ns) = UNITS
        .iter()
        .find_map(|(unit, unit_ns)| Some((text.strip_suffix(unit)?.trim_end(), *unit_ns)))
        .unwrap_or((text, 1));
    exact_product(number, unit_ns).ok_or_else(wrong)
}

/// A decimal number times an integer, without the rounding of floats; the fraction of the result is truncated.
pub(super) fn exact_product(number: &str, factor: i64) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 18 {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let product = whole.checked_mul(scale)?.checked_add(fraction)?.checked_mul(i128::from(factor))?;
    i64::try_from(product / scale).ok()
}

#[cfg(test)]
mod tests {
    use super::parse_duration_ns;

    #[test]
    fn units() {
        for (text, duration_ns) in [
            ("500", 500),
            ("10us", 10_000),
            ("1.5ms", 1_500_000),
            ("2 s", 2_000_000_000),
            ("0.25µs", 250),
            (".5us", 500),
            ("1min", 60_000_000_000),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(parse_duration_ns(text), Ok(duration_ns), "{text}");
        }
    }

    #[test]
    fn what_is_no_length() {
        for text in ["", "ms", "-1us", "1e3", "1.2.3s", "9223372036854775808", "1h", "."] {
            assert!(parse_duration_ns(text).is_err(), "{text}");
        }
    }
}
