//! Runs work on many processes in parallel, within limits of number and memory.

use std::thread;

use parking_lot::{Condvar, Mutex, MutexGuard};
use polars_async::executor::ALLOW_RAYON_THREADS;

/// Part of an estimate that does not depend on the number of rows: the fixed cost of reading.
pub const READING_BYTES: u64 = 64 << 20;

/// Stack of a worker: query plans over thousands of parts are walked recursively.
const STACK_BYTES: usize = 16 << 20;

/// Limits for parallel work: the number of processes, and their estimated memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jobs {
    /// Number of parallel processes, at least 1.
    pub count: usize,
    /// Estimated bytes that all of them together may need. A single process always runs.
    pub memory_bytes: u64,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { count: 1, memory_bytes: u64::MAX }
    }
}

impl Jobs {
    /// Enough processes for a number of threads: one more than threads, because each process sometimes waits for shared work or for a
    /// serial part. One thread works on one process.
    #[must_use]
    pub fn for_threads(threads: usize, memory_bytes: u64) -> Self {
        Self { count: if threads > 1 { threads.saturating_add(1) } else { 1 }, memory_bytes }
    }

    /// The share of each of several parallel tasks; they account for memory themselves.
    #[must_use]
    pub fn shared_by(self, others: usize) -> Self {
        Self { count: (self.count / others.max(1)).max(1), memory_bytes: u64::MAX }
    }

    /// Works on every item and gives the results in the order of the items. Items start in order, each as soon as a worker and enough
    /// memory are free. After a failure, no more items start.
    ///
    /// The workers are separate threads. In a shared pool, a worker that waits for a part of its item would start another item on the same
    /// stack, and so on: that overflows the stack and keeps all items in memory.
    ///
    /// # Errors
    /// The failure of the first item that failed.
    pub fn run<T, R, E>(
        &self,
        items: &[T],
        cost: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E>
    where
        T: Sync,
        R: Send,
        E: Send,
    {
        self.run_sized(false, items, cost, work)
    }

    /// Like [`Jobs::run`]. If items are small, each worker does its item alone: waking other threads for parts costs more than the parts.
    pub(crate) fn run_sized<T, R, E>(
        &self,
        are_small: bool,
        items: &[T],
        cost: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E>
    where
        T: Sync,
        R: Send,
        E: Send,
    {
        let workers = self.count.max(1).min(items.len());
        if workers <= 1 {
            return items.iter().map(work).collect();
        }
        let queue = Queue { state: Mutex::new(State::default()), changed: Condvar::new(), limit: self.memory_bytes };
        let results: Mutex<Vec<(usize, Result<R, E>)>> = Mutex::new(Vec::with_capacity(items.len()));
        let run_queue = || {
            while let Some((at, item, ticket)) = queue.next(items, &cost) {
                let result = work(item);
                let failed = result.is_err();
                results.lock().push((at, result));
                ticket.end(failed);
            }
        };
        let run_alone = || {
            // The setting of this thread is permanent; the calling thread only waits and does not work on small items.
            ALLOW_RAYON_THREADS.set(false);
            run_queue();
        };
        thread::scope(|scope| {
            let first = usize::from(!are_small);
            let threads = (first..workers).filter(|_| {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                let started = if are_small {
                    thread.spawn_scoped(scope, run_alone)
                } else {
                    thread.spawn_scoped(scope, run_queue)
                };
                started.is_ok()
            });
            // If no thread could start, the calling thread does all work.
            if threads.count() == 0 || !are_small {
                run_queue();
            }
        });
        let mut results = results.into_inner();
        results.sort_by_key(|(at, _)| *at);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

#[derive(Default)]
struct State {
    next: usize,
    running: usize,
    bytes: u64,
    failed: bool,
}

struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    limit: u64,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The next item, as soon as there is memory for it; `None` after the last.
    fn next<'a, T>(&'a self, items: &'a [T], cost: impl Fn(&T) -> u64) -> Option<(usize, &'a T, Ticket<'a>)> {
        let mut state = self.lock();
        loop {
            if state.failed {
                return None;
            }
            let at = state.next;
            let item = items.get(at)?;
            let bytes = cost(item);
            if state.running == 0 || state.bytes.saturating_add(bytes) <= self.limit {
                state.next += 1;
                state.running += 1;
                state.bytes = state.bytes.saturating_add(bytes);
                return Some((at, item, Ticket { queue: self, bytes, failed: true }));
            }
            self.changed.wait(&mut state);
        }
    }
}

/// Memory that an item takes; also freed if the work panics.
struct Ticket<'a> {
    queue: &'a Queue,
    bytes: u64,
    failed: bool,
}

impl Ticket<'_> {
    fn end(mut self, failed: bool) {
        self.failed = failed;
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.running -= 1;
        state.bytes = state.bytes.saturating_sub(self.bytes);
        state.failed |= self.failed;
        drop(state);
        self.queue.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    /// Runs items of declared cost; returns the maximum memory and the maximum number of parallel items.
    fn most(jobs: Jobs, costs: &[u64]) -> (u64, usize) {
        let (bytes, running) = (AtomicU64::new(0), AtomicUsize::new(0));
        let (most_bytes, most_running) = (AtomicU64::new(0), AtomicUsize::new(0));
        let results = jobs.run(
            costs,
            |cost| *cost,
            |cost| {
                most_bytes.fetch_max(bytes.fetch_add(*cost, Ordering::SeqCst) + cost, Ordering::SeqCst);
                most_running.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(2));
                running.fetch_sub(1, Ordering::SeqCst);
                bytes.fetch_sub(*cost, Ordering::SeqCst);
                Ok::<u64, ()>(*cost)
            },
        );
        assert_eq!(results.as_deref(), Ok(costs));
        (most_bytes.into_inner(), most_running.into_inner())
    }

    #[test]
    fn the_limits_hold() {
        let costs: Vec<u64> = (0..40).map(|item| item % 7).collect();
        let (bytes, running) = most(Jobs { count: 4, memory_bytes: 10 }, &costs);
        assert!(bytes <= 10 && running <= 4 && running > 1, "{bytes} {running}");
        assert_eq!(most(Jobs { count: 1, memory_bytes: 10 }, &costs).1, 1);
    }

    #[test]
    fn an_item_beyond_the_limit_runs_alone() {
        assert_eq!(most(Jobs { count: 8, memory_bytes: 1 }, &[5, 6, 7]), (7, 1));
    }

    #[test]
    fn items_that_work_in_a_pool_begin_no_others() {
        use rayon::prelude::*;
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items: Vec<u64> = (0..200).collect();
        let sums = Jobs { count: 2, memory_bytes: u64::MAX }.run(
            &items,
            |_| 0,
            |item| {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let sum = (0..2_000_u64).into_par_iter().map(|number| number ^ item).sum::<u64>();
                running.fetch_sub(1, Ordering::SeqCst);
                Ok::<u64, ()>(sum)
            },
        );
        assert_eq!(sums.map(|sums| sums.len()), Ok(200));
        assert!(most.into_inner() <= 2);
    }

    #[test]
    fn nothing_is_begun_after_a_failure() {
        let begun = AtomicUsize::new(0);
        let items: Vec<usize> = (0..1000).collect();
        let result: Result<Vec<()>, usize> = Jobs { count: 3, memory_bytes: u64::MAX }.run(
            &items,
            |_| 0,
            |item| {
                begun.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(1));
                if *item == 5 { Err(*item) } else { Ok(()) }
            },
        );
        assert_eq!(result, Err(5));
        assert!(begun.into_inner() < 20);
    }
}
