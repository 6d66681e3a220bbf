//! Medians of values in memory. Groups of queries have their own implementation (`engine/groups/statistics.rs`), which
//! keeps small integers in half the memory.

use std::cmp::Ordering;

/// The two middle values; for an odd number, twice the same value. The values are reordered.
///
/// Takes linear time.
pub fn middle<T: Copy>(values: &mut [T], order: impl Fn(&T, &T) -> Ordering) -> Option<[T; 2]> {
    let (place, is_even) = (values.len() / 2, values.len().is_multiple_of(2));
    if values.is_empty() {
        return None;
    }
    let (before, upper, _) = values.select_nth_unstable_by(place, &order);
    let lower = before.iter().max_by(|one, other| order(one, other)).filter(|_| is_even);
    Some([lower.copied().unwrap_or(*upper), *upper])
}

/// The lower of the two middle values.
pub fn lower_median(mut values: Vec<i64>) -> Option<i64> {
    middle(&mut values, i64::cmp).map(|[lower, _]| lower)
}

/// The mean of the two middle values; the values are reordered.
pub fn median(values: &mut [i64]) -> Option<f64> {
    middle(values, i64::cmp).map(|[lower, upper]| f64::midpoint(lower as f64, upper as f64))
}

/// Same as [`median`], for floats.
pub fn median_of_floats(values: &mut [f64]) -> Option<f64> {
    middle(values, f64::total_cmp).map(|[lower, upper]| f64::midpoint(lower, upper))
}

/// Same as [`median`], for sorted values.
pub(crate) fn median_of_sorted(sorted: &[i64]) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(f64::midpoint(*sorted.get(last / 2)? as f64, *sorted.get(sorted.len() / 2)? as f64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn medians_are_in_the_middle(values in prop::collection::vec(-50_i64..50, 0..20)) {
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let both = sorted.len().checked_sub(1).map(|last| (sorted[last / 2], sorted[sorted.len() / 2]));
            let mean = both.map(|(lower, upper)| (lower + upper) as f64 / 2.0);
            prop_assert_eq!(lower_median(values.clone()), both.map(|(lower, _)| lower));
            prop_assert_eq!(median_of_sorted(&sorted), mean);
            let mut floats: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            prop_assert_eq!(median_of_floats(&mut floats), mean);
            prop_assert_eq!(median(&mut values.clone()), mean);
        }
    }
}
