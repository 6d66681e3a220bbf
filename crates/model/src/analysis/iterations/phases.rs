//! Warm-up, steady and cool-down repetitions.

use crate::analysis::collectives::matching::MedianDeviation;
use crate::analysis::thresholds::{PhaseBounds, Thresholds};

fn bounds() -> &'static PhaseBounds {
    &Thresholds::builtin().phases
}

spelled! {
    /// Part of a run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Phase by word {
        /// Slow at the start.
        WarmUp = "warmup",
        /// The repetitions between.
        Steady = "steady",
        /// Slow at the end.
        CoolDown = "cooldown",
        /// Prompts of an LLM server, which are other work than its decodes.
        Prefill = "prefill",
    }
}

/// The duration from which a repetition is slow.
pub(super) struct Slowness {
    /// Usual duration.
    pub median_ns: i64,
    allowed_ns: i64,
}

impl Slowness {
    /// From the durations of all repetitions. A repetition is slow if it exceeds the median by more than a tenth of it
    /// and by more than three times the scaled median distance from it. `None` without repetitions.
    pub fn compute(durations_ns: &[i64]) -> Option<Self> {
        let MedianDeviation { median_ns, deviation_ns } = MedianDeviation::compute(&mut durations_ns.to_vec())?;
        let scaled =
            i64::try_from(i128::from(deviation_ns) * i128::from(bounds().scaled_distances_thousandths) / 1_000)
                .unwrap_or(i64::MAX);
        Some(Self { median_ns, allowed_ns: (median_ns / bounds().min_excess_part).max(scaled) })
    }

    /// Whether a repetition of this duration is slow.
    pub fn is_slow(&self, duration_ns: i64) -> bool {
        duration_ns > self.median_ns.saturating_add(self.allowed_ns)
    }
}

/// Phase of each repetition, from their durations in order. Slow repetitions at the start and at the end are phases,
/// unless there are so many that the run has changed its pace.
pub fn phases(durations_ns: &[i64]) -> Vec<Phase> {
    let Some(slowness) = Slowness::compute(durations_ns) else { return Vec::new() };
    let is_slow = |duration: &&i64| slowness.is_slow(**duration);
    let most = bounds().few.max(durations_ns.len() / bounds().most_part);
    let few = |slow: usize| if slow <= most { slow } else { 0 };
    let warm = few(durations_ns.iter().take_while(is_slow).count());
    let cool = few(durations_ns.iter().rev().take_while(is_slow).count());
    (0..durations_ns.len())
        .map(|place| {
            if place < warm {
                Phase::WarmUp
            } else if place >= durations_ns.len() - cool {
                Phase::CoolDown
            } else {
                Phase::Steady
            }
        })
        .collect()
}

/// Phase of each step of an LLM server: prompts are one of their own, the others have those of [`phases`] among themselves.
pub fn phases_without_prompts(steps: &[(i64, bool)]) -> Vec<Phase> {
    let durations: Vec<i64> = steps.iter().filter(|(_, is_prompt)| !is_prompt).map(|(ns, _)| *ns).collect();
    let mut others = phases(&durations).into_iter();
    let phase = |is_prompt: bool| if is_prompt { None } else { others.next() };
    steps.iter().map(|(_, is_prompt)| *is_prompt).map(phase).map(|phase| phase.unwrap_or(Phase::Prefill)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_ends() {
        use Phase::{CoolDown, Steady, WarmUp};
        assert_eq!(
            phases(&[500, 130, 100, 101, 99, 100, 180, 100, 115]),
            [WarmUp, WarmUp, Steady, Steady, Steady, Steady, Steady, Steady, CoolDown]
        );
        assert_eq!(phases(&[100, 104, 108, 112, 116, 120]), [Steady; 6]);
        assert_eq!(phases(&[]), []);
    }

    #[test]
    fn prompts_are_not_warm_up() {
        use Phase::{Prefill, Steady, WarmUp};
        let steps = [(900, true), (200, false), (100, false), (101, false), (950, true), (99, false), (100, false)];
        assert_eq!(phases_without_prompts(&steps), [Prefill, WarmUp, Steady, Steady, Prefill, Steady, Steady]);
    }

    #[test]
    fn a_change_of_pace_is_no_end() {
        let slower: Vec<i64> = [100; 12].into_iter().chain([130; 8]).collect();
        assert_eq!(phases(&slower), [Phase::Steady; 20]);
        let few: Vec<i64> = [100; 15].into_iter().chain([130; 5]).collect();
        assert_eq!(phases(&few).iter().filter(|phase| **phase == Phase::CoolDown).count(), 5);
    }
}
