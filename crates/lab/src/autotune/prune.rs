//! Leaves out configurations that are unlikely to be fast, by prediction.

/// The indices of predictions up to `factor` times the best time.
pub fn prune(predictions: &[f64], best: f64, factor: f64) -> Vec<usize> {
    let places = predictions.iter().enumerate().filter(|(_, prediction)| **prediction <= factor * best);
    places.map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::prune;

    #[test]
    fn what_may_be_good_is_kept() {
        assert_eq!(prune(&[1.0, 2.0, 10.0, 0.9], 1.0, 2.0), [0, 1, 3]);
        assert_eq!(prune(&[f64::NAN, 1.0], 1.0, 1.0), [1]);
    }
}
