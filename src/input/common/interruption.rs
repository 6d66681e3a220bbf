//! What is done when a signal ends the program.

use std::collections::BTreeMap;
use std::sync::{Mutex, Once, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

type CleanupAction = Box<dyn FnOnce() + Send>;

/// What is to be done, by the order in which it was requested.
static ACTS: Mutex<BTreeMap<u64, CleanupAction>> = Mutex::new(BTreeMap::new());
static WATCH: Once = Once::new();

/// Something that is done when SIGHUP, SIGINT or SIGTERM ends the program, as long as this is kept. What was requested last is
/// done first. Then the signal ends the program, as its convention is.
#[derive(Debug)]
pub struct AtInterruption(u64);

impl AtInterruption {
    /// Requests it.
    pub fn new(act: impl FnOnce() + Send + 'static) -> Self {
        WATCH.call_once(watch);
        let mut acts = ACTS.lock().unwrap_or_else(PoisonError::into_inner);
        let number = acts.last_key_value().map_or(0, |(last, _)| last + 1);
        acts.insert(number, Box::new(act));
        Self(number)
    }
}

impl Drop for AtInterruption {
    /// Waits while the program is being ended, so that nothing of the failures that follow is reported.
    fn drop(&mut self) {
        ACTS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// A signal that the program was started to ignore, as under `nohup`, stays so.
fn watch() {
    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored_signals(&status));
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    if let Ok(mut signals) = Signals::new(ends) {
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let mut acts = ACTS.lock().unwrap_or_else(PoisonError::into_inner);
                while let Some((_, act)) = acts.pop_last() {
                    act();
                }
                let _ = emulate_default_handler(signal);
            }
        });
    }
}

/// A bit for every signal that is ignored, by what the system states about a process.
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_forgotten() {
        let kept = AtInterruption::new(|| {});
        let dropped = AtInterruption::new(|| {});
        let number = dropped.0;
        assert!(ACTS.lock().unwrap().contains_key(&number));
        drop(dropped);
        let acts = ACTS.lock().unwrap();
        assert!(acts.contains_key(&kept.0) && (!acts.contains_key(&number) || number < kept.0));
    }

    #[test]
    fn signals_that_are_ignored() {
        assert_eq!(ignored_signals("Name:\tx\nSigIgn:\t0000000000001003\nSigCgt:\tff\n"), 0x1003);
        assert_eq!(ignored_signals(""), 0);
    }
}
