//! The packets of a trace file. The file is read in pieces: a packet is in memory only while it is processed.

use std::io::{ErrorKind, Read};

use super::wire::{Fields, Malformed, Value, varint};

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 20;
const MAX_PACKET: u64 = 1 << 28;
/// First byte of a packet: field 1 of the file, with bytes.
pub(crate) const PACKET_KEY: u8 = 0x0a;

/// A part of a file: a packet that can be read, or the bytes between packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePart<'a> {
    Packet(u64, &'a [u8]),
    /// Bytes from this place on are not a packet. The next packet does not continue the previous one.
    Gap(u64, String),
    /// The end of the file, and the problem there, if any.
    End(Option<String>),
}

pub struct Packets<R> {
    input: R,
    buffer: Vec<u8>,
    /// Start of the next packet in the buffer.
    at: usize,
    /// Start of the buffer in the file.
    base: u64,
    has_ended: bool,
    failure: Option<String>,
}

/// The record that starts at a place.
enum Record {
    /// A packet, by the bytes of its head and of its content.
    Packet(usize, usize),
    /// Another field, by its bytes.
    Other(usize),
    /// More bytes must be read to decide.
    Unknown,
    Malformed(Malformed),
}

impl<R: Read> Packets<R> {
    pub fn new(input: R) -> Self {
        Self { input, buffer: Vec::new(), at: 0, base: 0, has_ended: false, failure: None }
    }

    pub fn next(&mut self) -> FilePart<'_> {
        loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            let place = self.base.saturating_add(self.at as u64);
            match record(rest) {
                Record::Packet(head, length) => {
                    let start = self.at.saturating_add(head);
                    self.at = start.saturating_add(length);
                    return FilePart::Packet(place, self.buffer.get(start..self.at).unwrap_or_default());
                }
                Record::Other(length) => self.at = self.at.saturating_add(length),
                Record::Unknown if !self.has_ended => self.fill(),
                Record::Unknown if rest.is_empty() => return FilePart::End(self.failure.take()),
                Record::Unknown => {
                    // The file is cut, or the length of this packet is damaged and others follow.
                    self.find_next();
                    if self.at < self.buffer.len() {
                        return FilePart::Gap(place, Malformed::Cut.to_string());
                    }
                    let cut = || format!("the file ends inside the packet that starts at byte {place}");
                    return FilePart::End(Some(self.failure.take().unwrap_or_else(cut)));
                }
                Record::Malformed(what) => {
                    self.find_next();
                    return FilePart::Gap(place, what.to_string());
                }
            }
        }
    }

    /// Moves to the next place where packets seem to start.
    fn find_next(&mut self) {
        self.at = self.at.saturating_add(1);
        loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            let found = memchr::memchr_iter(PACKET_KEY, rest).find(|at| starts(rest.get(*at..).unwrap_or_default()));
            match found {
                Some(at) => {
                    self.at = self.at.saturating_add(at);
                    return;
                }
                None if self.has_ended => {
                    self.at = self.buffer.len();
                    return;
                }
                None => {
                    // A packet may start in the last bytes, while the packet behind it is not read yet.
                    self.at = self.buffer.len().saturating_sub(BUFFER / 4).max(self.at);
                    self.fill();
                }
            }
        }
    }

    /// Drops the bytes that were passed, and reads more.
    fn fill(&mut self) {
        self.buffer.drain(..self.at.min(self.buffer.len()));
        self.base = self.base.saturating_add(self.at as u64);
        self.at = 0;
        let before = self.buffer.len();
        // A larger packet is read in growing steps, whatever length it states.
        let wanted = BUFFER.max(before);
        self.buffer.resize(before.saturating_add(wanted), 0);
        let mut length = before;
        while let Some(target) = self.buffer.get_mut(length..).filter(|target| !target.is_empty()) {
            match self.input.read(target) {
                Ok(0) => {
                    self.has_ended = true;
                    break;
                }
                Ok(count) => length = length.saturating_add(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error.to_string());
                    self.has_ended = true;
                    break;
                }
            }
        }
        self.buffer.truncate(length);
    }
}

