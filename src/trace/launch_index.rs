//! From correlation ids to the calls that have them.

/// Ids spread over at most this many times their number are looked up in a table, wider ones by a search.
const WIDEST_TABLE: u64 = 8;
/// Such few more are always looked up in a table.
const SMALL_TABLE: u64 = 1024;
const NO_ROW: u32 = u32::MAX;

/// Which row of calls has a correlation id; of several, the one that starts first.
#[derive(Debug)]
pub struct LaunchIndex(Rows);

#[derive(Debug)]
enum Rows {
    /// By `id - first`.
    Table { first: i64, rows: Vec<u32> },
    /// Sorted by id.
    Sorted(Vec<(i64, u32)>),
}

impl LaunchIndex {
    /// An index over the rows that `calls` gives with their ids, each time the same. Of rows with the same id the one
    /// with the earliest start counts, of those the first.
    ///
    /// Takes linear time, or `O(n log n)` where ids are far apart.
    pub fn of<C>(calls: impl Fn() -> C, start_ns: impl Fn(u32) -> i64) -> Self
    where
        C: Iterator<Item = (u32, i64)>,
    {
        let (mut number, mut least, mut greatest) = (0_u64, i64::MAX, i64::MIN);
        for (_, id) in calls() {
            number += 1;
            least = least.min(id);
            greatest = greatest.max(id);
        }
        if number == 0 {
            return Self(Rows::Sorted(Vec::new()));
        }
        let spread = greatest.abs_diff(least);
        let size = usize::try_from(spread).unwrap_or(usize::MAX).saturating_add(1);
        if spread >= number.saturating_mul(WIDEST_TABLE).saturating_add(SMALL_TABLE) {
            let mut sorted: Vec<(i64, u32)> = calls().map(|(row, id)| (id, row)).collect();
            sorted.sort_unstable_by_key(|(id, row)| (*id, start_ns(*row), *row));
            sorted.dedup_by_key(|(id, _)| *id);
            return Self(Rows::Sorted(sorted));
        }
        let mut rows = vec![NO_ROW; size];
        for (row, id) in calls() {
            if let Some(slot) = rows.get_mut(id.abs_diff(least) as usize)
                && (*slot == NO_ROW || (start_ns(row), row) < (start_ns(*slot), *slot))
            {
                *slot = row;
            }
        }
        Self(Rows::Table { first: least, rows })
    }

    /// The row with a correlation id.
    #[must_use]
    pub fn row(&self, id: i64) -> Option<u32> {
        match &self.0 {
            Rows::Table { first, rows } => {
                let place = usize::try_from(id.checked_sub(*first)?).ok()?;
                rows.get(place).copied().filter(|row| *row != NO_ROW)
            }
            Rows::Sorted(sorted) => {
                let at = sorted.binary_search_by_key(&id, |(id, _)| *id).ok()?;
                sorted.get(at).map(|(_, row)| *row)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Row of the earliest start among those with the id.
    fn by_definition(calls: &[(i64, i64)], id: i64) -> Option<u32> {
        let rows = (0_u32..).zip(calls).filter(|(_, (other, _))| *other == id);
        rows.min_by_key(|(row, (_, start_ns))| (*start_ns, *row)).map(|(row, _)| row)
    }

    fn index(calls: &[(i64, i64)]) -> LaunchIndex {
        LaunchIndex::of(|| (0_u32..).zip(calls).map(|(row, (id, _))| (row, *id)), |row| calls[row as usize].1)
    }

    proptest! {
        #[test]
        fn finds_the_earliest(calls in prop::collection::vec((-5_i64..20, -9_i64..9), 0..30), factor in prop_oneof![Just(1_i64), Just(1_000_000_000)]) {
            let calls: Vec<(i64, i64)> = calls.into_iter().map(|(id, start_ns)| (id * factor, start_ns)).collect();
            let index = index(&calls);
            for id in -7_i64..22 {
                prop_assert_eq!(index.row(id * factor), by_definition(&calls, id * factor));
            }
        }

        #[test]
        fn any_ids_are_survived(calls in prop::collection::vec(any::<(i64, i64)>(), 0..20)) {
            let index = index(&calls);
            for (id, _) in &calls {
                prop_assert_eq!(index.row(*id), by_definition(&calls, *id));
            }
        }
    }
}
