//! A program in its own process group, which ends as a whole.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
/// Time for groups to end after SIGTERM when this process ends.
const PATIENCE: Duration = Duration::from_millis(500);
/// Interval between checks whether they have ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A group that ends with this process while this value exists.
pub(super) struct Running(u32);

impl Running {
    pub(super) fn new(child: &Child) -> Self {
        RUNNING.lock().insert(child.id());
        Self(child.id())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.lock().remove(&self.0);
    }
}

/// Ends all running programs because this process ends: SIGTERM, and soon after SIGKILL for the rest.
pub fn end_all() {
    // The lock is kept, so that no program starts or is forgotten any more.
    let running = RUNNING.lock();
    for group in running.iter() {
        send(*group, libc::SIGTERM);
    }
    let begin = Instant::now();
    while running.iter().any(|group| is_left(*group)) && begin.elapsed() < PATIENCE {
        std::thread::sleep(LOOK_EVERY);
    }
    for group in running.iter() {
        send(*group, libc::SIGKILL);
    }
}

/// Starts a program as the leader of a group. It reacts to SIGINT even if this process ignores it, as background jobs
/// do. It is killed when this thread, and so this process, ends.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let parent = std::process::id();
    let act = move || {
        // SAFETY: the call sets no handler, only the default action of the new process.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        // SAFETY: the call takes numbers and changes only an attribute of the new process.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        // SAFETY: the call takes nothing and only reads.
        let is_orphan = u32::try_from(unsafe { libc::getppid() }) != Ok(parent);
        if is_orphan { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    };
    command.process_group(0);
    // SAFETY: between fork and exec the closure makes three system calls. They neither allocate nor lock, and the error
    // has no text.
    unsafe { command.pre_exec(act) };
    command.spawn()
}

/// Sends a signal to all processes of a group.
pub(super) fn send(group: u32, signal: libc::c_int) {
    if let Ok(group) = i32::try_from(group) {
        // SAFETY: the call takes numbers. The group belongs to the program: the system does not reuse its number while
        // a process is in it, and not before all other numbers were used.
        let _ = unsafe { libc::kill(-group, signal) };
    }
}

/// Returns whether a group still has processes that run.
pub(super) fn is_left(group: u32) -> bool {
    let Ok(group) = i32::try_from(group) else { return false };
    // SAFETY: the call takes numbers, and sends no signal.
    let answer = unsafe { libc::kill(-group, 0) };
    answer == 0 && is_any_alive(group)
}

/// Returns whether a group has more than zombies. A zombie may stay for long if the first process of a container does
/// not reap it. If this cannot be determined, the answer is yes.
fn is_any_alive(group: i32) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let mut known = 0;
    for entry in processes.flatten() {
        let Ok(status) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        known += 1;
        // The program name, in brackets, may hold any characters.
        let mut fields = status.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let state = fields.next().unwrap_or_default();
        let is_of_group = fields.nth(1).and_then(|field| field.parse().ok()) == Some(group);
        if is_of_group && !matches!(state, "Z" | "X") {
            return true;
        }
    }
    known == 0
}
