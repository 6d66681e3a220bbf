//! From evidence to verdicts: the noise between runs, one test for each row, Holm's correction over all of them, and the smallest change
//! that would have been noticed.

use super::evidence::{Evidence, with_errors};
use crate::analysis::statistics::holm::adjusted;
use crate::analysis::statistics::student::{critical_t, two_sided_p};
use crate::analysis::statistics::trimmed::{Estimate, sum_of_squares};

/// Two ticks of the 100 MHz clock that timestamps dispatches: a smaller change of a median is none.
const TICKS_NS: f64 = 20.0;
/// Degrees of freedom that the assumed noise between runs counts for when several runs show their own.
const PRIOR_DEGREES: f64 = 4.0;

/// How strict verdicts are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Strictness {
    /// Smallest relevant change, as a share.
    pub effect: f64,
    /// Standard error of what differs between two runs when nothing changed, as a share.
    pub noise_floor: f64,
    /// Probability of any false alarm among all rows.
    pub alpha: f64,
}

/// What a row or a time did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Slower,
    Faster,
    /// The change is surely smaller than the smallest relevant one.
    Same,
    Unclear,
    TooFew,
    New,
    Gone,
    /// It takes too little time, or its duration depends on other ranks.
    Untested,
}

impl Verdict {
    /// Its name in machine-readable output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Unclear => "unclear",
            Self::TooFew => "too_few",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Untested => "untested",
        }
    }
}

/// The judgment of one piece of evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judgment {
    pub verdict: Verdict,
    pub ratio: f64,
    /// Confidence interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// Smallest change that would have been flagged, in percent.
    pub resolution_pct: Option<f64>,
    pub adjusted_p: Option<f64>,
}

/// The error with the differences between runs: assumed for one run a side, otherwise moderated by what the runs show.
fn total_error(evidence: &Evidence, within: Estimate, floor: f64) -> Estimate {
    let [base, new] = &evidence.levels;
    let (base_runs, new_runs) = (base.len().max(1) as f64, new.len().max(1) as f64);
    let shown = base_runs + new_runs - 2.0;
    let between = if shown < 1.0 {
        Estimate { value: 0.0, standard_error: floor, degrees: f64::INFINITY }
    } else {
        // Variance of single runs; what dispatches alone explain of it does not count twice.
        let squares = [base, new].into_iter().filter_map(|levels| sum_of_squares(levels)).sum::<f64>();
        let explained = within.standard_error * within.standard_error / (1.0 / base_runs + 1.0 / new_runs);
        let seen = (squares / shown - explained).max(0.0);
        // The floor is of a difference of two runs, so that half of its square is the variance of one.
        let moderated = (PRIOR_DEGREES * floor * floor / 2.0 + shown * seen) / (PRIOR_DEGREES + shown);
        let variance = moderated * (1.0 / base_runs + 1.0 / new_runs);
        Estimate { value: 0.0, standard_error: variance.sqrt(), degrees: PRIOR_DEGREES + shown }
    };
    with_errors(&[within, between])
}

