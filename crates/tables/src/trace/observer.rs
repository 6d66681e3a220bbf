//! Observers of reading progress.

use super::jobs::Jobs;

/// Receives notifications about work on many files or processes. Nested work is not reported.
pub trait Observer: Send + Sync {
    /// Starts a number of steps; returns `false` if other work is already observed.
    fn begin(&self, of: &'static str, steps: usize) -> bool;

    /// One more step is done.
    fn done(&self);

    /// No more steps follow.
    fn end(&self);
}

/// Works on every item like `Jobs::run_sized`, and notifies an observer of each.
pub fn watched<T, R, E>(
    observer: Option<&dyn Observer>,
    of: &'static str,
    jobs: Jobs,
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
    let Some(observer) = observer.filter(|observer| observer.begin(of, items.len())) else {
        return jobs.run_sized(are_small, items, cost, work);
    };
    let results = jobs.run_sized(are_small, items, cost, |item| {
        let result = work(item);
        observer.done();
        result
    });
    observer.end();
    results
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counter {
        begun: AtomicUsize,
        done: AtomicUsize,
        ended: AtomicUsize,
    }

    impl Observer for Counter {
        fn begin(&self, _: &'static str, steps: usize) -> bool {
            self.begun.compare_exchange(0, steps, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        }

        fn done(&self) {
            self.done.fetch_add(1, Ordering::SeqCst);
        }

        fn end(&self) {
            self.ended.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn work_within_work_is_not_reported() {
        let counter = Counter::default();
        let jobs = Jobs { count: 2, memory_bytes: u64::MAX };
        let inner = |_: &i32| Ok::<_, ()>(());
        let work = |item: &i32| watched(Some(&counter), "files", jobs, false, &[1, 2, 3], |_| 0, inner).map(|_| *item);
        assert_eq!(watched(Some(&counter), "processes", jobs, true, &[5, 6], |_| 0, work), Ok(vec![5, 6]));
        let counts = [&counter.begun, &counter.done, &counter.ended].map(|count| count.load(Ordering::SeqCst));
        assert_eq!(counts, [2, 2, 1]);
    }
}
