//! The part of a conversion that one program does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use wavesieve_tables::trace::TraceProcess;

/// One of several parts of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    of: u64,
    number: u64,
}

impl Share {
    /// A share by its number from 1; `None` if there are not so many.
    pub fn new(number: u64, of: u64) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { of, number })
    }

    /// Its number from 1.
    pub fn number(self) -> u64 {
        self.number
    }

    /// How many there are.
    pub fn of(self) -> u64 {
        self.of
    }

    /// Name of its directory.
    pub(super) fn name(self) -> String {
        format!("{}-of-{}", self.number, self.of)
    }

    /// The share whose directory has a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (number, of) = name.split_once("-of-")?;
        Self::new(number.parse().ok()?, of.parse().ok()?).filter(|share| share.name() == name)
    }

    /// The numbers of its processes. Captures are divided in the order of their processes, so that shares have about
    /// equally many bytes. Processes of one capture stay together, because it is read as a whole.
    pub fn processes(self, members: &[TraceProcess]) -> BTreeSet<i64> {
        let mut places: BTreeMap<&[PathBuf], usize> = BTreeMap::new();
        let mut captures: Vec<(u64, Vec<i64>)> = Vec::new();
        for member in members {
            let next = captures.len();
            let place = *places.entry(&member.files).or_insert(next);
            if place == next {
                let bytes = member.files.iter().filter_map(|path| Some(path.metadata().ok()?.len()));
                captures.push((bytes.fold(0, u64::saturating_add), Vec::new()));
            }
            if let Some((_, numbers)) = captures.get_mut(place) {
                numbers.push(member.process.process);
            }
        }
        let sizes: Vec<u64> = captures.iter().map(|(bytes, _)| *bytes).collect();
        let shares = divided(&sizes, self.of);
        let own = captures.into_iter().zip(shares).filter(|(_, share)| *share == self.number);
        own.flat_map(|((_, numbers), _)| numbers).collect()
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "shard {} of {}", self.number, self.of)
    }
}

/// The share of each capture: the one in which the middle of its bytes lies.
fn divided(sizes: &[u64], of: u64) -> Vec<u64> {
    // An empty file counts as one byte.
    let sizes = || sizes.iter().map(|bytes| u128::from((*bytes).max(1)));
    let total: u128 = sizes().sum();
    let mut before = 0;
    let share = |bytes: u128| {
        let middle = 2 * before + bytes;
        before += bytes;
        let share = middle * u128::from(of) / (2 * total) + 1;
        u64::try_from(share).unwrap_or(of).min(of)
    };
    sizes().map(share).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn captures_are_divided_by_their_sizes() {
        assert_eq!(divided(&[5, 5, 5, 5], 2), [1, 1, 2, 2]);
        assert_eq!(divided(&[30, 5, 5, 5], 2), [1, 2, 2, 2]);
        assert_eq!(divided(&[5, 5], 8), [3, 7]);
        assert_eq!(divided(&[0, 0], 2), [1, 2]);
        assert!(divided(&[], 3).is_empty());
    }

    #[test]
    fn names_are_read_again() {
        let share = Share::new(3, 8).unwrap();
        assert_eq!((Share::named("3-of-8"), share.to_string()), (Some(share), "shard 3 of 8".to_owned()));
        assert!(["0-of-8", "9-of-8", "03-of-8", "3-of", "x"].iter().all(|name| Share::named(name).is_none()));
    }

    proptest! {
        #[test]
        fn everything_is_in_one_share_in_order(sizes in prop::collection::vec(0_u64..1 << 50, 0..40), of in 1_u64..50) {
            let shares = divided(&sizes, of);
            prop_assert_eq!(shares.len(), sizes.len());
            prop_assert!(shares.is_sorted() && shares.iter().all(|share| (1..=of).contains(share)));
        }
    }
}
