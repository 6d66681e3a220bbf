//! The part of a run in which repetitions follow one another evenly.

use std::ops::Range;

use crate::analysis::iterations::phases::Slowness;

/// The longest interval of neighboring repetitions that is even: from the start of its first to the end of its last, it
/// takes at most `most_excess_pct` longer than as many medians. Of several, the first. It has no slow repetitions at
/// its ends. Times are start and end of each repetition in order. `None` without repetitions.
pub fn even_part(times_ns: &[(i64, i64)], most_excess_pct: u32) -> Option<Range<usize>> {
    let durations: Vec<i64> = times_ns.iter().map(|(start, end)| end.saturating_sub(*start)).collect();
    let slowness = Slowness::compute(&durations)?;
    // In hundredths of nanoseconds, to avoid rounding. An interval is even if its end, less the time that its
    // repetitions may take, is not later than its start.
    let allowed = i128::from(slowness.median_ns) * (100 + i128::from(most_excess_pct));
    let less = |time_ns: i64, place: usize| i128::from(time_ns) * 100 - allowed * place as i128;
    // A start counts only if no earlier one allows as much.
    let mut starts: Vec<(i128, usize)> = Vec::new();
    let mut longest: Option<Range<usize>> = None;
    for (place, (start_ns, end_ns)) in times_ns.iter().enumerate() {
        let start = less(*start_ns, place);
        if starts.last().is_none_or(|(known, _)| *known < start) {
            starts.push((start, place));
        }
        let end = less(*end_ns, place + 1);
        let first = starts.get(starts.partition_point(|(start, _)| *start < end));
        let Some((_, first)) = first else { continue };
        if longest.as_ref().is_none_or(|longest| place + 1 - first > longest.len()) {
            longest = Some(*first..place + 1);
        }
    }
    let mut part = longest?;
    let is_slow = |place: usize| durations.get(place).is_some_and(|duration| slowness.is_slow(*duration));
    while part.len() > 1 && is_slow(part.start) {
        part.start += 1;
    }
    while part.len() > 1 && is_slow(part.end - 1) {
        part.end -= 1;
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Consecutive repetitions, each with its length and the pause before it.
    fn times(repetitions: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let mut at_ns = 1_000;
        let place = |(length, pause): &(i64, i64)| {
            let start_ns = at_ns + pause;
            at_ns = start_ns + length;
            (start_ns, at_ns)
        };
        repetitions.iter().map(place).collect()
    }

    #[test]
    fn what_is_even_has_neither_long_repetitions_nor_long_pauses() {
        let even = |count: usize| vec![(100, 0); count];
        let joined = |parts: &[&[(i64, i64)]]| times(&parts.concat());
        assert_eq!(even_part(&times(&even(7)), 10), Some(0..7));
        assert_eq!(even_part(&[], 10), None);
        // A long repetition, and a long pause.
        assert_eq!(even_part(&joined(&[&even(5), &[(2_000, 0)], &even(8)]), 10), Some(6..14));
        assert_eq!(even_part(&joined(&[&even(9), &[(100, 3_000)], &even(6)]), 10), Some(0..9));
        // One of ten repetitions may take twice as long, but not if it is the last.
        assert_eq!(even_part(&joined(&[&even(5), &[(190, 0)], &even(5)]), 10), Some(0..11));
        assert_eq!(even_part(&joined(&[&even(10), &[(190, 0)]]), 10), Some(0..10));
    }

    proptest! {
        #[test]
        fn as_long_as_by_trying(repetitions in prop::collection::vec((1_i64..300, prop_oneof![Just(0_i64), 0_i64..500]), 1..40)) {
            let times = times(&repetitions);
            let durations: Vec<i64> = times.iter().map(|(start, end)| end - start).collect();
            let slowness = Slowness::compute(&durations).unwrap();
            let mut longest = 0..0;
            for first in 0..times.len() {
                for end in first + 1..=times.len() {
                    let took = times[end - 1].1 - times[first].0;
                    let is_even = took * 100 <= slowness.median_ns * 110 * (end - first) as i64;
                    if is_even && end - first > longest.len() {
                        longest = first..end;
                    }
                }
            }
            let found = even_part(&times, 10);
            if longest.is_empty() {
                prop_assert_eq!(found, None);
            } else {
                let found = found.unwrap();
                let slow = |place: usize| slowness.is_slow(durations[place]);
                prop_assert!(longest.start <= found.start && found.end <= longest.end);
                prop_assert!((longest.start..found.start).chain(found.end..longest.end).all(slow));
                prop_assert!(found.len() == 1 || !slow(found.start) && !slow(found.end - 1));
            }
        }
    }
}