/// Judges pieces of evidence together; each comes with its median on the base side in nanoseconds.
pub(crate) fn judge(all: &[(Option<&Evidence>, f64)], strictness: Strictness) -> Vec<Judgment> {
    let errors: Vec<Option<Estimate>> = all
        .iter()
        .map(|(evidence, _)| {
            let evidence = (*evidence)?;
            Some(total_error(evidence, evidence.error?, strictness.noise_floor))
        })
        .collect();
    let p_values: Vec<f64> = all
        .iter()
        .zip(&errors)
        .filter_map(|((evidence, _), error)| {
            let ((evidence, error), exact) = ((*evidence).zip(*error)?, 0.0);
            Some(two_sided_p(
                if evidence.log_ratio == exact { 0.0 } else { evidence.log_ratio / error.standard_error },
                error.degrees,
            ))
        })
        .collect();
    let tests = p_values.len().max(1) as f64;
    let mut adjusted = adjusted(&p_values).into_iter();
    all.iter()
        .zip(&errors)
        .map(|((evidence, median_ns), error)| {
            let log_ratio = evidence.map_or(0.0, |evidence| evidence.log_ratio);
            let ratio = libm::exp(log_ratio);
            let Some(error) = error else {
                let verdict = Verdict::TooFew;
                return Judgment { verdict, ratio, interval: None, resolution_pct: None, adjusted_p: None };
            };
            let p = adjusted.next().unwrap_or(1.0);
            let tick = if *median_ns > 0.0 { TICKS_NS / median_ns } else { 0.0 };
            let relevant = strictness.effect + tick;
            let reach = critical_t(strictness.alpha, error.degrees) * error.standard_error;
            let interval = (libm::exp(log_ratio - reach), libm::exp(log_ratio + reach));
            let noticed = libm::exp(critical_t(strictness.alpha / tests, error.degrees) * error.standard_error) - 1.0;
            let is_inside = |bound: f64| (bound - 1.0).abs() <= relevant;
            let verdict = match p < strictness.alpha && (ratio - 1.0).abs() >= relevant {
                // The same numbers are the same, however wide the band.
                _ if log_ratio == 0.0 => Verdict::Same,
                true if ratio > 1.0 => Verdict::Slower,
                true => Verdict::Faster,
                false if is_inside(interval.0) && is_inside(interval.1) => Verdict::Same,
                false => Verdict::Unclear,
            };
            Judgment {
                verdict,
                ratio,
                interval: Some(interval),
                resolution_pct: Some(100.0 * noticed.max(relevant)),
                adjusted_p: Some(p),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::evidence::Unit;

    const STRICT: Strictness = Strictness { effect: 0.03, noise_floor: 0.01, alpha: 0.01 };

    fn evidence(percent: f64, standard_error: f64) -> Evidence {
        let log_ratio = (1.0 + percent / 100.0).ln();
        Evidence {
            log_ratio,
            error: Some(Estimate { value: log_ratio, standard_error, degrees: 9.0 }),
            unit: Some(Unit::Places),
            samples: 20,
            levels: [vec![0.0], vec![log_ratio]],
        }
    }

    fn verdicts(all: &[Evidence]) -> Vec<Verdict> {
        let all: Vec<_> = all.iter().map(|one| (Some(one), 1e6)).collect();
        judge(&all, STRICT).iter().map(|judgment| judgment.verdict).collect()
    }

    #[test]
    fn verdicts_need_size_and_certainty() {
        use Verdict::{Faster, Same, Slower, Unclear};
        assert_eq!(verdicts(&[evidence(10.0, 0.001)]), [Slower]);
        assert_eq!(verdicts(&[evidence(-10.0, 0.001)]), [Faster]);
        // Surely different, and not relevant.
        assert_eq!(verdicts(&[evidence(2.9, 0.0001)]), [Unclear]);
        assert_eq!(verdicts(&[evidence(0.2, 0.0)]), [Same]);
        assert_eq!(verdicts(&[evidence(10.0, 0.05)]), [Unclear]);
    }

    #[test]
    fn many_rows_need_more() {
        let found = |others: usize| {
            let mut all = vec![evidence(4.0, 0.001)];
            all.extend((0..others).map(|_| evidence(0.0, 0.001)));
            verdicts(&all)[0]
        };
        assert_eq!((found(0), found(2000)), (Verdict::Slower, Verdict::Unclear));
    }

    #[test]
    fn runs_that_differ_widen_the_band() {
        let mut quiet = evidence(5.0, 0.001);
        quiet.levels = [vec![0.0, 0.001, -0.001], vec![0.05, 0.051, 0.049]];
        let mut noisy = quiet.clone();
        noisy.levels = [vec![0.0, 0.06, -0.06], vec![0.05, 0.11, -0.01]];
        assert_eq!(verdicts(&[quiet]), [Verdict::Slower]);
        assert_eq!(verdicts(&[noisy]), [Verdict::Unclear]);
    }

    #[test]
    fn nothing_changed_is_same_whatever_the_error() {
        let judged = judge(&[(Some(&evidence(0.0, 0.0)), 100.0), (None, 0.0)], STRICT);
        assert_eq!((judged[0].ratio, judged[0].verdict, judged[1].verdict), (1.0, Verdict::Same, Verdict::TooFew));
    }
}
