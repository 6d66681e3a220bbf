//! Open windows of browsers: the server ends after the last one is closed.
//!
//! A window looks at the news now and then, which keeps it open. No connection stays open for it: browsers have six for a
//! server, and all windows share them.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Maximum number of windows, and of closed ones that are remembered.
const MAX_WINDOWS: usize = 256;

#[derive(Default)]
struct State {
    /// Open windows with the time of their last look.
    open: BTreeMap<String, Instant>,
    /// Windows that were closed last: a look that arrives late does not open one again.
    ended: VecDeque<String>,
    /// When the last window was closed; `None` before the first one is closed.
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

impl Windows {
    /// Opens a window or keeps it open, unless it was closed. Returns the number of the last change.
    pub fn look(&self, id: &str) -> u64 {
        let mut state = self.state.lock();
        if !state.ended.iter().any(|ended| ended == id) {
            state.open.insert(id.to_owned(), Instant::now());
            if state.open.len() > MAX_WINDOWS {
                let oldest = state.open.iter().min_by_key(|(id, looked)| (**looked, *id)).map(|(id, _)| id.clone());
                if let Some(oldest) = oldest {
                    state.open.remove(&oldest);
                }
            }
            self.changed.notify_all();
        }
        state.news
    }

    /// Closes a window for good.
    pub fn close(&self, id: &str) {
        let mut state = self.state.lock();
        state.ended.push_back(id.to_owned());
        if state.ended.len() > MAX_WINDOWS {
            state.ended.pop_front();
        }
        state.open.remove(id);
        // The report of the end may overtake the first look of its window.
        if state.open.is_empty() {
            state.closed = Some(Instant::now());
            self.changed.notify_all();
        }
    }

    /// Notifies windows of a change.
    pub fn announce(&self) {
        self.state.lock().news += 1;
    }

    /// Waits until no window has been open for `grace` after the last one was closed. A window that did not look for
    /// `silence` counts as closed: its browser is gone.
    pub fn wait_for_end(&self, grace: Duration, silence: Duration) {
        let mut state = self.state.lock();
        loop {
            let before = state.open.len();
            state.open.retain(|_, looked| looked.elapsed() < silence);
            if state.open.len() < before {
                state.closed = Some(Instant::now());
            }
            let first = state.open.values().min().copied();
            match (first, state.closed) {
                (None, None) => self.changed.wait(&mut state),
                (None, Some(closed)) if closed.elapsed() >= grace => return,
                (None, Some(closed)) => {
                    self.changed.wait_for(&mut state, grace.saturating_sub(closed.elapsed()));
                }
                (Some(looked), _) => {
                    self.changed.wait_for(&mut state, silence.saturating_sub(looked.elapsed()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(100);

    #[test]
    fn the_end_comes_after_the_last_window() {
        let windows = Windows::default();
        windows.look("first");
        windows.look("second");
        let start = Instant::now();
        let waited = std::thread::scope(|scope| {
            scope.spawn(|| {
                windows.close("first");
                std::thread::sleep(Duration::from_millis(60));
                windows.close("second");
                // It was on its way when the window was closed.
                windows.look("second");
            });
            windows.wait_for_end(Duration::from_millis(40), LONG);
            start.elapsed()
        });
        assert!(waited >= Duration::from_millis(100) && waited < LONG / 2, "{waited:?}");
    }

    #[test]
    fn an_end_that_overtakes_the_first_look_is_an_end() {
        let windows = Windows::default();
        windows.close("short");
        windows.look("short");
        let start = Instant::now();
        let has_ended = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| windows.wait_for_end(Duration::from_millis(40), LONG));
            while !waiting.is_finished() && start.elapsed() < LONG / 5 {
                std::thread::sleep(Duration::from_millis(5));
            }
            let has_ended = waiting.is_finished();
            // Otherwise this ends it.
            windows.look("last");
            windows.close("last");
            has_ended
        });
        assert!(has_ended);
    }

    #[test]
    fn a_window_that_never_looks_again_is_closed() {
        let windows = Windows::default();
        let start = Instant::now();
        windows.look("gone");
        let silence = Duration::from_millis(500);
        let waited = std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..8 {
                    windows.look("there");
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
            windows.wait_for_end(Duration::from_millis(10), silence);
            start.elapsed()
        });
        assert!(waited >= Duration::from_millis(7 * 100) + silence && waited < LONG / 2, "{waited:?}");
    }

    #[test]
    fn windows_hear_of_changes_and_their_number_is_limited() {
        let windows = Windows::default();
        assert_eq!(windows.look("one"), 0);
        windows.announce();
        assert_eq!(windows.look("one"), 1);
        (0..2 * MAX_WINDOWS).for_each(|number| assert_eq!(windows.look(&number.to_string()), 1));
        (0..2 * MAX_WINDOWS).for_each(|number| windows.close(&format!("never opened {number}")));
        let state = windows.state.lock();
        assert_eq!((state.open.len(), state.ended.len(), state.closed), (MAX_WINDOWS, MAX_WINDOWS, None));
    }
}
