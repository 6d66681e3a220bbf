//! A program in a process group of its own, which ends as a whole.

use std::io;
use std::process::{Child, Command};

/// Sent one after the other to what does not end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    Interrupt,
    Terminate,
    Kill,
}

/// Starts a program as the leader of a group. It heeds SIGINT, even if this process was started to ignore it, as jobs in the
/// background are. Where there is Linux, it is killed when this thread ends, and so when this process is killed.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let parent = std::process::id();
        let act = move || {
            // SAFETY: the call sets no handler, only what the new process does by default.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
            #[cfg(target_os = "linux")]
            // SAFETY: the call takes numbers and changes an attribute of the new process alone.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
            };
            // SAFETY: the call takes nothing and only reads.
            let is_orphan = u32::try_from(unsafe { libc::getppid() }) != Ok(parent);
            if is_orphan { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        };
        command.process_group(0);
        // SAFETY: between fork and exec the closure makes three system calls, and neither allocates nor locks: the error has no
        // text.
        unsafe { command.pre_exec(act) };
    }
    command.spawn()
}

/// Sends a signal to all processes of the group of a program.
pub(super) fn send(child: &mut Child, signal: Signal) {
    #[cfg(unix)]
    {
        let number = match signal {
            Signal::Interrupt => libc::SIGINT,
            Signal::Terminate => libc::SIGTERM,
            Signal::Kill => libc::SIGKILL,
        };
        if let Ok(group) = i32::try_from(child.id()) {
            // SAFETY: the call takes numbers. The group is that of the program: its number is not given to another as long as
            // a process is in it, and is not given again before all others were.
            let _ = unsafe { libc::kill(-group, number) };
        }
    }
    #[cfg(not(unix))]
    if signal != Signal::Interrupt {
        let _ = child.kill();
    }
}

/// Whether processes of the group of a program are left that still do something.
pub(super) fn is_left(child: &Child) -> bool {
    #[cfg(unix)]
    {
        let Ok(group) = i32::try_from(child.id()) else { return false };
        // SAFETY: the call takes numbers, and sends no signal.
        let answer = unsafe { libc::kill(-group, 0) };
        answer == 0 && is_any_alive(group)
    }
    #[cfg(not(unix))]
    {
        let _ = child;
        false
    }
}

/// Whether a process of a group is more than an entry that nobody asked for yet, which may stay for long where the first process
/// of a container does not; assumed where that cannot be found out.
#[cfg(unix)]
fn is_any_alive(group: i32) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let mut known = 0;
    for entry in processes.flatten() {
        let Ok(status) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        known += 1;
        // The name of the program, in brackets, may hold anything.
        let mut fields = status.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let state = fields.next().unwrap_or_default();
        let is_of_group = fields.nth(1).and_then(|field| field.parse().ok()) == Some(group);
        if is_of_group && !matches!(state, "Z" | "X") {
            return true;
        }
    }
    known == 0
}
