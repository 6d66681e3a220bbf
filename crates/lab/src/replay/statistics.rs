//! Times of dispatches.

use serde::{Deserialize, Serialize};

use crate::measuring::{MOST_RUNS, median_cut};
use wavesieve_model::analysis::statistics::medians::median_of_floats;

/// Times of dispatches by the clock of the GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    pub unit: String,
    pub average: f64,
    pub min: f64,
    pub max: f64,
    pub median: f64,
    /// Standard deviation of the sample; `None` for one dispatch.
    pub stddev: Option<f64>,
    /// Interval that contains the median with 95 % certainty, for any distribution; `None` for fewer than six
    /// dispatches.
    pub median_interval: Option<[f64; 2]>,
    /// Times in the order of the dispatches.
    pub samples: Vec<f64>,
}

impl Timing {
    /// Statistics of times in microseconds; `None` without times.
    pub fn new(samples: Vec<f64>) -> Option<Self> {
        let mut sorted = samples.clone();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let count = samples.len() as f64;
        let average = samples.iter().sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|sample| (sample - average).powi(2)).sum();
        let median_interval =
            median_ranks(sorted.len()).and_then(|[low, high]| Some([*sorted.get(low)?, *sorted.get(high)?]));
        Some(Self {
            unit: "microseconds".to_owned(),
            average,
            min,
            max,
            median: median_of_floats(&mut sorted)?,
            stddev: (samples.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            median_interval,
            samples,
        })
    }
}

/// The indices in sorted values between which the median lies with at least 95 % certainty.
fn median_ranks(count: usize) -> Option<[usize; 2]> {
    if count > MOST_RUNS {
        let low = (count as f64 / 2.0 - 0.98 * (count as f64).sqrt()).floor() as usize;
        return Some([low.saturating_sub(1), count - low]);
    }
    median_cut(count).map(|(cut, _)| [cut, count - 1 - cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_medians_are_those_of_the_binomial_distribution() {
        let ranks: Vec<_> = [5, 6, 10, 20, 100].into_iter().map(median_ranks).collect();
        // Textbook values: of 10 the 2nd and 9th, of 20 the 6th and 15th, of 100 the 40th and 61st.
        assert_eq!(ranks, [None, Some([0, 5]), Some([1, 8]), Some([5, 14]), Some([39, 60])]);
        assert_eq!(median_ranks(10_000), Some([4901, 5098]));
    }

    #[test]
    fn times_are_summed_up() {
        let timing = Timing::new(vec![3.0, 1.0, 2.0, 10.0]).unwrap();
        assert_eq!((timing.average, timing.min, timing.max, timing.median), (4.0, 1.0, 10.0, 2.5));
        assert_eq!((timing.stddev.unwrap() * 1e6).round(), 4_082_483.0);
        assert_eq!(timing.median_interval, None);
        assert_eq!(Timing::new(Vec::new()), None);
    }
}
