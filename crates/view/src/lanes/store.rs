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
    pub fn get(&self, key: PartKey, load: impl FnOnce() -> Result<Part>) -> Result<Arc<Part>> {
        let slot = {
            let mut kept = self.kept.lock();
            kept.uses += 1;
            let uses = kept.uses;
            let (used, slot) = kept.slots.entry(key).or_default();
            *used = uses;
            Arc::clone(slot)
        };
        let mut is_new = false;
        let loaded = slot.get_or_init(|| {
            is_new = true;
            load().map(Arc::new).map_err(|error| format!("{error:#}"))
        });
        let part = loaded.clone();
        if is_new {
            self.evict(key);
        }
        if part.is_err() {
            // A later request tries again.
            self.kept.lock().slots.remove(&key);
        }
        part.map_err(|reason| anyhow!(reason))
    }

    /// Whether three quarters of the bound are used.
    pub fn is_almost_full(&self) -> bool {
        self.bytes() >= self.limit_bytes / 4 * 3
    }

    /// Bytes of all parts.
    fn bytes(&self) -> usize {
        self.kept.lock().slots.values().map(|(_, slot)| bytes(slot)).sum()
    }

    fn evict(&self, newest: PartKey) {
        let mut kept = self.kept.lock();
        let mut total: usize = kept.slots.values().map(|(_, slot)| bytes(slot)).sum();
        while total > self.limit_bytes {
            let loaded = kept.slots.iter().filter(|(key, (_, slot))| **key != newest && slot.get().is_some());
            let Some(oldest) = loaded.min_by_key(|(_, (used, _))| *used).map(|(key, _)| *key) else { return };
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
            store.get(key(member), part).unwrap();
        }
        assert_eq!(store.bytes(), 320);
        let not_read = || Err(anyhow!("read again"));
        assert!(store.get(key(0), not_read).is_ok());
        assert!(store.get(key(1), not_read).is_err());
        assert!(store.get(key(1), part).is_ok());
    }
}
