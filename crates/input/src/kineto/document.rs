//! The content of a file: the list of events, and the members around it that describe the run, if there are any.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::cursor::{Cursor, Stop, UNCLOSED};
use super::scan::Events;
use crate::json::TextFile;

/// The member with the list of events.
pub(super) const EVENTS: &[u8] = b"traceEvents";
/// The mark that some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Members that are read in addition to the events.
const MEMBERS: [&str; 4] = ["schemaVersion", "deviceProperties", "distributedInfo", "baseTimeNanoseconds"];
/// Members that state the options of the profiler. Descriptions of the run may have some as well, so that none is looked for behind damage.
pub const OPTIONS: [&str; 5] = ["record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"];
/// Bytes that are read for a member at first.
const MEMBER_BYTES: u64 = 1 << 16;
/// Bytes behind damage that are searched for the list of events.
const SEARCH_BYTES: u64 = 1 << 26;

#[derive(Default)]
pub struct Document {
    pub events: Events,
    pub members: BTreeMap<String, Value>,
    /// Problems of the file as a whole.
    pub damage: Vec<String>,
    /// Bytes behind the end.
    pub behind: u64,
    /// Members with line ends in their texts.
    pub with_lines: u64,
    /// Whether the document is only the list, without members about the run.
    is_list: bool,
}

/// The place where reading continues.
enum Next {
    Member(u64),
    Events(u64),
    /// The end of the document.
    End(u64),
}

impl Document {
    /// Reads everything but the events themselves, and keeps their places.
    pub fn read(file: &TextFile) -> Result<Self> {
        let mut document = Self::default();
        let mut has_events = false;
        let mut next = document.open(file)?;
        loop {
            next = match next {
                Ok(Next::Member(at)) => document.member(file, at)?,
                Ok(Next::Events(at)) => {
                    if has_events {
                        document.damage.push(format!(
                            "the document has a second list of events at byte {at}, of which nothing was read"
                        ));
                    }
                    let events = Events::read(file, at)?;
                    let (end, is_closed) = (events.end, events.is_closed);
                    // A second list would belong to another trace; no profiler writes two.
                    if !has_events {
                        document.events = events;
                    }
                    has_events = true;
                    match is_closed {
                        true if document.is_list => Ok(Next::End(end)),
                        true => document.after_value(file, end)?,
                        false => Err((Stop::Ends, end)),
                    }
                }
                Ok(Next::End(at)) => {
                    let (behind, second) = bytes_behind(file, at)?;
                    document.behind = behind;
                    document.damage.extend(second.map(|at| {
                        format!("a second document starts at byte {at} of the JSON, which was not read; put it into a file of its own")
                    }));
                    break;
                }
                Err((stop, at)) => {
                    document.damage.push(message(stop, at));
                    let Some(next) = behind_damage(file, at, has_events)? else { break };
                    Ok(next)
                }
            };
        }
        document.note_damaged_events();
        Ok(document)
    }

    fn open(&mut self, file: &TextFile) -> Result<Result<Next, (Stop, u64)>> {
        lent(file, 0, |cursor| {
            if BYTE_ORDER_MARK.first() == Some(&cursor.peek()?) {
                cursor.pass(BYTE_ORDER_MARK.len());
            }
            self.is_list = cursor.take(b'[')?;
            if self.is_list {
                return Ok(Next::Events(cursor.at() as u64));
            }
            cursor.expect(b'{', "the document is not an object")?;
            Ok(if cursor.take(b'}')? { Next::End(cursor.at() as u64) } else { Next::Member(cursor.at() as u64) })
        })
    }

    /// Reads a member. If it is the list of events, stops at its start.
    fn member(&mut self, file: &TextFile, at: u64) -> Result<Result<Next, (Stop, u64)>> {
        lent(file, at, |cursor| {
            let key = cursor.key()?;
            if key.raw == EVENTS && cursor.take(b'[')? {
                return Ok(Next::Events(at.saturating_add(cursor.at() as u64)));
            }
            let start = *cursor;
            let (value, next) = match member_value(cursor, at) {
                Err(UNCLOSED) => {
                    *cursor = start.with_lines();
                    let found = member_value(cursor, at).map_err(|_| UNCLOSED)?;
                    self.with_lines += 1;
                    found
                }
                found => found?,
            };
            let key = key.text();
            if MEMBERS.contains(&key.as_ref()) || OPTIONS.contains(&key.as_ref()) {
                match serde_json::from_slice(value) {
                    Ok(value) => drop(self.members.insert(key.into_owned(), value)),
                    Err(error) => self.damage.push(format!("\"{key}\" cannot be parsed: {error}")),
                }
            }
            Ok(next)
        })
    }

