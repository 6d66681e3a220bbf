//! Flows from each call to the kernels and copies that it launched.
//!
//! As in the table `launches`, the innermost call of a correlation id is the launching one. That table joins all calls,
//! which may not fit into memory. Here only GPU work is kept, 40 bytes for each. If filters leave calls out, the
//! innermost remaining call counts.

use std::cmp::Reverse;

use super::write::Omitted;

/// Maximum number of flows from one call.
const MAX_FLOWS: usize = 64;

/// Work of the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Kernel,
    Copy,
}

/// Possible end of a flow.
#[derive(Clone, Copy, Debug)]
struct End {
    correlation_id: i64,
    target: i64,
    /// Start of the work, which is above 0. It is negated once the call that the flow starts at was written.
    signed_start_ns: i64,
}

impl End {
    fn has_flow(&self) -> bool {
        self.signed_start_ns < 0
    }
}

/// The innermost call of a correlation id so far; there is none at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    start_ns: i64,
    /// The shortest of calls that start together is the innermost. Durations above 4 seconds count as equal.
    duration_ns: Reverse<u32>,
    number: u32,
}

/// Work of one kind by correlation id.
#[derive(Debug, Default)]
struct Ends {
    ends: Vec<End>,
    /// The call of each correlation id, at the place of its first end.
    calls: Vec<Call>,
    /// Place of the last search result: ids mostly come in their order.
    near: usize,
}

impl Ends {
    fn sort(&mut self) {
        let key = |end: &End| (end.correlation_id, end.target);
        if !self.ends.is_sorted_by_key(key) {
            self.ends.sort_unstable_by_key(key);
        }
        self.calls = vec![Call::default(); self.ends.len()];
    }

    /// The first end with at least this key.
    fn first(&mut self, correlation_id: i64, target: i64) -> usize {
        let is_before = |end: &End| (end.correlation_id, end.target) < (correlation_id, target);
        let is_at = |place: usize| self.ends.get(place).is_some_and(is_before);
        // Doubling steps away from the last place, then a search in between.
        let (mut low, mut high, mut step) = (self.near, self.near, 1);
        if is_at(self.near) {
            while is_at(high) {
                low = high + 1;
                high = high.saturating_add(step).min(self.ends.len());
                step *= 2;
            }
        } else {
            while low > 0 && !is_at(low - 1) {
                high = low - 1;
                low = low.saturating_sub(step);
                step *= 2;
            }
        }
        let between = self.ends.get(low..high).unwrap_or_default();
        self.near = low + between.partition_point(is_before);
        self.near
    }

    /// The first end of a correlation id.
    fn of_id(&mut self, correlation_id: i64) -> Option<usize> {
        let place = self.first(correlation_id, i64::MIN);
        self.ends.get(place).is_some_and(|end| end.correlation_id == correlation_id).then_some(place)
    }

    fn see_call(&mut self, correlation_id: i64, call: Call) {
        if let Some(slot) = self.of_id(correlation_id).and_then(|place| self.calls.get_mut(place)) {
            *slot = (*slot).max(call);
        }
    }
}

/// The flows of a process.
#[derive(Debug, Default)]
pub(super) struct Flows {
    seed: u64,
    kernels: Ends,
    copies: Ends,
}

impl Flows {
    /// Empty, with room for this many kernels.
    pub(super) fn new(seed: u64, kernels: usize) -> Self {
        let mut flows = Self { seed, ..Self::default() };
        // The vector grows if this is not enough.
        let _ = flows.kernels.ends.try_reserve_exact(kernels);
        flows
    }

    /// Adds work that a call may have launched.
    pub(super) fn add_end(&mut self, kind: Work, correlation_id: i64, target: i64, start_ns: i64) {
        if correlation_id != 0 && start_ns > 0 {
            let ends = if kind == Work::Kernel { &mut self.kernels } else { &mut self.copies };
            ends.ends.push(End { correlation_id, target, signed_start_ns: start_ns });
        }
    }

    /// Sorts the work once all of it was added; calls follow.
    pub(super) fn sort(&mut self) {
        self.kernels.sort();
        self.copies.sort();
    }

