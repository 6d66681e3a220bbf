//! Requests that someone waits for: work in the background leaves them the machine.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Time that work in the background waits for requests at most, before each of its parts.
const PATIENCE: Duration = Duration::from_secs(3);

/// Counts requests.
#[derive(Default)]
pub struct Requested {
    running: Mutex<usize>,
    ended: Condvar,
}

/// A request; dropping it ends it.
pub struct Request<'a>(&'a Requested);

impl Requested {
    /// Begins a request.
    pub fn begin(&self) -> Request<'_> {
        *self.running.lock() += 1;
        Request(self)
    }

    /// Waits until no request is running, or for some time.
    pub fn wait(&self) {
        let until = Instant::now() + PATIENCE;
        let mut running = self.running.lock();
        while *running > 0 {
            if self.ended.wait_until(&mut running, until).timed_out() {
                return;
            }
        }
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let mut running = self.0.running.lock();
        *running = running.saturating_sub(1);
        drop(running);
        self.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_requests_but_not_forever() {
        let requested = Requested::default();
        requested.wait();
        let start = Instant::now();
        let waited = std::thread::scope(|scope| {
            let request = requested.begin();
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                drop(request);
            });
            requested.wait();
            start.elapsed()
        });
        assert!((50..2_500).contains(&waited.as_millis()), "{waited:?}");
        let start = Instant::now();
        let _request = requested.begin();
        requested.wait();
        assert!(start.elapsed() >= PATIENCE);
    }
}
