//! Durations of kernels in one replay of a graph that moved to other names. Some profilers lose records of a replay and give what follows
//! the times of other kernels: the sequence of durations goes on as before, while the names are ahead of it.
//!
//! A replay that repeats a sequence of kernels, such as its layers, shows it. Durations of a repetition differ much from those of the first
//! name by name, and equal them if the names are rotated. Slower or faster kernels do not rotate, and neither do inserted ones, which
//! move names and durations together.

use std::collections::BTreeMap;

use crate::analysis::thresholds::{MigratingDurations, Thresholds};

/// Kernels of a replay that are looked at, which bounds the search.
const MAX_KERNELS: usize = 4096;

fn bounds() -> &'static MigratingDurations {
    &Thresholds::builtin().migrating_durations
}

/// Kernels of a replay at least, so that it repeats something three times.
pub fn min_replay() -> usize {
    bounds().min_period.saturating_mul(3)
}

/// How many kernels of a replay, in the order of their starts, have the durations of others.
pub fn migrated(names: &[u64], durations_ns: &[i64]) -> usize {
    let length = names.len().min(durations_ns.len()).min(MAX_KERNELS);
    let (names, durations_ns) =
        (names.get(..length).unwrap_or_default(), durations_ns.get(..length).unwrap_or_default());
    let Some(period) = period_of(names) else { return 0 };
    let repetitions = repetitions(names, durations_ns, period);
    let Some((first, others)) = repetitions.split_first() else { return 0 };
    let rotated = others.iter().filter(|one| is_rotated(first, one)).count();
    if rotated < bounds().min_rotated { 0 } else { rotated * period }
}

/// The least period in which most names repeat.
fn period_of(names: &[u64]) -> Option<usize> {
    let repeats = |period: &usize| {
        let pairs = names.iter().zip(names.iter().skip(*period));
        let (all, equal) = pairs.fold((0, 0), |(all, equal), (one, next)| (all + 1, equal + usize::from(one == next)));
        equal * 100 >= all * bounds().min_repeating_pct
    };
    (bounds().min_period..=(names.len() / 3).min(bounds().max_period)).find(repeats)
}

/// Durations of each occurrence of the sequence that is found most often, as powers of two.
fn repetitions(names: &[u64], durations_ns: &[i64], period: usize) -> Vec<Vec<f64>> {
    let mut often: BTreeMap<&[u64], usize> = BTreeMap::new();
    names.windows(period).for_each(|window| *often.entry(window).or_default() += 1);
    let most = often.values().copied().max().unwrap_or_default();
    let Some(usual) = names.windows(period).find(|window| often.get(window) == Some(&most)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut place = 0;
    while let (Some(window), Some(times)) = (names.get(place..place + period), durations_ns.get(place..place + period))
    {
        if window == usual {
            found.push(times.iter().map(|ns| (*ns).max(1) as f64).map(f64::log2).collect());
            place += period;
        } else {
            place += 1;
        }
    }
    found
}

/// Whether durations differ much from those of the first repetition, and hardly if they are rotated.
fn is_rotated(first: &[f64], other: &[f64]) -> bool {
    let apart = |rotation: usize| {
        let rotated = other.iter().cycle().skip(rotation);
        let mut apart: Vec<f64> = first.iter().zip(rotated).map(|(one, next)| (one - next).abs()).collect();
        apart.sort_by(f64::total_cmp);
        apart.get(apart.len() / 2).copied().unwrap_or_default()
    };
    apart(0) >= bounds().min_apart && (1..first.len()).any(|rotation| apart(rotation) <= bounds().max_rotated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Durations of the kernels of a layer in microseconds, as of a decode step.
    const LAYER: [i64; 11] = [4, 22, 5, 4, 43, 5, 20, 4, 90, 10, 43];

    /// Layers whose durations are those of the kernel so many places further, each with some noise.
    fn replay(rotations: &[usize]) -> (Vec<u64>, Vec<i64>) {
        let (mut names, mut durations_ns) = (Vec::new(), Vec::new());
        for (layer, rotation) in rotations.iter().enumerate() {
            for name in 0..LAYER.len() {
                names.push(name as u64);
                let noise_ns = (layer * 37 + name * 13) as i64 % 100;
                durations_ns.push(LAYER[(name + rotation) % LAYER.len()] * 1_000 + noise_ns);
            }
        }
        (names, durations_ns)
    }

    fn of(rotations: &[usize]) -> usize {
        let (names, durations_ns) = replay(rotations);
        migrated(&names, &durations_ns)
    }

    #[test]
    fn durations_that_moved_to_other_names_are_counted() {
        assert_eq!(of(&[0; 12]), 0);
        assert_eq!(of(&[0, 0, 0, 8, 8, 8, 8, 4, 4, 0, 0]), 6 * 11);
        assert_eq!(of(&[0, 0, 0, 8, 0, 0]), 0, "once is a coincidence");
        // The first may be the odd one.
        assert_eq!(of(&[3, 0, 0, 0]), 3 * 11);
    }

    #[test]
    fn other_changes_are_none() {
        let slower = |factor: f64, from: usize| {
            let (names, mut durations_ns) = replay(&[0; 12]);
            durations_ns.iter_mut().skip(from).for_each(|ns| *ns = (*ns as f64 * factor) as i64);
            migrated(&names, &durations_ns)
        };
        assert_eq!([slower(3.0, 66), slower(0.2, 30), slower(1.0, 0)], [0; 3]);
        // A kernel between two layers moves names and durations together.
        let (mut names, mut durations_ns) = replay(&[0; 12]);
        for place in [100, 50, 20] {
            names.insert(place, 99);
            durations_ns.insert(place, 500_000);
        }
        assert_eq!(migrated(&names, &durations_ns), 0);
        // Kernels that all take as long look alike in every rotation.
        let (names, durations_ns) = replay(&[0; 12]);
        assert_eq!(migrated(&names, &vec![5_000; durations_ns.len()]), 0);
        // One of two layers is another one.
        let alternating: Vec<i64> =
            durations_ns.iter().zip(0..).map(|(ns, at)| if at / 11 % 2 == 0 { *ns } else { ns * 5 }).collect();
        assert_eq!(migrated(&names, &alternating), 0);
        assert_eq!([migrated(&[], &[]), migrated(&[1; 40], &[1; 40])], [0; 2]);
    }
}
