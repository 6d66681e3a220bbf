//! The certainty of times that were measured several times.

use serde::Serialize;

use wavesieve_model::analysis::statistics::medians::median_of_floats;
use wavesieve_model::analysis::statistics::trimmed::{mean, sum_of_squares};

/// Maximum coefficients of variation of stable and of moderately stable times.
const STABLE: f64 = 0.05;
const MODERATE: f64 = 0.10;
/// Minimum probability that an interval contains the true median.
const CONFIDENCE: f64 = 0.95;
/// Maximum number of runs that have an interval: beyond it, powers of two soon underflow.
pub const MOST_RUNS: usize = 1000;

/// The variation of times from run to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StabilityClass {
    Stable,
    Moderate,
    Unstable,
}

impl StabilityClass {
    /// Classifies a coefficient of variation; bounds belong to the better class.
    pub fn of(cv: f64) -> Self {
        match cv {
            cv if cv <= STABLE => Self::Stable,
            cv if cv <= MODERATE => Self::Moderate,
            _ => Self::Unstable,
        }
    }
}

/// An interval of the median by order statistics. It assumes nothing about the distribution of times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// Probability that it contains the median, at least 0.95.
    pub confidence: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stability {
    pub runs: usize,
    pub mean: f64,
    pub median: f64,
    /// Standard deviation of the sample, with n - 1; 0 for one run.
    pub stddev: f64,
    pub min: f64,
    pub max: f64,
    /// Standard deviation over mean.
    pub cv: f64,
    pub class: StabilityClass,
    /// `None` below six runs: fewer never reach the probability.
    pub interval: Option<Interval>,
}

impl Stability {
    /// Takes times in any order; `None` without times.
    pub fn of(times: &[f64]) -> Option<Self> {
        let mean = mean(times)?;
        let median = median_of_floats(&mut times.to_vec())?;
        let degrees = times.len().saturating_sub(1);
        let stddev = if degrees == 0 { 0.0 } else { (sum_of_squares(times)? / degrees as f64).sqrt() };
        let cv = if mean > 0.0 { stddev / mean } else { 0.0 };
        let mut sorted = times.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Some(Self {
            runs: times.len(),
            mean,
            median,
            stddev,
            min: *sorted.first()?,
            max: *sorted.last()?,
            cv,
            class: StabilityClass::of(cv),
            interval: interval(&sorted),
        })
    }

    /// Width of the interval as a share of the median; `None` without an interval or with a median of 0.
    pub fn width(&self) -> Option<f64> {
        let interval = self.interval?;
        (self.median > 0.0).then(|| (interval.high - interval.low) / self.median)
    }
}

/// The narrowest interval between two values equally far from the ends that contains the median with enough
/// probability.
fn interval(sorted: &[f64]) -> Option<Interval> {
    let count = sorted.len();
    let (cut, confidence) = median_cut(count).filter(|_| count <= MOST_RUNS)?;
    Some(Interval { low: *sorted.get(cut)?, high: *sorted.get(count.checked_sub(cut + 1)?)?, confidence })
}

/// How many sorted values to drop at either end so that the rest still contains the median with enough probability, and
/// that probability. The number of values below the median is binomial, with a probability of one half.
pub(crate) fn median_cut(count: usize) -> Option<(usize, f64)> {
    let mut chosen = None;
    let mut outside = 0.0;
    let mut term = libm::exp2(-(count as f64));
    for cut in 0..count.div_ceil(2) {
        outside += 2.0 * term;
        term *= (count - cut) as f64 / (cut + 1) as f64;
        let confidence = 1.0 - outside;
        if confidence < CONFIDENCE {
            break;
        }
        chosen = Some((cut, confidence));
    }
    chosen
}
