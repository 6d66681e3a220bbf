//! Verdicts from evidence: the noise between runs, one test for each row, Holm's correction over all of them, and the
//! smallest change that would have been noticed.

use super::evidence::{Evidence, with_errors};
use super::side::GpuKey;
use wavesieve_model::analysis::statistics::holm::adjusted;
use wavesieve_model::analysis::statistics::student::{critical_t, two_sided_p};
use wavesieve_model::analysis::statistics::trimmed::{Estimate, sum_of_squares};

/// Two ticks of the 100 MHz clock that timestamps dispatches: a smaller change of a median does not count.
const TICKS_NS: f64 = 20.0;
/// Weight in degrees of freedom of the assumed noise between runs, if several runs show their own noise.
const PRIOR_DEGREES: f64 = 4.0;

/// Strictness of verdicts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Strictness {
    /// Smallest relevant change, as a share.
    pub effect: f64,
    /// Standard error of the difference between two runs without any change, as a share.
    pub noise_floor: f64,
    /// Probability of any false alarm among all rows.
    pub alpha: f64,
}

/// Change of a row or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Slower,
    Faster,
    /// The change is surely smaller than the smallest relevant one.
    Same,
    Unclear,
    TooFew,
    New,
    Gone,
    /// Other kernels replace it.
    Replaced,
    /// It takes too little time, or its duration depends on other ranks.
    Untested,
}

impl Verdict {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Unclear => "unclear",
            Self::TooFew => "too_few",
            Self::New => "new",
            Self::Gone => "gone",
            Self::Replaced => "replaced",
            Self::Untested => "untested",
        }
    }
}

/// The judgment of one piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judgment {
    pub verdict: Verdict,
    pub ratio: f64,
    /// Confidence interval of the ratio.
    pub interval: Option<(f64, f64)>,
    /// Smallest change that would have been flagged, in percent.
    pub resolution_pct: Option<f64>,
    pub adjusted_p: Option<f64>,
    /// Whether the verdict is about the mean over all GPUs.
    pub is_of_all: bool,
    /// Single GPUs that surely changed, with their ratios; only changes that the mean over all GPUs does not show.
    pub gpus: Vec<(GpuKey, f64)>,
}

impl Judgment {
    /// Without a test.
    pub(crate) fn untested() -> Self {
        Self {
            verdict: Verdict::Untested,
            ratio: 1.0,
            interval: None,
            resolution_pct: None,
            adjusted_p: None,
            is_of_all: true,
            gpus: Vec::new(),
        }
    }

    /// The ratio that the verdict is about: the ratio over all GPUs, or of the single GPU that changed most.
    pub fn change(&self) -> f64 {
        let size = |ratio: f64| libm::log(ratio).abs();
        let single = self.gpus.iter().map(|(_, ratio)| *ratio);
        let single = single.filter(|ratio| (*ratio > 1.0) == (self.verdict == Verdict::Slower));
        single
            .max_by(|one, other| size(*one).total_cmp(&size(*other)))
            .filter(|_| !self.is_of_all)
            .unwrap_or(self.ratio)
    }
}

/// The error including the differences between runs. They are assumed if each side has one run, otherwise moderated by
/// the observed ones.
fn total_error(evidence: &Evidence, within: Estimate, floor: f64) -> Estimate {
    let [base, new] = &evidence.levels;
    let (base_runs, new_runs) = (base.len().max(1) as f64, new.len().max(1) as f64);
    let shown = base_runs + new_runs - 2.0;
    let between = if shown < 1.0 {
        Estimate { value: 0.0, standard_error: floor, degrees: f64::INFINITY }
    } else {
        // Variance of single runs; the part that dispatches alone explain does not count twice.
        let squares = [base, new].into_iter().filter_map(|levels| sum_of_squares(levels)).sum::<f64>();
        let explained = within.standard_error * within.standard_error / (1.0 / base_runs + 1.0 / new_runs);
        let seen = (squares / shown - explained).max(0.0);
        // The floor is for a difference of two runs, so half of its square is the variance of one.
        let moderated = (PRIOR_DEGREES * floor * floor / 2.0 + shown * seen) / (PRIOR_DEGREES + shown);
        let variance = moderated * (1.0 / base_runs + 1.0 / new_runs);
        Estimate { value: 0.0, standard_error: variance.sqrt(), degrees: PRIOR_DEGREES + shown }
    };
    with_errors(&[within, between])
}

/// Results of the tests of one piece of evidence.
struct Tested {
    error: Estimate,
    /// p-value for the mean over all GPUs.
    p_mean: f64,
    /// p-value for the GPU that changed most surely, corrected for all GPUs.
    p_gpu: f64,
    /// Each GPU with its p-value, corrected for all GPUs, and its ratio.
    gpus: Vec<(f64, GpuKey, f64)>,
    /// Number of these tests.
    tests: f64,
}

impl Tested {
    fn new(evidence: &Evidence, floor: f64) -> Option<Self> {
        let p_of = |value: f64, error: Estimate| {
            if value == 0.0 { 1.0 } else { two_sided_p(value / error.standard_error, error.degrees) }
        };
        let error = total_error(evidence, evidence.error?, floor);
        let p_mean = p_of(evidence.log_ratio, error);
        let count = evidence.by_gpu.len();
        let each = evidence.by_gpu.iter().filter(|_| count > 1);
        let p_of_all = |one: &Estimate| (p_of(one.value, total_error(evidence, *one, floor)) * count as f64).min(1.0);
        let gpus: Vec<(f64, GpuKey, f64)> =
            each.map(|(gpu, one)| (p_of_all(one), *gpu, libm::exp(one.value))).collect();
        let p_gpu = gpus.iter().map(|(p, _, _)| *p).fold(1.0, f64::min);
        Some(Self { error, p_mean, p_gpu, gpus, tests: if count > 1 { 2.0 } else { 1.0 } })
    }

