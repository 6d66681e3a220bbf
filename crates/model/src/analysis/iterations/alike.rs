//! Similarity of repetitions.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of pairs of neighbors that two sequences have in common, as a share of the pairs of the longer one.
pub fn likeness(one: &[u32], other: &[u32]) -> f64 {
    let neighbors = |of: &[u32]| -> Vec<u64> {
        let pairs = of.iter().zip(of.iter().skip(1)).map(|(one, next)| u64::from(*one) << 32 | u64::from(*next));
        let mut pairs: Vec<u64> = pairs.collect();
        pairs.sort_unstable();
        pairs
    };
    let (mine, theirs) = (neighbors(one), neighbors(other));
    let longest = mine.len().max(theirs.len());
    if longest == 0 {
        return if one == other { 1.0 } else { 0.0 };
    }
    let mut common = 0_usize;
    let mut mine = mine.into_iter().peekable();
    for pair in theirs {
        while mine.next_if(|own| *own < pair).is_some() {}
        common += usize::from(mine.next_if_eq(&pair).is_some());
    }
    common as f64 / longest as f64
}

/// Place of the most frequent repetition; the first one of several.
pub(crate) fn commonest(repetitions: &[&[u32]]) -> usize {
    let hash = |repetition: &[u32]| {
        let mut hasher = DefaultHasher::new();
        repetition.hash(&mut hasher);
        hasher.finish()
    };
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    let hashes: Vec<u64> = repetitions.iter().map(|repetition| hash(repetition)).collect();
    for hash in &hashes {
        *counts.entry(*hash).or_insert(0) += 1;
    }
    // If no two are the same, the one of the middle length is nearest to all.
    let most = counts.values().max().copied().unwrap_or(0);
    if most < 2 {
        let mut by_length: Vec<usize> = (0..repetitions.len()).collect();
        by_length.sort_by_key(|place| repetitions.get(*place).map(|repetition| repetition.len()));
        return by_length.get(by_length.len() / 2).copied().unwrap_or_default();
    }
    hashes.iter().position(|hash| counts.get(hash) == Some(&most)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_definition(one: &[u32], other: &[u32]) -> f64 {
        let mut left: Vec<&[u32]> = one.windows(2).collect();
        let pairs = other.windows(2).filter(|pair| {
            let found = left.iter().position(|own| own == pair);
            found.map(|place| left.swap_remove(place)).is_some()
        });
        let common = pairs.count();
        common as f64 / (one.len().max(other.len()) - 1) as f64
    }

    proptest! {
        #[test]
        fn the_share_of_common_pairs(one in prop::collection::vec(0_u32..4, 2..20), other in prop::collection::vec(0_u32..4, 0..20)) {
            prop_assert_eq!(likeness(&one, &other), by_definition(&one, &other));
            prop_assert_eq!(likeness(&other, &one), by_definition(&other, &one));
            prop_assert_eq!(likeness(&one, &one), 1.0);
        }
    }
}
