//! Signals that end the program.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::output::mail::show_typing;
use super::output::messages::print_note;
use wavesieve_input::interrupt;
use wavesieve_lab::interactive::face::{Taken, take_interruption};
use wavesieve_lab::interactive::programs::end_all;

/// Waits for SIGHUP, SIGINT or SIGTERM, then ends child programs and cleans up, and lets the signal end this program in
/// the usual way. Signals that the program was started to ignore, for example under `nohup`, stay ignored. A session
/// handles the first Ctrl-C itself.
pub(crate) fn watch() {
    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored_signals(&status));
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    if let Ok(mut signals) = Signals::new(ends) {
        // If no thread can be started, the program soon ends with that error.
        _ = std::thread::Builder::new().spawn(move || {
            for signal in signals.forever() {
                if signal == SIGINT && goes_on() {
                    continue;
                }
                show_typing();
                end_all();
                interrupt(|| {
                    let _ = emulate_default_handler(signal);
                });
            }
        });
    }
}

/// Returns whether a session handles a Ctrl-C itself.
fn goes_on() -> bool {
    let taken = take_interruption();
    if taken == Taken::AtWork {
        print_note("stopping; press Ctrl-C twice within two seconds to end at once");
    }
    taken != Taken::No
}

/// A bit mask of ignored signals, from the system's status of a process.
fn ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_are_ignored() {
        assert_eq!(ignored_signals("Name:\tx\nSigIgn:\t0000000000001003\nSigCgt:\tff\n"), 0x1003);
        assert_eq!(ignored_signals(""), 0);
    }
}
