//! Positions of the symbols of a sequence that occur more than once.

use std::cmp::Reverse;
use std::ops::Range;

const NONE: u32 = u32::MAX;
/// Maximum number of pairs of symbols, for each symbol of a sequence, for which there is a table.
const MAX_PAIRS: usize = 4;

/// The positions of the symbols that recur, numbered by frequency, the most frequent first. Symbols that do not recur
/// are dropped, so the work on combined symbols shrinks as fewer of them recur.
pub struct Occurrences {
    /// The sequence, renumbered with dense numbers below `symbols`.
    sequence: Vec<u32>,
    symbols: u32,
    /// Positions in rising order, symbol by symbol.
    positions: Vec<u32>,
    /// Range in `positions` of each symbol that recurs.
    recurring: Vec<Range<u32>>,
}

impl Occurrences {
    /// Positions in a sequence of symbols numbered from 0.
    pub(crate) fn from_sequence(sequence: Vec<u32>) -> Self {
        let symbols = sequence.iter().max().map_or(0, |last| last.saturating_add(1));
        let mut counts = vec![0_u32; symbols as usize];
        for symbol in &sequence {
            if let Some(count) = counts.get_mut(*symbol as usize) {
                *count += 1;
            }
        }
        let mut groups = Groups::of_at_most(sequence.len());
        // The next place for a position of each symbol, in the order of the symbols.
        let mut places = counts;
        places.iter_mut().for_each(|place| *place = groups.reserve(*place));
        for (position, symbol) in (0_u32..).zip(&sequence) {
            if let Some(place) = places.get_mut(*symbol as usize) {
                groups.put(position, place);
            }
        }
        groups.into_occurrences(sequence, symbols)
    }

    /// Widens a sequence whose symbols each represent `width` symbols of another one: each symbol then represents twice
    /// as many, itself and those that follow. Takes linear time.
    ///
    /// In a step that has every kernel more than once, no kernel marks the start. A kernel together with the kernels
    /// after it may.
    pub(crate) fn widened(&self, width: usize) -> Self {
        // The end has a symbol of its own as its successor.
        let pairs = (self.symbols as usize).saturating_mul(self.symbols as usize + 1);
        if pairs <= MAX_PAIRS.saturating_mul(self.sequence.len()) {
            self.paired(width, pairs)
        } else {
            self.split(width)
        }
    }

    /// Widens with a number for every possible pair of symbols.
    fn paired(&self, width: usize, pairs: usize) -> Self {
        let mut known = vec![NONE; pairs];
        let mut next = 0;
        let following = self.sequence.iter().skip(width).chain(std::iter::repeat(&self.symbols));
        let number = |(symbol, following): (&u32, &u32)| {
            let pair = *symbol as usize * (self.symbols as usize + 1) + *following as usize;
            let Some(number) = known.get_mut(pair) else { return NONE };
            if *number == NONE {
                *number = next;
                next += 1;
            }
            *number
        };
        let sequence: Vec<u32> = self.sequence.iter().zip(following).map(number).collect();
        Self::from_sequence(sequence)
    }

    /// Widens symbol by symbol; only recurring symbols are visited.
    fn split(&self, width: usize) -> Self {
        let mut sequence = self.sequence.clone();
        let mut symbols = self.symbols;
        let mut groups = Groups::of_at_most(self.positions.len());
        // By following symbol: the symbol that it followed last, and the group of the two.
        let mut known = vec![(NONE, 0_u32); self.symbols as usize + 1];
        let (mut sizes, mut of_group): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for symbol in self.symbols() {
            let positions = self.of_symbol(symbol);
            sizes.clear();
            of_group.clear();
            for position in positions {
                // The end has a symbol of its own as its successor.
                let following = self.sequence.get(*position as usize + width).copied().unwrap_or(self.symbols);
                let Some(known) = known.get_mut(following as usize) else { continue };
                if known.0 != symbol {
                    *known = (symbol, sizes.len() as u32);
                    sizes.push(0);
                }
                of_group.push(known.1);
                if let Some(size) = sizes.get_mut(known.1 as usize) {
                    *size += 1;
                }
            }
            sizes.iter_mut().for_each(|size| *size = groups.reserve(*size));
            for (position, group) in positions.iter().zip(&of_group) {
                if let Some(place) = sizes.get_mut(*group as usize) {
                    groups.put(*position, place);
                }
                // The first group keeps the number.
                if let Some(slot) = sequence.get_mut(*position as usize).filter(|_| *group > 0) {
                    *slot = symbols + group - 1;
                }
            }
            symbols += (sizes.len() as u32).saturating_sub(1);
        }
        groups.into_occurrences(sequence, symbols)
    }

