//! Arguments that many slices have in common, kept once.

use std::hash::{Hash, Hasher};

use fnv::FnvHashMap;

use super::sink::Value;

/// Stands for a value that is not there.
const NONE: i64 = i64::MIN;

/// Values of some columns in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values<const N: usize>([i64; N]);

impl<const N: usize> Values<N> {
    /// The values of a row; `of` returns the value of a column.
    pub(super) fn of(of: impl Fn(usize) -> Option<i64>) -> Self {
        Self(std::array::from_fn(|column| of(column).unwrap_or(NONE)))
    }

    /// Value after value.
    pub(super) fn iter(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        self.0.iter().map(|value| Some(*value).filter(|value| *value != NONE))
    }
}

impl<const N: usize> Hash for Values<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mixed = |hash: u64, value: &i64| (hash.rotate_left(5) ^ *value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state.write_u64(self.0.iter().fold(0, mixed));
    }
}

/// Lists of arguments by number, in the order in which they were first seen.
#[derive(Debug)]
pub(super) struct Repeated<const N: usize> {
    numbers: FnvHashMap<Values<N>, u32>,
    lists: Vec<Vec<(u32, Value)>>,
}

impl<const N: usize> Repeated<N> {
    pub(super) fn new() -> Self {
        Self { numbers: FnvHashMap::default(), lists: Vec::new() }
    }

    /// Returns the number of some values. If they are new, `list` makes arguments of them.
    pub(super) fn number(&mut self, values: Values<N>, list: impl FnOnce(&Values<N>) -> Vec<(u32, Value)>) -> u32 {
        *self.numbers.entry(values).or_insert_with(|| {
            self.lists.push(list(&values));
            self.lists.len() as u32 - 1
        })
    }

    pub(super) fn arguments(&self, number: u32) -> &[(u32, Value)] {
        self.lists.get(number as usize).map(Vec::as_slice).unwrap_or_default()
    }
}
