//! The share of a sequence that recurs in long parts.

use crate::analysis::iterations::occurrences::Occurrences;

/// Symbols that stand together in short sequences. In longer sequences there are as many more as it takes bits to
/// number the places. A random sequence of two symbols recurs that long at one place in 32 at most.
const MIN_WIDTH: usize = 16;
const MORE_THAN_BITS: usize = 5;
/// Bits for each place, so that few different ones share a bit.
const BITS_EACH: usize = 8;
/// Approximate number of places to sample in longer sequences: a table for them fits into a processor's cache.
const SAMPLED: usize = 1 << 20;
/// Base of the powers by which the symbols are weighted, and the factor that spreads them: odd numbers without a
/// pattern.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
const SPREAD: u64 = 0xBF58_476D_1CE4_E5B9;

/// Share of the places of a sequence from which sixteen symbols, or some more in longer sequences, are the same as from
/// an earlier place.
///
/// It is estimated by the number of bits of a table that the different ones occupy (linear counting; Whang,
/// Vander-Zanden and Taylor, "A linear-time probabilistic counting algorithm for database applications", 1990). The
/// error is about a hundredth in sequences of thousands, and smaller in longer ones. 0 if there are fewer symbols than
/// that. Takes linear time.
pub(crate) fn recurring_share(occurrences: &Occurrences) -> f64 {
    sampled_share(occurrences, SAMPLED)
}

/// Same as [`recurring_share`], for about this many places. Places with the same symbols are sampled together or not at
/// all: the more places are skipped, the more different ones each sampled place represents.
fn sampled_share(occurrences: &Occurrences, sampled: usize) -> f64 {
    let sequence = occurrences.sequence();
    let width = width(sequence.len());
    let Some(places) = sequence.len().checked_sub(width - 1).filter(|places| *places > 0) else { return 0.0 };
    let every = (places / sampled).max(1).next_power_of_two();
    let bits = (places / every).saturating_mul(BITS_EACH).next_power_of_two().max(u64::BITS as usize);
    let shift = u64::BITS - bits.trailing_zeros();
    let mut words = vec![0_u64; bits / u64::BITS as usize];
    let value = |symbol: &u32| (u64::from(*symbol) + 1).wrapping_mul(SPREAD);
    let of_leaving = BASE.wrapping_pow(width as u32);
    let mut hash = 0_u64;
    let leaving = std::iter::repeat_n(0, width).chain(sequence.iter().map(value));
    for (place, (coming, leaving)) in sequence.iter().map(value).zip(leaving).enumerate() {
        hash = hash.wrapping_mul(BASE).wrapping_add(coming).wrapping_sub(leaving.wrapping_mul(of_leaving));
        if place + 1 < width {
            continue;
        }
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(BASE);
        if mixed & (every as u64 - 1) != 0 {
            continue;
        }
        let bit = mixed >> shift;
        if let Some(word) = words.get_mut((bit / u64::from(u64::BITS)) as usize) {
            *word |= 1 << (bit % u64::from(u64::BITS));
        }
    }
    let free: usize = words.iter().map(|word| word.count_zeros() as usize).sum();
    let different = bits as f64 * (bits as f64 / free as f64).ln();
    1.0 - different * every as f64 / places as f64
}

fn width(length: usize) -> usize {
    let bits = usize::BITS - length.leading_zeros();
    MIN_WIDTH.max(bits as usize + MORE_THAN_BITS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn by_definition(sequence: &[u32]) -> f64 {
        let places = sequence.len() - width(sequence.len()) + 1;
        let different: BTreeSet<&[u32]> = sequence.windows(width(sequence.len())).collect();
        1.0 - different.len() as f64 / places as f64
    }

    #[test]
    fn nothing_stands_together_in_short_sequences() {
        for length in 0..MIN_WIDTH {
            assert_eq!(recurring_share(&Occurrences::from_sequence(vec![0; length])), 0.0);
        }
    }

    proptest! {
        #[test]
        fn as_much_as_when_all_are_compared(
            step in prop::collection::vec(0_u32..4, 1..300),
            odd in prop::collection::vec((0_usize..20_000, 0_u32..9), 0..2_000),
            times in 1_usize..60,
        ) {
            let mut sequence = step.repeat(times);
            let length = sequence.len();
            odd.into_iter().for_each(|(place, symbol)| sequence[place % length] = symbol);
            prop_assume!(length >= 2_000);
            let expected = by_definition(&sequence);
            let occurrences = Occurrences::from_sequence(sequence);
            let share = recurring_share(&occurrences);
            prop_assert!((share - expected).abs() < 0.03, "{share} for {expected}");
            let of_some = sampled_share(&occurrences, length / 4);
            prop_assert!((of_some - expected).abs() < 0.12, "{of_some} for {expected}");
        }
    }
}
