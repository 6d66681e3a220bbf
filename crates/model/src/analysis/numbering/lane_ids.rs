//! Numbers for queues, streams and GPUs. Many rows share few of them.

use std::collections::BTreeMap;

/// Numbers keys in the order in which they come; fast if a row often has the key of the row before.
pub struct IdInterner<K> {
    known: BTreeMap<K, u32>,
    last: Option<(K, u32)>,
}

impl<K> Default for IdInterner<K> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), last: None }
    }
}

impl<K: Copy + Ord> IdInterner<K> {
    /// The number of a key.
    pub fn intern(&mut self, key: K) -> u32 {
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == key) {
            return number;
        }
        let next = self.known.len() as u32;
        let number = *self.known.entry(key).or_insert(next);
        self.last = Some((key, number));
        number
    }

    /// All keys in their order, with their numbers.
    pub fn known(&self) -> &BTreeMap<K, u32> {
        &self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_the_order_of_coming() {
        let mut numbers = IdInterner::default();
        assert_eq!(["b", "b", "a", "b", "c", "a"].map(|key| numbers.intern(key)), [0, 0, 1, 0, 2, 1]);
        assert_eq!(
            numbers.known().iter().map(|(key, number)| (*key, *number)).collect::<Vec<_>>(),
            [("a", 1), ("b", 0), ("c", 2)]
        );
    }
}
