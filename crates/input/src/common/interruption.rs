//! Cleanup when a signal ends the program.

use std::collections::BTreeMap;

use parking_lot::Mutex;

type CleanupAction = Box<dyn FnOnce() + Send>;

/// Pending cleanup actions, in the order of their requests.
static ACTS: Mutex<BTreeMap<u64, CleanupAction>> = Mutex::new(BTreeMap::new());

/// An action that runs when a signal ends the program, until this is dropped. The last requested action runs first. Only a program that
/// calls [`interrupt`] handles signals; other programs that use the library keep their own handling.
#[derive(Debug)]
pub struct AtInterruption(u64);

impl AtInterruption {
    /// Requests an action.
    pub fn new(act: impl FnOnce() + Send + 'static) -> Self {
        let mut acts = ACTS.lock();
        let number = acts.last_key_value().map_or(0, |(last, _)| last + 1);
        acts.insert(number, Box::new(act));
        Self(number)
    }
}

impl Drop for AtInterruption {
    /// Waits while the program is being ended, so that the failures that follow are not reported.
    fn drop(&mut self) {
        ACTS.lock().remove(&self.0);
    }
}

/// Runs the requested actions, the last first, and then ends the program. Actions cannot be added or dropped in between.
pub fn interrupt(end: impl FnOnce()) {
    let mut acts = ACTS.lock();
    while let Some((_, act)) = acts.pop_last() {
        act();
    }
    end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_forgotten() {
        let kept = AtInterruption::new(|| {});
        let dropped = AtInterruption::new(|| {});
        let number = dropped.0;
        assert!(ACTS.lock().contains_key(&number));
        drop(dropped);
        let acts = ACTS.lock();
        assert!(acts.contains_key(&kept.0) && (!acts.contains_key(&number) || number < kept.0));
    }
}
