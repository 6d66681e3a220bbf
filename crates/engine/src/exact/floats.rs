//! Exact sums of floats, and statistics made from them, independent of the order of the values.

use crate::groups::Statistics;

/// Limit from which values are scaled down before they are added, because parts of the sum could leave the range of floats.
const LARGE: f64 = 1.0e290;

/// The scale: a power of two, so that no digit is lost.
const SMALLER: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// A sum without an error, as floats that do not overlap, the smallest first (Shewchuk, "Adaptive Precision Floating-Point Arithmetic",
/// 1997; Python's `math.fsum` adds the same way).
#[derive(Default)]
struct Parts(Vec<f64>);

impl Parts {
    fn add(&mut self, value: f64) {
        let mut value = value;
        let mut kept = 0;
        for at in 0..self.0.len() {
            let Some(part) = self.0.get(at).copied() else { break };
            let (large, small) = if value.abs() < part.abs() { (part, value) } else { (value, part) };
            let sum = large + small;
            let rest = small - (sum - large);
            if rest != 0.0 {
                if let Some(place) = self.0.get_mut(kept) {
                    *place = rest;
                }
                kept += 1;
            }
            value = sum;
        }
        self.0.truncate(kept);
        self.0.push(value);
    }

    /// The float nearest to the sum; the even one if two are.
    fn rounded(mut self) -> f64 {
        let Some(mut sum) = self.0.pop() else { return 0.0 };
        while let Some(part) = self.0.pop() {
            let high = sum;
            sum = high + part;
            let rest = part - (sum - high);
            if rest == 0.0 {
                continue;
            }
            // Halfway between two floats, the remaining parts decide.
            if self.0.last().is_some_and(|next| (rest < 0.0) == (*next < 0.0)) {
                let twice = rest * 2.0;
                let further = sum + twice;
                if further - sum == twice {
                    sum = further;
                }
            }
            break;
        }
        sum
    }
}

/// The float nearest to the sum of the values; NaN and infinity follow plain addition.
pub fn sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (mut whole, mut is_whole, mut largest, mut is_finite) = (0_i128, true, 0.0_f64, true);
    for value in values.clone() {
        is_finite &= value.is_finite();
        largest = largest.max(value.abs());
        is_whole &= is_whole_number(value);
        if is_whole {
            whole += value as i128;
        }
    }
    if !is_finite {
        return values.filter(|value| !value.is_finite()).sum();
    }
    if is_whole {
        return whole as f64;
    }
    let mut parts = Parts::default();
    if largest < LARGE {
        values.for_each(|value| parts.add(value));
        return parts.rounded();
    }
    values.for_each(|value| parts.add(value * SMALLER));
    parts.rounded() / SMALLER
}

/// Whether a 64-bit integer holds the value.
fn is_whole_number(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0
}

/// The mean, which is the sum divided once; `None` without values.
pub fn mean(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let count = values.clone().count();
    (count > 0).then(|| sum(values) / count as f64)
}

/// The variance around the mean: of a sample if `degrees` is 1, of the whole population if it is 0. `None` for too few values. The variance
/// of whole numbers is computed in integers.
pub fn variance(values: impl Iterator<Item = f64> + Clone, degrees: u8) -> Option<f64> {
    let count = values.clone().count();
    if count <= usize::from(degrees) {
        return None;
    }
    if values.clone().all(is_whole_number) {
        let mut statistics = Statistics::default();
        values.clone().for_each(|value| statistics.add_squared(value as i64));
        if let Ok(variance) = statistics.variance(degrees) {
            return variance;
        }
    }
    let mean = mean(values.clone())?;
    let distances = values.map(|value| value - mean);
    let squares = sum(distances.clone().map(|distance| distance * distance));
    let of_rounding = sum(distances).powi(2) / count as f64;
    Some(((squares - of_rounding) / (count - usize::from(degrees)) as f64).max(0.0))
}

