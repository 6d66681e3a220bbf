//! Which interval of a list lasts at a moment, and until when that stays so.

use super::Interval;
use super::gallop::gallop;

/// The answer for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lasting {
    /// Place of the interval that lasts; none between intervals.
    pub place: Option<usize>,
    /// The next moment at which this may change, later than the one asked about.
    pub until_ns: i64,
}

/// Looks for the interval that lasts at a moment. Starts and ends of the intervals both rise; of two that overlap the later
/// one lasts.
///
/// `reached` is where the search for an earlier moment of the list ended, 0 at first. A search takes `O(log d)` for an interval that is `d` further.
pub fn lasting(reached: &mut usize, len: usize, time: impl Fn(usize) -> Option<Interval>, at_ns: i64) -> Lasting {
    let next_start_ns = |place: usize| time(place + 1).map_or(i64::MAX, |next| next.start_ns);
    let is_over =
        |place: usize| next_start_ns(place) <= at_ns || time(place).is_some_and(|interval| interval.end_ns <= at_ns);
    *reached = gallop(*reached, len, is_over);
    match time(*reached).filter(|_| *reached < len) {
        Some(interval) if interval.start_ns <= at_ns => {
            Lasting { place: Some(*reached), until_ns: interval.end_ns.min(next_start_ns(*reached)) }
        }
        Some(interval) => Lasting { place: None, until_ns: interval.start_ns },
        None => Lasting { place: None, until_ns: i64::MAX },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_moment_has_the_latest_interval_around_it(
            steps in prop::collection::vec((1_i64..6, 1_i64..6), 0..12),
            moments in prop::collection::vec(-2_i64..60, 1..12),
        ) {
            let (mut start_ns, mut end_ns) = (0, 0);
            let intervals: Vec<Interval> = steps.into_iter().map(|(start_step, end_step)| {
                start_ns += start_step;
                end_ns = (end_ns + end_step).max(start_ns);
                Interval::new(start_ns, end_ns)
            }).collect();
            let rise = |pair: &[Interval]| pair[0].start_ns < pair[1].start_ns && pair[0].end_ns <= pair[1].end_ns;
            prop_assert!(intervals.windows(2).all(rise));
            let at = |moment: i64| intervals.iter().rposition(|one| one.start_ns <= moment && moment < one.end_ns);
            let mut moments = moments;
            moments.sort_unstable();
            let mut reached = 0;
            for moment in moments {
                let found = lasting(&mut reached, intervals.len(), |place| intervals.get(place).copied(), moment);
                prop_assert_eq!(found.place, at(moment));
                prop_assert!(found.until_ns > moment);
                prop_assert!((moment..found.until_ns.min(80)).all(|later| at(later) == found.place));
            }
        }
    }
}
