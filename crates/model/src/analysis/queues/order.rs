//! The order in which the dispatches of a queue ran.

use std::collections::BTreeMap;

/// A dispatch and the queue it waited in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch<L> {
    /// Its queue.
    pub lane: L,
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End in raw nanoseconds.
    pub end_ns: i64,
}

/// The order of `count` dispatches by start, then by id, then as they come; `None` if that is the given order.
pub fn start_order(
    count: usize,
    start: impl Fn(usize) -> Option<i64>,
    id: impl Fn(usize) -> Option<i64>,
) -> Option<Vec<u32>> {
    let key = |place: usize| (start(place), id(place));
    if (0..count).is_sorted_by_key(key) {
        return None;
    }
    // Starts are compared far more often than ids, which are looked up only if starts are equal.
    let mut order: Vec<(i64, u32)> = (0..count).map(|place| start(place).unwrap_or(i64::MIN)).zip(0..).collect();
    // Dispatches of a queue are mostly in order, and sorted runs only need to be merged.
    order.sort();
    let same_start = |one: &(i64, u32), other: &(i64, u32)| one.0 == other.0;
    for together in order.chunk_by_mut(same_start).filter(|together| together.len() > 1) {
        together.sort_by_key(|(_, place)| key(*place as usize));
    }
    Some(order.into_iter().map(|(_, place)| place).collect())
}

/// For each of the given dispatches, in the given order: the latest end of the dispatches of its queue, and of the
/// `others` there, that started before it. Of dispatches that start at the same time, the one that is first in `order`
/// counts as started before, but none of the others does. `None` for the first of a queue.
///
/// `order` is [`start_order`] of the dispatches. Takes `O(n log q)` for `q` queues; the others are sorted.
pub fn free_before<'a, L: Copy + Ord + 'a>(
    count: usize,
    dispatch: impl Fn(usize) -> Dispatch<L> + 'a,
    order: Option<&[u32]>,
    mut others: Vec<Dispatch<L>>,
) -> Box<dyn Iterator<Item = Option<i64>> + 'a> {
    others.sort_by_key(|other| other.start_ns);
    let mut others = others.into_iter().peekable();
    let mut queues = Queues::default();
    let mut free = move |dispatch: &Dispatch<L>| {
        while let Some(other) = others.next_if(|other| other.start_ns < dispatch.start_ns) {
            queues.add(&other);
        }
        queues.add(dispatch)
    };
    let Some(order) = order else {
        return Box::new((0..count).map(move |place| free(&dispatch(place))));
    };
    let mut free_ns = vec![None; count];
    for place in order {
        let before = free(&dispatch(*place as usize));
        if let Some(slot) = free_ns.get_mut(*place as usize) {
            *slot = before;
        }
    }
    Box::new(free_ns.into_iter())
}

/// The latest end in each queue so far.
struct Queues<L> {
    places: BTreeMap<L, usize>,
    latest_ns: Vec<i64>,
    /// The queue of the last dispatch, which is often also the queue of the next.
    last: Option<(L, usize)>,
}

impl<L> Default for Queues<L> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), latest_ns: Vec::new(), last: None }
    }
}

impl<L: Copy + Ord> Queues<L> {
    /// Adds a dispatch; returns the latest end before.
    fn add(&mut self, dispatch: &Dispatch<L>) -> Option<i64> {
        let known = self.last.filter(|(lane, _)| *lane == dispatch.lane).map(|(_, place)| place);
        let place = known.or_else(|| self.places.get(&dispatch.lane).copied());
        let new = self.latest_ns.len();
        self.last = Some((dispatch.lane, place.unwrap_or(new)));
        match place.and_then(|place| self.latest_ns.get_mut(place)) {
            Some(latest_ns) => {
                let before = *latest_ns;
                *latest_ns = before.max(dispatch.end_ns);
                Some(before)
            }
            None => {
                self.places.insert(dispatch.lane, new);
                self.latest_ns.push(dispatch.end_ns);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_definition(dispatches: &[Dispatch<u8>], others: &[Dispatch<u8>]) -> Vec<Option<i64>> {
        let before = |place: usize| {
            let this = dispatches[place];
            let started = dispatches.iter().enumerate().filter(move |(other, dispatch)| {
                dispatch.lane == this.lane && (dispatch.start_ns, *other) < (this.start_ns, place)
            });
            let others = others.iter().filter(|other| other.lane == this.lane && other.start_ns < this.start_ns);
            started.map(|(_, dispatch)| dispatch.end_ns).chain(others.map(|other| other.end_ns)).max()
        };
        (0..dispatches.len()).map(before).collect()
    }

    proptest! {
        #[test]
        fn matches_the_definition(
            rows in prop::collection::vec((0_u8..3, 0_i64..20, 0_i64..9), 0..30),
            others in prop::collection::vec((0_u8..3, 0_i64..20, 0_i64..9), 0..9),
            sorted in any::<bool>(),
        ) {
            let of_row = |(lane, start, length): &(u8, i64, i64)| {
                Dispatch { lane: *lane, start_ns: *start, end_ns: start + length }
            };
            let mut dispatches: Vec<Dispatch<u8>> = rows.iter().map(of_row).collect();
            let others: Vec<Dispatch<u8>> = others.iter().map(of_row).collect();
            if sorted {
                dispatches.sort_by_key(|dispatch| dispatch.start_ns);
            }
            let expected = by_definition(&dispatches, &others);
            let order = start_order(dispatches.len(), |place| Some(dispatches[place].start_ns), |_| None);
            prop_assert!(!sorted || order.is_none());
            let found = free_before(dispatches.len(), |place| dispatches[place], order.as_deref(), others);
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        }

        #[test]
        fn dispatches_are_ordered_by_start_then_id(
            rows in prop::collection::vec((prop::option::weighted(0.9, 0_i64..9), prop::option::weighted(0.9, 0_i64..5)), 0..40),
        ) {
            let mut expected: Vec<u32> = (0..rows.len() as u32).collect();
            expected.sort_by_key(|place| rows[*place as usize]);
            let order = start_order(rows.len(), |place| rows[place].0, |place| rows[place].1);
            prop_assert_eq!(order.is_none(), rows.is_sorted());
            prop_assert_eq!(order.unwrap_or_else(|| expected.clone()), expected);
        }
    }
}
