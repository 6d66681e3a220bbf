//! A template that is ready to read records.

use std::sync::Arc;

use super::learn::{LearnedShape, Value, learn};
use super::numbers::{integer, skip_integer};
use super::skip::{count_elements, skip_number, skip_text, skip_value};
use crate::rocprofv3_json::layout::Selected;

/// Eight bytes of a literal.
#[derive(Clone, Copy, Debug)]
struct Word {
    value: u64,
    /// The bits that count.
    mask: u64,
    /// Number of bytes that count.
    length: usize,
}

#[derive(Clone, Debug)]
struct Step {
    literal: Vec<Word>,
    value: Value,
}

/// A template for the requested fields of records.
#[derive(Clone, Debug)]
pub struct Template {
    steps: Arc<[Step]>,
    /// For every requested field, its index among the read integers, and whether 0 means a missing value.
    sources: Arc<[(Option<usize>, bool)]>,
    integers: Vec<i64>,
    /// The first literal.
    pub head: Arc<[u8]>,
}

fn words(literal: &[u8]) -> Vec<Word> {
    literal
        .chunks(8)
        .map(|bytes| {
            let word = |fill: &dyn Fn(&u8) -> u8| {
                let filled = (0..8).map(|at| bytes.get(at).map_or(0, fill));
                filled.rev().fold(0_u64, |word, byte| word << 8 | u64::from(byte))
            };
            Word { value: word(&|byte| *byte), mask: word(&|_| u8::MAX), length: bytes.len() }
        })
        .collect()
}

impl Template {
    /// Learns from the record at the start of a text, if templates support it and the general parser can read it.
    pub fn learn(bytes: &[u8], selected: &Selected) -> Option<Self> {
        let (learnt, length) = learn(bytes, selected)?;
        let mut values = vec![None; selected.fields.len()];
        if selected.general(bytes, &mut values)? != length {
            return None;
        }
        let mut template = Self::from_learnt(&learnt, selected)?;
        // The template must agree with the general parser on the record that it was learned from.
        let mut own = vec![None; selected.fields.len()];
        (template.read(bytes, &mut own)? == length && own == values).then_some(template)
    }

    fn from_learnt(learnt: &LearnedShape, selected: &Selected) -> Option<Self> {
        let is_kept = |value: &Value| matches!(value, Value::Integer(_) | Value::Elements(_));
        let fields = selected.fields.iter().filter_map(|field| selected.layout.fields.get(*field));
        Some(Self {
            steps: learnt
                .steps
                .iter()
                .map(|(literal, value)| Step { literal: words(literal), value: *value })
                .collect(),
            sources: learnt.sources.iter().zip(fields).map(|(source, field)| (*source, field.zero_is_none)).collect(),
            integers: vec![0; learnt.steps.iter().filter(|(_, value)| is_kept(value)).count()],
            head: learnt.steps.first()?.0.as_slice().into(),
        })
    }

    /// Reads the record at the start of a text, and returns its length; `None` if it does not match. Zeros must follow the text.
    #[inline]
    pub fn read(&mut self, bytes: &[u8], values: &mut [Option<i64>]) -> Option<usize> {
        let mut rest = bytes;
        for step in self.steps.iter() {
            for word in &step.literal {
                let found = u64::from_le_bytes(*rest.first_chunk()?);
                if (found ^ word.value) & word.mask != 0 {
                    return None;
                }
                rest = rest.get(word.length..)?;
            }
            let length = match step.value {
                Value::Integer(slot) => {
                    let (value, length) = integer(rest)?;
                    *self.integers.get_mut(slot)? = value;
                    length
                }
                Value::OtherInteger => skip_integer(rest)?,
                Value::Real => skip_number(rest)?,
                Value::Text => skip_text(rest)?,
                Value::Array => count_elements(rest)?.1,
                Value::Elements(slot) => {
                    let (count, length) = count_elements(rest)?;
                    *self.integers.get_mut(slot)? = i64::try_from(count).ok()?;
                    length
                }
                Value::Truth => skip_value(rest).filter(|_| matches!(rest.first(), Some(b't' | b'f')))?,
                Value::End => 0,
            };
            rest = rest.get(length..)?;
        }
        for (value, (slot, zero_is_none)) in values.iter_mut().zip(self.sources.iter()) {
            let read = slot.and_then(|slot| self.integers.get(slot).copied());
            *value = read.filter(|value| !(*zero_is_none && *value == 0));
        }
        bytes.len().checked_sub(rest.len())
    }
}