/// The float nearest to a sum divided by a number of values.
pub fn ratio(sum: i128, count: u64) -> f64 {
    const EXACT: u128 = 1 << 53;
    let size = sum.unsigned_abs();
    if size < EXACT && u128::from(count) < EXACT {
        return sum as f64 / count as f64;
    }
    // Uses all bits, so that the quotient has more digits than a float. The last bit is set if there is a remainder.
    let shift = size.leading_zeros();
    let (scaled, divisor) = (size << shift, u128::from(count));
    let quotient = (scaled / divisor) | u128::from(scaled % divisor != 0);
    let value = quotient as f64 * 2.0_f64.powi(-(shift as i32));
    if sum < 0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact_sum(values: &[f64]) -> f64 {
        sum(values.iter().copied())
    }

    #[test]
    fn sums_are_rounded_once() {
        assert_eq!(exact_sum(&[0.1; 10]), 1.0);
        assert_eq!(exact_sum(&[1e16, 1.0, -1e16]), 1.0);
        assert_eq!(exact_sum(&[1e100, 1.0, -1e100, 0.25]), 1.25);
        assert_eq!(exact_sum(&[1.0, 2.0_f64.powi(-53), 2.0_f64.powi(-106)]), 1.0 + f64::EPSILON);
        assert_eq!(exact_sum(&[1e308, 1e308, -1e308, 0.5]), 1e308);
        assert_eq!(exact_sum(&[1e308, 1e308, 0.5]), f64::INFINITY);
        assert_eq!(exact_sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(exact_sum(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).is_nan());
        assert_eq!(exact_sum(&[]), 0.0);
        assert_eq!(exact_sum(&[9_007_199_254_740_993.0, 1.0, 1.0]), 9_007_199_254_740_994.0);
    }

    #[test]
    fn means_and_variances() {
        let values = [0.1, 0.2, 0.4, 0.7];
        assert_eq!(mean(values.into_iter()), Some(0.35));
        assert!((variance(values.into_iter(), 1).unwrap() - 0.07).abs() < 1e-16);
        assert_eq!(variance([4.0, 6.0, 8.0].into_iter(), 1), Some(4.0));
        assert_eq!(variance([4.0, 6.0, 8.0].into_iter(), 0), Some(8.0 / 3.0));
        assert_eq!(variance([4.0].into_iter(), 1), None);
        // Whole numbers whose squares do not fit.
        let large = 2.0_f64.powi(62);
        assert_eq!(variance([large, -large, large, -large].into_iter(), 0), Some(large * large));
        assert_eq!(mean(std::iter::empty()), None);
    }

    #[test]
    fn ratios_are_rounded_once() {
        assert_eq!(ratio(10, 4), 2.5);
        // 5,404,319,552,844,596.0 and four tenths, between floats one apart.
        assert_eq!(ratio(27_021_597_764_222_982, 5), 5_404_319_552_844_596.0);
        // Half way between two floats, which is rounded to the even one, and a little above.
        let half = (1_i128 << 54) + 2;
        assert_eq!(ratio(half * 3, 3), half as f64);
        assert_eq!(ratio(half * 1_000_000_007 + 1, 1_000_000_007), (half + 2) as f64);
        assert_eq!(ratio(-(half * 1_000_000_007 + 1), 1_000_000_007), -((half + 2) as f64));
    }

    proptest! {
        #[test]
        fn any_order_gives_the_same(values in prop::collection::vec(prop::num::f64::NORMAL, 0..40), turn in 0_usize..40) {
            let mut turned = values.clone();
            turned.rotate_left(turn.min(values.len()));
            turned.reverse();
            prop_assert_eq!(exact_sum(&values).to_bits(), exact_sum(&turned).to_bits());
        }

        #[test]
        fn sums_of_thirds_of_integers(values in prop::collection::vec(-1_i64 << 40..1 << 40, 1..60)) {
            // Multiples of 2^-20 that integers add without an error.
            let floats: Vec<f64> = values.iter().map(|value| *value as f64 / f64::from(1 << 20)).collect();
            prop_assert_eq!(exact_sum(&floats), values.iter().sum::<i64>() as f64 / f64::from(1 << 20));
        }
    }
}
