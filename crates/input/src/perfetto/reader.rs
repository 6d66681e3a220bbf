//! Reads a file: packets with the state of their sequences, and the events in them.

use std::io::Read;

use flate2::read::ZlibDecoder;
use fnv::FnvHashMap;

use super::clocks::take_snapshot;
use super::document::Document;
use super::event::{Event, Type};
use super::kinds::Writer;
use super::packets::{FilePart, Packets};
use super::rows::Field;
use super::sequence::Sequences;
use super::slices::Open;
use super::wire::{Fields, Malformed, Value};

const MAX_INFLATED: u64 = 1 << 26;
/// Flags of a packet: its sequence starts again, and it needs the state of earlier packets.
const CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

#[derive(Default)]
struct Reader {
    document: Document,
    sequences: Sequences,
    places: FnvHashMap<u64, usize>,
    /// Open slices by sequence and track: a thread ends the slices that it starts.
    open: FnvHashMap<(u64, usize), Vec<Open>>,
    event: Event,
}

#[derive(Default)]
struct Packet<'a> {
    time: Option<u64>,
    clock: Option<u64>,
    sequence: u64,
    flags: u64,
    was_dropped: bool,
    is_first: bool,
    defaults: Option<&'a [u8]>,
    interned: Vec<&'a [u8]>,
    snapshot: Option<&'a [u8]>,
    event: Option<&'a [u8]>,
}

impl Document {
    /// Reads a whole file. Damaged packets are left out and counted.
    pub fn read(input: impl Read) -> Self {
        let mut reader = Reader::default();
        let mut packets = Packets::new(input);
        loop {
            let (place, what) = match packets.next() {
                FilePart::Packet(place, packet) => {
                    reader.document.census.packets += 1;
                    let read = reader.packet(packet, true);
                    match (read, reader.document.names.take_zeros()) {
                        (Ok(()), false) => continue,
                        (Ok(()), true) => (place, Malformed::Zeros.to_string()),
                        (Err(what), _) => (place, what.to_string()),
                    }
                }
                FilePart::Gap(place, what) => (place, what),
                FilePart::End(end) => {
                    reader.document.census.end = end;
                    return reader.finish();
                }
            };
            // The sequence of the packet is unknown.
            reader.sequences.lose();
            reader.forget_open();
            let census = &mut reader.document.census;
            census.damaged += 1;
            census.first_damage.get_or_insert((place, what));
        }
    }
}

impl Reader {
    fn finish(mut self) -> Document {
        self.forget_open();
        let mut document = self.document;
        document.arguments.sort_by_key(|argument| (argument.role, argument.row));
        document
    }

    /// Drops open slices, whose ends are lost, and counts them as unfinished.
    fn forget_open(&mut self) {
        let left = self.open.drain().flat_map(|(_, open)| open);
        self.document.census.unfinished += left.filter(|open| open.row.is_some() && !open.has_end).count() as u64;
    }

    fn packet(&mut self, message: &[u8], may_be_compressed: bool) -> Result<(), Malformed> {
        let mut packet = Packet::default();
        for field in Fields::new(message) {
            match field? {
                (number @ (1 | 2), Value::Bytes(message)) => {
                    *self.document.census.others.entry(number).or_default() += 1;
                    let scheduler = &mut self.document.scheduler;
                    if number == 1 { scheduler.take_bundle(message)? } else { scheduler.take_tree(message)? }
                }
                (6, Value::Bytes(snapshot)) => packet.snapshot = Some(snapshot),
                (8, Value::Varint(time)) => packet.time = Some(time),
                (10, Value::Varint(sequence)) => packet.sequence = sequence,
                (11, Value::Bytes(event)) => packet.event = Some(event),
                (12, Value::Bytes(interned)) => packet.interned.push(interned),
                (13, Value::Varint(flags)) => packet.flags = flags,
                (35, Value::Bytes(statistics)) => self.document.census.dropped += dropped(statistics)?,
                (41, Value::Varint(cleared)) if cleared != 0 => packet.flags |= CLEARED,
                (42, Value::Varint(flag)) => packet.was_dropped = flag != 0,
                (50, Value::Bytes(compressed)) if may_be_compressed => self.compressed(compressed)?,
                (58, Value::Varint(clock)) => packet.clock = Some(clock),
                (59, Value::Bytes(defaults)) => packet.defaults = Some(defaults),
                (60, Value::Bytes(descriptor)) => self.document.tracks.take(descriptor)?,
                (87, Value::Varint(flag)) => packet.is_first = flag != 0,
                (126, Value::Bytes(attributes)) => self.attributes(attributes)?,
                (number, Value::Bytes(_)) => *self.document.census.others.entry(number).or_default() += 1,
                _ => {}
            }
        }
        self.take(&packet)
    }

