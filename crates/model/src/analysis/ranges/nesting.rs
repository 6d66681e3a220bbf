//! Containment of the calls of a thread.

use crate::analysis::intervals::Interval;

const NO_PARENT: u32 = u32::MAX;

/// The calls of one thread as a forest.
#[derive(Debug, Default)]
pub struct Nesting {
    parents: Vec<u32>,
}

impl Nesting {
    /// From the calls in the order of their starts, the longest first of those that start together. The parent of a
    /// call is the call with the latest start that contains it. If two calls overlap in part, neither is the other's
    /// parent, and calls inside both belong to the later one.
    ///
    /// Takes linear time.
    pub fn new(calls: impl ExactSizeIterator<Item = Interval>) -> Self {
        let mut parents = Vec::with_capacity(calls.len());
        let mut open: Vec<(i64, u32)> = Vec::new();
        for (place, call) in (0_u32..).zip(calls) {
            while open.last().is_some_and(|(end_ns, _)| *end_ns < call.end_ns) {
                open.pop();
            }
            parents.push(open.last().map_or(NO_PARENT, |(_, place)| *place));
            open.push((call.end_ns, place));
        }
        Self { parents }
    }

    /// Place of the parent of a call.
    pub fn parent(&self, place: usize) -> Option<usize> {
        self.parents.get(place).filter(|parent| **parent != NO_PARENT).map(|parent| *parent as usize)
    }

    /// Places of the calls without a parent, in order; both their starts and their ends rise.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).zip(&self.parents).filter(|(_, parent)| **parent == NO_PARENT).map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parents_are_the_closest(bounds in prop::collection::vec((0_i64..30, 0_i64..20), 0..15)) {
            let mut calls: Vec<Interval> =
                bounds.into_iter().map(|(start, length)| Interval::new(start, start + length)).collect();
            calls.sort_by_key(|call| (call.start_ns, Reverse(call.end_ns)));
            let nesting = Nesting::new(calls.iter().copied());
            for (place, call) in calls.iter().enumerate() {
                let containing = calls[..place].iter().rposition(|outer| outer.end_ns >= call.end_ns);
                prop_assert_eq!(nesting.parent(place), containing);
            }
            let roots: Vec<Interval> = nesting.roots().map(|place| calls[place as usize]).collect();
            let rise = |pair: &[Interval]| pair[0].start_ns <= pair[1].start_ns && pair[0].end_ns < pair[1].end_ns;
            prop_assert!(roots.windows(2).all(rise));
        }
    }
}