    /// Notes a call, by the number of its row.
    pub(super) fn see_call(&mut self, correlation_id: i64, start_ns: i64, end_ns: i64, number: u32) {
        let duration_ns = u32::try_from(end_ns.saturating_sub(start_ns).max(0)).unwrap_or(u32::MAX);
        let call = Call { start_ns, duration_ns: Reverse(duration_ns), number };
        self.kernels.see_call(correlation_id, call);
        self.copies.see_call(correlation_id, call);
    }

    /// Adds the flows that start with a call that is written. Work that starts before its call has none, and a call has 64 at most;
    /// both are counted.
    pub(super) fn starting(&mut self, correlation_id: i64, number: u32, into: &mut Vec<u64>, omitted: &mut Omitted) {
        let seed = self.seed;
        for (kind, ends) in [(Work::Kernel, &mut self.kernels), (Work::Copy, &mut self.copies)] {
            let Some(first) = ends.of_id(correlation_id) else { continue };
            let is_it = |call: &Call| call.start_ns > 0 && call.number == number;
            let Some(call) = ends.calls.get(first).copied().filter(is_it) else {
                continue;
            };
            let of_id = ends.ends.get_mut(first..).unwrap_or_default().iter_mut();
            for end in of_id.take_while(|end| end.correlation_id == correlation_id) {
                if end.signed_start_ns < call.start_ns {
                    omitted.skewed_flows += 1;
                } else if into.len() >= MAX_FLOWS {
                    omitted.flows_beyond += 1;
                } else {
                    end.signed_start_ns = -end.signed_start_ns;
                    into.push(id(seed, kind, end.target));
                }
            }
        }
    }

    /// The flow that ends with this work.
    pub(super) fn ending(&mut self, kind: Work, correlation_id: Option<i64>, target: Option<i64>) -> Option<u64> {
        let (correlation_id, target) = (correlation_id?, target?);
        let ends = if kind == Work::Kernel { &mut self.kernels } else { &mut self.copies };
        let place = ends.first(correlation_id, target);
        let end = ends.ends.get(place)?;
        let is_it = end.correlation_id == correlation_id && end.target == target && end.has_flow();
        is_it.then(|| id(self.seed, kind, target))
    }
}

/// Id of a flow: odd for copies, even for kernels.
fn id(seed: u64, kind: Work, target: i64) -> u64 {
    let is_copy = u64::from(kind == Work::Copy);
    (mixed(seed ^ mixed(target as u64 ^ is_copy << 63)) & !1 | is_copy).max(2)
}

/// A number in which every bit depends on all bits (splitmix64).
fn mixed(value: u64) -> u64 {
    let mut value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (value ^ value >> 31).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_call_launched_and_work_before_it_has_no_flow() {
        let (mut flows, mut omitted, mut started) = (Flows::new(1, 0), Omitted::default(), Vec::new());
        for (kind, correlation_id, target, start_ns) in
            [(Work::Kernel, 7, 1, 50), (Work::Kernel, 7, 2, 10), (Work::Copy, 7, 1, 60), (Work::Kernel, 0, 3, 60)]
        {
            flows.add_end(kind, correlation_id, target, start_ns);
        }
        flows.sort();
        flows.see_call(7, 20, 30, 4);
        flows.see_call(7, 15, 40, 5);
        flows.starting(7, 5, &mut started, &mut omitted);
        assert!(started.is_empty());
        flows.starting(7, 4, &mut started, &mut omitted);
        assert_eq!((started.len(), omitted.skewed_flows), (2, 1));
        let ending = |flows: &mut Flows, kind, target| flows.ending(kind, Some(7), Some(target));
        assert_eq!(ending(&mut flows, Work::Kernel, 1), started.first().copied());
        assert_eq!(ending(&mut flows, Work::Copy, 1), started.get(1).copied());
        assert_eq!(ending(&mut flows, Work::Kernel, 2), None);
    }

    #[test]
    fn ends_are_found_from_any_place() {
        let mut flows = Flows::new(1, 0);
        (0..500_i64).for_each(|number| flows.add_end(Work::Kernel, 1 + number / 3 * 2, number, number));
        flows.sort();
        for near in [0, 1, 250, 499, 500] {
            for id in -1..340_i64 {
                flows.kernels.near = near;
                let expected = flows.kernels.ends.iter().position(|end| end.correlation_id == id);
                assert_eq!(flows.kernels.of_id(id), expected, "{near} {id}");
            }
        }
    }
}
