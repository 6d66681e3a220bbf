//! Numbers of an event column, stored as narrowly as they allow.

use fnv::FnvHashMap;
use polars::prelude::*;

use wavesieve_tables::columns::values::I64Values;

/// Numbers of a column.
pub(super) enum Numbers {
    /// An eighth of the memory: places in a list of the distinct numbers.
    Few {
        different: Vec<Option<i64>>,
        places: Vec<u8>,
    },
    /// Half the memory; `i32::MIN` stands for null.
    Narrow(Vec<i32>),
    Wide(Int64Chunked),
}

impl Numbers {
    pub(super) fn new(values: Int64Chunked) -> Self {
        if let Some(few) = Self::few(&values) {
            return few;
        }
        let fits = |number: Option<i64>| number.is_none_or(|number| i32::try_from(number).is_ok());
        match (values.min(), values.max()) {
            (least, greatest) if fits(least) && fits(greatest) && least != Some(i64::from(i32::MIN)) => {
                let values = I64Values::new(&values);
                Self::Narrow(values.iter().map(|number| number.map_or(i32::MIN, |number| number as i32)).collect())
            }
            _ => Self::Wide(values),
        }
    }

    /// Stores places, if at most 256 distinct numbers occur.
    fn few(values: &Int64Chunked) -> Option<Self> {
        let mut all = Different::default();
        let mut places = Vec::with_capacity(values.len());
        let mut last = None;
        for number in I64Values::new(values).iter() {
            let place = match last {
                Some((of, place)) if of == number => place,
                _ => all.place(number)?,
            };
            last = Some((number, place));
            places.push(place);
        }
        Some(Self::Few { different: all.numbers, places })
    }

    /// Joins parts in their order, stored as narrowly as all of them allow.
    pub(super) fn joined(parts: Vec<Self>) -> Self {
        let joined = Self::joined_few(&parts).or_else(|| Self::joined_narrow(&parts));
        joined.unwrap_or_else(|| {
            let mut all = Int64Chunked::full_null("".into(), 0);
            for part in parts {
                let values = match part {
                    Self::Wide(values) => values,
                    narrow => (0..narrow.len()).map(|at| narrow.get(at)).collect(),
                };
                // The types are the same, so that it cannot fail.
                let _ = all.append_owned(values);
            }
            Self::Wide(all.rechunk().into_owned())
        })
    }

    fn joined_few(parts: &[Self]) -> Option<Self> {
        let mut all = Different::default();
        let mut joined = Vec::with_capacity(parts.iter().map(Self::len).sum());
        for part in parts {
            let Self::Few { different, places } = part else { return None };
            let theirs: Vec<u8> = different.iter().map(|number| all.place(*number)).collect::<Option<_>>()?;
            joined.extend(places.iter().map(|place| theirs.get(usize::from(*place)).copied().unwrap_or_default()));
        }
        Some(Self::Few { different: all.numbers, places: joined })
    }

    fn joined_narrow(parts: &[Self]) -> Option<Self> {
        let narrow = |number: Option<i64>| match number {
            Some(number) => i32::try_from(number).ok().filter(|number| *number != i32::MIN),
            None => Some(i32::MIN),
        };
        let mut joined: Vec<i32> = Vec::with_capacity(parts.iter().map(Self::len).sum());
        for part in parts {
            match part {
                Self::Few { different, places } => {
                    let theirs: Vec<i32> = different.iter().map(|number| narrow(*number)).collect::<Option<_>>()?;
                    joined.extend(
                        places.iter().map(|place| theirs.get(usize::from(*place)).copied().unwrap_or(i32::MIN)),
                    );
                }
                Self::Narrow(numbers) => joined.extend(numbers),
                Self::Wide(_) => return None,
            }
        }
        Some(Self::Narrow(joined))
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<i64> {
        match self {
            Self::Few { different, places } => different.get(usize::from(*places.get(at)?)).copied().flatten(),
            Self::Narrow(numbers) => numbers.get(at).filter(|number| **number != i32::MIN).map(|n| i64::from(*n)),
            Self::Wide(numbers) => numbers.get(at),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Few { places, .. } => places.len(),
            Self::Narrow(numbers) => numbers.len(),
            Self::Wide(numbers) => numbers.len(),
        }
    }

    /// Whether all numbers are known to be null or 0.
    pub(super) fn are_nothing(&self) -> bool {
        matches!(self, Self::Few { different, .. } if different.iter().all(|number| matches!(number, None | Some(0))))
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Few { places, .. } => places.len(),
            Self::Narrow(numbers) => 4 * numbers.len(),
            Self::Wide(numbers) => 8 * numbers.len(),
        }
    }
}

/// Distinct numbers, in the order of first occurrence.
#[derive(Default)]
struct Different {
    numbers: Vec<Option<i64>>,
    places: FnvHashMap<Option<i64>, usize>,
}

impl Different {
    /// The place of a number; `None` if there are too many.
    fn place(&mut self, number: Option<i64>) -> Option<u8> {
        let next = self.numbers.len();
        let place = *self.places.entry(number).or_insert(next);
        let place = u8::try_from(place).ok()?;
        if usize::from(place) == next {
            self.numbers.push(number);
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_narrow_where_they_fit() {
        let column = |values: &[Option<i64>]| Int64Chunked::from_slice_options("a".into(), values);
        let many = |first: i64| (0..300).map(|number| Some(first + number)).chain([None, Some(first)]).collect();
        for (values, bytes) in [
            (vec![Some(1), None, Some(-7), Some(1 << 40)], 1),
            (vec![None, None], 1),
            ((0..256).map(Some).collect(), 1),
            (many(-7), 4),
            (many(i64::from(i32::MAX) - 299), 4),
            (many(i64::from(i32::MIN)), 8),
            (many(1 << 40), 8),
            (vec![], 1),
        ] {
            let numbers = Numbers::new(column(&values));
            assert_eq!(numbers.bytes(), bytes * values.len(), "{values:?}");
            assert_eq!((0..values.len()).map(|at| numbers.get(at)).collect::<Vec<_>>(), values);
            for rows in [1, 2, 150, 256, 300] {
                let parts = values.chunks(rows).map(|part| Numbers::new(column(part))).collect();
                let joined = Numbers::joined(parts);
                assert_eq!(joined.bytes(), bytes * values.len(), "{values:?} in parts of {rows}");
                assert_eq!((0..values.len()).map(|at| joined.get(at)).collect::<Vec<_>>(), values);
            }
        }
    }

    #[test]
    fn nothing_is_null_or_0() {
        let are_nothing =
            |values: &[Option<i64>]| Numbers::new(Int64Chunked::from_slice_options("a".into(), values)).are_nothing();
        assert!(are_nothing(&[]) && are_nothing(&[None, Some(0)]));
        assert!(!are_nothing(&[None, Some(1)]));
    }
}
