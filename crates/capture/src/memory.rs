//! Memory of the program that kernels may use.

use std::collections::BTreeMap;

/// A backed range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tracked {
    pub base: u64,
    pub size: u64,
    pub origin: Origin,
}

/// The origin of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A pool, by its handle.
    Pool(u64),
    /// A region of HSA, by its handle.
    Region(u64),
    /// Mapped virtual memory: the handle, and the access that was given (0: none yet).
    Virtual { handle: u64, access: u32 },
}

/// All ranges, by their first addresses, without a limit on their number.
#[derive(Debug, Default)]
pub(crate) struct Memory(BTreeMap<u64, Tracked>);

impl Memory {
    pub(crate) fn add(&mut self, tracked: Tracked) {
        if tracked.base != 0 && tracked.size != 0 {
            self.0.insert(tracked.base, tracked);
        }
    }

    pub(crate) fn remove(&mut self, base: u64) {
        self.0.remove(&base);
    }

    /// Removes the unmapped virtual memory of a range, which may have several adjacent maps.
    pub(crate) fn unmap(&mut self, base: u64, size: u64) {
        let end = base.saturating_add(size);
        self.0.retain(|_, tracked| {
            let is_inside = tracked.base >= base && tracked.base.saturating_add(tracked.size) <= end;
            !(is_inside && matches!(tracked.origin, Origin::Virtual { .. }))
        });
    }

    /// Notes the access that was given to virtual memory of a range.
    pub(crate) fn set_access(&mut self, base: u64, size: u64, given: u32) {
        let end = base.saturating_add(size);
        for (_, tracked) in self.0.range_mut(base..end) {
            if let Origin::Virtual { access, .. } = &mut tracked.origin {
                *access = given;
            }
        }
    }

    /// All usable ranges in address order; virtual memory without access is not usable.
    pub(crate) fn all(&self) -> Vec<Tracked> {
        let is_usable = |tracked: &&Tracked| !matches!(tracked.origin, Origin::Virtual { access: 0, .. });
        self.0.values().filter(is_usable).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(base: u64, size: u64, origin: Origin) -> Tracked {
        Tracked { base, size, origin }
    }

    #[test]
    fn thousands_of_ranges_are_kept() {
        let mut memory = Memory::default();
        (1..=5000).for_each(|number| memory.add(range(number * 8192, 4096, Origin::Pool(1))));
        memory.remove(8192);
        assert_eq!(memory.all().len(), 4999);
    }

    #[test]
    fn unmapping_takes_all_maps_of_a_range() {
        let mut memory = Memory::default();
        let mapped = Origin::Virtual { handle: 1, access: 0 };
        memory.add(range(0x1000, 0x1000, mapped));
        memory.add(range(0x2000, 0x1000, mapped));
        memory.add(range(0x3000, 0x1000, Origin::Pool(1)));
        memory.set_access(0x1000, 0x3000, 3);
        assert_eq!(memory.all()[1].origin, Origin::Virtual { handle: 1, access: 3 });
        memory.unmap(0x1000, 0x4000);
        assert_eq!(memory.all(), [range(0x3000, 0x1000, Origin::Pool(1))]);
    }
}
