//! Records of OTF2 as bytes: compressed numbers, and an id with the length of what follows. From OTF2 3.0's OTF2_Buffer.c.

/// A record under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Record(Vec<u8>);

/// Types of values.
pub(super) const INT64: u8 = 8;
pub(super) const DOUBLE: u8 = 10;
pub(super) const STRING: u8 = 11;
/// No reference.
pub(super) const UNDEFINED: u64 = 0xffff_ffff;

impl Record {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn byte(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    /// A number of 32 bits, all of which are set if it is undefined.
    pub(super) fn number(&mut self, value: u64) -> &mut Self {
        if value >= UNDEFINED {
            self.0.push(0xff);
            return self;
        }
        self.long(value)
    }

    /// A number of 64 bits: how many bytes, and those bytes.
    pub(super) fn long(&mut self, value: u64) -> &mut Self {
        if value == u64::MAX {
            self.0.push(0xff);
            return self;
        }
        let count = 8 - value.leading_zeros() as usize / 8;
        self.0.push(count as u8);
        self.0.extend(value.to_le_bytes().into_iter().take(count));
        self
    }

    pub(super) fn full(&mut self, value: u64) -> &mut Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A text and its end; a text has no byte 0 in it.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.0.extend(text.bytes().filter(|byte| *byte != 0));
        self.0.push(0);
        self
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// A whole record: its id, and the length and bytes of its content.
pub(super) fn framed(id: u8, content: &Record, into: &mut Record) {
    into.byte(id);
    let length = content.bytes().len();
    if length < 255 {
        into.byte(length as u8);
    } else {
        into.byte(0xff).full(length as u64);
    }
    into.raw(content.bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        let of = |value: u64| {
            let mut record = Record::default();
            record.long(value);
            record.bytes().to_vec()
        };
        assert_eq!(of(0), [0]);
        assert_eq!(of(5), [1, 5]);
        assert_eq!(of(256), [2, 0, 1]);
        assert_eq!(of(u64::MAX), [0xff]);
        assert_eq!(of(u64::MAX - 1).len(), 9);
        let mut record = Record::default();
        record.number(UNDEFINED);
        assert_eq!(record.bytes(), [0xff]);
    }

    #[test]
    fn long_contents_have_long_lengths() {
        let (mut content, mut record) = (Record::default(), Record::default());
        content.text(&"a".repeat(300));
        framed(10, &content, &mut record);
        assert_eq!(record.bytes().get(..10), Some(&[10, 0xff, 45, 1, 0, 0, 0, 0, 0, 0][..]));
    }
}
