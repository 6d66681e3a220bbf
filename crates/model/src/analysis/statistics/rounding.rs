//! Whole numbers for fractions, with exact sums.

use std::cmp::Reverse;

/// The integer nearest to a fraction, halves away from zero. The denominator is positive.
pub fn nearest(numerator: i128, denominator: i128) -> i128 {
    let denominator = denominator.max(1);
    let (size, half) = (numerator.abs(), denominator / 2);
    (size.saturating_add(half) / denominator) * numerator.signum()
}

/// Integers for fractions with one denominator that add up to `whole`, the integer for their sum. Each fraction is
/// rounded down, and those with the largest remainders are raised by one. Of equal remainders, earlier parts are raised
/// first. If `whole` is not the integer for the sum, the last part takes the difference.
pub fn largest_remainder(whole: i128, numerators: &[i128], denominator: i128) -> Vec<i128> {
    let denominator = denominator.max(1);
    let mut parts: Vec<i128> = numerators.iter().map(|part| part.div_euclid(denominator)).collect();
    let mut missing = whole.saturating_sub(parts.iter().sum::<i128>());
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| (Reverse(numerators.get(*at).map(|part| part.rem_euclid(denominator))), *at));
    for at in order {
        if missing <= 0 {
            break;
        }
        if let Some(part) = parts.get_mut(at) {
            *part += 1;
            missing -= 1;
        }
    }
    if let Some(last) = parts.last_mut() {
        *last += missing;
    }
    parts
}

/// Integers for real parts of an integer, with an exact sum. The parts of the negated whole are the negated parts.
pub fn divided(whole: i64, parts: &[f64]) -> Vec<i64> {
    let first = parts.iter().find(|part| **part != 0.0).copied().unwrap_or(0.0);
    let is_negated = whole < 0 || whole == 0 && first < 0.0;
    let sign = if is_negated { -1.0 } else { 1.0 };
    let mut floors: Vec<i64> = parts.iter().map(|part| (sign * part).floor() as i64).collect();
    let target = if is_negated { whole.saturating_neg() } else { whole };
    let mut missing = floors.iter().fold(target, |missing, floor| missing.saturating_sub(*floor));
    let mut order: Vec<(f64, usize)> = parts.iter().map(|part| sign * part - (sign * part).floor()).zip(0..).collect();
    order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    for (_, at) in order {
        if missing <= 0 {
            break;
        }
        if let Some(floor) = floors.get_mut(at) {
            *floor = floor.saturating_add(1);
            missing -= 1;
        }
    }
    if let Some(last) = floors.last_mut() {
        *last = last.saturating_add(missing);
    }
    floors.into_iter().map(|part| if is_negated { part.saturating_neg() } else { part }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_add_up(numerators in prop::collection::vec(0_i128..1_000_000, 1..9), denominator in 1_i128..50) {
            let sum: i128 = numerators.iter().sum();
            for whole in [sum.div_euclid(denominator), nearest(sum, denominator)] {
                let parts = largest_remainder(whole, &numerators, denominator);
                prop_assert_eq!(parts.iter().sum::<i128>(), whole);
                for (part, numerator) in parts.iter().zip(&numerators) {
                    prop_assert!((part * denominator - numerator).abs() < denominator);
                }
            }
        }

        #[test]
        fn negated_parts_are_negated(parts in prop::collection::vec(-1e6_f64..1e6, 1..5)) {
            let whole = parts.iter().sum::<f64>().round() as i64;
            let negated: Vec<f64> = parts.iter().map(|part| -part).collect();
            let (one, other) = (divided(whole, &parts), divided(-whole, &negated));
            prop_assert_eq!(one.iter().sum::<i64>(), whole);
            prop_assert_eq!(one, other.iter().map(|part| -part).collect::<Vec<_>>());
        }
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!((nearest(5, 2), nearest(-5, 2), nearest(4, 3), nearest(0, 7)), (3, -3, 1, 0));
        assert_eq!(largest_remainder(3, &[1, 1, 1], 1), [1, 1, 1]);
        assert_eq!(largest_remainder(1, &[1, 1, 1], 3), [1, 0, 0]);
    }
}
