//! Records: a header with the type of every field, then the fields.

use super::bytes::{u64_at, varint};
use super::fault::Fault;
use super::value::Value;

/// Type of a field after the last field of a record: the column was added to the table later.
pub const ABSENT: u64 = u64::MAX;

/// Type of a text of 256 bytes. Shorter texts may end in zeros that their writer counted as part of the text.
const LONG_TEXT: u64 = 13 + 2 * 256;

/// Size of a field in bytes, by types of one byte.
const BYTES: [u8; 256] = bytes_by_type();
/// Bits by which eight bytes are shifted right to get the integer at their start, by the type of the field.
const SHIFTS: [u32; 8] = [0, 56, 48, 40, 32, 16, 0, 0];

const fn bytes_by_type() -> [u8; 256] {
    let mut bytes = [0_u8; 256];
    let mut serial = 0;
    while serial < 128 {
        let size = match serial {
            1..=4 => serial,
            5 => 6,
            6 | 7 => 8,
            0 | 8..=11 => 0,
            _ => (serial - 12) / 2,
        };
        #[expect(
            clippy::indexing_slicing,
            reason = "a constant has nothing but indexing, and the loop ends at the length"
        )]
        {
            bytes[serial] = size as u8;
        }
        serial += 1;
    }
    bytes
}

/// A field: its type, and its offset in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Type as stored.
    pub serial: u64,
    /// First byte.
    pub at: usize,
}

/// Fields of a record, found by their positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// In the order of the positions.
    pub slots: Vec<Slot>,
    /// End of the last of them.
    pub end: usize,
    /// Start of the header in which they were found. Records with the same start have the fields at the same offsets.
    begin: Vec<u8>,
}

impl Slots {
    pub(crate) fn header_bytes(record: &[u8]) -> Option<usize> {
        varint(record, 0).and_then(|(bytes, _)| usize::try_from(bytes).ok())
    }

    /// Finds the fields at `positions`, which are in rising order.
    ///
    /// # Errors
    /// When the header contradicts itself, or is longer than `record`.
    #[inline]
    pub fn find(&mut self, record: &[u8], positions: &[usize]) -> Result<(), Fault> {
        if !self.begin.is_empty() && record.starts_with(&self.begin) {
            return Ok(());
        }
        self.begin.clear();
        self.slots.clear();
        self.find_anew(record, positions).ok_or(Fault::BadRecord)
    }

    fn find_anew(&mut self, record: &[u8], positions: &[usize]) -> Option<()> {
        let (header_bytes, mut at) = varint(record, 0)?;
        let header_bytes = usize::try_from(header_bytes).ok()?;
        let header = record.get(..header_bytes).filter(|header| header.len() >= at)?;
        let mut body = header_bytes;
        let mut column = 0;
        for &position in positions {
            loop {
                let Some(&first) = header.get(at) else {
                    self.slots.push(Slot { serial: ABSENT, at: body });
                    break;
                };
                let (serial, bytes, size) = if first < 0x80 {
                    (u64::from(first), 1, usize::from(*BYTES.get(usize::from(first))?))
                } else {
                    let (serial, bytes) = varint(header, at)?;
                    (serial, bytes, field_bytes(serial)?)
                };
                if matches!(serial, 10 | 11) {
                    return None;
                }
                let begin = body;
                at += bytes;
                column += 1;
                body = body.checked_add(size)?;
                if column > position {
                    self.slots.push(Slot { serial, at: begin });
                    break;
                }
            }
        }
        self.end = body;
        self.begin.extend_from_slice(header.get(..at)?);
        Some(())
    }
}

/// Size in bytes of a field of a type.
pub(crate) fn field_bytes(serial: u64) -> Option<usize> {
    match serial {
        0..=127 => BYTES.get(serial as usize).map(|bytes| usize::from(*bytes)),
        _ => usize::try_from((serial - 12) / 2).ok(),
    }
}

/// An integer of a record that starts at `start` of `bytes`; `None` if the field has another type.
#[inline]
pub fn integer(bytes: &[u8], start: usize, slot: Slot) -> Option<i64> {
    match slot.serial {
        1..=6 => {
            let shift = SHIFTS.get(slot.serial as usize).copied().unwrap_or(0);
            Some((u64_at(bytes, start + slot.at) as i64) >> shift)
        }
        8 => Some(0),
        9 => Some(1),
        _ => None,
    }
}

/// The value of a field of a record that starts at `start` of `bytes`.
pub fn value(bytes: &[u8], start: usize, slot: Slot) -> Value<'_> {
    if let Some(integer) = integer(bytes, start, slot) {
        return Value::Integer(integer);
    }
    match slot.serial {
        7 => {
            let real = f64::from_bits(u64_at(bytes, start + slot.at));
            if real.is_nan() { Value::Null } else { Value::Real(real) }
        }
        0..12 | ABSENT => Value::Null,
        serial => {
            let from = start + slot.at;
            let length = field_bytes(serial).unwrap_or(0);
            let bytes = bytes.get(from..from.saturating_add(length)).unwrap_or_default();
            if serial % 2 == 1 { Value::Text(bytes) } else { Value::Blob(bytes) }
        }
    }
}

/// Whether the last field of a record is a long text that ends in zeros: the end of a shorter record has replaced its own end.
pub(crate) fn text_ends_in_zeros(record: &[u8]) -> bool {
    const ZEROS: &[u8] = &[0; 2];
    let last = || {
        let (header_bytes, mut at) = varint(record, 0)?;
        let header = record.get(..usize::try_from(header_bytes).ok()?)?;
        let mut last = 0;
        while at < header.len() {
            let (serial, bytes) = varint(header, at)?;
            (last, at) = (serial, at + bytes);
        }
        Some(last)
    };
    record.ends_with(ZEROS) && last().is_some_and(|serial| serial % 2 == 1 && serial > LONG_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_position() {
        // A null, an integer of two bytes, the text `ab`, the constant 1.
        let record = [5, 0, 2, 17, 9, 0xff, 0xfe, b'a', b'b'];
        let mut slots = Slots::default();
        slots.find(&record, &[1, 2, 3, 7]).unwrap();
        let values: Vec<Value<'_>> = slots.slots.iter().map(|slot| value(&record, 0, *slot)).collect();
        assert_eq!(values, [Value::Integer(-2), Value::Text(b"ab"), Value::Integer(1), Value::Null]);
        assert_eq!(slots.end, record.len());
        assert_eq!(Slots::default().find(&record[..3], &[1]), Err(Fault::BadRecord));
        assert_eq!(Slots::default().find(&[2, 10], &[0]), Err(Fault::BadRecord));
        assert_eq!(Slots::default().find(&[0], &[0]), Err(Fault::BadRecord));
    }

    #[test]
    fn long_texts_have_long_types() {
        let mut record = vec![3, 0x82, 0x55];
        record.extend_from_slice(&[b'x'; 164]);
        let mut slots = Slots::default();
        slots.find(&record, &[0]).unwrap();
        assert_eq!(slots.end, record.len());
        assert_eq!(value(&record, 0, slots.slots[0]), Value::Text(&[b'x'; 164]));
    }
}
