//! Rows distinguished by the values of several columns.

use std::collections::BTreeMap;

/// Integers below this are looked up in a table.
const SMALL: usize = 1 << 22;
/// Maximum number of entries of a table, for each possible row.
const MAX_PER_ROW: usize = 64;
/// Maximum number of pairs of a kind and a value, for each row, for which there is a table.
const MAX_PAIRS: usize = 4;
const NONE: u32 = u32::MAX;

/// Numbers integers, and missing values, in the order in which they come.
pub(crate) struct DenseIds {
    /// Integers from here on are not small.
    small_end: usize,
    /// Numbers of small integers; [`NONE`] for those that have not occurred.
    small: Vec<u32>,
    others: BTreeMap<Option<i64>, u32>,
    next: u32,
    /// The last integer, which often recurs, and its number.
    last: Option<(Option<i64>, u32)>,
}

impl Default for DenseIds {
    fn default() -> Self {
        Self { small_end: SMALL, small: Vec::new(), others: BTreeMap::new(), next: 0, last: None }
    }
}

impl DenseIds {
    /// For the integers of this many rows: a table that is much longer costs more than it saves.
    fn of_rows(rows: usize) -> Self {
        Self { small_end: SMALL.min(rows.saturating_mul(MAX_PER_ROW)), ..Self::default() }
    }

    /// The number of an integer.
    #[inline]
    pub fn intern(&mut self, value: Option<i64>) -> u32 {
        match self.last {
            Some((last, number)) if last == value => number,
            _ => {
                let number = self.look_up(value);
                self.last = Some((value, number));
                number
            }
        }
    }

    fn look_up(&mut self, value: Option<i64>) -> u32 {
        let place = value.and_then(|value| usize::try_from(value).ok()).filter(|place| *place < self.small_end);
        if let Some(place) = place.filter(|place| *place >= self.small.len()) {
            self.small.resize(place + 1, NONE);
        }
        let number = match place.and_then(|place| self.small.get_mut(place)) {
            Some(number) => number,
            None => self.others.entry(value).or_insert(NONE),
        };
        if *number == NONE {
            *number = self.next;
            self.next += 1;
        }
        *number
    }
}

/// Kinds of rows, numbered from 0 in the order in which they come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseGroups {
    /// The kind of each row.
    pub of_rows: Vec<u32>,
    /// Number of kinds.
    pub count: usize,
}

impl DenseGroups {
    /// Rows of a single kind. There are at most `u32::MAX` of them.
    pub fn alike(rows: usize) -> Self {
        Self { of_rows: vec![0; rows], count: rows.min(1) }
    }

    /// Rows with equal values are of one kind; `values` has one value for each row.
    pub fn from_values(values: impl Iterator<Item = Option<i64>>) -> Self {
        let mut numbers = DenseIds::of_rows(values.size_hint().1.unwrap_or(SMALL));
        let of_rows = values.map(|value| numbers.intern(value)).collect();
        Self { of_rows, count: numbers.next as usize }
    }

    /// The same for values that are never missing.
    pub fn of_values(values: impl ExactSizeIterator<Item = i64> + Clone) -> Self {
        let (Some(least), Some(greatest)) = (values.clone().min(), values.clone().max()) else {
            return Self::alike(0);
        };
        if least == greatest {
            return Self::alike(values.len());
        }
        let most = MAX_PAIRS.saturating_mul(values.len());
        let span = usize::try_from(greatest.abs_diff(least)).ok().filter(|span| *span < most);
        let Some(span) = span else { return Self::from_values(values.map(Some)) };
        let mut known = vec![NONE; span + 1];
        let mut next = 0;
        let number = |value: i64| {
            let Some(number) = known.get_mut(value.abs_diff(least) as usize) else { return NONE };
            if *number == NONE {
                *number = next;
                next += 1;
            }
            *number
        };
        let of_rows = values.map(number).collect();
        Self { of_rows, count: next as usize }
    }

    /// Rows that are of one kind and also have equal values.
    #[must_use]
    pub fn and_of(self, values: impl Iterator<Item = Option<i64>>) -> Self {
        self.and(&Self::from_values(values))
    }

