//! Symbols told apart by what follows them.

use super::occurrences::Occurrences;

const NONE: u32 = u32::MAX;

/// Of a sequence whose symbols, with their occurrences, each stand for so many, one whose symbols each stand for twice as many: themselves and those
/// that follow. Numbered densely from 0 in the order in which they come. Takes linear time.
///
/// In a step that has every kernel more than once none marks where it begins; with what follows it, one does.
pub fn widened(sequence: &[u32], occurrences: &Occurrences, width: usize) -> Vec<u32> {
    let symbols = occurrences.symbols().len();
    // What follows the end is a symbol of its own.
    let following = |position: u32| sequence.get(position as usize + width).map_or(symbols, |next| *next as usize);
    let mut wide = vec![NONE; sequence.len()];
    let mut classes = 0_u32;
    // By what follows: the symbol that it followed last, and the class of the two.
    let mut known = vec![(NONE, NONE); symbols + 1];
    for symbol in occurrences.symbols() {
        for position in occurrences.of_symbol(symbol) {
            let (Some(known), Some(wide)) = (known.get_mut(following(*position)), wide.get_mut(*position as usize))
            else {
                continue;
            };
            if known.0 != symbol {
                *known = (symbol, classes);
                classes += 1;
            }
            *wide = known.1;
        }
    }
    in_order_of_coming(&mut wide, classes);
    wide
}

/// Numbers classes anew, in the order in which they come.
fn in_order_of_coming(sequence: &mut [u32], classes: u32) {
    let mut numbers = vec![NONE; classes as usize];
    let mut next = 0;
    for class in sequence {
        let Some(number) = numbers.get_mut(*class as usize) else { continue };
        if *number == NONE {
            *number = next;
            next += 1;
        }
        *class = *number;
    }
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
                wide = widened(&wide, &Occurrences::of(&wide), width);
                let context = |place: usize| sequence[place..sequence.len().min(place + 2 * width)].to_vec();
                for one in 0..sequence.len() {
                    for other in 0..sequence.len() {
                        prop_assert_eq!(wide[one] == wide[other], context(one) == context(other));
                    }
                }
                let mut next = 0;
                for symbol in &wide {
                    prop_assert!(*symbol <= next);
                    next = next.max(symbol + 1);
                }
            }
        }
    }
}
