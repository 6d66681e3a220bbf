//! Trimmed means, and their certainty.

/// Share that is left out at each end.
const TRIMMED: f64 = 0.1;

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub degrees: f64,
}

/// Mean of the values without the lowest and the highest tenth; `None` without values.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let kept = sorted.get(cut(sorted.len())..sorted.len() - cut(sorted.len()))?;
    mean(kept)
}

/// The trimmed mean with Yuen's standard error: with h values kept, the root of the winsorized sum of squares over h (h - 1)
/// (K. K. Yuen, Biometrika 61, 1974). `None` below three values.
pub fn trimmed_estimate(values: &[f64]) -> Option<Estimate> {
    let mut sorted = sorted(values);
    let (count, cut) = (sorted.len(), cut(sorted.len()));
    let kept = sorted.get(cut..count - cut)?;
    let (value, degrees) = (mean(kept)?, kept.len().checked_sub(1)? as f64);
    if degrees < 2.0 {
        return None;
    }
    let (lowest, highest) = (*kept.first()?, *kept.last()?);
    for value in &mut sorted {
        *value = value.clamp(lowest, highest);
    }
    let standard_error = (sum_of_squares(&sorted)? / (degrees * (degrees + 1.0))).sqrt();
    Some(Estimate { value, standard_error, degrees })
}

/// Mean of values, summed in their order.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Sum of the squared distances from the mean.
pub fn sum_of_squares(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    Some(values.iter().map(|value| (value - mean) * (value - mean)).sum())
}

fn cut(count: usize) -> usize {
    (count as f64 * TRIMMED) as usize
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_left_out() {
        let values: Vec<f64> = (1..=10).map(f64::from).chain([1e9]).collect();
        assert_eq!(trimmed_mean(&values), Some(6.0));
        assert_eq!(trimmed_mean(&[]), None);
        assert_eq!(trimmed_mean(&[5.0]), Some(5.0));
    }

    #[test]
    fn the_error_is_yuens() {
        // 20 values, 2 cut at each end: winsorized 3 3 3 4 .. 17 18 18 18.
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let estimate = trimmed_estimate(&values).unwrap();
        let mut winsorized: Vec<f64> = (3..=18).map(f64::from).collect();
        winsorized.extend([3.0, 3.0, 18.0, 18.0]);
        let squares: f64 = winsorized.iter().map(|value| (value - 10.5) * (value - 10.5)).sum();
        assert!((estimate.value - 10.5).abs() < 1e-12);
        assert!((estimate.standard_error - (squares / (16.0 * 15.0)).sqrt()).abs() < 1e-12);
        assert_eq!(estimate.degrees, 15.0);
        assert_eq!(trimmed_estimate(&[1.0, 2.0]), None);
    }
}
