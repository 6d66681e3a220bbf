//! Steadiness of the durations of repeated work: center and spread, drift, jitter, and two modes if there are any.

use crate::analysis::statistics::medians::{median, median_of_floats, median_of_sorted};
use crate::analysis::thresholds::{SteadinessBounds, Thresholds};

/// Factor from the median absolute deviation to the standard deviation of a normal distribution.
const NORMAL_SCALE: f64 = 1.4826;
/// Standard error of a median of normal values, in standard deviations over the root of their number.
const MEDIAN_ERROR: f64 = 1.2533;

fn bounds() -> &'static SteadinessBounds {
    &Thresholds::builtin().steadiness
}

/// Center and spread of durations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median_ns: f64,
    /// Median of the absolute deviations from the median.
    pub mad_ns: f64,
}

impl Spread {
    /// Computes it from durations in any order, which are reordered; `None` without durations.
    pub fn compute(durations: &mut [i64]) -> Option<Self> {
        let median_ns = median(durations)?;
        let mut deviations: Vec<f64> = durations.iter().map(|duration| (*duration as f64 - median_ns).abs()).collect();
        Some(Self { median_ns, mad_ns: median_of_floats(&mut deviations)? })
    }

    /// One standard deviation by convention: 1.4826 times the median absolute deviation, but at least 1 % of the median
    /// and 20 ns. More than half of the calls may take the same time, so that the deviation alone can be 0.
    pub fn noise_ns(self) -> f64 {
        (NORMAL_SCALE * self.mad_ns).max(bounds().min_noise_share * self.median_ns).max(bounds().min_noise_ns)
    }

    /// Units of noise by which a duration is above the median: the modified z-score of Iglewicz and Hoaglin, with the
    /// floor of [`Self::noise_ns`].
    pub fn robust_z(self, duration_ns: i64) -> f64 {
        (duration_ns as f64 - self.median_ns) / self.noise_ns()
    }

    /// Variance of the median over `calls` durations.
    fn error_squared(self, calls: usize) -> f64 {
        let error = MEDIAN_ERROR * self.noise_ns();
        error * error / calls.max(1) as f64
    }
}

/// Two groups of durations at the best split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Median of the shorter ones.
    pub low_ns: f64,
    /// Median of the longer ones.
    pub high_ns: f64,
    /// Number of the longer ones.
    pub high_calls: i64,
    /// Empty share of the distance between the medians: between the ninth decile of the shorter and the first decile of
    /// the longer durations. About 0.2 if there is one mode, whatever its shape; near 1 if there are two.
    pub gap: f64,
}

/// Facts about durations of the same work, in the order of the starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steadiness {
    /// Sum.
    pub total_ns: i64,
    /// Center and spread of all calls.
    pub spread: Spread,
    /// The first call.
    pub first_ns: i64,
    /// Median of all calls but the first.
    pub rest_median_ns: Option<f64>,
    /// Medians of the first and the last third of the calls, and the standard error of their difference.
    pub drift: Option<Drift>,
    /// Median change from one call to the next.
    pub jitter_ns: Option<f64>,
    /// The two modes.
    pub modes: Option<Modes>,
}

/// The first and the last third of the calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Median of the first third.
    pub early_ns: f64,
    /// Median of the last third.
    pub late_ns: f64,
    /// Standard error of the difference of the two medians.
    pub noise_ns: f64,
}

impl Steadiness {
    /// Computes it from durations in the order of the starts; `None` without durations.
    pub fn compute(durations: &[i64]) -> Option<Self> {
        let (&first_ns, rest) = durations.split_first()?;
        let mut rest_sorted = rest.to_vec();
        rest_sorted.sort_unstable();
        let mut sorted = rest_sorted.clone();
        sorted.insert(sorted.partition_point(|duration| *duration < first_ns), first_ns);
        let mut changes: Vec<i64> = durations.windows(2).filter_map(change).collect();
        let total = durations.iter().map(|duration| i128::from(*duration)).sum::<i128>();
        Some(Self {
            total_ns: i64::try_from(total).unwrap_or(i64::MAX),
            modes: modes(&sorted),
            spread: Spread::compute(&mut sorted)?,
            first_ns,
            rest_median_ns: median_of_sorted(&rest_sorted),
            drift: drift(durations),
            jitter_ns: median(&mut changes),
        })
    }
}

fn change(pair: &[i64]) -> Option<i64> {
    let [before, after] = pair else { return None };
    Some(after.saturating_sub(*before).saturating_abs())
}

fn drift(durations: &[i64]) -> Option<Drift> {
    if durations.len() < bounds().min_calls_for_drift {
        return None;
    }
    let third = durations.len() / 3;
    let early = Spread::compute(&mut durations.get(..third)?.to_vec())?;
    let late = Spread::compute(&mut durations.get(durations.len() - third..)?.to_vec())?;
    let noise_ns = (early.error_squared(third) + late.error_squared(third)).sqrt();
    Some(Drift { early_ns: early.median_ns, late_ns: late.median_ns, noise_ns })
}

/// The split of sorted durations with the largest variance between its two sides.
fn modes(sorted: &[i64]) -> Option<Modes> {
    let trimmed = sorted.len() / bounds().trimmed_part.max(1);
    let sorted = sorted.get(trimmed..sorted.len() - trimmed)?;
    if sorted.len() < bounds().min_calls_for_modes {
        return None;
    }
    let least = sorted.len().div_ceil(bounds().min_mode_part.max(1));
    let centre = median_of_sorted(sorted)?;
    let total: f64 = sorted.iter().map(|duration| *duration as f64 - centre).sum();
    let (mut below, mut best) = (0.0, None::<(f64, usize)>);
    for (place, pair) in sorted.windows(2).enumerate() {
        let [low, high] = pair else { continue };
        below += *low as f64 - centre;
        let (calls_below, calls_above) = (place + 1, sorted.len() - place - 1);
        if low == high || calls_below < least || calls_above < least {
            continue;
        }
        let difference = below / calls_below as f64 - (total - below) / calls_above as f64;
        let between = difference * difference * calls_below as f64 * calls_above as f64;
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, calls_below));
        }
    }
    let (low, high) = sorted.split_at_checked(best?.1)?;
    let (low_ns, high_ns) = (median_of_sorted(low)?, median_of_sorted(high)?);
    let (ninth, first) = (low.get(low.len() * 9 / 10)?, high.get(high.len() / 10)?);
    let empty = first.saturating_sub(*ninth).max(0) as f64;
    let high_calls = i64::try_from(high.len() + trimmed).unwrap_or(i64::MAX);
    Some(Modes { low_ns, high_ns, high_calls, gap: empty / (high_ns - low_ns) })
}

#[cfg(test)]
mod tests;
