//! How much alike repetitions are.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Share of the pairs of neighbours that two sequences have in common, of those of the longer one.
pub fn likeness(one: &[u32], other: &[u32]) -> f64 {
    let mut pairs: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let neighbours = |of: &[u32]| -> Vec<(u32, u32)> { of.iter().copied().zip(of.iter().copied().skip(1)).collect() };
    let (mine, theirs) = (neighbours(one), neighbours(other));
    let longest = mine.len().max(theirs.len());
    if longest == 0 {
        return if one == other { 1.0 } else { 0.0 };
    }
    for pair in mine {
        *pairs.entry(pair).or_insert(0) += 1;
    }
    let mut common = 0_usize;
    for pair in theirs {
        if let Some(left) = pairs.get_mut(&pair).filter(|left| **left > 0) {
            *left -= 1;
            common += 1;
        }
    }
    common as f64 / longest as f64
}

/// Place of the repetition that occurs most often as it is, of several the first.
pub fn commonest(repetitions: &[&[u32]]) -> usize {
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
    // Where no two are the same, that of the middle length is nearest to all.
    let most = counts.values().max().copied().unwrap_or(0);
    if most < 2 {
        let mut by_length: Vec<usize> = (0..repetitions.len()).collect();
        by_length.sort_by_key(|place| repetitions.get(*place).map(|repetition| repetition.len()));
        return by_length.get(by_length.len() / 2).copied().unwrap_or_default();
    }
    hashes.iter().position(|hash| counts.get(hash) == Some(&most)).unwrap_or_default()
}
