//! Open windows of browsers: the server ends after the last one is closed.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

#[derive(Default)]
struct State {
    open: usize,
    /// When the last window was closed; `None` before the first one is opened.
    closed: Option<Instant>,
    /// Grows with every change that windows hear of.
    news: u64,
}

/// Counts windows.
#[derive(Default)]
pub struct Windows {
    state: Mutex<State>,
    changed: Condvar,
}

/// An open window; dropping it closes the window.
pub struct Window<'a>(&'a Windows);

impl Windows {
    /// Opens a window.
    pub fn open(&self) -> Window<'_> {
        self.state.lock().open += 1;
        self.changed.notify_all();
        Window(self)
    }

    /// Notifies windows of a change.
    pub fn announce(&self) {
        self.state.lock().news += 1;
        self.changed.notify_all();
    }

    /// Waits for a change after the `known` one, or for a time; returns the number of the last change.
    pub fn wait_for_news(&self, known: u64, most: Duration) -> u64 {
        let mut state = self.state.lock();
        if state.news == known {
            self.changed.wait_for(&mut state, most);
        }
        state.news
    }

    /// Waits until no window has been open for `grace` after the last one was closed.
    pub fn wait_for_end(&self, grace: Duration) {
        let mut state = self.state.lock();
        loop {
            match state.closed.filter(|_| state.open == 0) {
                Some(closed) if closed.elapsed() >= grace => return,
                Some(closed) => {
                    self.changed.wait_for(&mut state, grace.saturating_sub(closed.elapsed()));
                }
                None => self.changed.wait(&mut state),
            }
        }
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.open = state.open.saturating_sub(1);
        state.closed = Some(Instant::now());
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_comes_after_the_last_window() {
        let windows = Windows::default();
        let (first, second) = (windows.open(), windows.open());
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                drop(first);
                std::thread::sleep(Duration::from_millis(60));
                drop(second);
            });
            windows.wait_for_end(Duration::from_millis(40));
        });
        assert!(start.elapsed() >= Duration::from_millis(100));
    }
}
