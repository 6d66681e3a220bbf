//! Symbols told apart by what follows them.

use std::collections::BTreeMap;

/// Stands for what follows the end.
const NOTHING: u32 = u32::MAX;

/// Of a sequence whose symbols each stand for so many, one whose symbols each stand for twice as many: themselves and those
/// that follow. Numbered densely from 0.
///
/// In a step that has every kernel more than once none marks where it begins; with what follows it, one does.
pub fn widened(sequence: &[u32], width: usize) -> Vec<u32> {
    let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let following = sequence.iter().skip(width).copied().chain(std::iter::repeat(NOTHING));
    sequence
        .iter()
        .zip(following)
        .map(|(symbol, next)| {
            let number = known.len() as u32;
            *known.entry((*symbol, next)).or_insert(number)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_same_where_the_same_follows(sequence in prop::collection::vec(0_u32..3, 0..40)) {
            let mut wide = sequence.clone();
            for width in [1, 2, 4] {
                wide = widened(&wide, width);
                let context = |place: usize| sequence[place..sequence.len().min(place + 2 * width)].to_vec();
                for one in 0..sequence.len() {
                    for other in 0..sequence.len() {
                        prop_assert_eq!(wide[one] == wide[other], context(one) == context(other));
                    }
                }
                let symbols = wide.iter().max().map_or(0, |last| *last as usize + 1);
                prop_assert!((0..symbols as u32).all(|symbol| wide.contains(&symbol)));
            }
        }
    }
}
