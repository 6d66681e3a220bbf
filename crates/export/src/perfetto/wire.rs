//! The bytes of protocol buffers: fields of messages, in the order in which they are added.

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds bytes that are fields already.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u32, wire: u32) {
        self.raw_varint(u64::from(field << 3 | wire));
    }

    pub(super) fn varint(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        self.raw_varint(value);
    }

    pub(super) fn fixed64(&mut self, field: u32, value: u64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn double(&mut self, field: u32, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    pub(super) fn data(&mut self, field: u32, data: &[u8]) {
        self.key(field, 2);
        self.raw_varint(data.len() as u64);
        self.0.extend_from_slice(data);
    }

    pub(super) fn message(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        self.data(field, &inner.0);
    }

    /// A message of two numbers, whose length is known before it is written.
    pub(super) fn pair(&mut self, field: u32, one: (u32, u64), other: (u32, u64)) {
        self.key(field, 2);
        let length = [one, other].map(|(field, value)| varint_length(u64::from(field << 3)) + varint_length(value));
        self.raw_varint(length.iter().sum::<usize>() as u64);
        self.varint(one.0, one.1);
        self.varint(other.0, other.1);
    }
}

/// Bytes of a number.
pub(super) fn varint_length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_protocol_buffers_write_them() {
        let mut message = Message::default();
        message.varint(1, 300);
        message.data(2, b"ab");
        message.message(3, |inner| inner.varint(1, 1));
        message.fixed64(4, 1);
        assert_eq!(message.bytes(), [8, 0xac, 2, 18, 2, b'a', b'b', 26, 2, 8, 1, 33, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn lengths_are_those_of_the_bytes() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut message = Message::default();
            message.raw_varint(value);
            assert_eq!(varint_length(value), message.len(), "{value}");
            let (mut pair, mut plain) = (Message::default(), Message::default());
            pair.pair(4, (1, 7), (4, value));
            plain.message(4, |inner| {
                inner.varint(1, 7);
                inner.varint(4, value);
            });
            assert_eq!(pair.bytes(), plain.bytes());
        }
    }
}