    /// Rows that are of one kind in both.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        if other.count <= 1 {
            return self;
        }
        if self.count <= 1 {
            return other.clone();
        }
        let width = other.count;
        let pair = |kind: u32, other: u32| kind as usize * width + other as usize;
        let pairs = self.count.saturating_mul(width);
        let rows = self.of_rows.iter_mut().zip(&other.of_rows);
        if pairs <= MAX_PAIRS.saturating_mul(other.of_rows.len()) {
            let mut known = vec![NONE; pairs];
            let mut next = 0;
            for (kind, other) in rows {
                let Some(number) = known.get_mut(pair(*kind, *other)) else { continue };
                if *number == NONE {
                    *number = next;
                    next += 1;
                }
                *kind = *number;
            }
            self.count = next as usize;
        } else {
            let mut known: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            let mut last: Option<((u32, u32), u32)> = None;
            for (kind, other) in rows {
                let pair = (*kind, *other);
                *kind = match last {
                    Some((same, number)) if same == pair => number,
                    _ => {
                        let next = known.len() as u32;
                        *known.entry(pair).or_insert(next)
                    }
                };
                last = Some((pair, *kind));
            }
            self.count = known.len();
        }
        self
    }

    /// Kinds of the chosen rows, numbered anew; other rows have no kind.
    pub fn of_chosen(&self, chosen: impl Iterator<Item = bool>) -> (Vec<Option<u32>>, usize) {
        let mut known = vec![NONE; self.count];
        let mut next = 0;
        let number = |(kind, is_chosen): (&u32, bool)| {
            let number = known.get_mut(*kind as usize).filter(|_| is_chosen)?;
            if *number == NONE {
                *number = next;
                next += 1;
            }
            Some(*number)
        };
        let of_rows = self.of_rows.iter().zip(chosen).map(number).collect();
        (of_rows, next as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of rows by their values, compared one by one.
    fn by_definition<T: PartialEq>(rows: &[T]) -> Vec<u32> {
        let mut known: Vec<&T> = Vec::new();
        let mut number = |row| {
            known.iter().position(|other| *other == row).unwrap_or_else(|| {
                known.push(row);
                known.len() - 1
            }) as u32
        };
        rows.iter().map(&mut number).collect()
    }

    fn value() -> impl Strategy<Value = Option<i64>> {
        prop_oneof![Just(None), (0_i64..4).prop_map(Some), (-3_i64..0).prop_map(Some), any::<i64>().prop_map(Some)]
    }

    proptest! {
        #[test]
        fn rows_are_alike_with_the_same_values(
            rows in prop::collection::vec((value(), value(), value(), any::<bool>()), 0..40),
        ) {
            let first: Vec<_> = rows.iter().map(|row| row.0).collect();
            let kinds = DenseGroups::from_values(first.iter().copied());
            prop_assert_eq!(&kinds.of_rows, &by_definition(&first));
            let all: Vec<_> = rows.iter().map(|row| (row.0, row.1, row.2)).collect();
            let values: Vec<i64> = first.iter().copied().flatten().collect();
            let of_values = DenseGroups::of_values(values.iter().copied());
            prop_assert_eq!(of_values, DenseGroups::from_values(values.into_iter().map(Some)));
            let kinds = kinds.and_of(rows.iter().map(|row| row.1)).and_of(rows.iter().map(|row| row.2));
            let expected = by_definition(&all);
            prop_assert_eq!(kinds.count, expected.iter().max().map_or(0, |most| *most as usize + 1));
            prop_assert_eq!(&kinds.of_rows, &expected);
            let alike = DenseGroups::alike(rows.len());
            prop_assert_eq!(&alike.clone().and(&kinds), &kinds);
            prop_assert_eq!(&kinds.clone().and(&alike), &kinds);

            let chosen: Vec<_> = rows.iter().zip(&all).filter(|(row, _)| row.3).map(|(_, all)| *all).collect();
            let (of_rows, count) = kinds.of_chosen(rows.iter().map(|row| row.3));
            prop_assert!(of_rows.iter().zip(&rows).all(|(number, row)| number.is_some() == row.3));
            let numbers: Vec<u32> = of_rows.into_iter().flatten().collect();
            prop_assert_eq!(count, numbers.iter().max().map_or(0, |most| *most as usize + 1));
            prop_assert_eq!(numbers, by_definition(&chosen));
        }
    }
}
