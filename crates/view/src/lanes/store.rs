//! Parts in memory, within a bound: the least recently used ones are dropped.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use anyhow::{Result, anyhow};
use parking_lot::Mutex;

use super::part::{Part, PartKey};

/// A part that is read once, even if several requests need it at the same time.
type Slot = Arc<OnceLock<Result<Arc<Part>, String>>>;

#[derive(Default)]
struct Kept {
    slots: BTreeMap<PartKey, (u64, Slot)>,
    uses: u64,
}

/// Why a part is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Someone waits for it.
    Now,
    /// It may be requested later: it is dropped before those that were.
    Later,
}

/// Parts in memory.
pub struct Store {
    kept: Mutex<Kept>,
    limit_bytes: usize,
}

impl Store {
    /// A store for parts of this size together. The part of a request is always kept.
    pub fn new(limit_bytes: usize) -> Self {
        Self { kept: Mutex::default(), limit_bytes }
    }

    /// A part, which `load` reads if it is not in memory.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, key: PartKey, need: Need, load: impl FnOnce() -> Result<Part>) -> Result<Arc<Part>> {
        let slot = {
            let mut kept = self.kept.lock();
            kept.uses += 1;
            let uses = kept.uses;
            let (used, slot) = kept.slots.entry(key).or_default();
            if need == Need::Now {
                *used = uses;
            }
            Arc::clone(slot)
        };
        let mut is_new = false;
        let loaded = slot.get_or_init(|| {
            is_new = true;
            load().map(Arc::new).map_err(|error| format!("{error:#}"))
        });
        let part = loaded.clone();
        if is_new {
            self.evict(key, need);
        }
        if part.is_err() {
            // A later request tries again.
            self.kept.lock().slots.remove(&key);
        }
        part.map_err(|reason| anyhow!(reason))
    }

    /// Whether more than half of the bound is used: reading ahead would soon drop what it reads.
    pub fn is_almost_full(&self) -> bool {
        self.bytes() >= self.limit_bytes / 2
    }

    /// Bytes of all parts.
    fn bytes(&self) -> usize {
        self.kept.lock().slots.values().map(|(_, slot)| bytes(slot)).sum()
    }

    fn evict(&self, newest: PartKey, need: Need) {
        let mut kept = self.kept.lock();
        let mut total: usize = kept.slots.values().map(|(_, slot)| bytes(slot)).sum();
        // Reading ahead leaves room for requests.
        let limit_bytes = if need == Need::Later { self.limit_bytes / 4 * 3 } else { self.limit_bytes };
        while total > limit_bytes {
            // The part of a request stays; another one goes first if all that is kept was requested.
            let may_go = |key: &PartKey| *key != newest || need == Need::Later;
            let loaded = kept.slots.iter().filter(|(key, (_, slot))| may_go(key) && slot.get().is_some());
            let oldest = loaded.min_by_key(|(key, (used, _))| (*used, **key != newest)).map(|(key, _)| *key);
            let Some(oldest) = oldest else { return };
            if let Some((_, slot)) = kept.slots.remove(&oldest) {
                total = total.saturating_sub(bytes(&slot));
            }
        }
    }
}

fn bytes(slot: &Slot) -> usize {
    slot.get().and_then(|part| part.as_ref().ok()).map_or(0, |part| part.bytes())
}

#[cfg(test)]
mod tests {
    use super::super::part::Source;
    use super::*;

    fn key(member: usize) -> PartKey {
        PartKey { side: 0, member, source: Source::Gpus }
    }

    fn part() -> Result<Part> {
        Ok(Part { links: vec![(0, 0); 10], ..Part::default() })
    }

    #[test]
    fn the_least_recently_used_part_is_dropped() {
        let store = Store::new(350);
        for member in [0, 1, 0, 2] {
            store.get(key(member), Need::Now, part).unwrap();
        }
        assert_eq!(store.bytes(), 320);
        let not_read = || Err(anyhow!("read again"));
        assert!(store.get(key(0), Need::Now, not_read).is_ok());
        assert!(store.get(key(1), Need::Now, not_read).is_err());
        assert!(store.get(key(1), Need::Now, part).is_ok());
    }

    #[test]
    fn parts_that_were_requested_outlive_those_that_were_not() {
        let store = Store::new(430);
        store.get(key(0), Need::Later, part).unwrap();
        for member in [1, 2] {
            store.get(key(member), Need::Now, part).unwrap();
        }
        assert!(store.get(key(3), Need::Later, part).is_ok());
        let not_read = || Err(anyhow!("read again"));
        for (member, is_kept) in [(0, false), (1, true), (2, true), (3, false)] {
            assert_eq!(store.get(key(member), Need::Now, not_read).is_ok(), is_kept, "{member}");
        }
    }
}
