//! A Perfetto trace file: descriptions of tracks, then the events of each, one packet sequence a track with an incremental clock.
//! Field numbers are those of perfetto's trace_packet.proto, track_descriptor.proto and track_event.proto (v58).

use std::io::{self, Write};

use super::texts::Texts;
use super::wire::Message;

/// The clock that ROCm stamps with, and the incremental one of each sequence.
const BOOT_TIME: u64 = 6;
const OWN_CLOCK: u64 = 64;
/// The key of a packet in the file: field 1, with a length.
const PACKET: &[u8] = &[0x0a];
/// Flows that an event lists.
const MAX_FLOWS: usize = 64;

/// How equal names of siblings are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    Never,
    /// All with the same number are drawn as one track.
    ByKey(u64),
}

/// A track as it is described.
#[derive(Clone, Debug)]
pub(super) struct Described<'a> {
    pub uuid: u64,
    pub name: &'a str,
    pub parent: Option<u64>,
    pub merge: Merge,
    pub rank: i64,
    /// Unit of its values if it is a counter.
    pub unit: Option<&'a str>,
}

/// The numbers of a sequence for texts.
#[derive(Debug, Default)]
struct Interned {
    iids: Vec<u32>,
    count: u32,
}

impl Interned {
    /// The number of a text, and whether it is new.
    fn iid(&mut self, text: u32) -> (u64, bool) {
        let place = text as usize;
        if place >= self.iids.len() {
            self.iids.resize(place + 1, 0);
        }
        let Some(slot) = self.iids.get_mut(place) else { return (0, false) };
        let is_new = *slot == 0;
        if is_new {
            self.count += 1;
            *slot = self.count;
        }
        (u64::from(*slot), is_new)
    }
}

/// A track that events are written to, in the order of time.
#[derive(Debug)]
pub(super) struct Track {
    sequence: u64,
    last_ns: i64,
    categories: Interned,
    names: Interned,
    argument_names: Interned,
    argument_texts: Interned,
}

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i64),
    Text(u32),
}

/// What an event shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    pub category: u32,
    pub name: u32,
    pub arguments: &'a [(u32, Value)],
    /// Flows that start here.
    pub flows: &'a [u64],
    /// A flow that ends here.
    pub flow_end: Option<u64>,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub slices: u64,
    pub instants: u64,
    pub counter_values: u64,
    /// Ends of flows.
    pub flows: u64,
    pub tracks: u64,
    pub bytes: u64,
}

/// The file.
pub(super) struct Stream<'a> {
    out: &'a mut dyn Write,
    next_sequence: u64,
    packet: Message,
    event: Message,
    interned: Message,
    pub counts: Counts,
}

