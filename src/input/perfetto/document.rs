//! Reads a file: its tracks, and rows for what happened on them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use flate2::read::ZlibDecoder;
use fnv::FnvHashMap;

use super::arguments::Argument;
use super::clocks::take_snapshot;
use super::event::{Event, Type};
use super::kinds::{Key, ROLES, Role, Writer, is_of_rocm, is_of_systems, key, role, sizes};
use super::names::Names;
use super::packets::{Packets, Part};
use super::rows::{Field, Row, Rows};
use super::sequence::Sequences;
use super::tracks::Tracks;
use super::wire::{Fields, Malformed, Value};

/// Bytes that compressed packets may have.
const MAX_INFLATED: u64 = 1 << 26;
/// Flags of a packet: its sequence starts anew, and it needs what came before.
const CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;

/// What was found on the way.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub packets: u64,
    pub events: u64,
    /// Packets of other kinds by their fields.
    pub others: BTreeMap<u64, u64>,
    /// Slices and instants by the numbers of their categories.
    pub categories: BTreeMap<Option<u32>, u64>,
    /// Whether a category is one of a profiler of ROCm.
    pub is_of_rocm: bool,
    /// Packets that need what was lost before them.
    pub lost: u64,
    /// Events with a text that no packet gives.
    pub without_text: u64,
    /// Events whose clock no snapshot ties to the boot time.
    pub without_time: u64,
    /// Ends without a slice, and slices without an end.
    pub unmatched_ends: u64,
    pub unfinished: u64,
    /// Chunks and packets that the recorder reports to have dropped.
    pub dropped: u64,
    /// Slices and instants that this program derived.
    pub derived: u64,
    /// Names of arguments of kernels that are counters.
    pub counter_arguments: BTreeSet<u32>,
    /// Places at which the file is damaged, and what is wrong at the first.
    pub damaged: u64,
    pub first_damage: Option<(u64, String)>,
    /// How the file ends, if not as it should.
    pub end: Option<String>,
}

/// An argument of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owned {
    pub role: Role,
    /// Place of the row.
    pub row: usize,
    /// Numbers of texts.
    pub name: u32,
    pub value: u32,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub writer: Writer,
    pub names: Names,
    pub tracks: Tracks,
    /// Tracks that have events, in the order of their first.
    pub used: Vec<u64>,
    /// Rows of each role.
    pub rows: [Rows; ROLES.len()],
    /// Values over time.
    pub values: Rows,
    /// Arguments of rows, by role and row.
    pub arguments: Vec<Owned>,
    pub census: Census,
}

/// A slice that has not ended.
struct Open {
    /// `None` if it is not read.
    row: Option<(Role, usize)>,
    has_end: bool,
}

#[derive(Default)]
struct Reader {
    document: Document,
    sequences: Sequences,
    places: FnvHashMap<u64, usize>,
    /// Slices by sequence and track: what a thread starts it also ends.
    open: FnvHashMap<(u64, usize), Vec<Open>>,
    event: Event,
}

/// The parts of a packet.
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
    /// Reads all of a file. What is damaged is left out and counted.
    pub(crate) fn read(input: impl Read) -> Self {
        let mut reader = Reader::default();
        let mut packets = Packets::new(input);
        loop {
            let (place, what) = match packets.next() {
                Part::Packet(place, packet) => {
                    reader.document.census.packets += 1;
                    match reader.packet(packet, true) {
                        Ok(()) => continue,
                        Err(what) => (place, what.to_string()),
                    }
                }
                Part::Gap(place, what) => (place, what),
                Part::End(end) => {
                    reader.document.census.end = end;
                    return reader.finish();
                }
            };
            // Nobody knows whose packet it was.
            reader.sequences.lose();
            reader.forget_open();
            let census = &mut reader.document.census;
            census.damaged += 1;
            census.first_damage.get_or_insert((place, what));
        }
    }

    #[cfg(any(test, feature = "properties"))]
    pub(crate) fn rows(&self, role: Role) -> Option<&Rows> {
        self.rows.get(role as usize)
    }
}

impl Reader {
    fn finish(mut self) -> Document {
        self.forget_open();
        let mut document = self.document;
        document.arguments.sort_by_key(|argument| (argument.role, argument.row));
        document
    }

