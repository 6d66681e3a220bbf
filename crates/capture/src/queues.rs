//! Queues whose packets are seen.

use std::collections::BTreeMap;

use wavesieve_captures::hsa::Signal;

/// Signals of queues by the addresses of those: each counts the barriers that are not complete.
#[derive(Debug, Default)]
pub(crate) struct Queues(BTreeMap<u64, Signal>);

impl Queues {
    pub(crate) fn add(&mut self, queue: u64, signal: Signal) {
        self.0.insert(queue, signal);
    }

    pub(crate) fn remove(&mut self, queue: u64) -> Option<Signal> {
        self.0.remove(&queue)
    }

    pub(crate) fn signal(&self, queue: u64) -> Option<Signal> {
        self.0.get(&queue).copied()
    }

    pub(crate) fn signals(&self) -> Vec<Signal> {
        self.0.values().copied().collect()
    }
}
