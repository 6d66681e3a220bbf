//! Tracks: their names, and the process, thread or counter of each.

use std::collections::BTreeMap;

use super::wire::{Fields, Malformed, Value};
use wavesieve_model::text::bytes::text_of_bytes;

const MAX_PARENTS: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessTrack {
    pub pid: Option<i64>,
    pub name: String,
    pub command: Vec<String>,
    pub labels: Vec<String>,
    pub start_ns: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadTrack {
    pub pid: Option<i64>,
    pub tid: Option<i64>,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CounterTrack {
    pub unit: String,
    pub multiplier: i64,
    pub is_incremental: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Track {
    pub name: String,
    pub parent: Option<u64>,
    /// Order among the tracks of the same parent.
    pub order: Option<i64>,
    pub process: Option<ProcessTrack>,
    pub thread: Option<ThreadTrack>,
    pub counter: Option<CounterTrack>,
}

/// The tracks that were described, by uuid.
#[derive(Debug, Default)]
pub struct Tracks {
    known: BTreeMap<u64, Track>,
    /// Tracks of processes in the order in which they were described.
    pub processes: Vec<u64>,
}

impl Tracks {
    pub fn get(&self, uuid: u64) -> Option<&Track> {
        self.known.get(&uuid)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &Track)> {
        self.known.iter().map(|(uuid, track)| (*uuid, track))
    }

    pub fn upwards(&self, uuid: u64) -> impl Iterator<Item = (u64, &Track)> {
        let first = self.known.get(&uuid).map(|track| (uuid, track));
        let above = |(_, track): &(u64, &Track)| {
            let parent = track.parent?;
            self.known.get(&parent).map(|track| (parent, track))
        };
        std::iter::successors(first, above).take(MAX_PARENTS)
    }

    /// Takes the description of a track. A later description may state more.
    pub fn take(&mut self, descriptor: &[u8]) -> Result<(), Malformed> {
        let (mut uuid, mut described) = (0, Track::default());
        for field in Fields::new(descriptor) {
            match field? {
                (1, Value::Varint(number)) => uuid = number,
                (2 | 10 | 13, Value::Bytes(name)) => described.name = text(name),
                (3, Value::Bytes(process)) => described.process = Some(ProcessTrack::read(process)?),
                (4, Value::Bytes(thread)) => described.thread = Some(ThreadTrack::read(thread)?),
                (5, Value::Varint(parent)) => described.parent = Some(parent).filter(|parent| *parent != 0),
                (8, Value::Bytes(counter)) => described.counter = Some(CounterTrack::read(counter)?),
                (12, Value::Varint(order)) => described.order = Some(order as i64),
                _ => {}
            }
        }
        let known = self.known.entry(uuid).or_default();
        if known.process.is_none() && described.process.is_some() {
            self.processes.push(uuid);
        }
        if !described.name.is_empty() {
            known.name = described.name;
        }
        known.parent = described.parent.or(known.parent);
        known.order = described.order.or(known.order);
        known.process = described.process.or(known.process.take());
        known.thread = described.thread.or(known.thread.take());
        known.counter = described.counter.or(known.counter.take());
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    text_of_bytes(bytes).into_owned()
}

impl ProcessTrack {
    fn read(message: &[u8]) -> Result<Self, Malformed> {
        let mut process = Self::default();
        for field in Fields::new(message) {
            match field? {
                (1, Value::Varint(pid)) => process.pid = Some(pid as i64),
                (2, Value::Bytes(word)) => process.command.push(text(word)),
                (6, Value::Bytes(name)) => process.name = text(name),
                (7, Value::Varint(start_ns)) => process.start_ns = i64::try_from(start_ns).ok(),
                (8, Value::Bytes(label)) => process.labels.push(text(label)),
                _ => {}
            }
        }
        Ok(process)
    }
}

impl ThreadTrack {
    fn read(message: &[u8]) -> Result<Self, Malformed> {
        let mut thread = Self::default();
        for field in Fields::new(message) {
            match field? {
                (1, Value::Varint(pid)) => thread.pid = Some(pid as i64),
                (2, Value::Varint(tid)) => thread.tid = Some(tid as i64),
                (5, Value::Bytes(name)) => thread.name = text(name),
                _ => {}
            }
        }
        Ok(thread)
    }
}

impl CounterTrack {
    fn read(message: &[u8]) -> Result<Self, Malformed> {
        let mut counter = Self { multiplier: 1, ..Self::default() };
        for field in Fields::new(message) {
            match field? {
                (3, Value::Varint(1)) => counter.unit = "ns".to_owned(),
                (3, Value::Varint(2)) => counter.unit = "count".to_owned(),
                (3, Value::Varint(3)) => counter.unit = "bytes".to_owned(),
                (4, Value::Varint(multiplier)) => counter.multiplier = multiplier as i64,
                (5, Value::Varint(flag)) => counter.is_incremental = flag != 0,
                (6, Value::Bytes(unit)) => counter.unit = text(unit),
                _ => {}
            }
        }
        Ok(counter)
    }
}