    fn after_value(&self, file: &TextFile, at: u64) -> Result<Result<Next, (Stop, u64)>> {
        lent(file, at, |cursor| behind_value(cursor, at))
    }

    fn note_damaged_events(&mut self) {
        let census = &self.events.census;
        if let Some((at, what)) = census.first_damage {
            let count = census.damaged;
            self.damage.push(format!(
                "{count} events cannot be parsed, the first at byte {at} of the JSON: {what}; they were left out"
            ));
        }
    }
}

fn message(stop: Stop, at: u64) -> String {
    match stop {
        Stop::Ends => format!(
            "the file is truncated after {at} bytes of JSON; complete events were read, collect again for the rest"
        ),
        Stop::Malformed(what) => {
            format!("{what} near byte {at} of the JSON; what is said of the run there may be missing")
        }
    }
}

/// A value, and the place where the document continues behind it.
fn member_value<'a>(cursor: &mut Cursor<'a>, base: u64) -> Result<(&'a [u8], Next), Stop> {
    let value = cursor.value()?;
    Ok((value, behind_value(cursor, base)?))
}

/// The place where the document continues behind a value that ends at the cursor. The text of the cursor starts at `base`.
fn behind_value(cursor: &mut Cursor<'_>, base: u64) -> Result<Next, Stop> {
    let goes_on = cursor.take(b',')?;
    if !goes_on {
        cursor.expect(b'}', "a comma is missing")?;
    }
    let at = base.saturating_add(cursor.at() as u64);
    Ok(if goes_on { Next::Member(at) } else { Next::End(at) })
}

/// Lends the text from a place on, and more of it while it ends too early.
fn lent(
    file: &TextFile,
    at: u64,
    mut read: impl FnMut(&mut Cursor<'_>) -> Result<Next, Stop>,
) -> Result<Result<Next, (Stop, u64)>> {
    let length = file.length()?;
    let mut wanted = MEMBER_BYTES;
    loop {
        let end = at.saturating_add(wanted);
        let next =
            file.with_text(at, end, |text, lent| read(&mut Cursor::new(text.get(..lent).unwrap_or_default(), 0)))?;
        match next {
            Err(Stop::Ends) if end < length => wanted = wanted.saturating_mul(4),
            next => return Ok(next.map_err(|stop| (stop, at))),
        }
    }
}

/// The place behind damage where a known member starts, or the list of events unless it was read. The base of all times may stand there;
/// without it, all times are wrong.
fn behind_damage(file: &TextFile, at: u64, has_events: bool) -> Result<Option<Next>> {
    file.with_text(at, at.saturating_add(SEARCH_BYTES), |text, lent| {
        let text = text.get(..lent).unwrap_or_default();
        let first = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or_default();
        let events = std::str::from_utf8(EVENTS).ok().filter(|_| !has_events);
        let candidates = MEMBERS.into_iter().chain(events).filter_map(|name| {
            let key = format!("\"{name}\"");
            // The member that starts at the damaged place is damaged.
            let mut places = memchr::memmem::find_iter(text, key.as_bytes()).filter(|found| *found > first);
            places.find_map(|found| {
                let mut cursor = Cursor::new(text, found);
                cursor.key().ok()?;
                if name.as_bytes() == EVENTS {
                    return cursor
                        .take(b'[')
                        .ok()?
                        .then(|| (found, Next::Events(at.saturating_add(cursor.at() as u64))));
                }
                cursor.value().ok()?;
                Some((found, Next::Member(at.saturating_add(found as u64))))
            })
        });
        candidates.min_by_key(|(found, _)| *found).map(|(_, next)| next)
    })
}

/// Number of bytes behind the end of the document, from the first that is not blank, and the place of a second document there.
fn bytes_behind(file: &TextFile, at: u64) -> Result<(u64, Option<u64>)> {
    let length = file.length()?;
    file.with_text(at, at.saturating_add(MEMBER_BYTES), |text, lent| {
        let text = text.get(..lent).unwrap_or_default();
        let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let Some(first) = text.get(blanks) else { return (0, None) };
        let start = at.saturating_add(blanks as u64);
        (length.saturating_sub(start), matches!(first, b'{' | b'[').then_some(start))
    })
}
