//! Numbers of runs as scores, which are small for good configurations, and the scatter of scores.

use super::history::History;
use wavesieve_model::analysis::statistics::medians::median_of_floats;
use wavesieve_model::analysis::statistics::student::critical_t;

/// Probability that an interval misses the true value.
const MISSES: f64 = 0.05;
/// Median absolute difference of two normal values, in deviations of a single value: 0.6745 · √2.
const PAIR: f64 = 0.953_872_552_417_87;
/// Standard error of the median of many values, relative to that of a mean.
const MEDIAN: f64 = 1.253_314_137;

/// How numbers become scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Whether large numbers are good.
    pub is_maximized: bool,
    /// Whether ratios count, as for times. Numbers that are zero or negative have no ratios.
    has_ratios: bool,
}

impl Scale {
    pub fn new(history: &History, is_maximized: bool) -> Self {
        let has_ratios = history.measured().all(|(_, values)| values.iter().all(|value| *value > 0.0));
        Self { is_maximized, has_ratios }
    }

    /// Whether differences of scores are ratios.
    pub(crate) fn has_ratios(self) -> bool {
        self.has_ratios
    }

    pub fn score(self, value: f64) -> f64 {
        let placed = if self.has_ratios { libm::log(value) } else { value };
        if self.is_maximized { -placed } else { placed }
    }

    pub fn value(self, score: f64) -> f64 {
        let placed = if self.is_maximized { -score } else { score };
        if self.has_ratios { libm::exp(placed) } else { placed }
    }

    /// How much higher a score is that is worse by this factor.
    pub fn room(self, factor: f64, best: f64) -> f64 {
        if self.has_ratios { libm::log(factor) } else { (factor - 1.0) * best.abs() }
    }
}

pub(crate) fn median_score(values: &[f64], scale: Scale) -> Option<f64> {
    let mut scores: Vec<f64> = values.iter().map(|value| scale.score(*value)).collect();
    median_of_floats(&mut scores)
}

pub(crate) fn median_value(values: &[f64]) -> Option<f64> {
    median_of_floats(&mut values.to_vec())
}

/// The scatter of the scores of a configuration, assumed to be the same for all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    pub deviation: f64,
    pub degrees: f64,
}

impl Noise {
    /// Estimates noise from configurations that ran several times, by the median difference of two runs: single
    /// disturbed runs do not change it. `None` if each ran once.
    pub fn new<'a>(groups: impl Iterator<Item = &'a [f64]>, scale: Scale) -> Option<Self> {
        let mut differences: Vec<f64> = Vec::new();
        let mut degrees = 0_usize;
        for values in groups {
            let scores: Vec<f64> = values.iter().map(|value| scale.score(*value)).collect();
            degrees += scores.len().saturating_sub(1);
            for (place, one) in scores.iter().enumerate() {
                differences.extend(scores.iter().skip(place + 1).map(|two| (one - two).abs()));
            }
        }
        let squares: f64 = differences.iter().map(|difference| difference * difference).sum();
        let count = differences.len() as f64;
        let median = median_of_floats(&mut differences)?;
        // Numbers that are printed with few digits are often equal.
        let deviation = if median > 0.0 { median / PAIR } else { (squares / count / 2.0).sqrt() };
        Some(Self { deviation, degrees: degrees as f64 })
    }

    /// Half the width of the interval of a median of this many runs.
    pub(crate) fn half_width(self, runs: usize) -> f64 {
        critical_t(MISSES, self.degrees) * self.error(runs)
    }

    /// The difference between two medians from which it exceeds noise.
    pub fn difference(self, one: usize, two: usize) -> f64 {
        let (one, two) = (self.error(one), self.error(two));
        critical_t(MISSES, self.degrees) * (one * one + two * two).sqrt()
    }

    fn error(self, runs: usize) -> f64 {
        let factor = if runs > 2 { MEDIAN } else { 1.0 };
        factor * self.deviation / (runs.max(1) as f64).sqrt()
    }
}
