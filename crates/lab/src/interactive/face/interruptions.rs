//! Ctrl-C while a session runs: the first is a request, a second within two seconds ends the program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Time within which a second Ctrl-C ends the program.
const PATIENCE: Duration = Duration::from_secs(2);

/// The present receiver of Ctrl-C, if any.
static TAKER: Mutex<Option<Arc<Pressed>>> = Mutex::new(None);

/// The time of the last Ctrl-C, and whether it was handled.
#[derive(Debug, Default)]
struct Pressed {
    last: Mutex<Option<Instant>>,
    is_set: AtomicBool,
    is_asking: AtomicBool,
    /// Whether the program can end at once without losing anything.
    is_idle: AtomicBool,
}

impl Pressed {
    /// Records a Ctrl-C; returns whether the program continues.
    fn press(&self, now: Instant) -> bool {
        let before = self.last.lock().replace(now);
        self.is_set.store(true, SeqCst);
        !self.is_idle.load(SeqCst) && before.is_none_or(|before| now.saturating_duration_since(before) > PATIENCE)
    }
}

/// Receives Ctrl-C until it is dropped.
#[derive(Debug, Default)]
pub struct Interruptions(Arc<Pressed>);

impl Interruptions {
    /// Receives the interruptions of the program from now on.
    pub fn of_program() -> Self {
        let pressed = Arc::new(Pressed::default());
        *TAKER.lock() = Some(pressed.clone());
        Self(pressed)
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.is_set.load(SeqCst)
    }

    /// Returns a function that reports whether there was an interruption.
    pub fn check(&self) -> Box<dyn Fn() -> bool> {
        let pressed = self.0.clone();
        Box::new(move || pressed.is_set.load(SeqCst))
    }

    /// Forgets the interruption; a second one within two seconds still ends the program.
    pub(super) fn forgive(&self) {
        self.0.is_set.store(false, SeqCst);
    }

    /// Sets whether a question waits for its answer.
    pub(super) fn set_asking(&self, is_asking: bool) {
        self.0.is_asking.store(is_asking, SeqCst);
    }

    /// Sets whether the program may end at once, for example while it waits for a server.
    pub(super) fn set_idle(&self, is_idle: bool) {
        self.0.is_idle.store(is_idle, SeqCst);
    }

    #[cfg(test)]
    pub(super) fn press(&self) {
        self.0.press(Instant::now());
    }
}

impl Drop for Interruptions {
    fn drop(&mut self) {
        let mut taker = TAKER.lock();
        if taker.as_ref().is_some_and(|taken| Arc::ptr_eq(taken, &self.0)) {
            *taker = None;
        }
    }
}

/// The effect of a Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The program ends.
    No,
    /// The open question is answered by it.
    AtQuestion,
    /// The session handles it when the running program has stopped.
    AtWork,
}

/// Returns how a session handles a Ctrl-C at this moment.
pub fn take_interruption() -> Taken {
    let taker = TAKER.lock().clone();
    match taker {
        Some(pressed) if pressed.press(Instant::now()) => {
            if pressed.is_asking.load(SeqCst) {
                Taken::AtQuestion
            } else {
                Taken::AtWork
            }
        }
        _ => Taken::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_soon_after_ends_the_program() {
        let pressed = Pressed::default();
        let start = Instant::now();
        assert!(pressed.press(start));
        assert!(pressed.press(start + PATIENCE * 2), "long after the first");
        assert!(!pressed.press(start + PATIENCE * 2 + PATIENCE / 2));
    }

    #[test]
    fn what_was_forgiven_is_not_set() {
        let interruptions = Interruptions::default();
        let check = interruptions.check();
        assert!(!check() && !interruptions.is_set());
        interruptions.press();
        assert!(check() && interruptions.is_set());
        interruptions.forgive();
        assert!(!check() && !interruptions.is_set());
    }
}
