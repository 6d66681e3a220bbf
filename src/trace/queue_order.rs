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

/// For each dispatch, in the order given, the latest end of those of its queue that started before it; of those that start
/// at the same time the one that is given first counts as started before. `None` for the first of a queue.
///
/// `dispatches` gives the same every time it is called. Takes `O(n log q)` for `q` queues where the starts are in order,
/// else `O(n log n)`.
pub fn free_before<L: Copy + Ord, I: Iterator<Item = Dispatch<L>>>(dispatches: impl Fn() -> I) -> Vec<Option<i64>> {
    let mut queues = Queues::default();
    if dispatches().is_sorted_by_key(|dispatch| dispatch.start_ns) {
        return dispatches().map(|dispatch| queues.add(&dispatch)).collect();
    }
    let mut order: Vec<(usize, Dispatch<L>)> = dispatches().enumerate().collect();
    order.sort_by_key(|(_, dispatch)| dispatch.start_ns);
    let mut free_ns = vec![None; order.len()];
    for (place, dispatch) in order {
        let before = queues.add(&dispatch);
        if let Some(slot) = free_ns.get_mut(place) {
            *slot = before;
        }
    }
    free_ns
}

/// The latest end in each queue so far.
struct Queues<L> {
    places: BTreeMap<L, usize>,
    latest_ns: Vec<i64>,
    /// The queue of the last dispatch, which is often that of the next.
    last: Option<(L, usize)>,
}

impl<L> Default for Queues<L> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), latest_ns: Vec::new(), last: None }
    }
}

impl<L: Copy + Ord> Queues<L> {
    /// Adds a dispatch; gives the latest end before.
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

    fn by_definition(dispatches: &[Dispatch<u8>]) -> Vec<Option<i64>> {
        let before = |place: usize| {
            let this = dispatches[place];
            let started = dispatches.iter().enumerate().filter(move |(other, dispatch)| {
                dispatch.lane == this.lane && (dispatch.start_ns, *other) < (this.start_ns, place)
            });
            started.map(|(_, dispatch)| dispatch.end_ns).max()
        };
        (0..dispatches.len()).map(before).collect()
    }

    proptest! {
        #[test]
        fn matches_the_definition(rows in prop::collection::vec((0_u8..3, 0_i64..20, 0_i64..9), 0..30), sorted in any::<bool>()) {
            let mut dispatches: Vec<Dispatch<u8>> =
                rows.iter().map(|(lane, start, length)| Dispatch { lane: *lane, start_ns: *start, end_ns: start + length }).collect();
            if sorted {
                dispatches.sort_by_key(|dispatch| dispatch.start_ns);
            }
            prop_assert_eq!(free_before(|| dispatches.iter().copied()), by_definition(&dispatches));
        }
    }
}
