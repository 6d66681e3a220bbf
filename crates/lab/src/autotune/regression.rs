//! Ridge regression. Its penalty is found by leaving one sample out.

use super::linear::{Cholesky, dot};

/// Penalties to try, per sample, the strongest first.
const PENALTIES: [f64; 12] = [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-6];
/// Parts of the samples for the R² of samples that were not fitted.
const FOLDS: usize = 5;
/// Fewer samples have no R².
pub(crate) const MIN_SAMPLES: usize = 6;

#[derive(Clone, Debug)]
pub struct Regression {
    means: Vec<f64>,
    constant: f64,
    weights: Vec<f64>,
    factor: Cholesky,
    samples: usize,
    pub penalty: f64,
    /// Deviation of the samples from predictions that were made without them.
    pub deviation: f64,
    /// R² of the samples that were fitted.
    pub fitted_r2: f64,
}

impl Regression {
    /// Fits the samples with the penalty that predicts each sample best from the others.
    pub fn fit(rows: &[&[f64]], values: &[f64]) -> Option<Self> {
        let count = rows.len() as f64;
        let width = rows.first()?.len();
        let mut means = vec![0.0; width];
        for row in rows {
            for (mean, value) in means.iter_mut().zip(*row) {
                *mean += value / count;
            }
        }
        let centred: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().zip(&means).map(|(value, mean)| value - mean).collect()).collect();
        let constant = values.iter().sum::<f64>() / count;
        let rest: Vec<f64> = values.iter().map(|value| value - constant).collect();
        let mut products: Vec<Vec<f64>> = (0..width).map(|place| vec![0.0; place + 1]).collect();
        let mut right = vec![0.0; width];
        for (row, value) in centred.iter().zip(&rest) {
            for ((products, own), right) in products.iter_mut().zip(row).zip(&mut right) {
                *right += own * value;
                for (product, other) in products.iter_mut().zip(row) {
                    *product += own * other;
                }
            }
        }
        let mut best: Option<(f64, Self)> = None;
        for penalty in PENALTIES {
            let Some(factor) = Cholesky::new(&products, penalty * count) else { continue };
            let weights = factor.solve(&right);
            let (mut left_out, mut fitted) = (0.0, 0.0);
            for (row, value) in centred.iter().zip(&rest) {
                let error = value - dot(row, &weights);
                // Without this sample, its error is larger by its pull on the fit. The constant is fitted too.
                let pull = 1.0 / count + factor.form(row);
                let without = error / (1.0 - pull).max(1e-9);
                left_out += without * without;
                fitted += error * error;
            }
            if best.as_ref().is_none_or(|(least, _)| left_out < *least) {
                let total: f64 = rest.iter().map(|value| value * value).sum();
                let found = Self {
                    means: means.clone(),
                    constant,
                    weights,
                    factor,
                    samples: rows.len(),
                    penalty,
                    deviation: (left_out / count).sqrt(),
                    fitted_r2: r2(fitted, total),
                };
                best = Some((left_out, found));
            }
        }
        best.map(|(_, found)| found)
    }

    pub fn predict(&self, row: &[f64]) -> f64 {
        let terms = row.iter().zip(&self.means).zip(&self.weights);
        self.constant + terms.map(|((value, mean), weight)| (value - mean) * weight).sum::<f64>()
    }

    /// The uncertainty of the prediction at a row: larger where there are no samples.
    pub(crate) fn uncertainty(&self, row: &[f64]) -> f64 {
        let centred: Vec<f64> = row.iter().zip(&self.means).map(|(value, mean)| value - mean).collect();
        self.deviation * (1.0 / self.samples as f64 + self.factor.form(&centred)).sqrt()
    }
}

/// The quality of predictions for samples that were left out of the fit and of the choice of penalty.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    pub r2: f64,
    pub predictions: Vec<f64>,
}

/// Predicts each fifth of the samples from the others; `None` for too few samples.
pub(crate) fn cross_validated(rows: &[&[f64]], values: &[f64]) -> Option<Validation> {
    if rows.len() < MIN_SAMPLES {
        return None;
    }
    let mut predictions = vec![0.0; rows.len()];
    for fold in 0..FOLDS {
        let is_kept = |place: &usize| place % FOLDS != fold;
        let kept: Vec<&[f64]> =
            rows.iter().enumerate().filter(|(place, _)| is_kept(place)).map(|(_, row)| *row).collect();
        let known: Vec<f64> =
            values.iter().enumerate().filter(|(place, _)| is_kept(place)).map(|(_, value)| *value).collect();
        let regression = Regression::fit(&kept, &known)?;
        for (place, (prediction, row)) in predictions.iter_mut().zip(rows).enumerate() {
            if !is_kept(&place) {
                *prediction = regression.predict(row);
            }
        }
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let total = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let errors =
        values.iter().zip(&predictions).map(|(value, predicted)| (value - predicted) * (value - predicted)).sum();
    Some(Validation { r2: r2(errors, total), predictions })
}

/// The explained share of the variation. If all values are the same, it is 0, as it is upstream.
fn r2(errors: f64, total: f64) -> f64 {
    if total > 0.0 { 1.0 - errors / total } else { 0.0 }
}
