//! Annotations of events, as lists of names and values. The name of a nested value is its path.

use super::names::Names;
use super::sequence::{ARGUMENT_NAMES, ARGUMENT_TEXTS, Sequence};
use super::wire::{Fields, Malformed, Value};
use crate::common::handle;

const MAX_DEPTH: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    Integer(i64),
    /// A number that is too large for a signed integer, or an address.
    Unsigned(u64),
    Double(f64),
    Flag(bool),
    Text(u32),
}

/// Arguments of an event: numbers of names, and values.
pub type Arguments = Vec<(u32, Argument)>;

impl Argument {
    fn of_unsigned(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Unsigned(value), Self::Integer)
    }

    /// Whether it is a count or a measured value.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer(_) | Self::Unsigned(_) | Self::Double(_))
    }

    /// The integer, or the integer in the text.
    pub fn integer(self, names: &Names) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(value),
            // Handles may use all bits.
            Self::Unsigned(value) => Some(value as i64),
            Self::Double(_) | Self::Flag(_) => None,
            Self::Text(text) => handle(names.text(text)),
        }
    }

    pub fn text(self, names: &mut Names) -> u32 {
        match self {
            Self::Text(text) => text,
            Self::Integer(value) => names.number(&value.to_string()),
            Self::Unsigned(value) => names.number(&value.to_string()),
            Self::Double(value) => names.number(&value.to_string()),
            Self::Flag(value) => names.number(if value { "true" } else { "false" }),
        }
    }
}

/// The content of an annotation, before its path is known.
#[derive(Default)]
struct Annotation<'a> {
    name: Option<u32>,
    value: Option<Argument>,
    entries: Vec<&'a [u8]>,
    elements: Vec<&'a [u8]>,
    nested: Option<&'a [u8]>,
}

pub fn read(message: &[u8], sequence: &Sequence, names: &mut Names, into: &mut Arguments) -> Result<(), Malformed> {
    read_below(message, None, 0, sequence, names, into)
}

fn read_below(
    message: &[u8],
    path: Option<&str>,
    depth: usize,
    sequence: &Sequence,
    names: &mut Names,
    into: &mut Arguments,
) -> Result<(), Malformed> {
    let mut annotation = Annotation::default();
    for field in Fields::new(message) {
        match field? {
            (1, Value::Varint(iid)) => annotation.name = sequence.text(ARGUMENT_NAMES, iid),
            (2, Value::Varint(flag)) => annotation.value = Some(Argument::Flag(flag != 0)),
            (3 | 7, Value::Varint(value)) => annotation.value = Some(Argument::of_unsigned(value)),
            (4, Value::Varint(value)) => annotation.value = Some(Argument::Integer(value as i64)),
            (5, Value::Fixed64(bits)) => annotation.value = Some(Argument::Double(f64::from_bits(bits))),
            (6 | 9, Value::Bytes(text)) => annotation.value = Some(Argument::Text(names.number_of_bytes(text))),
            (8, Value::Bytes(nested)) => annotation.nested = Some(nested),
            (10, Value::Bytes(name)) => annotation.name = Some(names.number_of_bytes(name)),
            (11, Value::Bytes(entry)) => annotation.entries.push(entry),
            (12, Value::Bytes(element)) => annotation.elements.push(element),
            (17, Value::Varint(iid)) => annotation.value = sequence.text(ARGUMENT_TEXTS, iid).map(Argument::Text),
            _ => {}
        }
    }
    let own = annotation.name.map(|name| names.text(name).to_owned()).filter(|name| !name.is_empty());
    let path = match (path, own) {
        (None, own) => own.unwrap_or_default(),
        (Some(path), None) => path.to_owned(),
        (Some(path), Some(own)) => format!("{path}.{own}"),
    };
    if let Some(value) = annotation.value {
        into.push((names.number(&path), value));
    }
    if depth >= MAX_DEPTH {
        return Ok(());
    }
    if let Some(nested) = annotation.nested {
        read_nested(nested, &path, depth + 1, names, into)?;
    }
    for entry in annotation.entries {
        read_below(entry, Some(&path), depth + 1, sequence, names, into)?;
    }
    for (place, element) in annotation.elements.into_iter().enumerate() {
        read_below(element, Some(&format!("{path}[{place}]")), depth + 1, sequence, names, into)?;
    }
    Ok(())
}

/// Reads a nested value in the form of older writers.
fn read_nested(
    message: &[u8],
    path: &str,
    depth: usize,
    names: &mut Names,
    into: &mut Arguments,
) -> Result<(), Malformed> {
    let (mut value, mut keys, mut values, mut elements) = (None, Vec::new(), Vec::new(), Vec::new());
    for field in Fields::new(message) {
        match field? {
            (2, Value::Bytes(key)) => keys.push(key),
            (3, Value::Bytes(value)) => values.push(value),
            (4, Value::Bytes(element)) => elements.push(element),
            (5, Value::Varint(number)) => value = Some(Argument::Integer(number as i64)),
            (6, Value::Fixed64(bits)) => value = Some(Argument::Double(f64::from_bits(bits))),
            (7, Value::Varint(flag)) => value = Some(Argument::Flag(flag != 0)),
            (8, Value::Bytes(text)) => value = Some(Argument::Text(names.number_of_bytes(text))),
            _ => {}
        }
    }
    if let Some(value) = value {
        into.push((names.number(path), value));
    }
    if depth >= MAX_DEPTH {
        return Ok(());
    }
    for (key, value) in keys.into_iter().zip(values) {
        read_nested(value, &format!("{path}.{}", String::from_utf8_lossy(key)), depth + 1, names, into)?;
    }
    for (place, element) in elements.into_iter().enumerate() {
        read_nested(element, &format!("{path}[{place}]"), depth + 1, names, into)?;
    }
    Ok(())
}