impl<'a> Stream<'a> {
    /// Starts a file; the id is that of its content.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn new(out: &'a mut dyn Write, id: u128, attributes: &[(&str, String)]) -> io::Result<Self> {
        let (packet, event, interned) = Default::default();
        let mut stream = Self { out, next_sequence: 1, packet, event, interned, counts: Counts::default() };
        // Viewers tell the format by a byte above 127 near the start, which such an id has.
        stream.packet.message(89, |uuid| {
            uuid.varint(1, (id >> 64) as u64 | 1 << 63);
            uuid.varint(2, id as u64 | 1 << 63);
        });
        stream.write_packet()?;
        stream.packet.message(126, |all| {
            for (key, text) in attributes {
                all.message(1, |attribute| {
                    attribute.data(1, key.as_bytes());
                    attribute.data(3, text.as_bytes());
                });
            }
        });
        stream.write_packet()?;
        // The root: processes and threads in the order of their ranks.
        stream.packet.message(60, |root| {
            root.varint(1, 0);
            root.varint(19, 1);
            root.varint(20, 1);
        });
        stream.write_packet()?;
        Ok(stream)
    }

    fn write_packet(&mut self) -> io::Result<()> {
        let mut length = Message::default();
        length.raw_varint(self.packet.bytes().len() as u64);
        self.out.write_all(PACKET)?;
        self.out.write_all(length.bytes())?;
        self.out.write_all(self.packet.bytes())?;
        self.counts.bytes += (1 + length.bytes().len() + self.packet.bytes().len()) as u64;
        self.packet.clear();
        Ok(())
    }

    /// Describes a process.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn process(&mut self, uuid: u64, pid: i64, name: &str, labels: &[String], rank: i64) -> io::Result<()> {
        self.packet.message(60, |track| {
            track.varint(1, uuid);
            track.message(3, |process| {
                process.varint(1, pid as u64);
                process.data(6, name.as_bytes());
                labels.iter().for_each(|label| process.data(8, label.as_bytes()));
            });
            track.varint(12, rank as u64);
        });
        self.write_packet()
    }

    /// Describes a thread.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn thread(&mut self, uuid: u64, pid: i64, tid: i64, name: &str, rank: i64) -> io::Result<()> {
        self.packet.message(60, |track| {
            track.varint(1, uuid);
            track.message(4, |thread| {
                thread.varint(1, pid as u64);
                thread.varint(2, tid as u64);
                thread.data(5, name.as_bytes());
            });
            track.varint(12, rank as u64);
        });
        self.write_packet()
    }

    /// Describes another track.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn describe(&mut self, described: &Described<'_>) -> io::Result<()> {
        self.packet.message(60, |track| {
            track.varint(1, described.uuid);
            track.data(2, described.name.as_bytes());
            if let Some(parent) = described.parent {
                track.varint(5, parent);
            }
            if let Some(unit) = described.unit {
                track.message(8, |counter| match unit {
                    "ns" => counter.varint(3, 1),
                    "bytes" => counter.varint(3, 3),
                    "count" => counter.varint(3, 2),
                    "" => {}
                    other => counter.data(6, other.as_bytes()),
                });
            }
            // Children in the order of their ranks.
            track.varint(11, 3);
            track.varint(12, described.rank as u64);
            match described.merge {
                Merge::Never => track.varint(15, 2),
                Merge::ByKey(key) => {
                    track.varint(15, 3);
                    track.varint(17, key);
                }
            }
        });
        self.write_packet()
    }

    /// Starts the events of a track that was described.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn start(&mut self, uuid: u64) -> io::Result<Track> {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.packet.varint(10, sequence);
        self.packet.varint(13, 1);
        self.packet.message(59, |defaults| {
            defaults.varint(58, OWN_CLOCK);
            defaults.message(11, |event| event.varint(11, uuid));
        });
        self.write_packet()?;
        self.packet.varint(10, sequence);
        self.packet.message(6, |snapshot| {
            snapshot.message(1, |clock| {
                clock.varint(1, BOOT_TIME);
                clock.varint(2, 0);
            });
            snapshot.message(1, |clock| {
                clock.varint(1, OWN_CLOCK);
                clock.varint(2, 0);
                clock.varint(3, 1);
            });
            if sequence == 1 {
                snapshot.varint(2, BOOT_TIME);
            }
        });
        self.write_packet()?;
        self.counts.tracks += 1;
        let (categories, names, argument_names, argument_texts) = Default::default();
        Ok(Track { sequence, last_ns: 0, categories, names, argument_names, argument_texts })
    }

    /// The head of an event of a kind at a time.
    fn head(&mut self, track: &mut Track, at_ns: i64) {
        self.packet.varint(8, at_ns.saturating_sub(track.last_ns).max(0) as u64);
        track.last_ns = at_ns.max(track.last_ns);
        self.packet.varint(10, track.sequence);
        self.packet.varint(13, 2);
    }

    /// A slice starts.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn begin(&mut self, track: &mut Track, at_ns: i64, event: &Event<'_>, texts: &Texts) -> io::Result<()> {
        self.counts.slices += 1;
        self.write_event(track, at_ns, 1, event, texts)
    }

    /// Something happens.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn instant(
        &mut self,
        track: &mut Track,
        at_ns: i64,
        event: &Event<'_>,
        texts: &Texts,
    ) -> io::Result<()> {
        self.counts.instants += 1;
        self.write_event(track, at_ns, 3, event, texts)
    }

    fn write_event(
        &mut self,
        track: &mut Track,
        at_ns: i64,
        kind: u64,
        event: &Event<'_>,
        texts: &Texts,
    ) -> io::Result<()> {
        self.head(track, at_ns);
        self.event.clear();
        self.interned.clear();
        let Self { event: message, interned, .. } = self;
        let mut intern = |table: &mut Interned, field: u32, text: u32| {
            let (iid, is_new) = table.iid(text);
            if is_new {
                interned.message(field, |entry| {
                    entry.varint(1, iid);
                    entry.data(2, texts.text(text).as_bytes());
                });
            }
            iid
        };
        message.varint(3, intern(&mut track.categories, 1, event.category));
        for (name, value) in event.arguments {
            let name = intern(&mut track.argument_names, 3, *name);
            let text = match value {
                Value::Text(text) => Some(intern(&mut track.argument_texts, 29, *text)),
                Value::Integer(_) => None,
            };
            message.message(4, |argument| {
                argument.varint(1, name);
                match (value, text) {
                    (Value::Integer(value), _) => argument.varint(4, *value as u64),
                    (Value::Text(_), text) => argument.varint(17, text.unwrap_or_default()),
                }
            });
        }
        message.varint(9, kind);
        message.varint(10, intern(&mut track.names, 2, event.name));
        for flow in event.flows.iter().take(MAX_FLOWS) {
            message.fixed64(47, *flow);
        }
        if let Some(flow) = event.flow_end {
            message.fixed64(48, flow);
            self.counts.flows += 1;
        }
        if !self.interned.is_empty() {
            self.packet.data(12, self.interned.bytes());
        }
        self.packet.data(11, self.event.bytes());
        self.write_packet()
    }

    /// The slice that started last ends.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn end(&mut self, track: &mut Track, at_ns: i64) -> io::Result<()> {
        self.head(track, at_ns);
        self.packet.message(11, |event| event.varint(9, 2));
        self.write_packet()
    }

    /// A counter has another value.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn value(&mut self, track: &mut Track, at_ns: i64, value: f64) -> io::Result<()> {
        self.counts.counter_values += 1;
        self.head(track, at_ns);
        self.packet.message(11, |event| {
            event.varint(9, 4);
            // What is whole keeps all of its digits.
            if value == value.trunc() && value.abs() < 9e15 {
                event.varint(30, value as i64 as u64);
            } else {
                event.double(44, value);
            }
        });
        self.write_packet()
    }
}