    /// What has not ended does not end any more.
    fn forget_open(&mut self) {
        let left = self.open.drain().flat_map(|(_, open)| open);
        self.document.census.unfinished += left.filter(|open| open.row.is_some() && !open.has_end).count() as u64;
    }

    fn packet(&mut self, message: &[u8], may_be_compressed: bool) -> Result<(), Malformed> {
        let mut packet = Packet::default();
        for field in Fields::new(message) {
            let field = field?;
            match (field.number, field.value) {
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

    /// Packets that were compressed together.
    fn compressed(&mut self, compressed: &[u8]) -> Result<(), Malformed> {
        let mut packets = Vec::new();
        let inflated = ZlibDecoder::new(compressed).take(MAX_INFLATED).read_to_end(&mut packets);
        for field in Fields::new(&packets) {
            if let (1, Value::Bytes(packet)) = field.map(|field| (field.number, field.value))? {
                self.packet(packet, false)?;
            }
        }
        inflated.map(drop).map_err(|_| Malformed::Cut)
    }

    /// Who wrote the file.
    fn attributes(&mut self, attributes: &[u8]) -> Result<(), Malformed> {
        for field in Fields::new(attributes) {
            let Value::Bytes(attribute) = field?.value else { continue };
            let (mut key, mut text): (&[u8], &[u8]) = (&[], &[]);
            for field in Fields::new(attribute) {
                let field = field?;
                match (field.number, field.value) {
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
        // Incremental clocks go on with each packet, whatever it holds.
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
        if self.event.extra_tracks.is_empty() {
            self.event.extra_tracks.clone_from(&sequence.defaults.extra_tracks);
        }
        if self.event.extra_double_tracks.is_empty() {
            self.event.extra_double_tracks.clone_from(&sequence.defaults.extra_double_tracks);
        }
        match time_ns {
            Some(time_ns) => self.take_event(packet.sequence, track, time_ns),
            None => census.without_time += 1,
        }
        Ok(())
    }

    /// The place of a track among those that have events.
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
                let open = self.start(&event, place, time_ns);
                self.open.entry((sequence, place)).or_default().push(open);
            }
            Type::End => match self.open.get_mut(&(sequence, place)).and_then(Vec::pop) {
                Some(open) => self.end(&open, &event, time_ns),
                None => self.document.census.unmatched_ends += 1,
            },
            Type::Instant => {
                let open = self.start(&event, place, time_ns);
                if let Some((role, row)) = open.row.filter(|_| !open.has_end) {
                    let rows = self.document.rows.get_mut(role as usize);
                    rows.into_iter().for_each(|rows| rows.set(row, Field::End, time_ns));
                }
            }
            Type::Counter => event.value.into_iter().for_each(|value| self.value(place, time_ns, value)),
            Type::Other => *self.document.census.others.entry(11).or_default() += 1,
        }
        let extra = event.extra_tracks.iter().zip(&event.extra_values);
        for (track, value) in extra.chain(event.extra_double_tracks.iter().zip(&event.extra_double_values)) {
            let place = self.place(*track);
            self.value(place, time_ns, *value);
        }
        self.event = event;
    }

    /// A slice or an instant.
    fn start(&mut self, event: &Event, place: usize, time_ns: i64) -> Open {
        let Document { names, census, writer, rows, arguments, .. } = &mut self.document;
        *census.categories.entry(event.category).or_default() += 1;
        let category = event.category.map_or("", |category| names.text(category));
        census.is_of_rocm |= is_of_rocm(category);
        if *writer == Writer::Rocprofv3 && is_of_systems(category) {
            *writer = Writer::Systems;
        }
        let name = event.name.map_or("", |name| names.text(name));
        let has = |wanted: &str| event.arguments.iter().any(|(name, _)| names.text(*name) == wanted);
        let Some(role) = role(*writer, category, name, has) else {
            census.derived += 1;
            return Open { row: None, has_end: true };
        };
        let mut row = Row::default();
        row.put(Field::Track, Some(place as i64));
        row.put(Field::Name, event.name.map(i64::from));
        row.put(Field::Category, event.category.map(i64::from));
        row.put(Field::Start, Some(time_ns));
        row.put(Field::Flow, event.flows.first().map(|flow| *flow as i64));
        let own = rows.get_mut(role as usize);
        let at = own.as_ref().map_or(0, |rows| rows.height());
        let (mut function, mut is_unfinished, mut all_sizes) = (None, false, Vec::new());
        for (name, value) in &event.arguments {
            match key(role, names.text(*name)) {
                Some(Key::Of(field)) => row.put(field, value.integer(names)),
                Some(Key::Sizes(first)) => all_sizes.extend(Some(first).zip(sizes_of(*value, names))),
                Some(Key::Function) => {
                    if let Argument::Text(text) = value {
                        function = Some(*text);
                    }
                }
                Some(Key::FullName) => {
                    if let Argument::Text(text) = value {
                        row.put(Field::Name, Some(i64::from(*text)));
                    }
                }
                Some(Key::Unfinished) => is_unfinished = true,
                Some(Key::Nothing) if value.is_number() || *writer == Writer::Wavesieve => {}
                None if role == Role::Kernel && *writer == Writer::Rocprofv3 && value.is_number() => {
                    census.counter_arguments.insert(*name);
                }
                Some(Key::Nothing) | None => {
                    let value = value.text(names);
                    arguments.push(Owned { role, row: at, name: *name, value });
                }
            }
        }
        for (first, sizes) in all_sizes {
            put_sizes(&mut row, first, sizes);
        }
        // The text of a range is shown instead of its function, which is an argument.
        if let (Some(function), Some(shown)) = (function, event.name)
            && role == Role::Call
        {
            row.put(Field::Name, Some(i64::from(function)));
            row.put(Field::Message, (shown != function).then_some(i64::from(shown)));
        }
        let has_end = is_unfinished || row.get(Field::End).is_some();
        if let Some(rows) = own {
            rows.push(&row);
        }
        Open { row: Some((role, at)), has_end }
    }

    /// The end of a slice, which may state arguments too.
    fn end(&mut self, open: &Open, event: &Event, time_ns: i64) {
        let Some((role, row)) = open.row else { return };
        let Document { names, rows, arguments, .. } = &mut self.document;
        let Some(rows) = rows.get_mut(role as usize) else { return };
        if !open.has_end {
            rows.set(row, Field::End, time_ns);
        }
        for (name, value) in &event.arguments {
            match key(role, names.text(*name)) {
                Some(Key::Of(field)) => value.integer(names).into_iter().for_each(|value| rows.set(row, field, value)),
                Some(_) => {}
                None => {
                    let value = value.text(names);
                    arguments.push(Owned { role, row, name: *name, value });
                }
            }
        }
    }

    fn value(&mut self, place: usize, time_ns: i64, value: f64) {
        let mut row = Row::default();
        row.put(Field::Track, Some(place as i64));
        row.put(Field::Start, Some(time_ns));
        // The bits of -0 are those of no value.
        row.put(Field::Value, Some((value + 0.0).to_bits() as i64));
        self.document.values.push(&row);
    }
}

fn sizes_of(value: Argument, names: &Names) -> Option<[i64; 3]> {
    match value {
        Argument::Text(text) => sizes(names.text(text)),
        value => value.integer(names).map(|all| [all, 1, 1]),
    }
}

/// Adds sizes unless they are stated one by one.
fn put_sizes(row: &mut Row, first: Field, sizes: [i64; 3]) {
    let fields = match first {
        Field::WorkgroupX => [Field::WorkgroupX, Field::WorkgroupY, Field::WorkgroupZ],
        _ => [Field::GridX, Field::GridY, Field::GridZ],
    };
    if fields.iter().all(|field| row.get(*field).is_none()) {
        fields.into_iter().zip(sizes).for_each(|(field, size)| row.put(field, Some(size)));
    }
}

/// What the recorder reports to have dropped: overwritten and discarded chunks of buffers, and losses of writers.
fn dropped(statistics: &[u8]) -> Result<u64, Malformed> {
    let mut all = 0_u64;
    for field in Fields::new(statistics) {
        let field = field?;
        let (1, Value::Bytes(buffer)) = (field.number, field.value) else { continue };
        for field in Fields::new(buffer) {
            let field = field?;
            if let (3 | 18 | 19, Value::Varint(count)) = (field.number, field.value) {
                all = all.saturating_add(count);
            }
        }
    }
    Ok(all)
}
