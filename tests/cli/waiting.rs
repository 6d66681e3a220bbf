//! Waiting for something that another process does.

use std::time::{Duration, Instant};

/// How long it may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until something holds; whether it did in time.
pub fn soon(mut holds: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !holds() {
        if begin.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Whether a process does something; those that ended and were not asked for do not.
pub fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
    state.is_some_and(|state| !matches!(state, "Z" | "X"))
}
