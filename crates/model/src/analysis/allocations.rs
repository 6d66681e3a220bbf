//! The release that ends each allocation, and the memory that is live over time.

use std::collections::BTreeMap;

/// Effect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Allocates memory at an address.
    Allocate,
    /// Allocates memory at an address that may be in use.
    Reallocate,
    /// Frees the memory at an address.
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub action: Action,
    /// Address, unless it is not recorded.
    pub address: Option<i64>,
    /// Size of the allocation.
    pub bytes: i64,
    /// Where the memory is. Ignored for a release, which frees the memory wherever it was allocated.
    pub place: Option<i64>,
    /// When it takes effect: the end of an allocation's call, the start of a release's call. Memory that is freed and
    /// allocated again is then freed first, whatever threads do it, because an allocation gets what was free before its
    /// call ended.
    pub time_ns: i64,
    /// Bytes that are live at the place afterwards, if the allocator states them. It then also states its operations in
    /// their order.
    pub live_bytes: Option<i64>,
}

/// How an allocation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllocationEnd {
    /// It was live at the end of the trace.
    Live,
    /// This operation freed it.
    Freed(usize),
    /// This reallocation reused its address.
    Reallocated(usize),
    /// A later allocation got the same address, so the release was not recorded.
    Replaced(usize),
    /// It has no address, so no release can be matched to it.
    Unpaired,
    /// A release of an address that is not known to be live.
    UnmatchedFree,
    /// A release of a null address, which does nothing.
    Nothing,
}

/// Live memory after an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    pub operation: usize,
    /// Where the memory is.
    pub place: Option<i64>,
    /// Time of the operation.
    pub time_ns: i64,
    /// Change of the live bytes.
    pub change_bytes: i64,
    /// Bytes that are live there now.
    pub live_bytes: i64,
    /// Allocations that are live there now.
    pub allocations: i64,
}

/// Fates of the operations in their order, and the levels in the order of time.
#[derive(Debug, Default)]
pub struct Pairing {
    /// Fate of each operation's memory.
    pub ends: Vec<AllocationEnd>,
    /// Levels of live memory.
    pub levels: Vec<Level>,
}

/// Pairs the operations of *one* address space, given in any order; those of the same time are taken in the given order,
/// releases first unless the allocator states what is live.
pub fn pair(operations: &[Operation]) -> Pairing {
    let mut order: Vec<usize> = (0..operations.len()).collect();
    let rank = |index: &usize| {
        let is_later = |operation: &Operation| operation.action != Action::Free && operation.live_bytes.is_none();
        operations.get(*index).map(|operation| (operation.time_ns, is_later(operation), *index))
    };
    order.sort_unstable_by_key(rank);

    let mut ends = vec![AllocationEnd::Nothing; operations.len()];
    let mut live: BTreeMap<i64, usize> = BTreeMap::new();
    let mut ledger = Ledger::default();
    for index in order {
        let Some(operation) = operations.get(index) else { continue };
        let freeing = operation.action == Action::Free;
        let Some(address) = operation.address.filter(|address| !freeing || *address != 0) else {
            set(&mut ends, index, if freeing { AllocationEnd::Nothing } else { AllocationEnd::Unpaired });
            ledger.state(index, operation, if freeing { 0 } else { operation.bytes }, 0);
            continue;
        };
        let mut change = (0, 0);
        if let Some(ended) = live.remove(&address)
            && let Some(allocation) = operations.get(ended)
        {
            let fate = match operation.action {
                Action::Allocate => AllocationEnd::Replaced(index),
                Action::Reallocate => AllocationEnd::Reallocated(index),
                Action::Free => AllocationEnd::Freed(index),
            };
            set(&mut ends, ended, fate);
            change = (allocation.bytes.saturating_neg(), -1);
            if operation.live_bytes.is_none() {
                ledger.book(index, allocation.place, operation.time_ns, change.0, change.1);
            }
        } else if freeing {
            set(&mut ends, index, AllocationEnd::UnmatchedFree);
        }
        if !freeing {
            live.insert(address, index);
            set(&mut ends, index, AllocationEnd::Live);
            change = (change.0.saturating_add(operation.bytes), change.1 + 1);
            if operation.live_bytes.is_none() {
                ledger.book(index, operation.place, operation.time_ns, operation.bytes, 1);
            }
        }
        ledger.state(index, operation, change.0, change.1);
    }
    Pairing { ends, levels: ledger.levels }
}

fn set(ends: &mut [AllocationEnd], index: usize, fate: AllocationEnd) {
    if let Some(slot) = ends.get_mut(index) {
        *slot = fate;
    }
}

#[derive(Default)]
struct Ledger {
    places: BTreeMap<Option<i64>, (i64, i64)>,
    levels: Vec<Level>,
}

impl Ledger {
    fn book(&mut self, operation: usize, place: Option<i64>, time_ns: i64, change_bytes: i64, change: i64) {
        let (live_bytes, allocations) = self.places.entry(place).or_default();
        *live_bytes = live_bytes.saturating_add(change_bytes);
        *allocations = allocations.saturating_add(change);
        let (live_bytes, allocations) = (*live_bytes, *allocations);
        self.levels.push(Level { operation, place, time_ns, change_bytes, live_bytes, allocations });
    }

