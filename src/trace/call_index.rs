//! API calls by the correlation id that they share with what they launched.

/// Ids spread over at most this many times their number are looked up in a table, wider ones by a search.
const WIDEST_TABLE: u64 = 8;
const NO_CALL: u32 = u32::MAX;

/// A call that may have launched something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Internal correlation id.
    pub correlation_id: i64,
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// Number of its thread.
    pub thread: u32,
}

/// Positions of calls by correlation id; of several calls with one id, that of the one which starts first.
pub enum CallIndex {
    /// By `id - first`; [`NO_CALL`] where there is none.
    Table {
        /// Least id.
        first: i64,
        /// Positions.
        positions: Vec<u32>,
    },
    /// Sorted by id.
    Sorted(Vec<(i64, u32)>),
}

impl CallIndex {
    /// An index of calls; of those behind the four billionth none is found.
    pub fn of(calls: &[Call]) -> Self {
        let least = calls.iter().map(|call| call.correlation_id).min().unwrap_or(0);
        let greatest = calls.iter().map(|call| call.correlation_id).max().unwrap_or(0);
        let spread = greatest.abs_diff(least);
        let is_earlier = |position: u32, call: &Call, other: u32| {
            let other = calls.get(other as usize).map(|other_call| (other_call.start_ns, other));
            other.is_none_or(|other| (call.start_ns, position) < other)
        };
        if spread <= (calls.len() as u64).saturating_mul(WIDEST_TABLE).saturating_add(1024) {
            let mut positions = vec![NO_CALL; spread as usize + 1];
            for (position, call) in (0..NO_CALL).zip(calls) {
                if let Some(slot) = positions.get_mut(call.correlation_id.abs_diff(least) as usize)
                    && is_earlier(position, call, *slot)
                {
                    *slot = position;
                }
            }
            return Self::Table { first: least, positions };
        }
        let mut sorted: Vec<(i64, i64, u32)> =
            (0..NO_CALL).zip(calls).map(|(position, call)| (call.correlation_id, call.start_ns, position)).collect();
        sorted.sort_unstable();
        sorted.dedup_by_key(|(id, _, _)| *id);
        Self::Sorted(sorted.into_iter().map(|(id, _, position)| (id, position)).collect())
    }

    /// Position of the call with that id.
    pub fn position(&self, id: i64) -> Option<u32> {
        match self {
            Self::Table { first, positions } => {
                let place = usize::try_from(id.checked_sub(*first)?).ok()?;
                positions.get(place).copied().filter(|position| *position != NO_CALL)
            }
            Self::Sorted(sorted) => {
                let at = sorted.binary_search_by_key(&id, |(id, _)| *id).ok()?;
                sorted.get(at).map(|(_, position)| *position)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_earliest_call_of_an_id_is_found(
            ids in prop::collection::vec((prop_oneof![-20_i64..20, any::<i64>()], 0_i64..5), 0..60),
            wanted in prop_oneof![-20_i64..20, any::<i64>()],
        ) {
            let calls: Vec<Call> =
                ids.iter().map(|(id, start)| Call { correlation_id: *id, start_ns: *start, thread: 0 }).collect();
            let index = CallIndex::of(&calls);
            for id in calls.iter().map(|call| call.correlation_id).chain([wanted]) {
                let expected = (0_u32..)
                    .zip(&calls)
                    .filter(|(_, call)| call.correlation_id == id)
                    .min_by_key(|(position, call)| (call.start_ns, *position))
                    .map(|(position, _)| position);
                prop_assert_eq!(index.position(id), expected);
            }
        }
    }
}
