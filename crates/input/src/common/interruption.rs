//! Cleanup when a signal ends the program.

use std::collections::BTreeMap;

use parking_lot::Mutex;

type CleanupAction = Box<dyn FnOnce() + Send>;

/// Pending cleanup actions, in the order of their requests.
static ACTS: Mutex<BTreeMap<u64, CleanupAction>> = Mutex::new(BTreeMap::new());

/// Something that is done when a signal ends the program, as long as this is kept. What was asked for last is done first. Only
/// a program that calls [`interrupt`] handles signals: those of a program that uses the library are its own.
#[derive(Debug)]
pub struct AtInterruption(u64);

impl AtInterruption {
    /// Requests it.
    pub fn new(act: impl FnOnce() + Send + 'static) -> Self {
        let mut acts = ACTS.lock();
        let number = acts.last_key_value().map_or(0, |(last, _)| last + 1);
        acts.insert(number, Box::new(act));
        Self(number)
    }
}

impl Drop for AtInterruption {
    /// Waits while the program is being ended, so that nothing of the failures that follow is reported.
    fn drop(&mut self) {
        ACTS.lock().remove(&self.0);
    }
}

/// Runs the requested acts, the last first, and then ends the program: acts cannot be added or dropped in between.
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
