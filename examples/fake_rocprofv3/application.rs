//! Running the application.

use std::process::Command;

use anyhow::{Context, Result};

/// Runs it; returns what it ended with, as a shell counts signals.
pub fn run(words: &[String]) -> Result<u8> {
    let (program, arguments) = words.split_first().context("no application")?;
    let mut command = Command::new(program);
    command.args(arguments);
    die_with_us(&mut command);
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// The real one becomes the application; a program that ends this one ends both.
fn die_with_us(command: &mut Command) {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        let act = || {
            // SAFETY: the call takes numbers and changes an attribute of the new process alone.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            Ok(())
        };
        // SAFETY: the closure makes one system call, and neither allocates nor locks.
        unsafe { command.pre_exec(act) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = command;
}
