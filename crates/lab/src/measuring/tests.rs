//! Statistics of runs.

use super::certainty::{Stability, StabilityClass};

#[test]
fn classes_have_their_bounds() {
    for (cv, class) in [
        (0.03, StabilityClass::Stable),
        (0.05, StabilityClass::Stable),
        (0.08, StabilityClass::Moderate),
        (0.10, StabilityClass::Moderate),
        (0.2, StabilityClass::Unstable),
        (f64::NAN, StabilityClass::Unstable),
    ] {
        assert_eq!(StabilityClass::of(cv), class, "{cv}");
    }
}

#[test]
fn the_deviation_is_that_of_a_sample() {
    let one = Stability::of(&[7.0]).unwrap();
    assert_eq!((one.mean, one.median, one.stddev, one.cv, one.class), (7.0, 7.0, 0.0, 0.0, StabilityClass::Stable));
    assert!(one.interval.is_none() && Stability::of(&[]).is_none());
    // statistics.stdev([9, 10, 11, 14]) of Python is 2.160246899469287.
    let four = Stability::of(&[14.0, 9.0, 11.0, 10.0]).unwrap();
    assert!((four.stddev - 2.160_246_899_469_287).abs() < 1e-12);
    assert_eq!((four.mean, four.median, four.min, four.max), (11.0, 10.5, 9.0, 14.0));
    assert_eq!(four.class, StabilityClass::Unstable);
}

/// Indices and confidences from tables of the binomial distribution: 6: 1 and 6, 0.96875; 9: 2 and 8, 0.9609; 20: 6 and
/// 15, 0.9586.
#[test]
fn intervals_of_the_median_are_those_of_tables() {
    let of = |count: u32| Stability::of(&(1..=count).map(f64::from).collect::<Vec<_>>()).unwrap().interval;
    assert!(of(5).is_none());
    for (count, low, high, confidence) in
        [(6, 1.0, 6.0, 0.968_75), (9, 2.0, 8.0, 0.960_937_5), (20, 6.0, 15.0, 0.958_610_5)]
    {
        let found = of(count).unwrap();
        assert_eq!((found.low, found.high), (low, high), "{count}");
        assert!((found.confidence - confidence).abs() < 1e-6, "{count}: {}", found.confidence);
    }
    // Many runs do not overflow.
    assert!(of(1000).unwrap().confidence >= 0.95);
}
