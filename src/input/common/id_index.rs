//! From an id to the position of its row, whether ids are contiguous, have gaps or are scattered.

use std::collections::BTreeMap;

/// Ids spread over at most this many times their number are looked up in a table, wider ones in a tree.
const WIDEST_TABLE: usize = 8;
const ABSENT: u32 = u32::MAX;

/// Position of each id in a column of ids.
#[derive(Clone, Debug)]
pub enum IdIndex {
    /// Ids `first..first + length` in order.
    Contiguous {
        /// The least id.
        first: i64,
        /// Number of ids.
        length: usize,
    },
    /// Positions by `id - first`.
    Table {
        /// The least id.
        first: i64,
        /// Position, or `u32::MAX` for an id that is not there.
        positions: Vec<u32>,
    },
    /// Anything else.
    Tree(BTreeMap<i64, u32>),
}

impl IdIndex {
    /// Indexes the ids of a column; of equal ids the first counts.
    pub fn new(ids: &[i64]) -> Self {
        let mut length = 0_usize;
        let (mut least, mut greatest, mut contiguous, mut previous) = (i64::MAX, i64::MIN, true, None);
        for &id in ids {
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

    /// Position of an id, if it is there.
    pub fn position(&self, id: i64) -> Option<usize> {
        match self {
            Self::Contiguous { first, length } => {
                let offset = usize::try_from(id.checked_sub(*first)?).ok()?;
                (offset < *length).then_some(offset)
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
        fn contiguous_ids_too(first in any::<i64>(), length in 0_i64..50, wanted in -5_i64..55) {
            let ids: Vec<i64> = (0..length).filter_map(|step| first.checked_add(step)).collect();
            let index = IdIndex::new(&ids);
            if let Some(id) = first.checked_add(wanted) {
                prop_assert_eq!(index.position(id), ids.iter().position(|other| *other == id));
            }
        }
    }
}
