//! Scans the list of events on all threads, and keeps the place of each event that is read.
//!
//! A thread that starts in the middle of the list guesses where an event starts. Its result counts only if the thread before it ends
//! exactly there; otherwise it is dropped, and the events are read again. So the result is the same as with one thread.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use rayon::prelude::*;

use super::cursor::{Cursor, Stop, UNCLOSED, members};
use super::decimal::nanoseconds;
use super::event::{Event, identity, integer, label, number_of};
use super::kinds::{HIP, HOST, KINDS, Role, kind_of};
use crate::json::TextFile;
use crate::json::words::first_control;

/// Bytes from which one thread reads events at a time.
const CHUNK_BYTES: u64 = 1 << 20;
/// Bytes behind a chunk in which its last event is likely to end.
const OVERLAP_BYTES: u64 = 1 << 16;
/// Maximum bytes of one event.
const MAX_EVENT_BYTES: u64 = 1 << 26;
/// Bytes before a chunk in which the comma before its first event must be.
const BEFORE_BYTES: u64 = 1 << 8;
/// Maximum chunks that the threads read before they wait for each other.
const MAX_CHUNKS: u64 = 64;
/// Marks the kind of an event that ends when it starts.
const NO_LENGTH: u8 = 1 << 7;

/// Names that the first member of an event may have.
const FIRST_KEYS: [&[u8]; 8] = [b"ph", b"name", b"cat", b"pid", b"tid", b"ts", b"args", b"id"];

/// The events that start in a part of the file.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Start of the first event.
    pub start: u64,
    /// Start of the next event, or end of the list.
    pub end: u64,
    /// Offset of each event that is read, from `start`.
    offsets: Vec<u32>,
    /// The kind of each event: a place in [`KINDS`], and whether it has a length.
    kinds: Vec<u8>,
}

/// An event that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Offset from the start of the chunk.
    pub offset: usize,
    /// Place in [`KINDS`].
    pub kind: u8,
    /// Whether it ends when it starts.
    pub has_no_length: bool,
}

impl Chunk {
    /// The events in their order.
    pub fn events(&self) -> impl Iterator<Item = Found> {
        self.offsets.iter().zip(&self.kinds).map(|(offset, kind)| Found {
            offset: *offset as usize,
            kind: kind & !NO_LENGTH,
            has_no_length: kind & NO_LENGTH != 0,
        })
    }
}

/// Sums of GPU work. They identify the trace of a rank in a file that it was merged into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorkSum {
    pub activities: u64,
    pub duration_ns: i64,
}

/// Facts gathered while the list is scanned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// Devices that worked.
    pub devices: BTreeSet<i64>,
    /// GPUs whose memory was allocated, as the allocator numbers them.
    pub memory: BTreeSet<i64>,
    /// Processes that called the runtime.
    pub callers: BTreeSet<i64>,
    /// Labels that a merging program wrote before process ids; empty for processes without a label.
    pub labels: BTreeSet<String>,
    pub work: WorkSum,
    /// Events with line ends in their texts.
    pub with_lines: u64,
    /// Events that are not read, by their category.
    pub unread: BTreeMap<String, u64>,
    /// Number of damaged events, and the place and problem of the first.
    pub damaged: u64,
    pub first_damage: Option<(u64, &'static str)>,
}

impl Census {
    fn add(&mut self, other: Self) {
        self.devices.extend(other.devices);
        self.memory.extend(other.memory);
        self.callers.extend(other.callers);
        self.labels.extend(other.labels);
        self.work.activities += other.work.activities;
        self.work.duration_ns = self.work.duration_ns.wrapping_add(other.work.duration_ns);
        self.with_lines += other.with_lines;
        for (category, count) in other.unread {
            *self.unread.entry(category).or_default() += count;
        }
        self.damaged += other.damaged;
        self.first_damage = self.first_damage.or(other.first_damage);
    }
}

/// The list of events.
#[derive(Clone, Debug, Default)]
pub struct Events {
    pub chunks: Vec<Chunk>,
    pub census: Census,
    /// End of the list, or of the text if the list is cut.
    pub end: u64,
    /// Whether it was closed.
    pub is_closed: bool,
}

/// How a chunk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// More events follow.
    More,
    /// The list ends here too.
    Closed,
    /// The text ends before the chunk.
    Cut,
}

struct Part {
    chunk: Chunk,
    census: Census,
    end: End,
}