    /// Reads packets that were compressed together.
    fn compressed(&mut self, compressed: &[u8]) -> Result<(), Malformed> {
        let mut packets = Vec::new();
        let inflated = ZlibDecoder::new(compressed).take(MAX_INFLATED).read_to_end(&mut packets);
        for field in Fields::new(&packets) {
            if let (1, Value::Bytes(packet)) = field? {
                self.packet(packet, false)?;
            }
        }
        // Bytes beyond the limit would be lost without a report.
        let is_whole = inflated.is_ok_and(|bytes| (bytes as u64) < MAX_INFLATED);
        if is_whole { Ok(()) } else { Err(Malformed::Cut) }
    }

    /// Reads the writer of the file.
    fn attributes(&mut self, attributes: &[u8]) -> Result<(), Malformed> {
        for field in Fields::new(attributes) {
            let (_, Value::Bytes(attribute)) = field? else { continue };
            let (mut key, mut text): (&[u8], &[u8]) = (&[], &[]);
            for field in Fields::new(attribute) {
                match field? {
                    (1, Value::Bytes(bytes)) => key = bytes,
                    (3, Value::Bytes(bytes)) => text = bytes,
                    _ => {}
                }
            }
            if (key, text) == (b"tool", b"wavesieve") {
                self.document.writer = Writer::Wavesieve;
            }
        }
        Ok(())
    }

    fn take(&mut self, packet: &Packet<'_>) -> Result<(), Malformed> {
        let Document { names, census, .. } = &mut self.document;
        let (sequence, of_all) = self.sequences.get(packet.sequence);
        if packet.was_dropped && !packet.is_first {
            sequence.lose();
        }
        if packet.flags & CLEARED != 0 {
            sequence.clear();
        }
        if let Some(defaults) = packet.defaults {
            sequence.take_defaults(defaults)?;
        }
        for interned in &packet.interned {
            sequence.take_interned(interned, names)?;
        }
        if let Some(snapshot) = packet.snapshot {
            take_snapshot(snapshot, &mut sequence.clocks, of_all)?;
        }
        // Each packet with a time advances an incremental clock, whatever it holds.
        let time_ns = packet.time.and_then(|time| sequence.boot_ns(time, packet.clock, of_all));
        let Some(message) = packet.event else { return Ok(()) };
        if packet.flags & NEEDS_STATE != 0 && !sequence.is_whole {
            census.lost += 1;
            return Ok(());
        }
        self.event.read(message, sequence, names)?;
        census.events += 1;
        census.without_text += u64::from(self.event.lacks_text);
        let track = self.event.track.or(sequence.defaults.track).unwrap_or(0);
        for (own, default) in self.event.extra_tracks.iter_mut().zip(&sequence.defaults.extra_tracks) {
            if own.is_empty() {
                own.clone_from(default);
            }
        }
        match time_ns {
            Some(time_ns) => self.take_event(packet.sequence, track, time_ns),
            None => census.without_time += 1,
        }
        Ok(())
    }

    /// The place of a track among the tracks with events.
    fn place(&mut self, track: u64) -> usize {
        *self.places.entry(track).or_insert_with(|| {
            self.document.used.push(track);
            self.document.used.len() - 1
        })
    }

    fn take_event(&mut self, sequence: u64, track: u64, time_ns: i64) {
        let event = std::mem::take(&mut self.event);
        let place = self.place(track);
        match event.kind {
            Type::Begin => {
                let open = self.document.start(&event, place, time_ns);
                self.open.entry((sequence, place)).or_default().push(open);
            }
            Type::End => match self.open.get_mut(&(sequence, place)).and_then(Vec::pop) {
                Some(open) => self.document.end(open, &event, time_ns),
                None => self.document.census.unmatched_ends += 1,
            },
            Type::Instant => {
                let open = self.document.start(&event, place, time_ns);
                if let Some((role, row)) = open.row.filter(|_| !open.has_end) {
                    let rows = self.document.rows.get_mut(role as usize);
                    rows.into_iter().for_each(|rows| rows.set(row, Field::End, time_ns));
                }
            }
            Type::Counter => event.value.into_iter().for_each(|value| self.document.value(place, time_ns, value)),
            Type::Other => *self.document.census.others.entry(11).or_default() += 1,
        }
        let extra = event.extra_tracks.iter().zip(&event.extra_values);
        for (track, value) in extra.flat_map(|(tracks, values)| tracks.iter().zip(values)) {
            let place = self.place(*track);
            self.document.value(place, time_ns, *value);
        }
        self.event = event;
    }
}

/// The number of drops that the recorder reports: overwritten and discarded chunks of buffers, and losses of writers.
fn dropped(statistics: &[u8]) -> Result<u64, Malformed> {
    let mut all = 0_u64;
    for field in Fields::new(statistics) {
        let (1, Value::Bytes(buffer)) = field? else { continue };
        for field in Fields::new(buffer) {
            if let (3 | 18 | 19, Value::Varint(count)) = field? {
                all = all.saturating_add(count);
            }
        }
    }
    Ok(all)
}
