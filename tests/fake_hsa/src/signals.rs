//! Signals. A doorbell is one that belongs to a queue.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use wavesieve_captures::hsa::*;

use crate::{queues, system};

/// A signal; its handle is its address. It is never freed, so that late users meet no other memory.
pub(crate) struct FakeSignal {
    value: AtomicI64,
    start: AtomicU64,
    end: AtomicU64,
    /// The address of the queue, or 0.
    queue: u64,
}

pub(crate) fn new_signal(value: i64, queue: u64) -> Signal {
    let signal =
        Box::new(FakeSignal { value: AtomicI64::new(value), start: AtomicU64::new(0), end: AtomicU64::new(0), queue });
    Signal { handle: Box::into_raw(signal) as u64 }
}

fn of_handle<'a>(signal: Signal) -> &'a FakeSignal {
    // SAFETY: handles are addresses of signals, which are never freed.
    unsafe { &*(signal.handle as *const FakeSignal) }
}

/// A packet that ran from a time to another is complete.
pub(crate) fn complete(signal: Signal, start: u64, end: u64) {
    if signal.handle != 0 {
        let signal = of_handle(signal);
        signal.start.store(start, Ordering::SeqCst);
        signal.end.store(end, Ordering::SeqCst);
        signal.value.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) unsafe extern "C" fn create(
    value: i64,
    _count: u32,
    _consumers: *const Agent,
    signal: *mut Signal,
) -> Status {
    // SAFETY: the caller gives room for a handle.
    unsafe { signal.write(new_signal(value, 0)) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn destroy(signal: Signal) -> Status {
    if signal.handle == 0 { ERROR_INVALID_SIGNAL } else { SUCCESS }
}

pub(crate) unsafe extern "C" fn load(signal: Signal) -> i64 {
    of_handle(signal).value.load(Ordering::SeqCst)
}

pub(crate) unsafe extern "C" fn store(signal: Signal, value: i64) {
    let inner = of_handle(signal);
    inner.value.store(value, Ordering::SeqCst);
    if inner.queue != 0 {
        queues::ring(inner.queue);
    }
}

pub(crate) unsafe extern "C" fn add(signal: Signal, value: i64) {
    of_handle(signal).value.fetch_add(value, Ordering::SeqCst);
}

pub(crate) unsafe extern "C" fn subtract(signal: Signal, value: i64) {
    of_handle(signal).value.fetch_sub(value, Ordering::SeqCst);
}

pub(crate) unsafe extern "C" fn wait(signal: Signal, condition: u32, value: i64, ticks: u64, _way: u32) -> i64 {
    let begin = system::ticks();
    loop {
        let now = of_handle(signal).value.load(Ordering::SeqCst);
        let is_met = match condition {
            CONDITION_EQ => now == value,
            CONDITION_NE => now != value,
            CONDITION_LT => now < value,
            _ => now >= value,
        };
        if is_met || system::ticks() - begin >= ticks {
            return now;
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}

pub(crate) unsafe extern "C" fn dispatch_time(_agent: Agent, signal: Signal, time: *mut DispatchTime) -> Status {
    if signal.handle == 0 {
        return ERROR_INVALID_SIGNAL;
    }
    let signal = of_handle(signal);
    let times = DispatchTime { start: signal.start.load(Ordering::SeqCst), end: signal.end.load(Ordering::SeqCst) };
    // SAFETY: the caller gives room for both times.
    unsafe { time.write(times) };
    SUCCESS
}