impl Events {
    /// The events by label, as if each label had its own file. Labels with only names and spans are left out, unless all are like that.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn by_label(self, file: &TextFile) -> Result<Vec<(String, Self)>> {
        if self.census.labels.iter().all(String::is_empty) {
            return Ok(vec![(String::new(), self)]);
        }
        let mut parts: BTreeMap<String, Self> = BTreeMap::new();
        for chunk in &self.chunks {
            let mut of_chunk: BTreeMap<String, (Chunk, Census)> = BTreeMap::new();
            file.with_text(chunk.start, chunk.end, |text, lent| {
                let text = text.get(..lent).unwrap_or_default();
                for (found, offset) in chunk.events().zip(&chunk.offsets) {
                    let Ok(event) = Event::read_known(text, found.offset) else { continue };
                    let label = label(event.pid).unwrap_or_default();
                    if !of_chunk.contains_key(label) {
                        let (start, end) = (chunk.start, chunk.end);
                        let part = (Chunk { start, end, ..Chunk::default() }, Census::default());
                        of_chunk.insert(label.to_owned(), part);
                    }
                    let Some((part, census)) = of_chunk.get_mut(label) else { continue };
                    note(&event, census, &mut BTreeMap::new(), |kind| {
                        part.offsets.push(*offset);
                        part.kinds.push(kind);
                    });
                }
            })?;
            for (label, (chunk, census)) in of_chunk {
                let part = parts.entry(label).or_default();
                part.chunks.push(chunk);
                part.census.add(census);
            }
        }
        let does_something = |part: &Self| {
            let kinds =
                part.chunks.iter().flat_map(Chunk::events).filter_map(|found| KINDS.get(usize::from(found.kind)));
            kinds.into_iter().any(|kind| !matches!(kind.role, Role::Name | Role::Span))
        };
        if parts.values().any(does_something) {
            parts.retain(|_, part| does_something(part));
        }
        // Events without a process are reported with the first.
        if let Some(first) = parts.values_mut().next() {
            first.census.unread = self.census.unread;
            first.census.with_lines = self.census.with_lines;
        }
        Ok(parts.into_iter().collect())
    }

    /// Reads the list whose first event starts at `at` or behind blanks there.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(file: &TextFile, at: u64) -> Result<Self> {
        Self::read_by(file, at, CHUNK_BYTES)
    }

    pub(super) fn read_by(file: &TextFile, at: u64, chunk_bytes: u64) -> Result<Self> {
        let length = file.length()?;
        let mut events = Self { end: at, ..Self::default() };
        let mut width = 1;
        loop {
            let at = events.end;
            let parts: Vec<Option<Part>> = (0..width)
                .into_par_iter()
                .map(|number| {
                    let from = at.saturating_add(number * chunk_bytes);
                    read_part(file, length, from, chunk_bytes, number > 0)
                })
                .collect::<Result<_>>()?;
            let mut fitted = 0;
            let mut end = End::More;
            for (number, part) in (0..).zip(parts) {
                let Some(part) = part.filter(|part| number == 0 || part.chunk.start == events.end) else { break };
                fitted += 1;
                events.end = part.chunk.end;
                events.census.add(part.census);
                events.chunks.push(part.chunk);
                end = part.end;
                if end != End::More {
                    break;
                }
            }
            if end != End::More {
                events.is_closed = end == End::Closed;
                return Ok(events);
            }
            width = if fitted == width { (width * 2).min(MAX_CHUNKS) } else { 1 };
        }
    }
}

/// Reads the events that start in a chunk of the file. An event starts at `from`, unless its start must be `guessed`.
fn read_part(file: &TextFile, length: u64, from: u64, chunk_bytes: u64, guessed: bool) -> Result<Option<Part>> {
    let before = if guessed { BEFORE_BYTES.min(from) } else { 0 };
    let base = from.saturating_sub(before);
    let mut overlap = OVERLAP_BYTES;
    loop {
        let end = from.saturating_add(chunk_bytes).saturating_add(overlap);
        let is_all = end >= length;
        let part = file.with_text(base, end, |text, lent| {
            let text = text.get(..lent).unwrap_or_default();
            let from = before as usize;
            let start = if guessed { next_start(text, from)? } else { from };
            Some(walk(text, start, from.saturating_add(chunk_bytes as usize), base))
        })?;
        match part {
            Some(part) if part.end == End::Cut && !is_all && overlap < MAX_EVENT_BYTES => overlap *= 2,
            None if !guessed => return Ok(None),
            part => return Ok(part),
        }
    }
}

