//! Which files are Perfetto traces, by their first bytes: records of field 1 whose fields are those of packets.

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
/// Fields of which one has to be there: other formats use the small numbers too.
const TELLING: [u64; 6] = [10, 36, 50, 60, 89, 126];
/// So many packets in a row are not an accident.
const IN_A_ROW: usize = 3;
/// Numbers that fields of packets have.
const MAX_FIELD: u64 = 1 << 20;

/// Whether first bytes are those of a Perfetto trace. What follows the first packet that identifies it may be damaged or cut.
pub(crate) fn is_perfetto(head: &[u8]) -> bool {
    let mut rest = head;
    while let Some((&PACKET_KEY, behind)) = rest.split_first() {
        let Ok((length, width)) = varint(behind) else { return false };
        let inside = behind.get(width..).unwrap_or_default();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (packet, is_cut) = (inside.get(..length).unwrap_or(inside), length > inside.len());
        match telling(packet, is_cut) {
            Some(false) => {}
            found => return found.is_some(),
        }
        rest = inside.get(length..).unwrap_or_default();
    }
    false
}

/// Whether bytes whose start is damaged have packets of a Perfetto trace: some whole ones in a row, each of which identifies it.
pub(crate) fn has_packets(head: &[u8]) -> bool {
    let in_a_row = |at: usize| {
        let mut rest = head.get(at..).unwrap_or_default();
        (0..IN_A_ROW).all(|_| {
            let Some((&PACKET_KEY, behind)) = rest.split_first() else { return false };
            let Ok((length, width)) = varint(behind) else { return false };
            let inside = behind.get(width..).unwrap_or_default();
            let Some((packet, after)) = inside.split_at_checked(length as usize) else { return false };
            rest = after;
            telling(packet, false) == Some(true)
        })
    };
    memchr::memchr_iter(PACKET_KEY, head).any(in_a_row)
}

/// Whether a packet has a field that identifies a trace; `None` if it is not a packet.
fn telling(packet: &[u8], is_cut: bool) -> Option<bool> {
    let mut found = false;
    for field in Fields::new(packet) {
        let field = match field {
            Ok(field) => field,
            Err(Malformed::Cut) if is_cut => break,
            Err(_) => return None,
        };
        let is_number = matches!(field.value, Value::Varint(_));
        let is_contrary = KNOWN.iter().any(|(number, is)| *number == field.number && *is != is_number);
        if is_contrary || field.number > MAX_FIELD {
            return None;
        }
        found |= TELLING.contains(&field.number);
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
            // A list of messages with an id and a name, as XSpace of XLA.
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