    /// The sequence: equal numbers for equal symbols.
    pub fn sequence(&self) -> &[u32] {
        &self.sequence
    }

    /// Positions of a symbol that recurs.
    pub fn of_symbol(&self, symbol: u32) -> &[u32] {
        let range = self.recurring.get(symbol as usize);
        range.and_then(|range| self.positions.get(range.start as usize..range.end as usize)).unwrap_or_default()
    }

    /// All symbols that recur, the most frequent first.
    pub fn symbols(&self) -> impl ExactSizeIterator<Item = u32> + use<> {
        0..self.recurring.len() as u32
    }

    /// Positions of the symbols that occur at least this often, the most frequent first.
    pub(crate) fn with_at_least(&self, times: usize) -> impl Iterator<Item = &[u32]> {
        self.symbols().map(|symbol| self.of_symbol(symbol)).take_while(move |positions| positions.len() >= times)
    }

    /// Number of positions whose symbol occurs more than once.
    pub(crate) fn recurring(&self) -> usize {
        self.positions.len()
    }
}

/// Positions of symbols, sorted into their places.
struct Groups {
    positions: Vec<u32>,
    recurring: Vec<Range<u32>>,
}

impl Groups {
    fn of_at_most(positions: usize) -> Self {
        Self { positions: Vec::with_capacity(positions), recurring: Vec::new() }
    }

    /// The first place for a symbol that occurs this often; [`NONE`] if it does not recur.
    fn reserve(&mut self, times: u32) -> u32 {
        if times < 2 {
            return NONE;
        }
        let place = self.positions.len() as u32;
        self.recurring.push(place..place + times);
        self.positions.resize(self.positions.len() + times as usize, 0);
        place
    }

    /// Puts a position into the next place of its symbol.
    fn put(&mut self, position: u32, place: &mut u32) {
        // Symbols that do not recur have no place for their positions.
        if let Some(slot) = self.positions.get_mut(*place as usize) {
            *slot = position;
            *place += 1;
        }
    }

    fn into_occurrences(mut self, sequence: Vec<u32>, symbols: u32) -> Occurrences {
        self.recurring.sort_unstable_by_key(|range| (Reverse(range.len()), range.start));
        Occurrences { sequence, symbols, positions: self.positions, recurring: self.recurring }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_same_where_the_same_follows(sequence in prop::collection::vec(0_u32..3, 0..40)) {
            let mut occurrences = Occurrences::from_sequence(sequence.clone());
            for width in [1, 2, 4, 8] {
                let symbols = occurrences.sequence();
                let context = |place: usize| sequence[place..sequence.len().min(place + width)].to_vec();
                for one in 0..sequence.len() {
                    for other in 0..sequence.len() {
                        prop_assert_eq!(symbols[one] == symbols[other], context(one) == context(other));
                    }
                    prop_assert!(symbols[one] < occurrences.symbols);
                }
                // Every position whose symbol recurs is at exactly one place, with the others of its symbol.
                let times = |place: usize| symbols.iter().filter(|symbol| **symbol == symbols[place]).count();
                prop_assert_eq!(occurrences.recurring(), (0..sequence.len()).filter(|place| times(*place) > 1).count());
                let of_symbols: Vec<&[u32]> = occurrences.symbols().map(|symbol| occurrences.of_symbol(symbol)).collect();
                prop_assert_eq!(of_symbols.iter().map(|positions| positions.len()).sum::<usize>(), occurrences.recurring());
                prop_assert!(of_symbols.is_sorted_by_key(|positions| Reverse(positions.len())));
                for positions in of_symbols {
                    prop_assert!(positions.is_sorted() && positions.len() > 1);
                    prop_assert!(positions.iter().all(|place| times(*place as usize) == positions.len()));
                    prop_assert!(positions.iter().all(|place| symbols[*place as usize] == symbols[positions[0] as usize]));
                }
                occurrences = occurrences.widened(width);
            }
        }
    }
}
