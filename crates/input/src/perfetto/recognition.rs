//! Recognizes Perfetto traces by their first bytes: records of field 1 with the fields of packets.

use super::packets::PACKET_KEY;
use super::wire::{Fields, Malformed, Value, varint};

/// Fields that packets of a trace have at its start, and whether each is a number: time, sequence, flags; event, interned texts, clocks,
/// descriptor, trace uuid, configuration, the process tree, services, compressed packets, system information, ftrace.
const KNOWN: [(u64, bool); 16] = [
    (8, true),
    (10, true),
    (13, true),
    (1, false),
    (2, false),
    (6, false),
    (11, false),
    (12, false),
    (33, false),
    (35, false),
    (36, false),
    (45, false),
    (50, false),
    (60, false),
    (89, false),
    (126, false),
];
/// Fields that identify a packet, which must have one of them: other formats use the small numbers too.
const TELLING: [u64; 6] = [10, 36, 50, 60, 89, 126];
/// This many packets in a row are not a coincidence.
const IN_A_ROW: usize = 3;
/// Maximum number of a field of packets.
const MAX_FIELD: u64 = 1 << 20;

/// Whether the first bytes show a Perfetto trace. Bytes behind the first packet that identifies it may be damaged or cut.
pub(crate) fn is_perfetto(head: &[u8]) -> bool {
    let mut rest = head;
    while let Some((packet, behind)) = first_packet(rest) {
        match telling(packet, behind.is_none()) {
            Some(false) => {}
            found => return found.is_some(),
        }
        rest = behind.unwrap_or_default();
    }
    false
}

/// The packet at the start of some bytes, and the bytes behind it if it is complete.
fn first_packet(bytes: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let behind = bytes.strip_prefix(&[PACKET_KEY])?;
    let (length, width) = varint(behind).ok()?;
    let inside = behind.get(width..)?;
    let whole = inside.split_at_checked(usize::try_from(length).unwrap_or(usize::MAX));
    Some(whole.map_or((inside, None), |(packet, behind)| (packet, Some(behind))))
}

/// Whether bytes with a damaged start have packets of a Perfetto trace: several complete packets in a row, each of which identifies it.
pub(crate) fn has_packets(head: &[u8]) -> bool {
    let in_a_row = |at: usize| {
        let mut rest = head.get(at..).unwrap_or_default();
        (0..IN_A_ROW).all(|_| {
            let Some((packet, Some(behind))) = first_packet(rest) else { return false };
            rest = behind;
            telling(packet, false) == Some(true)
        })
    };
    memchr::memchr_iter(PACKET_KEY, head).any(in_a_row)
}

/// Whether a packet has a field that identifies a trace; `None` if it is not a packet.
fn telling(packet: &[u8], is_cut: bool) -> Option<bool> {
    let mut found = false;
    for field in Fields::new(packet) {
        let (number, value) = match field {
            Ok(field) => field,
            Err(Malformed::Cut) if is_cut => break,
            Err(_) => return None,
        };
        let is_number = matches!(value, Value::Varint(_));
        if KNOWN.contains(&(number, !is_number)) || number > MAX_FIELD {
            return None;
        }
        found |= TELLING.contains(&number);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_told_from_other_bytes() {
        // A packet with a time and a sequence, and one that is cut.
        let trace = [0x0a, 4, 64, 9, 80, 1, 0x0a, 0x7f, 0x42, 2, 8, 1, 0x5a, 0x50, 1];
        assert!(is_perfetto(&trace) && is_perfetto(&trace[..6]));
        for other in [
            b"\n{\n  \"schemaVersion\": 1, \"record_shapes\": 1, \"traceEvents\": []}".as_slice(),
            b"\n\n\n\nKind,Agent_Id,Queue_Id",
            b"",
            b"\n",
            // A list of messages with an id and a name, such as XSpace of XLA.
            &[0x0a, 6, 8, 1, 18, 2, b'h', b'i', 0x0a, 2, 8, 2],
            // A sequence that is a text.
            &[0x0a, 4, 82, 2, b'a', b'b'],
        ] {
            assert!(!is_perfetto(other) && !has_packets(other), "{other:?}");
        }
        let packet = [0x0a, 4, 64, 9, 80, 1];
        let damaged = [&[0x0a, 3, 0, 0], packet.as_slice(), &packet, &packet].concat();
        assert!(!is_perfetto(&damaged) && has_packets(&damaged) && !has_packets(&damaged[..damaged.len() - 1]));
    }
}
