//! The dispatches of a kernel to capture.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// Numbers of dispatches, from 0. A range without an end takes all later dispatches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indices(Vec<RangeInclusive<u64>>);

impl Default for Indices {
    /// Only the first dispatch.
    fn default() -> Self {
        Self(vec![0..=0])
    }
}

impl Indices {
    /// All ranges in their order; a range without an end ends with the largest number.
    pub fn ranges(&self) -> impl Iterator<Item = &RangeInclusive<u64>> {
        self.0.iter()
    }

    /// Whether a dispatch is among them.
    #[must_use]
    pub fn contains(&self, index: u64) -> bool {
        self.0.iter().any(|range| range.contains(&index))
    }
}

impl FromStr for Indices {
    type Err = String;

    /// Parses a list such as `0,2,5-7,10-`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a list of dispatches; write it as `0,2,5-7` or `10-`");
        let number = |word: &str| word.trim().parse::<u64>().map_err(|_| wrong());
        let mut ranges = Vec::new();
        for word in text.split(',') {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let last = if last.trim().is_empty() { u64::MAX } else { number(last)? };
            let range = number(first)?..=last;
            if range.is_empty() {
                return Err(wrong());
            }
            ranges.push(range);
        }
        Ok(Self(ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_read() {
        let indices: Indices = "0,2,5-7".parse().unwrap();
        let wanted: Vec<u64> = (0..10).filter(|index| indices.contains(*index)).collect();
        assert_eq!(wanted, [0, 2, 5, 6, 7]);
        let open: Indices = "1,8-".parse().unwrap();
        assert!(open.contains(u64::MAX) && open.contains(8) && !open.contains(7));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "a", "1,", "7-5", "-1", "1-2-3", "18446744073709551616"] {
            assert!(text.parse::<Indices>().is_err(), "{text}");
        }
    }
}
