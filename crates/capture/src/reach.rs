//! Memory that the arguments of a kernel reach. Every aligned word that is an address of a range counts as a pointer to it, and the words
//! of that range are checked too. Numbers that look like addresses keep more memory than needed, never less.

use std::collections::BTreeSet;

use parking_lot::Mutex;

use crate::memory::Tracked;

/// All ranges, and the ranges that were found.
pub(crate) struct Reach {
    /// First and last address of each, in their order.
    ranges: Vec<(u64, u64)>,
    lowest: u64,
    highest: u64,
    found: Mutex<BTreeSet<usize>>,
}

impl Reach {
    /// Takes ranges in the order of addresses.
    pub(crate) fn new(ranges: &[Tracked]) -> Self {
        let ranges: Vec<_> =
            ranges.iter().map(|range| (range.base, range.base.saturating_add(range.size - 1))).collect();
        Self {
            lowest: ranges.first().map_or(u64::MAX, |range| range.0),
            highest: ranges.last().map_or(0, |range| range.1),
            ranges,
            found: Mutex::default(),
        }
    }

    pub(crate) fn range_of(&self, address: u64) -> Option<usize> {
        let number = self.ranges.partition_point(|range| range.0 <= address).checked_sub(1)?;
        self.ranges.get(number).filter(|range| address <= range.1).map(|_| number)
    }

    /// Scans the bytes at an address for pointers.
    pub(crate) fn scan(&self, address: u64, bytes: &[u8]) {
        let skip = usize::try_from(address.wrapping_neg() % 8).unwrap_or(0);
        let (words, _) = bytes.get(skip..).unwrap_or_default().as_chunks::<8>();
        let mut last = None;
        for word in words {
            let pointer = u64::from_le_bytes(*word);
            if pointer < self.lowest || pointer > self.highest {
                continue;
            }
            let number = self.range_of(pointer);
            if number.is_some() && number != last {
                self.found.lock().extend(number);
                last = number;
            }
        }
    }

    /// A range that was found and is not in `done`.
    pub(crate) fn next(&self, done: &BTreeSet<usize>) -> Option<usize> {
        self.found.lock().difference(done).next().copied()
    }

    pub(crate) fn find_all(&self) {
        self.found.lock().extend(0..self.ranges.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Origin;

    fn ranges() -> Vec<Tracked> {
        [0x1000, 0x3000, 0x8000].map(|base| Tracked { base, size: 0x1000, origin: Origin::Pool(1) }).to_vec()
    }

    #[test]
    fn addresses_belong_to_the_range_they_are_in() {
        let reach = Reach::new(&ranges());
        let numbers = [0xfff, 0x1000, 0x1fff, 0x2000, 0x3abc, 0x8fff, 0x9000].map(|address| reach.range_of(address));
        assert_eq!(numbers, [None, Some(0), Some(0), None, Some(1), Some(2), None]);
    }

    #[test]
    fn only_aligned_words_are_pointers() {
        let reach = Reach::new(&ranges());
        let mut bytes = vec![0; 36];
        bytes[12..20].copy_from_slice(&0x3010_u64.to_le_bytes());
        reach.scan(0, &bytes);
        assert_eq!(reach.next(&BTreeSet::new()), None);
        // The same bytes at another address.
        reach.scan(0x1004, &bytes);
        assert_eq!(reach.next(&BTreeSet::new()), Some(1));
        assert_eq!(reach.next(&BTreeSet::from([1])), None);
    }
}