fn record(bytes: &[u8]) -> Record {
    let number = |at: usize| varint(bytes.get(at..).unwrap_or_default());
    let (key, key_length) = match number(0) {
        Ok(read) => read,
        Err(Malformed::Cut) => return Record::Unknown,
        Err(what) => return Record::Malformed(what),
    };
    let (head, length) = match (key >> 3, key & 7) {
        (0, _) => return Record::Malformed(Malformed::Key),
        (_, 1) => (key_length, 8),
        (_, 5) => (key_length, 4),
        (_, wire @ (0 | 2)) => match number(key_length) {
            Ok((length, width)) => (key_length + width, if wire == 0 { 0 } else { length }),
            Err(Malformed::Cut) => return Record::Unknown,
            Err(what) => return Record::Malformed(what),
        },
        _ => return Record::Malformed(Malformed::Wire),
    };
    if length > MAX_PACKET {
        return Record::Malformed(Malformed::Cut);
    }
    let length = length as usize;
    match head.saturating_add(length) {
        all if all > bytes.len() => Record::Unknown,
        _ if key == u64::from(PACKET_KEY) => Record::Packet(head, length),
        all => Record::Other(all),
    }
}

/// Whether bytes start with a packet of a sequence, followed by another packet or the end.
fn starts(bytes: &[u8]) -> bool {
    let Record::Packet(head, length) = record(bytes) else { return false };
    let end = head.saturating_add(length);
    let packet = bytes.get(head..end).unwrap_or_default();
    let rest = bytes.get(end..).unwrap_or_default();
    is_packet(packet) && (rest.is_empty() || rest.first() == Some(&PACKET_KEY))
}

/// Whether all of a message can be read, and it has a sequence or describes a track.
fn is_packet(message: &[u8]) -> bool {
    let mut is_known = false;
    let is_whole = Fields::new(message).all(|field| {
        is_known |= matches!(field, Ok((10, Value::Varint(_)) | (60, Value::Bytes(_))));
        field.is_ok()
    });
    is_whole && is_known
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of sequence 1 with a time.
    fn packet(time: u8) -> Vec<u8> {
        vec![PACKET_KEY, 4, 64, time, 80, 1]
    }

    fn parts(bytes: &[u8]) -> (Vec<u8>, Vec<u64>, Option<String>) {
        let (mut packets, mut times, mut gaps) = (Packets::new(bytes), Vec::new(), Vec::new());
        loop {
            match packets.next() {
                FilePart::Packet(_, packet) => times.push(packet[1]),
                FilePart::Gap(place, _) => gaps.push(place),
                FilePart::End(end) => return (times, gaps, end),
            }
        }
    }

    #[test]
    fn packets_are_read_in_order_and_other_fields_are_passed_over() {
        let bytes = [packet(1), vec![16, 7, 26, 2, 0, 0], packet(2)].concat();
        assert_eq!(parts(&bytes), (vec![1, 2], vec![], None));
        assert_eq!(parts(&[]), (vec![], vec![], None));
    }

    #[test]
    fn what_follows_damage_is_found_again() {
        let bytes = [packet(1), vec![0, 0, 0xff, 0x0a, 0x0a], packet(2), packet(3)].concat();
        assert_eq!(parts(&bytes), (vec![1, 2, 3], vec![6], None));
    }

    #[test]
    fn a_cut_file_names_the_packet() {
        let bytes = [packet(1), packet(2)].concat();
        let (times, gaps, end) = parts(&bytes[..bytes.len() - 1]);
        assert_eq!((times, gaps), (vec![1], vec![]));
        assert_eq!(end.unwrap(), "the file ends inside the packet that starts at byte 6");
    }

    #[test]
    fn a_damaged_length_costs_one_packet() {
        let mut damaged = packet(2);
        damaged[1] = 120;
        let bytes = [packet(1), damaged, packet(3)].concat();
        assert_eq!(parts(&bytes), (vec![1, 3], vec![6], None));
    }
}
