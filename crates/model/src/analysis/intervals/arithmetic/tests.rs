use proptest::prelude::*;

use crate::analysis::intervals::*;

/// Small times, so that intervals touch, coincide, nest and come reversed often.
fn small_intervals() -> impl Strategy<Value = Vec<Interval>> {
    prop::collection::vec((-12_i64..12, -12_i64..12).prop_map(|(start, end)| Interval::new(start, end)), 0..12)
}

fn covers(intervals: &[Interval], instant: i64) -> bool {
    intervals.iter().any(|interval| interval.start_ns <= instant && instant < interval.end_ns)
}

fn is_merged(intervals: &[Interval]) -> bool {
    intervals.iter().all(|interval| !interval.is_empty())
        && intervals.windows(2).all(|pair| pair[0].end_ns < pair[1].start_ns)
}

proptest! {
    #[test]
    fn union_covers_the_same_instants(intervals in small_intervals()) {
        let merged = union(intervals.iter().copied());
        prop_assert!(is_merged(&merged));
        let mut covered = 0;
        for instant in -15..15 {
            prop_assert_eq!(covers(&merged, instant), covers(&intervals, instant));
            covered += i64::from(covers(&intervals, instant));
        }
        prop_assert_eq!(union_length_ns(intervals), covered);
    }

    #[test]
    fn intersection_and_difference_match_their_definition(a in small_intervals(), b in small_intervals()) {
        let (a, b) = (union(a), union(b));
        let both = intersection(&a, &b);
        let only_a = difference(&a, &b);
        prop_assert!(is_merged(&both));
        prop_assert!(is_merged(&only_a));
        for instant in -15..15 {
            let (in_a, in_b) = (covers(&a, instant), covers(&b, instant));
            prop_assert_eq!(covers(&both, instant), in_a && in_b);
            prop_assert_eq!(covers(&only_a, instant), in_a && !in_b);
        }
        prop_assert_eq!(total_length_ns(&both) + total_length_ns(&only_a), total_length_ns(&a));
    }

    #[test]
    fn any_bounds_are_survived(bounds in prop::collection::vec(any::<(i64, i64)>(), 0..20)) {
        let merged = union(bounds.iter().map(|&(start, end)| Interval::new(start, end)));
        prop_assert!(is_merged(&merged));
        prop_assert!(total_length_ns(&merged) >= 0);
        let everything = [Interval::new(i64::MIN, i64::MAX)];
        prop_assert_eq!(intersection(&merged, &everything), merged.clone());
        prop_assert!(difference(&merged, &everything).is_empty());
        let rest = difference(&everything, &merged);
        prop_assert_eq!(union(rest.into_iter().chain(merged)), everything.to_vec());
    }
}

#[test]
fn lengths_saturate() {
    let everything = Interval::new(i64::MIN, i64::MAX);
    assert_eq!(everything.length_ns(), i64::MAX);
    assert_eq!(union_length_ns([everything, everything]), i64::MAX);
    assert_eq!(Interval::new(i64::MAX, i64::MIN).length_ns(), 0);
}

#[test]
fn touching_intervals_become_one() {
    let merged = union([Interval::new(5, 7), Interval::new(1, 5)]);
    assert_eq!(merged, vec![Interval::new(1, 7)]);
}

#[test]
fn one_hole_may_cut_two_intervals() {
    let left = [Interval::new(0, 10), Interval::new(20, 30)];
    let right = [Interval::new(5, 25)];
    assert_eq!(difference(&left, &right), vec![Interval::new(0, 5), Interval::new(25, 30)]);
}