    fn p(&self) -> f64 {
        (self.tests * self.p_mean.min(self.p_gpu)).min(1.0)
    }
}

/// Judges pieces of evidence together; each comes with its median on the base side in nanoseconds. If there are several
/// GPUs, the test is about the mean and the GPU that changed most surely.
pub fn judge(all: &[(Option<&Evidence>, f64)], strictness: Strictness) -> Vec<Judgment> {
    let tested: Vec<Option<Tested>> =
        all.iter().map(|(evidence, _)| Tested::new((*evidence)?, strictness.noise_floor)).collect();
    let p_values: Vec<f64> = tested.iter().flatten().map(Tested::p).collect();
    let rows = p_values.len().max(1) as f64;
    let mut adjusted = adjusted(&p_values).into_iter();
    let one = |((evidence, median_ns), tested): (&(Option<&Evidence>, f64), &Option<Tested>)| {
        let log_ratio = evidence.map_or(0.0, |evidence| evidence.log_ratio);
        let ratio = libm::exp(log_ratio);
        let Some(tested) = tested else {
            return Judgment { verdict: Verdict::TooFew, ratio, ..Judgment::untested() };
        };
        let (error, p) = (tested.error, adjusted.next().unwrap_or(1.0));
        let tick = if *median_ns > 0.0 { TICKS_NS / median_ns } else { 0.0 };
        let relevant = strictness.effect + tick;
        let reach = critical_t(strictness.alpha, error.degrees) * error.standard_error;
        let interval = (libm::exp(log_ratio - reach), libm::exp(log_ratio + reach));
        let tests = rows * tested.tests;
        let noticed = libm::exp(critical_t(strictness.alpha / tests, error.degrees) * error.standard_error) - 1.0;
        let is_relevant = |ratio: f64| (ratio - 1.0).abs() >= relevant;
        let is_sure = p < strictness.alpha;
        let is_mean = is_sure && (tested.p_mean <= tested.p_gpu || tested.p_mean * tests < strictness.alpha);
        let is_of_all = is_mean && is_relevant(ratio);
        let is_single = |(p, _, of_one): &&(f64, GpuKey, f64)| {
            let is_surest = *p <= tested.p_gpu && *p < tested.p_mean;
            // A change that the mean shows is not a change of a single GPU.
            let is_other = !is_of_all || (*of_one > 1.0) != (ratio > 1.0);
            is_other && is_relevant(*of_one) && (is_sure && is_surest || p * tests < strictness.alpha)
        };
        let gpus: Vec<(GpuKey, f64)> =
            tested.gpus.iter().filter(is_single).map(|(_, gpu, of_one)| (*gpu, *of_one)).collect();
        let slowest = gpus.iter().map(|(_, of_one)| *of_one).max_by(f64::total_cmp);
        let changed = if is_of_all { Some(ratio) } else { slowest };
        let is_inside = |bound: f64| (bound - 1.0).abs() <= relevant;
        let verdict = match changed {
            // Equal numbers are the same, however wide the band.
            None if log_ratio == 0.0
                && evidence.is_some_and(|evidence| evidence.by_gpu.iter().all(|(_, one)| one.value == 0.0)) =>
            {
                Verdict::Same
            }
            None if is_inside(interval.0) && is_inside(interval.1) => Verdict::Same,
            None => Verdict::Unclear,
            Some(ratio) if ratio > 1.0 => Verdict::Slower,
            Some(_) => Verdict::Faster,
        };
        let resolution_pct = Some(100.0 * noticed.max(relevant));
        let is_of_all = is_of_all || gpus.is_empty();
        Judgment { verdict, ratio, interval: Some(interval), resolution_pct, adjusted_p: Some(p), is_of_all, gpus }
    };
    all.iter().zip(&tested).map(one).collect()
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
            by_gpu: Vec::new(),
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
    fn one_gpu_that_changed_is_found() {
        let one = |value: f64| Estimate { value, standard_error: 0.002, degrees: 9.0 };
        let mut uneven = evidence(5.0, 0.05);
        uneven.by_gpu = vec![((0, 0), one(0.0)), ((1, 0), one(0.001)), ((2, 0), one(0.19)), ((3, 0), one(-0.001))];
        let judged = judge(&[(Some(&uneven), 1e6)], STRICT);
        let gpus = |judgment: &Judgment| judgment.gpus.iter().map(|(gpu, _)| *gpu).collect::<Vec<_>>();
        assert_eq!((judged[0].verdict, gpus(&judged[0])), (Verdict::Slower, vec![(2, 0)]));
        assert!((judged[0].change() - libm::exp(0.19)).abs() < 1e-9 && !judged[0].is_of_all);
        // Changes in both directions are both found, and the verdict is about the slower one.
        uneven.by_gpu[0].1 = one(-0.19);
        let judged = judge(&[(Some(&uneven), 1e6)], STRICT);
        assert_eq!((judged[0].verdict, gpus(&judged[0])), (Verdict::Slower, vec![(0, 0), (2, 0)]));
        uneven.by_gpu[0].1 = one(0.0);
        uneven.by_gpu[2].1 = one(0.02);
        assert_eq!(gpus(&judge(&[(Some(&uneven), 1e6)], STRICT)[0]), []);
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
