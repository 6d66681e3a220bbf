//! Fields of protocol buffers: numbers of variable and fixed length, and bytes.

use thiserror::Error;

/// Reason why a message cannot be read further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    #[error("a field ends behind its message")]
    Cut,
    #[error("text is overwritten by zeros")]
    Zeros,
    #[error("a number has more than 64 bits")]
    Number,
    #[error("a field has no number")]
    Key,
    #[error("a field has an unknown wire type")]
    Wire,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// A text, a message or packed numbers.
    Bytes(&'a [u8]),
}

/// A field: its number and its value.
pub type Field<'a> = (u64, Value<'a>);

#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed::Cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed::Cut)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let (value, length) = varint(self.rest)?;
        self.take(length)?;
        Ok(value)
    }

    fn field(&mut self) -> Result<Field<'a>, Malformed> {
        let key = self.varint()?;
        let number = key >> 3;
        if number == 0 {
            return Err(Malformed::Key);
        }
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.fixed()?)),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(usize::try_from(length).map_err(|_| Malformed::Cut)?)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.fixed()?)),
            _ => return Err(Malformed::Wire),
        };
        Ok((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

/// The number at the start of some bytes, and its length.
pub fn varint(bytes: &[u8]) -> Result<(u64, usize), Malformed> {
    let mut value = 0_u64;
    for (place, byte) in bytes.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            return if place == 9 && *byte > 1 { Err(Malformed::Number) } else { Ok((value, place + 1)) };
        }
    }
    Err(if bytes.len() < 10 { Malformed::Cut } else { Malformed::Number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Vec<Result<Field<'_>, Malformed>> {
        Fields::new(bytes).collect()
    }

    #[test]
    fn fields_of_all_types() {
        let bytes = [8, 0xac, 2, 18, 2, b'a', b'b', 33, 1, 0, 0, 0, 0, 0, 0, 0, 45, 2, 0, 0, 0];
        let expected =
            [(1, Value::Varint(300)), (2, Value::Bytes(b"ab")), (4, Value::Fixed64(1)), (5, Value::Fixed32(2))];
        assert_eq!(fields(&bytes), expected.map(Ok));
    }

    #[test]
    fn what_is_malformed_ends_the_message() {
        assert_eq!(fields(&[8, 1, 18, 3, b'a']), [Ok((1, Value::Varint(1))), Err(Malformed::Cut)]);
        assert_eq!(fields(&[0, 1, 8, 1]), [Err(Malformed::Key)]);
        assert_eq!(fields(&[11, 1]), [Err(Malformed::Wire)]);
        assert_eq!(fields(&[8, 0x80]), [Err(Malformed::Cut)]);
        assert_eq!(varint(&[0xff; 10]), Err(Malformed::Number));
        assert_eq!(varint(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Ok((u64::MAX, 10)));
    }
}
