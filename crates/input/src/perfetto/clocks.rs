//! Clocks: times are in the boot time of the node, or on a clock that snapshots tie to it.

use std::collections::BTreeMap;

use super::wire::{Fields, Malformed, Value};

/// The clock of ROCm timestamps, and of packets that name no clock.
pub const BOOT_TIME: u64 = 6;
/// Clocks with these numbers belong to a sequence.
const OF_SEQUENCE: std::ops::RangeInclusive<u64> = 64..=127;

#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    id: u64,
    /// Its value when the boot time was `boot_ns`.
    value: u64,
    boot_ns: i64,
    /// Its last value. If the clock is incremental, the next time is added to it.
    last: u64,
    is_incremental: bool,
    unit_ns: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Clocks(BTreeMap<u64, Clock>);

pub(crate) fn is_of_sequence(clock: u64) -> bool {
    OF_SEQUENCE.contains(&clock)
}

impl Clocks {
    /// The boot time of a time on one of these clocks.
    pub(crate) fn boot_ns(&mut self, clock: u64, time: u64) -> Option<i64> {
        let clock = self.0.get_mut(&clock)?;
        clock.last = if clock.is_incremental { clock.last.wrapping_add(time) } else { time };
        let since = i128::from(clock.last) - i128::from(clock.value);
        let boot_ns = i128::from(clock.boot_ns).saturating_add(since.saturating_mul(i128::from(clock.unit_ns)));
        i64::try_from(boot_ns).ok()
    }
}

/// Takes the clocks of a snapshot: the clocks of the sequence, and the clocks of all sequences.
pub(crate) fn take_snapshot(snapshot: &[u8], own: &mut Clocks, of_all: &mut Clocks) -> Result<(), Malformed> {
    let mut stated = Vec::new();
    for field in Fields::new(snapshot) {
        if let (1, Value::Bytes(clock)) = field? {
            stated.push(Clock::read(clock)?);
        }
    }
    let boot_ns = stated.iter().find(|clock| clock.id == BOOT_TIME).map(|clock| clock.value as i64).or_else(|| {
        let mut others = stated.iter().filter(|clock| !is_of_sequence(clock.id));
        others.find_map(|clock| of_all.boot_ns(clock.id, clock.value))
    });
    let Some(boot_ns) = boot_ns else { return Ok(()) };
    for clock in stated.into_iter().filter(|clock| clock.id != BOOT_TIME) {
        let clocks = if is_of_sequence(clock.id) { &mut *own } else { &mut *of_all };
        clocks.0.insert(clock.id, Clock { boot_ns, last: clock.value, ..clock });
    }
    Ok(())
}

impl Clock {
    fn read(message: &[u8]) -> Result<Self, Malformed> {
        let mut clock = Self { unit_ns: 1, ..Self::default() };
        for field in Fields::new(message) {
            match field? {
                (1, Value::Varint(id)) => clock.id = id,
                (2, Value::Varint(value)) => clock.value = value,
                (3, Value::Varint(flag)) => clock.is_incremental = flag != 0,
                (4, Value::Varint(unit)) => clock.unit_ns = unit.max(1),
                _ => {}
            }
        }
        Ok(clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incremental_clocks_go_on_and_others_are_offsets() {
        // Boot time 1000, an incremental clock 64 at 5, and the wall clock at 7000.
        let snapshot = [10, 5, 8, 6, 16, 0xe8, 7, 10, 8, 8, 64, 16, 5, 24, 1, 32, 0, 10, 5, 8, 1, 16, 0xd8, 54];
        let (mut own, mut all) = (Clocks::default(), Clocks::default());
        take_snapshot(&snapshot, &mut own, &mut all).unwrap();
        assert_eq!([own.boot_ns(64, 3), own.boot_ns(64, 3)], [Some(1003), Some(1006)]);
        assert_eq!((all.boot_ns(1, 7010), own.boot_ns(65, 1)), (Some(1010), None));
        assert!(take_snapshot(&[10, 9, 8], &mut own, &mut all).is_err());
    }
}
