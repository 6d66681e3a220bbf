//! The state of a packet sequence: texts that its packets name by number, defaults, and clocks.

use std::collections::BTreeMap;

use fnv::FnvHashMap;

use super::clocks::{BOOT_TIME, Clocks, is_of_sequence};
use super::names::Names;
use super::wire::{Fields, Malformed, Value};

/// Tables of texts: fields of interned data.
pub const CATEGORIES: u64 = 1;
pub const EVENT_NAMES: u64 = 2;
pub const ARGUMENT_NAMES: u64 = 3;
pub const ARGUMENT_TEXTS: u64 = 29;

/// Default values of events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    clock: Option<u64>,
    pub track: Option<u64>,
    /// Tracks of the extra values of events: of integers, and of doubles.
    pub extra_tracks: [Vec<u64>; 2],
}

#[derive(Clone, Debug, Default)]
pub struct Sequence {
    texts: FnvHashMap<(u64, u64), u32>,
    pub defaults: Defaults,
    pub clocks: Clocks,
    /// Whether nothing was lost since the state was last cleared.
    pub is_whole: bool,
}

impl Sequence {
    pub fn text(&self, table: u64, iid: u64) -> Option<u32> {
        self.texts.get(&(table, iid)).copied()
    }

    pub fn clear(&mut self) {
        *self = Self { is_whole: true, ..Self::default() };
    }

    /// Clears the state after packets were lost: numbers of texts and incremental times are no longer valid.
    pub fn lose(&mut self) {
        *self = Self::default();
    }

    /// The boot time of a packet. Its clock is the one that it states, otherwise the default of its sequence, otherwise the clock of ROCm
    /// timestamps.
    pub(crate) fn boot_ns(&mut self, time: u64, clock: Option<u64>, of_all: &mut Clocks) -> Option<i64> {
        match clock.or(self.defaults.clock).unwrap_or(BOOT_TIME) {
            // Writers subtract from times, so that some are below 0.
            BOOT_TIME | 0 => Some(time as i64),
            own if is_of_sequence(own) => self.clocks.boot_ns(own, time),
            // A clock that no snapshot ties to the boot time is the only one of the file.
            other => of_all.boot_ns(other, time).or(Some(time as i64)),
        }
    }

    /// Takes texts and their numbers.
    pub(crate) fn take_interned(&mut self, interned: &[u8], names: &mut Names) -> Result<(), Malformed> {
        for field in Fields::new(interned) {
            let (table @ (CATEGORIES | EVENT_NAMES | ARGUMENT_NAMES | ARGUMENT_TEXTS), Value::Bytes(entry)) = field?
            else {
                continue;
            };
            let (mut iid, mut text) = (None, None);
            for field in Fields::new(entry) {
                match field? {
                    (1, Value::Varint(number)) => iid = Some(number),
                    (2, Value::Bytes(bytes)) => text = Some(names.number_of_bytes(bytes)),
                    _ => {}
                }
            }
            if let (Some(iid), Some(text)) = (iid, text) {
                self.texts.insert((table, iid), text);
            }
        }
        Ok(())
    }

    pub(crate) fn take_defaults(&mut self, defaults: &[u8]) -> Result<(), Malformed> {
        self.defaults = Defaults::default();
        for field in Fields::new(defaults) {
            match field? {
                (58, Value::Varint(clock)) => self.defaults.clock = Some(clock),
                (11, Value::Bytes(event)) => self.defaults.read_event(event)?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl Defaults {
    fn read_event(&mut self, event: &[u8]) -> Result<(), Malformed> {
        let [of_integers, of_doubles] = &mut self.extra_tracks;
        for field in Fields::new(event) {
            match field? {
                (11, Value::Varint(track)) => self.track = Some(track),
                (31, Value::Varint(track)) => of_integers.push(track),
                (45, Value::Varint(track)) => of_doubles.push(track),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Sequences by id, and the clocks that all of them share.
#[derive(Debug, Default)]
pub struct Sequences {
    known: BTreeMap<u64, Sequence>,
    pub clocks: Clocks,
    /// Whether packets of unknown sequences were lost. Sequences that are not known yet may then have lost their start.
    has_gap: bool,
}

impl Sequences {
    /// The sequence with an id, and the clocks of all sequences.
    pub fn get(&mut self, id: u64) -> (&mut Sequence, &mut Clocks) {
        let is_whole = !self.has_gap;
        let sequence = self.known.entry(id).or_insert_with(|| Sequence { is_whole, ..Sequence::default() });
        (sequence, &mut self.clocks)
    }

    /// Clears the state of all sequences after packets of an unknown sequence were lost.
    pub fn lose(&mut self) {
        self.has_gap = true;
        self.known.values_mut().for_each(Sequence::lose);
    }
}