/// Reads the events of a text from the place `start`, as long as they start before `limit`. The text starts at `base` in the file.
fn walk(text: &[u8], start: usize, limit: usize, base: u64) -> Part {
    let mut chunk = Chunk { start: base.saturating_add(start as u64), ..Chunk::default() };
    let mut census = Census::default();
    let mut unread: BTreeMap<&[u8], u64> = BTreeMap::new();
    let mut at = start;
    let end = loop {
        let mut cursor = Cursor::new(text, at);
        let read = before_event(&mut cursor).and_then(|is_last| {
            at = cursor.at();
            match is_last {
                true => Ok(Err(End::Closed)),
                false if at >= limit => Ok(Err(End::More)),
                false => read_event(&mut cursor, &mut census).and_then(|event| sound(event, &cursor, at)).map(Ok),
            }
        });
        match read {
            Ok(Err(end)) => break end,
            Ok(Ok(event)) => {
                note(&event, &mut census, &mut unread, |kind| {
                    chunk.offsets.push(u32::try_from(at.saturating_sub(start)).unwrap_or(u32::MAX));
                    chunk.kinds.push(kind);
                });
                at = cursor.at();
            }
            Err(Stop::Ends) => break End::Cut,
            Err(Stop::Malformed(what)) => {
                census.damaged += 1;
                census.first_damage.get_or_insert((base.saturating_add(cursor.at() as u64), what));
                match next_start(text, at.saturating_add(1)) {
                    Some(next) => at = next,
                    None => break End::Cut,
                }
            }
        }
    };
    chunk.end = base.saturating_add(at as u64);
    for (category, count) in unread {
        *census.unread.entry(String::from_utf8_lossy(category).into_owned()).or_default() += count;
    }
    Part { chunk, census, end }
}

/// Reads an event. Its texts may hold line ends if nothing else is wrong with it.
fn read_event<'a>(cursor: &mut Cursor<'a>, census: &mut Census) -> Result<Event<'a>, Stop> {
    let mut lenient = cursor.with_lines();
    let read = Event::read(cursor);
    if read != Err(UNCLOSED) {
        return read;
    }
    let event = Event::read(&mut lenient).map_err(|_| UNCLOSED)?;
    if !matches!(lenient.peek(), Ok(b',' | b']')) {
        return Err(UNCLOSED);
    }
    *cursor = lenient;
    census.with_lines += 1;
    Ok(event)
}

/// Returns an event if its text, from `start` to the cursor, has only bytes that JSON allows. A lost block of a file is full of zeros, and
/// the texts before and behind it may look like one event.
fn sound<'a>(event: Event<'a>, cursor: &Cursor<'a>, start: usize) -> Result<Event<'a>, Stop> {
    match first_control(cursor.before().get(start..).unwrap_or_default()) {
        Some(_) => Err(Stop::Malformed("a byte that JSON does not allow, such as those of a block of zeros")),
        None => Ok(event),
    }
}

/// Passes over the commas before an event, or over the end of the list. Returns whether the list ends. Extra commas lose nothing, even if a
/// chunk ends between them.
fn before_event(cursor: &mut Cursor<'_>) -> Result<bool, Stop> {
    while cursor.take(b',')? {}
    cursor.take(b']')
}

/// Counts an event that is not read, and keeps one that is.
fn note<'a>(event: &Event<'a>, census: &mut Census, unread: &mut BTreeMap<&'a [u8], u64>, keep: impl FnOnce(u8)) {
    let Some(place) = kind_of(event.phase, event.category, event.name.raw) else {
        let what = if event.category.is_empty() { event.phase } else { event.category };
        *unread.entry(what).or_default() += 1;
        return;
    };
    let Some(kind) = KINDS.get(usize::from(place)) else { return };
    let label = label(event.pid).unwrap_or_default();
    if !census.labels.contains(label) {
        census.labels.insert(label.to_owned());
    }
    match kind.role {
        Role::Kernel | Role::Copy => {
            let device = members(event.args).find(|(key, _)| key.raw == b"device");
            census.devices.extend(device.map_or_else(|| number_of(event.pid), |(_, value)| integer(value)));
            census.work.activities += 1;
            let duration_ns = nanoseconds(event.duration).unwrap_or(0);
            census.work.duration_ns = census.work.duration_ns.wrapping_add(duration_ns);
        }
        Role::Allocation => census.memory.extend(memory_device(event.args)),
        Role::Region if kind.domain == HIP => census.callers.extend(identity(event.pid)),
        _ => {}
    }
    let has_no_length = kind.role == Role::Region && event.has_no_length();
    keep(if has_no_length { place | NO_LENGTH } else { place });
}

/// The GPU of an event of an allocator; `None` for the memory of the host.
fn memory_device(args: &[u8]) -> Option<i64> {
    let find = |name: &[u8]| members(args).find(|(key, _)| key.raw == name).and_then(|(_, value)| integer(value));
    find(b"Device Id").filter(|id| *id >= 0 && find(b"Device Type") != Some(HOST))
}

/// The first place from `from` on at which an event seems to start: a bracket behind another event and its comma, and before a key that
/// events have.
fn next_start(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memchr::memchr_iter(b'{', rest).map(|at| from + at).find(|at| {
        let (before, behind) = text.split_at_checked(*at).unwrap_or_default();
        let follows = || before.trim_ascii_end().strip_suffix(b",")?.trim_ascii_end().strip_suffix(b"}");
        let mut inside = Cursor::new(behind, 1);
        follows().is_some() && inside.key().is_ok_and(|key| FIRST_KEYS.contains(&key.raw))
    })
}
