//! Values by id: in a table if ids lie close together, otherwise in a sorted list.

/// Maximum spread of ids, as a multiple of their number, for a table. Wider ones are searched.
const WIDEST_TABLE: u64 = 8;

/// One value for each of a set of ids.
#[derive(Debug)]
pub enum ById<T> {
    /// By `id - first`; `absent` for ids without a value.
    Table {
        /// Smallest id.
        first: i64,
        /// Values by distance from the smallest id.
        values: Vec<T>,
        /// Value for ids that are absent.
        absent: T,
    },
    /// Sorted by id, each once.
    Sorted(Vec<(i64, T)>),
}

impl<T: Copy + PartialEq> ById<T> {
    /// The values of `each`, which must return the same ids in every call. No value may be `absent`. If an id has two
    /// values, `choose` returns the one to keep; its first argument is the earlier one.
    ///
    /// Takes linear time if ids lie close together, otherwise `O(n log n)`.
    pub fn new<I: Iterator<Item = (i64, T)>>(each: impl Fn() -> I, absent: T, choose: impl Fn(T, T) -> T) -> Self {
        let (mut number, mut least, mut greatest) = (0_u64, i64::MAX, i64::MIN);
        each().for_each(|(id, _)| {
            number += 1;
            least = least.min(id);
            greatest = greatest.max(id);
        });
        let spread = greatest.abs_diff(least);
        let close = number > 0 && spread < number.saturating_mul(WIDEST_TABLE).saturating_add(1024);
        let size = usize::try_from(spread).ok().and_then(|spread| spread.checked_add(1)).filter(|_| close);
        if let Some(size) = size {
            let mut values = vec![absent; size];
            each().for_each(|(id, value)| {
                if let Some(slot) = values.get_mut(id.abs_diff(least) as usize) {
                    *slot = if *slot == absent { value } else { choose(*slot, value) };
                }
            });
            return Self::Table { first: least, values, absent };
        }
        let mut sorted: Vec<(i64, T)> = each().collect();
        sorted.sort_by_key(|(id, _)| *id);
        sorted.dedup_by(|(id, value), (kept_id, kept)| {
            let same = id == kept_id;
            if same {
                *kept = choose(*kept, *value);
            }
            same
        });
        Self::Sorted(sorted)
    }

    /// The value of an id.
    #[inline]
    pub fn get(&self, id: i64) -> Option<T> {
        match self {
            Self::Table { first, values, absent } => {
                let place = usize::try_from(id.checked_sub(*first)?).ok()?;
                values.get(place).copied().filter(|value| value != absent)
            }
            Self::Sorted(sorted) => {
                let at = sorted.binary_search_by_key(&id, |(id, _)| *id).ok()?;
                sorted.get(at).map(|(_, value)| *value)
            }
        }
    }

    /// Whether no id has a value.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Table { values, .. } => values.is_empty(),
            Self::Sorted(sorted) => sorted.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ABSENT: u32 = u32::MAX;

    proptest! {
        #[test]
        fn tables_and_searches_give_the_last_of_every_id(
            ids in prop::collection::vec(prop_oneof![-20_i64..20, any::<i64>()], 0..30),
            near in prop::collection::vec(-20_i64..20, 0..30),
        ) {
            for ids in [ids, near] {
                let rows = || ids.iter().copied().zip(0_u32..);
                let last = ById::new(rows, ABSENT, u32::max);
                let first = ById::new(rows, ABSENT, |earlier, _| earlier);
                prop_assert_eq!(last.is_empty(), ids.is_empty());
                for id in ids.iter().copied().chain(-25..25) {
                    let place = |found: Option<usize>| found.map(|place| place as u32);
                    prop_assert_eq!(last.get(id), place(ids.iter().rposition(|other| *other == id)));
                    prop_assert_eq!(first.get(id), place(ids.iter().position(|other| *other == id)));
                }
            }
        }
    }

    #[test]
    fn ids_far_apart_need_no_table() {
        let far = ById::new(|| [(i64::MIN, 1), (i64::MAX, 2)].into_iter(), 0, i32::max);
        assert!(matches!(far, ById::Sorted(_)));
        assert_eq!((far.get(i64::MIN), far.get(i64::MAX), far.get(0)), (Some(1), Some(2), None));
        assert!(matches!(ById::new(|| (5..9).map(|id| (id, 1)), 0, i32::max), ById::Table { .. }));
    }
}
