//! Maps GPU numbers of allocators to devices. Allocators count the GPUs that the program sees, but device numbers of HIP count the CPUs of
//! the node first.

use std::collections::{BTreeMap, BTreeSet};

use super::capture::Capture;

impl Capture {
    /// Devices by their allocator numbers.
    pub(crate) fn memory_devices(&self) -> BTreeMap<i64, i64> {
        devices(&self.census.memory, &self.census.devices)
    }
}

/// The same numbers if all of these devices worked. Otherwise the devices that worked, in order, if there are as many. Otherwise the
/// numbers, shifted so that they include all devices that worked.
fn devices(memory: &BTreeSet<i64>, worked: &BTreeSet<i64>) -> BTreeMap<i64, i64> {
    if memory.is_subset(worked) {
        return memory.iter().map(|id| (*id, *id)).collect();
    }
    if memory.len() == worked.len() {
        return memory.iter().copied().zip(worked.iter().copied()).collect();
    }
    let first = worked.first().zip(memory.first()).map(|(worked, memory)| worked.saturating_sub(*memory));
    let before = first.filter(|before| worked.iter().all(|device| memory.contains(&device.saturating_sub(*before))));
    memory.iter().map(|id| (*id, id.saturating_add(before.unwrap_or(0)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_allocators_are_those_of_work_or_follow_cpus() {
        let of = |memory: &[i64], worked: &[i64]| {
            let set = |ids: &[i64]| ids.iter().copied().collect();
            devices(&set(memory), &set(worked)).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&[0], &[0, 1]), [(0, 0)]);
        assert_eq!(of(&[0], &[2]), [(0, 2)]);
        assert_eq!(of(&[0, 1], &[2, 3]), [(0, 2), (1, 3)]);
        assert_eq!(of(&[3], &[5]), [(3, 5)]);
        assert_eq!(of(&[0, 1, 2], &[2, 3]), [(0, 2), (1, 3), (2, 4)]);
        assert_eq!(of(&[0, 1], &[]), [(0, 0), (1, 1)]);
        assert_eq!(of(&[0, 1], &[7]), [(0, 7), (1, 8)]);
    }
}
