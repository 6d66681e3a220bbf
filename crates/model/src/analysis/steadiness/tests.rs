use proptest::prelude::*;

use crate::analysis::steadiness::*;

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

fn floats(values: &[i64]) -> Vec<f64> {
    values.iter().map(|value| *value as f64).collect()
}

/// The variance between the sides of every allowed split, by its definition.
fn best_between(sorted: &[i64]) -> Option<f64> {
    let least = sorted.len().div_ceil(bounds().min_mode_part);
    (least..=sorted.len() - least)
        .filter(|split| sorted[split - 1] < sorted[*split])
        .map(|split| between(sorted, split))
        .max_by(f64::total_cmp)
}

fn between(sorted: &[i64], split: usize) -> f64 {
    let mean = |values: &[i64]| floats(values).iter().sum::<f64>() / values.len() as f64;
    let (low, high) = sorted.split_at(split);
    (mean(high) - mean(low)).powi(2) * low.len() as f64 * high.len() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn centre_and_spread_match_the_definition(durations in prop::collection::vec(0_i64..1000, 1..60)) {
        let steadiness = Steadiness::compute(&durations).unwrap();
        let centre = middle(floats(&durations));
        prop_assert_eq!(steadiness.spread.median_ns, centre);
        let deviations = floats(&durations).into_iter().map(|duration| (duration - centre).abs()).collect();
        prop_assert_eq!(steadiness.spread.mad_ns, middle(deviations));
        prop_assert_eq!(steadiness.total_ns, durations.iter().sum::<i64>());
        prop_assert_eq!(steadiness.first_ns, durations[0]);
        prop_assert_eq!(steadiness.rest_median_ns, (durations.len() > 1).then(|| middle(floats(&durations[1..]))));
    }

    #[test]
    fn the_modes_are_the_best_split(durations in prop::collection::vec(0_i64..50, 10..19)) {
        let mut sorted = durations.clone();
        sorted.sort_unstable();
        match (modes(&sorted), best_between(&sorted)) {
            (Some(found), Some(best)) => {
                let split = sorted.len() - usize::try_from(found.high_calls).unwrap();
                prop_assert!((between(&sorted, split) - best).abs() <= 1e-6 * best.max(1.0));
                prop_assert!(found.low_ns < found.high_ns);
                prop_assert!((0.0..=1.0).contains(&found.gap), "{}", found.gap);
            }
            (found, best) => prop_assert_eq!(found.is_some(), best.is_some()),
        }
    }

    #[test]
    fn any_durations_are_survived(durations in prop::collection::vec(any::<i64>(), 0..40)) {
        prop_assert_eq!(Steadiness::compute(&durations).is_some(), !durations.is_empty());
    }
}

#[test]
fn equal_calls_have_a_floor_of_noise() {
    let spread = Spread::compute(&mut [1000, 1000, 1000, 1000, 5000]).unwrap();
    assert_eq!((spread.median_ns, spread.mad_ns, spread.noise_ns()), (1000.0, 0.0, 20.0));
    assert_eq!(spread.robust_z(5000), 200.0);
    assert_eq!(Spread::compute(&mut [100_000, 100_000, 100_010]).unwrap().noise_ns(), 1000.0);
}

#[test]
fn one_mode_has_a_narrow_gap_and_two_a_wide_one() {
    let even: Vec<i64> = (0..200).map(|step| 10_000 + step * 10).collect();
    assert!(modes(&even).unwrap().gap < 0.25);
    let mut two: Vec<i64> = (0..200).map(|step| if step % 4 == 0 { 15_000 + step } else { 10_000 + step }).collect();
    two.sort_unstable();
    let found = modes(&two).unwrap();
    assert!(found.gap > 0.9, "{found:?}");
    assert_eq!(found.high_calls, 50);
    // A few outliers are not a mode.
    let mut outliers: Vec<i64> = (0..200).map(|step| if step < 6 { 90_000 } else { 10_000 + step * 10 }).collect();
    outliers.sort_unstable();
    assert!(modes(&outliers).unwrap().gap < 0.3);
    assert_eq!(modes(&[7; 20]), None);
}

#[test]
fn drift_compares_the_thirds() {
    let rising: Vec<i64> = (0..30).map(|call| 1000 + call * 10).collect();
    let drift = drift(&rising).unwrap();
    // The middles of 0..10 and 20..30 are 4.5 and 24.5.
    assert_eq!((drift.early_ns, drift.late_ns), (1045.0, 1245.0));
    assert_eq!(Steadiness::compute(&rising).unwrap().jitter_ns, Some(10.0));
    assert_eq!(crate::analysis::steadiness::drift(&rising[..8]), None);
}
