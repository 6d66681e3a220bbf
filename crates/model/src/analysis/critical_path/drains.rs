//! Calls that wait for all work issued to a device: which work each of them waits for.
//!
//! There may be as many pairs of call and work as the product of both numbers. So pairs are not stored but derived from
//! the order in which work was issued to its device.

use crate::analysis::critical_path::graph::{Call, Graph, NONE, Waits, Work};

/// The devices that calls wait for, and the work that was issued to these devices before.
#[derive(Debug, Default)]
pub(crate) struct Drains {
    /// By work: its device and its place in the order of issue there; empty if no call waits for a device.
    issued: Vec<(u32, u32)>,
    /// Calls in order, with their device and the number of work items issued to it before.
    calls: Vec<(u32, u32, u32)>,
    /// Number of work items of each device.
    sizes: Vec<u32>,
}

impl Drains {
    /// Finds the drains of calls that wait for the device of the work that they `waited` for. If a call found all work
    /// done, its device is not known, unless there is only one.
    pub fn new(work: &[Work], calls: &[Call], devices: &[u32], waited: &[u32]) -> Self {
        if calls.iter().all(|call| call.waits != Waits::Device) {
            return Self::default();
        }
        let device_of = |work: &Work| devices.get(work.lane as usize).copied().unwrap_or(NONE);
        let known = devices.iter().copied().max().map_or(0, |most| most + 1);
        let issued_ns = |place: &u32| work.get(*place as usize).map(|work| Graph::issued_ns(work, calls));
        let mut by_issue: Vec<u32> = (0..work.len() as u32).collect();
        by_issue.sort_by_key(issued_ns);
        let mut waiting: Vec<u32> =
            (0_u32..).zip(calls).filter(|(_, call)| call.waits == Waits::Device).map(|(place, _)| place).collect();
        waiting.sort_by_key(|place| calls.get(*place as usize).map(|call| call.start_ns));

        let mut drains = Self {
            issued: vec![(NONE, 0); work.len()],
            calls: Vec::with_capacity(waiting.len()),
            sizes: vec![0; known as usize],
        };
        let mut issued = by_issue.into_iter().peekable();
        for place in waiting {
            let Some(call) = calls.get(place as usize) else { continue };
            while let Some(next) = issued.next_if(|next| issued_ns(next) < Some(call.start_ns)) {
                drains.issue(next, work.get(next as usize).map_or(NONE, device_of));
            }
            let found = waited.get(place as usize).and_then(|found| work.get(*found as usize)).map(device_of);
            let device = found.or((known == 1).then_some(0)).unwrap_or(NONE);
            let before = drains.sizes.get(device as usize).copied().unwrap_or(0);
            if before > 0 {
                drains.calls.push((place, device, before));
            }
        }
        for next in issued {
            drains.issue(next, work.get(next as usize).map_or(NONE, device_of));
        }
        drains.calls.sort_unstable();
        drains
    }

    fn issue(&mut self, place: u32, device: u32) {
        if let Some((size, slot)) = self.sizes.get_mut(device as usize).zip(self.issued.get_mut(place as usize)) {
            *slot = (device, *size);
            *size += 1;
        }
    }

    /// The device that a call waits for, and the number of work items issued to it before.
    fn of_call(&self, place: u32) -> Option<(u32, u32)> {
        let at = self.calls.binary_search_by_key(&place, |(call, _, _)| *call).ok()?;
        self.calls.get(at).map(|(_, device, before)| (*device, *before))
    }

    fn of_work(&self, place: u32) -> Option<(u32, u32)> {
        self.issued.get(place as usize).copied().filter(|(device, _)| *device != NONE)
    }
}

/// Times that a walk has passed. Forward, these are ends of work, for the calls that wait for it. Backward, they are
/// latest returns of calls, for the work that they wait for.
pub struct Passed<'a> {
    drains: &'a Drains,
    trees: Vec<PrefixMax>,
}

impl<'a> Passed<'a> {
    /// Starts before anything was passed.
    pub fn new(drains: &'a Drains) -> Self {
        Self { drains, trees: drains.sizes.iter().map(|size| PrefixMax::new(*size)).collect() }
    }

    /// Notes that work has ended.
    pub fn end(&mut self, place: u32, end_ns: i64) {
        if let Some((device, rank)) = self.drains.of_work(place) {
            self.raise(device, rank, end_ns);
        }
    }

    /// The last end so far of the work that a call waits for.
    pub fn last_end(&self, call: u32) -> Option<i64> {
        let (device, before) = self.drains.of_call(call)?;
        self.trees.get(device as usize)?.most(before)
    }

    /// Notes that a call may return at this time at the latest.
    pub fn return_by(&mut self, call: u32, latest_ns: i64) {
        if let Some((device, before)) = self.drains.of_call(call) {
            // Calls that wait for more stand before those that wait for less.
            self.raise(device, self.size(device).saturating_sub(before), latest_ns.saturating_neg());
        }
    }

    /// The earliest of the latest returns of the calls that wait for work.
    pub fn earliest_return(&self, place: u32) -> Option<i64> {
        let (device, rank) = self.drains.of_work(place)?;
        let first = self.size(device).saturating_sub(rank);
        self.trees.get(device as usize)?.most(first).map(i64::saturating_neg)
    }

    fn size(&self, device: u32) -> u32 {
        self.drains.sizes.get(device as usize).copied().unwrap_or(0)
    }

    fn raise(&mut self, device: u32, place: u32, value: i64) {
        if let Some(tree) = self.trees.get_mut(device as usize) {
            tree.raise(place, value);
        }
    }
}

/// The largest value among the first places of a row. Takes logarithmic time.
struct PrefixMax(Vec<i64>);

/// Value that does not occur at any place.
const MIN: i64 = i64::MIN;

impl PrefixMax {
    fn new(places: u32) -> Self {
        Self(vec![MIN; places as usize])
    }

    fn raise(&mut self, place: u32, value: i64) {
        let mut at = place as usize + 1;
        while let Some(slot) = self.0.get_mut(at - 1) {
            *slot = (*slot).max(value);
            at += at & at.wrapping_neg();
        }
    }

    fn most(&self, first: u32) -> Option<i64> {
        let mut at = (first as usize).min(self.0.len());
        let mut most = MIN;
        while let Some(value) = at.checked_sub(1).and_then(|place| self.0.get(place)) {
            most = most.max(*value);
            at -= at & at.wrapping_neg();
        }
        (most > MIN).then_some(most)
    }
}
