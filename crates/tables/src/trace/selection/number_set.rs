//! Sets of numbers as users write them: `0,2-5`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Numbers and ranges of numbers, both ends included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberSet {
    ranges: Vec<(i64, i64)>,
}

impl NumberSet {
    /// Whether a number is in the set.
    pub fn contains(&self, number: i64) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }

    /// The ranges that contain none of these numbers; `None` if each contains one.
    pub(crate) fn without_match(&self, known: &BTreeSet<i64>) -> Option<Self> {
        let is_missed = |(first, last): &&(i64, i64)| known.range(*first..=*last).next().is_none();
        let ranges: Vec<(i64, i64)> = self.ranges.iter().filter(is_missed).copied().collect();
        (!ranges.is_empty()).then_some(Self { ranges })
    }

    /// The ranges, both ends included, as written.
    pub fn ranges(&self) -> &[(i64, i64)] {
        &self.ranges
    }
}

impl FromStr for NumberSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is not a list of numbers; write one such as 0,2-5");
        let mut ranges = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |word: &str| word.trim().parse::<i64>().map_err(|_| wrong());
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(format!("the range {part} ends before it starts; write {last}-{first}"));
            }
            ranges.push((first, last));
        }
        if ranges.is_empty() { Err(wrong()) } else { Ok(Self { ranges }) }
    }
}

impl fmt::Display for NumberSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self
            .ranges
            .iter()
            .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
            .collect();
        formatter.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::NumberSet;

    #[test]
    fn numbers_and_ranges() {
        let set: NumberSet = "0, 2-4,9".parse().unwrap();
        let inside: Vec<i64> = (0..12).filter(|number| set.contains(*number)).collect();
        assert_eq!(inside, [0, 2, 3, 4, 9]);
        assert_eq!(set.to_string(), "0,2-4,9");
    }

    #[test]
    fn ranges_that_match_nothing() {
        let set: NumberSet = "0,2-4,9,12-14".parse().unwrap();
        let missed = set.without_match(&[0, 4, 7].into()).unwrap();
        assert_eq!(missed.to_string(), "9,12-14");
        assert_eq!(set.without_match(&[0, 3, 9, 14].into()), None);
    }

    #[test]
    fn what_is_no_list() {
        for text in ["", "a", "1-", "-1", "3-1", "1,,x"] {
            assert!(text.parse::<NumberSet>().is_err(), "{text}");
        }
    }
}
