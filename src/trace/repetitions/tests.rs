//! Planted periods are found, and none where none was planted.

use proptest::prelude::*;

use super::{Repetitions, repetitions};

/// The symbols numbered densely in the order of their first occurrence.
fn dense(sequence: &[u32]) -> Vec<u32> {
    let mut seen: Vec<u32> = Vec::new();
    sequence
        .iter()
        .map(|symbol| match seen.iter().position(|known| known == symbol) {
            Some(at) => at as u32,
            None => {
                seen.push(*symbol);
                seen.len() as u32 - 1
            }
        })
        .collect()
}

fn found(sequence: &[u32]) -> Option<Repetitions> {
    repetitions(&dense(sequence))
}

#[test]
fn seven_kernels() {
    let step = [0, 1, 2, 3, 2, 4, 5];
    let mut sequence = vec![9, 8, 1, 9, 7];
    (0..12).for_each(|_| sequence.extend(step));
    sequence.extend([6, 6, 9]);
    let found = found(&sequence).unwrap();
    assert_eq!(found.period, 7);
    let expected: Vec<std::ops::Range<u32>> = (0..12).map(|at| 5 + at * 7..5 + at * 7 + 7).collect();
    assert_eq!(found.ranges, expected);
}

#[test]
fn the_outer_of_nested_periods() {
    let mut step = vec![100];
    (0..8).for_each(|_| step.extend([1, 2, 3, 4]));
    step.push(101);
    let sequence = step.repeat(6);
    let found = found(&sequence).unwrap();
    assert_eq!((found.period, found.ranges.len()), (34, 6));
    assert_eq!(found.ranges.first(), Some(&(0..34)));
}

#[test]
fn the_inner_where_the_outer_adds_nothing() {
    let found = found(&[1, 2, 3].repeat(20)).unwrap();
    assert_eq!((found.period, found.ranges.len()), (3, 20));
}

#[test]
fn alternating_steps_are_one_period() {
    let found = found(&[1, 2, 3, 4, 1, 2, 5, 6].repeat(10)).unwrap();
    assert_eq!((found.period, found.ranges.len()), (8, 10));
}

#[test]
fn a_break_belongs_to_no_repetition() {
    let step: Vec<u32> = (0..10).collect();
    let mut sequence = step.repeat(5);
    sequence.extend(50..80);
    sequence.extend(step.repeat(5));
    let found = found(&sequence).unwrap();
    assert_eq!((found.period, found.ranges.len()), (10, 10));
    assert_eq!(found.ranges.get(4), Some(&(40..50)));
    assert_eq!(found.ranges.get(5), Some(&(80..90)));
}

#[test]
fn nothing_is_made_up() {
    assert_eq!(found(&[]), None);
    assert_eq!(found(&[1; 100]), None);
    assert_eq!(found(&(0..100).collect::<Vec<u32>>()), None);
    assert_eq!(found(&[1, 2, 3, 4, 1, 2, 3, 4]), None);
}

/// Random symbols; by a seed, because a list of them would be made simpler until it repeats itself.
fn random(seed: u64, symbols: u64, length: usize) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % symbols
    };
    (0..length).map(|_| next() as u32).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn random_sequences_have_no_period(seed in any::<u64>(), symbols in 2_u64..30, length in 20_usize..600) {
        prop_assert_eq!(found(&random(seed, symbols, length)), None);
    }
}

fn noise() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((any::<u8>(), any::<u8>()), 4_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn clean_periods_are_found_exactly(
        step in prop::collection::vec(0_u32..12, 2..40),
        times in 3_usize..30,
        warm_up in 0_u32..20,
        tail in 0_u32..6,
    ) {
        // A symbol of its own at the begin makes the period that of the whole step.
        let mut step = step;
        step.insert(0, 1_000);
        let within = step.len() * times;
        prop_assume!(within >= 24 && warm_up + tail < within as u32);
        let mut sequence: Vec<u32> = (0..warm_up).map(|at| 2_000 + at).collect();
        (0..times).for_each(|_| sequence.extend(&step));
        sequence.extend((0..tail).map(|at| 3_000 + at));
        let found = found(&sequence).unwrap();
        let length = step.len() as u32;
        let expected: Vec<std::ops::Range<u32>> =
            (0..times as u32).map(|at| warm_up + at * length..warm_up + at * length + length).collect();
        prop_assert_eq!(found, Repetitions { period: length, ranges: expected });
    }

    #[test]
    fn noisy_periods_are_found(length in 8_u32..40, times in 8_usize..40, noise in noise()) {
        // Of 50 kernels one is missing and another is an odd one.
        let mut noise = noise.into_iter().cycle();
        let mut sequence = Vec::new();
        for _ in 0..times {
            for symbol in 0..length {
                let (missing, added) = noise.next().unwrap();
                if missing < 251 {
                    sequence.push(symbol);
                }
                if added >= 251 {
                    sequence.push(1_000 + u32::from(added));
                }
            }
        }
        let found = found(&sequence).unwrap();
        prop_assert!(found.period.abs_diff(length) <= 2, "{} for {length}", found.period);
        let slack = times / 8 + 1;
        prop_assert!(found.ranges.len().abs_diff(times) <= slack, "{} for {times}", found.ranges.len());
        prop_assert!(found.ranges.iter().zip(found.ranges.iter().skip(1)).all(|(one, next)| one.end <= next.start));
    }


    #[test]
    fn ranges_are_disjoint_and_within(sequence in prop::collection::vec(0_u32..4, 0..80)) {
        if let Some(found) = found(&sequence) {
            prop_assert!(found.ranges.iter().all(|range| range.start < range.end && range.end as usize <= sequence.len()));
            prop_assert!(found.ranges.iter().zip(found.ranges.iter().skip(1)).all(|(one, next)| one.end <= next.start));
        }
    }
}
