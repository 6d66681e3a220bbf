//! Ctrl-C while a loop runs: the first one is a request, a second one within two seconds ends the program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How soon a second one ends the program.
const PATIENCE: Duration = Duration::from_secs(2);

/// The present receiver of Ctrl-C, if there is one.
static TAKER: Mutex<Option<Arc<Pressed>>> = Mutex::new(None);

/// When Ctrl-C was pressed last, and whether anybody has seen to it.
#[derive(Debug, Default)]
struct Pressed {
    last: Mutex<Option<Instant>>,
    is_set: AtomicBool,
    is_asking: AtomicBool,
    /// Whether nothing is lost if the program ends at once.
    is_idle: AtomicBool,
}

impl Pressed {
    /// Whether the program goes on after one that comes now.
    fn press(&self, now: Instant) -> bool {
        let before = self.last.lock().replace(now);
        self.is_set.store(true, SeqCst);
        !self.is_idle.load(SeqCst) && before.is_none_or(|before| now.saturating_duration_since(before) > PATIENCE)
    }
}

/// Takes Ctrl-C until it is dropped.
#[derive(Debug, Default)]
pub struct Interruptions(Arc<Pressed>);

impl Interruptions {
    /// Takes those of the program from now on.
    pub fn of_program() -> Self {
        let pressed = Arc::new(Pressed::default());
        *TAKER.lock() = Some(pressed.clone());
        Self(pressed)
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.is_set.load(SeqCst)
    }

    /// Whether there was one, as a function of its own.
    pub fn check(&self) -> Box<dyn Fn() -> bool> {
        let pressed = self.0.clone();
        Box::new(move || pressed.is_set.load(SeqCst))
    }

    /// Forgets it; the next one within two seconds still ends the program.
    pub(super) fn forgive(&self) {
        self.0.is_set.store(false, SeqCst);
    }

    /// Whether a question waits for its answer.
    pub(super) fn set_asking(&self, is_asking: bool) {
        self.0.is_asking.store(is_asking, SeqCst);
    }

    /// Whether the program may end at once, as while a server is waited for.
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
    /// It ends the program.
    No,
    /// It answers the question that is asked.
    AtQuestion,
    /// It is seen to when what runs has stopped.
    AtWork,
}

/// Whether a loop takes a Ctrl-C that came now, so that the program goes on.
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
