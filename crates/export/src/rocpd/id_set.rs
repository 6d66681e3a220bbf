//! Sets of row ids. Ids are dense in most databases and can be anything in others.

use std::collections::BTreeMap;

/// Ids of a chunk, as a power of two.
const CHUNK_BITS: u32 = 10;
const CHUNK_WORDS: usize = (1 << CHUNK_BITS) / 64;

type Chunk = [u64; CHUNK_WORDS];

/// A set of ids. Neighbors are found without a search.
#[derive(Clone, Debug)]
pub(super) struct IdSet {
    chunks: BTreeMap<i64, Chunk>,
    /// The key of the chunk that was used last, and that chunk.
    key: i64,
    chunk: Chunk,
    is_changed: bool,
    len: usize,
}

impl Default for IdSet {
    fn default() -> Self {
        Self { chunks: BTreeMap::new(), key: 0, chunk: [0; CHUNK_WORDS], is_changed: false, len: 0 }
    }
}

impl IdSet {
    /// Adds an id.
    pub(super) fn insert(&mut self, id: i64) {
        let (word, bit) = self.seek(id);
        if let Some(word) = self.chunk.get_mut(word)
            && *word & bit == 0
        {
            *word |= bit;
            self.is_changed = true;
            self.len += 1;
        }
    }

    /// Whether an id was added.
    pub(super) fn contains(&mut self, id: i64) -> bool {
        let (word, bit) = self.seek(id);
        self.chunk.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Number of ids.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bounds of all ids, both included.
    pub(super) fn bounds(&mut self) -> Option<(i64, i64)> {
        self.store();
        let (first, last) = (self.chunks.first_key_value()?.0, self.chunks.last_key_value()?.0);
        Some((first << CHUNK_BITS, (last << CHUNK_BITS) | ((1 << CHUNK_BITS) - 1)))
    }

    /// Loads the chunk of an id. Returns the place in it.
    fn seek(&mut self, id: i64) -> (usize, u64) {
        let key = id >> CHUNK_BITS;
        if key != self.key {
            self.store();
            self.chunk = self.chunks.get(&key).copied().unwrap_or([0; CHUNK_WORDS]);
            self.key = key;
        }
        let place = (id & ((1 << CHUNK_BITS) - 1)) as usize;
        (place / 64, 1 << (place % 64))
    }

    fn store(&mut self) {
        if std::mem::take(&mut self.is_changed) {
            self.chunks.insert(self.key, self.chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(ids in prop::collection::vec(prop_oneof![-3_i64..2_100, any::<i64>()], 0..200), other in any::<i64>()) {
            let (mut set, mut known) = (IdSet::default(), BTreeSet::new());
            for id in ids {
                prop_assert_eq!(set.contains(id), known.contains(&id));
                set.insert(id);
                known.insert(id);
                prop_assert!(set.contains(id));
            }
            prop_assert_eq!(set.contains(other), known.contains(&other));
            prop_assert_eq!(set.len(), known.len());
            let bounds = set.bounds();
            prop_assert_eq!(bounds.is_some(), !known.is_empty());
            if let Some((first, last)) = bounds {
                prop_assert!(known.iter().all(|id| (first..=last).contains(id)));
            }
        }
    }
}