    /// Books what the allocator states, if it does. The change that pairing finds counts only for the first operation,
    /// before which nothing is known.
    fn state(&mut self, index: usize, operation: &Operation, change_bytes: i64, change: i64) {
        let Some(stated) = operation.live_bytes else { return };
        let known = self.places.get(&operation.place).map(|(live_bytes, _)| *live_bytes);
        let before = known.unwrap_or_else(|| stated.saturating_sub(change_bytes));
        self.places.entry(operation.place).or_default().0 = before;
        self.book(index, operation.place, operation.time_ns, stated.saturating_sub(before), change);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn operation((action, address, bytes, time_ns): (u8, i64, i64, i64)) -> Operation {
        let action = match action {
            0 => Action::Allocate,
            1 => Action::Reallocate,
            _ => Action::Free,
        };
        let place = Some(address % 2);
        Operation { action, address: (address < 5).then_some(address), bytes, place, time_ns, live_bytes: None }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// At every time, the live memory is the sum of the allocations that have not ended.
        #[test]
        fn levels_are_sums_of_the_living(raw in prop::collection::vec((0_u8..4, 0_i64..6, 1_i64..9, 0_i64..12), 0..30)) {
            let operations: Vec<Operation> = raw.into_iter().map(operation).collect();
            let pairing = pair(&operations);
            for place in [Some(0), Some(1)] {
                for time in 0..13 {
                    let living: Vec<&Operation> = operations
                        .iter()
                        .zip(&pairing.ends)
                        .filter(|(taken, fate)| taken.place == place && taken.time_ns <= time && match fate {
                            AllocationEnd::Live => true,
                            AllocationEnd::Freed(by) | AllocationEnd::Reallocated(by) | AllocationEnd::Replaced(by) => operations[*by].time_ns > time,
                            AllocationEnd::Unpaired | AllocationEnd::UnmatchedFree | AllocationEnd::Nothing => false,
                        })
                        .map(|(taken, _)| taken)
                        .collect();
                    let last = pairing.levels.iter().rev().find(|level| level.place == place && level.time_ns <= time);
                    let (bytes, count) = last.map_or((0, 0), |level| (level.live_bytes, level.allocations));
                    prop_assert_eq!(bytes, living.iter().map(|taken| taken.bytes).sum::<i64>());
                    prop_assert_eq!(count, i64::try_from(living.len()).unwrap());
                }
            }
            for (fate, ended) in pairing.ends.iter().zip(&operations) {
                if let AllocationEnd::Freed(by) = fate {
                    prop_assert_eq!(operations[*by].address, ended.address);
                    prop_assert!(operations[*by].time_ns >= ended.time_ns);
                }
            }
        }
    }

    #[test]
    fn what_an_allocator_states_counts_in_its_order() {
        let of = |action, address, bytes, time_ns, live_bytes| Operation {
            live_bytes: Some(live_bytes),
            ..operation((action, address, bytes, time_ns))
        };
        // 100 bytes are live before: 30 of them at an address that is freed, 70 that no operation mentions.
        let pairing = pair(&[
            of(0, 1, 8, 5, 108),
            of(2, 1, 0, 5, 100),
            of(2, 3, 0, 6, 70),
            of(0, 1, 4, 7, 74),
            of(0, 1, 2, 8, 76),
            of(0, 6, 5, 9, 5),
        ]);
        assert_eq!(
            pairing.ends,
            [
                AllocationEnd::Freed(1),
                AllocationEnd::Nothing,
                AllocationEnd::UnmatchedFree,
                AllocationEnd::Replaced(4),
                AllocationEnd::Live,
                AllocationEnd::Unpaired,
            ]
        );
        let levels: Vec<(Option<i64>, i64, i64, i64)> = pairing
            .levels
            .iter()
            .map(|level| (level.place, level.change_bytes, level.live_bytes, level.allocations))
            .collect();
        let odd = Some(1);
        assert_eq!(
            levels,
            [
                (odd, 8, 108, 1),
                (odd, -8, 100, 0),
                (odd, -30, 70, 0),
                (odd, 4, 74, 1),
                (odd, 2, 76, 1),
                (Some(0), 5, 5, 0)
            ]
        );
    }

    #[test]
    fn rules() {
        let of = |raw: &[(u8, i64, i64, i64)]| pair(&raw.iter().copied().map(operation).collect::<Vec<_>>()).ends;
        assert_eq!(
            of(&[(0, 1, 8, 1), (2, 1, 0, 2), (2, 1, 0, 3)]),
            [AllocationEnd::Freed(1), AllocationEnd::Nothing, AllocationEnd::UnmatchedFree]
        );
        assert_eq!(of(&[(0, 1, 8, 1), (0, 1, 4, 2)]), [AllocationEnd::Replaced(1), AllocationEnd::Live]);
        assert_eq!(of(&[(0, 1, 8, 1), (1, 1, 4, 2)]), [AllocationEnd::Reallocated(1), AllocationEnd::Live]);
        assert_eq!(of(&[(0, 5, 8, 1), (2, 0, 0, 2)]), [AllocationEnd::Unpaired, AllocationEnd::Nothing]);
        // Freed and allocated again at the same time.
        assert_eq!(
            of(&[(0, 1, 8, 1), (0, 1, 4, 5), (2, 1, 0, 5)]),
            [AllocationEnd::Freed(2), AllocationEnd::Live, AllocationEnd::Nothing]
        );
    }
}
