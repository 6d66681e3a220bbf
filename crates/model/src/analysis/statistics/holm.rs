//! Corrections for several tests at once.

/// The p values adjusted by Holm's step-down rule, in the given order. An adjusted value is below alpha if the test
/// rejects while the probability of any false rejection stays below alpha (S. Holm, Scand. J. Statist. 6, 1979).
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = p_values.iter().copied().zip(0..).collect();
    order.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut result = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (place, (p, at)) in order.into_iter().enumerate() {
        largest = largest.max(((p_values.len() - place) as f64 * p).min(1.0));
        if let Some(slot) = result.get_mut(at) {
            *slot = largest;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_rise_with_the_p_values() {
        let found = adjusted(&[0.04, 0.01, 0.03, 0.9]);
        for (found, expected) in found.iter().zip([0.09, 0.04, 0.09, 0.9]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(adjusted(&[]), [0.0_f64; 0]);
    }
}
