//! Floats as they leave the program.

/// Digits that are the same whatever the order in which threads add.
const SIGNIFICANT_DIGITS: usize = 12;

/// Rounds to 12 significant digits; what is not finite stays as it is.
pub fn round_significant(value: f64) -> f64 {
    if !value.is_finite() || value == 0.0 {
        // Negative zero prints as -0 although it equals zero.
        return if value == 0.0 { 0.0 } else { value };
    }
    format!("{value:.*e}", SIGNIFICANT_DIGITS - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::round_significant;

    #[test]
    fn twelve_digits() {
        assert_eq!(round_significant(1.0 / 3.0), 0.333_333_333_333);
        assert_eq!(round_significant(123_456_789_012_345.0), 123_456_789_012_000.0);
        assert_eq!(round_significant(-0.0).to_string(), "0");
        assert!(round_significant(f64::NAN).is_nan());
        assert_eq!(round_significant(f64::INFINITY), f64::INFINITY);
        assert_eq!(round_significant(1e-310), 1e-310);
    }
}
