//! The graph: work on GPUs, calls of the host, and the waits between them.

use crate::analysis::critical_path::causes::{Causes, causes};
use crate::analysis::critical_path::drains::Drains;
use crate::analysis::critical_path::order::sequence;

/// No work or call.
pub const NONE: u32 = u32::MAX;

/// A kernel or copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Start on the GPU in raw nanoseconds.
    pub start_ns: i64,
    /// End on the GPU, not before its start.
    pub end_ns: i64,
    /// The stream or queue whose work runs in order, or [`NONE`].
    pub lane: u32,
    /// Place of the call that launched it, or [`NONE`].
    pub call: u32,
}

/// Work that a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    Nothing,
    /// For the end of the last work given to a stream.
    Stream,
    /// For the end of all work given to a device.
    Device,
    /// For the end of some work given before.
    Any,
}

/// A host call that launches work or waits for it. Calls of a thread do not contain one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Start in raw nanoseconds.
    pub start_ns: i64,
    /// End, not before its start.
    pub end_ns: i64,
    /// Dense number of the thread.
    pub thread: u32,
    /// Work that it waits for. A call that waits and has launched work waits for that work.
    pub waits: Waits,
}

/// Work and calls with the causes of each.
#[derive(Debug)]
pub struct Graph {
    pub(super) work: Vec<Work>,
    pub(super) calls: Vec<Call>,
    pub(super) causes: Causes,
    pub(super) drains: Drains,
    pub(super) sequence: Vec<u32>,
    span: (i64, i64),
}

/// A moment of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    WorkStart(u32),
    WorkEnd(u32),
    /// A call starts.
    CallStart(u32),
    /// A call returns.
    CallEnd(u32),
}

/// A cause of the start of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The end of work before it in its stream or queue.
    Stream(u32),
    /// The end of work elsewhere that a recorded event represents.
    Event(u32),
    /// The end of work elsewhere; no recorded dependency proves that this work waited for it.
    Inferred(u32),
    /// The return of the call that launched it.
    Launched(u32),
    /// The start of the call that launched it, which had not returned yet.
    Launching(u32),
}

/// Event that a call starts after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// The return of the call before it on its thread.
    Returned(u32),
    /// The start of the call before it, which returns later.
    Begun(u32),
}

impl Graph {
    /// From work in the order of starts, then of ends, and calls in the order of threads and starts. `devices` are
    /// dense numbers of the devices of the lanes. `recorded` are pairs of work of which the first is known to have
    /// waited for the second. Takes `O(n log n)` for the sorting, otherwise linear time.
    pub fn new(work: Vec<Work>, calls: Vec<Call>, devices: &[u32], recorded: Vec<(u32, u32)>) -> Self {
        let first_ns = work.first().map_or(0, |work| work.start_ns);
        let last_ns = work.iter().map(|work| work.end_ns).max().unwrap_or(first_ns);
        let causes = causes(&work, &calls, recorded, last_ns.saturating_sub(first_ns));
        let drains = Drains::new(&work, &calls, devices, &causes.waited);
        let sequence = sequence(&work, &calls);
        Self { work, calls, causes, drains, sequence, span: (first_ns, last_ns) }
    }

    /// First start to last end of the work.
    pub fn span(&self) -> (i64, i64) {
        self.span
    }

    /// Time at which work was given to its device: the start of the call that launched it, or its own start if that is
    /// earlier.
    pub(super) fn issued_ns(work: &Work, calls: &[Call]) -> i64 {
        calls.get(work.call as usize).map_or(work.start_ns, |call| call.start_ns.min(work.start_ns))
    }
    pub fn work(&self) -> &[Work] {
        &self.work
    }

    /// All calls.
    #[cfg(test)]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(super) fn work_at(&self, place: u32) -> Option<&Work> {
        self.work.get(place as usize)
    }

    pub(super) fn call_at(&self, place: u32) -> Option<&Call> {
        self.calls.get(place as usize)
    }

    /// The causes of the start of work, each with its recorded time. The binding one comes first.
    pub(super) fn causes_of(&self, place: u32) -> [Option<(Cause, i64)>; 4] {
        let ended = |cause: fn(u32) -> Cause, places: &[u32]| {
            let before = places.get(place as usize).copied().filter(|before| *before != NONE)?;
            Some((cause(before), self.work_at(before)?.end_ns))
        };
        let stream = ended(Cause::Stream, &self.causes.stream);
        let inferred = ended(Cause::Inferred, &self.causes.inferred);
        let launch = self.work_at(place).and_then(|work| {
            let call = self.call_at(work.call)?;
            if call.end_ns <= work.start_ns {
                Some((Cause::Launched(work.call), call.end_ns))
            } else {
                (call.start_ns <= work.start_ns).then_some((Cause::Launching(work.call), call.start_ns))
            }
        });
        let event = self.causes.event(place);
        let event = event.and_then(|before| Some((Cause::Event(before), self.work_at(before)?.end_ns)));
        let [mut first, mut others @ ..] = [stream, event, launch, inferred];
        let time = |cause: &Option<(Cause, i64)>| cause.map(|(_, time_ns)| time_ns);
        for other in &mut others {
            if time(other) > time(&first) {
                std::mem::swap(other, &mut first);
            }
        }
        let [second, third, fourth] = others;
        [first, second, third, fourth]
    }

    /// The event that a call starts after; `None` for the first of a thread.
    pub(super) fn before(&self, place: u32) -> Option<Before> {
        let call = self.call_at(place)?;
        let before = place.checked_sub(1)?;
        let other = self.call_at(before).filter(|other| other.thread == call.thread)?;
        Some(if other.end_ns <= call.start_ns { Before::Returned(before) } else { Before::Begun(before) })
    }

    /// The work whose end let a call return, if it waited for any.
    pub(super) fn waited_for(&self, place: u32) -> Option<u32> {
        self.causes.waited.get(place as usize).copied().filter(|work| *work != NONE)
    }
}
