//! How upstream searches, for comparison: a random fifth, 28 terms by least squares without a penalty, R² of the samples that were
//! fitted, one run of each.

use super::functions::Case;
use crate::autotune::history::Outcome;
use crate::autotune::linear::{Cholesky, dot};
use crate::autotune::random::Random;

/// Configurations that were measured, the best of them, and R².
pub fn upstream(case: &Case, seed: u64, samples: usize, fraction: f64) -> (usize, Option<usize>, f64) {
    let mut random = Random::new(seed.wrapping_mul(104_729) + 7);
    let size = case.space.len();
    let mut all: Vec<usize> = (0..size).collect();
    for place in (1..size).rev() {
        all.swap(place, random.below(place + 1));
    }
    let count = samples.max((fraction * size as f64) as usize).min(size);
    let (chosen, rest) = all.split_at(count);
    let mut times: Vec<(f64, usize)> = Vec::new();
    let mut measure = |configuration: usize, times: &mut Vec<(f64, usize)>| {
        if let Outcome::Value(time) = case.run(configuration, &mut random) {
            times.push((time, configuration));
        }
    };
    for configuration in chosen {
        measure(*configuration, &mut times);
    }
    let scale = scale(case);
    let rows: Vec<Vec<f64>> = times.iter().map(|(_, configuration)| terms(case, *configuration, &scale)).collect();
    // Upstream's least squares finds the smallest of the weights that fit, as a vanishing penalty does.
    let width = 28;
    let mut products: Vec<Vec<f64>> = (0..width).map(|place| vec![0.0; place + 1]).collect();
    let mut right = vec![0.0; width];
    for (row, (time, _)) in rows.iter().zip(&times) {
        for (place, products) in products.iter_mut().enumerate() {
            right[place] += row[place] * time;
            for (other, product) in products.iter_mut().enumerate() {
                *product += row[place] * row[other];
            }
        }
    }
    let weights = Cholesky::new(&products, 1e-7).unwrap().solve(&right);
    let mean = times.iter().map(|(time, _)| time).sum::<f64>() / times.len() as f64;
    let total: f64 = times.iter().map(|(time, _)| (time - mean) * (time - mean)).sum();
    let errors: f64 =
        rows.iter().zip(&times).map(|(row, (time, _))| (time - dot(row, &weights)) * (time - dot(row, &weights))).sum();
    let r2 = 1.0 - errors / total;
    let best = times.iter().map(|(time, _)| *time).fold(f64::INFINITY, f64::min);
    let mut evaluated = chosen.len();
    for configuration in rest {
        if r2 < 0.75 || dot(&terms(case, *configuration, &scale), &weights) <= 1.75 * best {
            measure(*configuration, &mut times);
            evaluated += 1;
        }
    }
    let best = times.iter().min_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, configuration)| *configuration);
    (evaluated, best, r2)
}

fn features(case: &Case, configuration: usize) -> [f64; 6] {
    let number = |wanted: &str| {
        let found = case.space.values(configuration).find(|(name, _)| *name == wanted);
        found.and_then(|(_, value)| value.number()).unwrap()
    };
    let tile = number("BLOCK_M") * number("BLOCK_N");
    [tile, tile * tile, number("BLOCK_K"), number("num_warps"), number("num_stages"), 256.0]
}

/// The greatest of each feature, so that the penalty that stands for none is small for all.
fn scale(case: &Case) -> [f64; 6] {
    let mut most = [1.0_f64; 6];
    for configuration in 0..case.space.len() {
        for (most, value) in most.iter_mut().zip(features(case, configuration)) {
            *most = most.max(value);
        }
    }
    most
}

fn terms(case: &Case, configuration: usize, scale: &[f64; 6]) -> Vec<f64> {
    let own: Vec<f64> = features(case, configuration).iter().zip(scale).map(|(value, scale)| value / scale).collect();
    let mut row = vec![1.0];
    row.extend(own.iter().copied());
    for (place, one) in own.iter().enumerate() {
        row.extend(own.iter().skip(place).map(|two| one * two));
    }
    row
}
