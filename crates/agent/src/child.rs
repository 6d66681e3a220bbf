//! Programs that this one starts.

use std::io;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Interval between checks whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// The path of this program, even after its file was replaced.
///
/// # Errors
/// When the system does not know it.
pub fn program() -> io::Result<PathBuf> {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { Ok(own) } else { std::env::current_exe() }
}

/// Waits for a program, and kills it if it does not end in time; `None` if so.
///
/// # Errors
/// When the system does not tell its state. It is killed then too.
pub fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if start.elapsed() < limit => sleep(PAUSE),
            Ok(Some(status)) => return Ok(Some(status)),
            other => {
                let _ = child.kill();
                let _ = child.wait();
                return other;
            }
        }
    }
}
