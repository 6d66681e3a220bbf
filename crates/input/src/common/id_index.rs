//! Maps an id to the position of its row. The ids may be contiguous, have gaps or be scattered.

use std::collections::BTreeMap;

/// Maximum spread of ids, as a multiple of their number, for a table. Wider ids are looked up in a tree.
const WIDEST_TABLE: usize = 8;
const ABSENT: u32 = u32::MAX;
/// Maximum spread of rising ids, as a multiple of their number, for a bit set.
const WIDEST_BITS: usize = 512;

impl Default for IdIndex {
    fn default() -> Self {
        Self::new(&[])
    }
}

/// Position of each id in a column of ids.
#[derive(Clone, Debug)]
pub(crate) enum IdIndex {
    /// Ids `first..first + length` in order.
    Contiguous { first: i64, length: usize },
    /// Rising ids with gaps: the position of an id is the number of ids before it.
    Rising {
        first: i64,
        /// For every 64 ids from the first on: a bit for each that exists, and the number of earlier ids.
        words: Vec<(u64, u32)>,
    },
    /// Positions by `id - first`.
    Table {
        first: i64,
        /// Position, or `u32::MAX` for an id that does not exist.
        positions: Vec<u32>,
    },
    /// All other ids.
    Tree(BTreeMap<i64, u32>),
}

impl IdIndex {
    /// Indexes the ids of a column; of equal ids the first counts.
    pub fn new(ids: &[i64]) -> Self {
        let mut length = 0_usize;
        let (mut least, mut greatest, mut contiguous, mut previous) = (i64::MAX, i64::MIN, true, None);
        let mut rising = true;
        for &id in ids {
            rising &= previous.is_none_or(|previous| previous < id);
            contiguous &= previous.is_none_or(|previous: i64| previous.checked_add(1) == Some(id));
            previous = Some(id);
            least = least.min(id);
            greatest = greatest.max(id);
            length += 1;
        }
        if length == 0 || contiguous {
            return Self::Contiguous { first: if length == 0 { 0 } else { least }, length };
        }
        let spread = greatest.checked_sub(least).and_then(|spread| usize::try_from(spread).ok());
        let in_bits = spread.filter(|spread| rising && *spread < length.saturating_mul(WIDEST_BITS));
        if let Some(spread) = in_bits {
            return Self::rising(ids, least, spread);
        }
        match spread.filter(|spread| *spread < length.saturating_mul(WIDEST_TABLE).saturating_add(1024)) {
            Some(spread) => {
                let mut positions = vec![ABSENT; spread.saturating_add(1)];
                for (position, &id) in ids.iter().enumerate() {
                    if let Some(place) = positions.get_mut(offset(id, least))
                        && *place == ABSENT
                    {
                        *place = u32::try_from(position).unwrap_or(ABSENT);
                    }
                }
                Self::Table { first: least, positions }
            }
            None => {
                let mut tree = BTreeMap::new();
                for (position, &id) in ids.iter().enumerate() {
                    tree.entry(id).or_insert(u32::try_from(position).unwrap_or(ABSENT));
                }
                Self::Tree(tree)
            }
        }
    }

    fn rising(ids: &[i64], first: i64, spread: usize) -> Self {
        let mut words = vec![(0_u64, 0_u32); spread / 64 + 1];
        for &id in ids {
            let offset = offset(id, first);
            if let Some((bits, _)) = words.get_mut(offset / 64) {
                *bits |= 1 << (offset % 64);
            }
        }
        let mut before = 0;
        for (bits, count) in &mut words {
            *count = before;
            before += bits.count_ones();
        }
        Self::Rising { first, words }
    }

    /// Position of an id, if it exists.
    #[inline]
    pub fn position(&self, id: i64) -> Option<usize> {
        match self {
            Self::Contiguous { first, length } => {
                let offset = usize::try_from(id.checked_sub(*first)?).ok()?;
                (offset < *length).then_some(offset)
            }
            Self::Rising { first, words } => {
                let offset = usize::try_from(id.checked_sub(*first)?).ok()?;
                let (bits, before) = words.get(offset / 64)?;
                let bit = 1_u64 << (offset % 64);
                (bits & bit != 0).then(|| *before as usize + (bits & (bit - 1)).count_ones() as usize)
            }
            Self::Table { first, positions } => {
                let offset = usize::try_from(id.checked_sub(*first)?).ok()?;
                positions.get(offset).filter(|position| **position != ABSENT).map(|position| *position as usize)
            }
            Self::Tree(tree) => tree.get(&id).map(|position| *position as usize),
        }
    }
}

fn offset(id: i64, first: i64) -> usize {
    id.checked_sub(first).and_then(|offset| usize::try_from(offset).ok()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::IdIndex;
    use proptest::prelude::*;

    #[test]
    fn every_shape_is_chosen() {
        assert!(matches!(IdIndex::new(&[4, 5, 6]), IdIndex::Contiguous { first: 4, length: 3 }));
        assert!(matches!(IdIndex::new(&[4, 6, 900]), IdIndex::Rising { .. }));
        assert!(matches!(IdIndex::new(&[6, 4, 9]), IdIndex::Table { .. }));
        assert!(matches!(IdIndex::new(&[i64::MIN, 4, i64::MAX]), IdIndex::Tree(_)));
    }

    proptest! {
        #[test]
        fn finds_what_a_search_finds(ids in prop::collection::vec(prop_oneof![-40_i64..40, any::<i64>()], 0..60), wanted in -45_i64..45) {
            let index = IdIndex::new(&ids);
            for id in ids.iter().copied().chain([wanted]) {
                prop_assert_eq!(index.position(id), ids.iter().position(|other| *other == id));
            }
        }

        #[test]
        fn rising_ids_too(ids in prop::collection::btree_set(-300_i64..300, 0..60), wanted in -305_i64..305) {
            let ids: Vec<i64> = ids.into_iter().collect();
            let index = IdIndex::new(&ids);
            for id in ids.iter().copied().chain([wanted]) {
                prop_assert_eq!(index.position(id), ids.iter().position(|other| *other == id));
            }
        }

        #[test]
        fn contiguous_ids_too(first in any::<i64>(), length in 0_i64..50, wanted in -5_i64..55) {
            let ids: Vec<i64> = (0..length).filter_map(|step| first.checked_add(step)).collect();
            let index = IdIndex::new(&ids);
            if let Some(id) = first.checked_add(wanted) {
                prop_assert_eq!(index.position(id), ids.iter().position(|other| *other == id));
            }
        }
    }
}
