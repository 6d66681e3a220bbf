//! One event of a track.

use super::arguments::{self, Arguments};
use super::names::Names;
use super::sequence::{CATEGORIES, EVENT_NAMES, Sequence};
use super::wire::{Fields, Malformed, Value};

/// The effect of an event on its track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Type {
    Begin,
    End,
    Instant,
    Counter,
    /// An event of an old form.
    #[default]
    Other,
}

/// An event, with its texts as numbers. It is reused for all events, to keep its memory.
#[derive(Clone, Debug, Default)]
pub struct Event {
    pub kind: Type,
    pub track: Option<u64>,
    pub category: Option<u32>,
    pub name: Option<u32>,
    pub arguments: Arguments,
    /// Flows that start, go on or end here.
    pub flows: Vec<u64>,
    pub value: Option<f64>,
    /// Tracks and values of extra counters of the event: of integers, and of doubles.
    pub extra_tracks: [Vec<u64>; 2],
    pub extra_values: [Vec<f64>; 2],
    /// Whether it has a text that no earlier packet defines.
    pub lacks_text: bool,
}

impl Event {
    fn clear(&mut self) {
        let Self { mut arguments, mut flows, .. } = std::mem::take(self);
        arguments.clear();
        flows.clear();
        *self = Self { arguments, flows, ..Self::default() };
    }

    pub fn read(&mut self, message: &[u8], sequence: &Sequence, names: &mut Names) -> Result<(), Malformed> {
        self.clear();
        let ([tracks, double_tracks], [values, double_values]) = (&mut self.extra_tracks, &mut self.extra_values);
        let mut interned = |table, iid| {
            let text = sequence.text(table, iid);
            self.lacks_text |= text.is_none();
            text
        };
        for field in Fields::new(message) {
            match field? {
                (3, Value::Varint(iid)) => {
                    let text = interned(CATEGORIES, iid);
                    self.category = self.category.or(text);
                }
                (4, Value::Bytes(annotation)) => arguments::read(annotation, sequence, names, &mut self.arguments)?,
                (9, Value::Varint(kind)) => {
                    self.kind = match kind {
                        1 => Type::Begin,
                        2 => Type::End,
                        3 => Type::Instant,
                        4 => Type::Counter,
                        _ => Type::Other,
                    }
                }
                (10, Value::Varint(iid)) => self.name = interned(EVENT_NAMES, iid),
                (11, Value::Varint(track)) => self.track = Some(track),
                (12, Value::Varint(value)) => values.push(value as i64 as f64),
                (22, Value::Bytes(category)) => {
                    let text = names.number_of_bytes(category);
                    self.category.get_or_insert(text);
                }
                (23, Value::Bytes(name)) => self.name = Some(names.number_of_bytes(name)),
                (30, Value::Varint(value)) => self.value = Some(value as i64 as f64),
                (31, Value::Varint(track)) => tracks.push(track),
                (36 | 42, Value::Varint(flow)) | (47 | 48, Value::Fixed64(flow)) => self.flows.push(flow),
                (44, Value::Fixed64(bits)) => self.value = Some(f64::from_bits(bits)),
                (45, Value::Varint(track)) => double_tracks.push(track),
                (46, Value::Fixed64(bits)) => double_values.push(f64::from_bits(bits)),
                _ => {}
            }
        }
        Ok(())
    }
}
