//! Permissions do not stop root, as which CI runs: tests of them give that right up. Unit tests include this file by its path.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::process::{Command, Stdio};
use std::thread;

use crate::skipping::skip;

/// Runs something in a thread that permissions stop, as they stop programs started by it. Where root cannot give its rights up,
/// nothing runs, and the test is counted as skipped.
pub(crate) fn where_permissions_count<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let name = thread::current().name().unwrap_or_default().to_owned();
    let limited = || {
        give_up_override();
        if do_permissions_count() {
            return Some(work());
        }
        skip("permissions do not stop this user, nor can it be made so");
        None
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(name).spawn_scoped(scope, limited).expect("a thread can be started");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Whether a closed file is closed to this thread and to its children.
fn do_permissions_count() -> bool {
    let closed = tempfile::NamedTempFile::new().expect("a file can be made");
    fs::set_permissions(closed.path(), Permissions::from_mode(0o000)).expect("its permissions can be set");
    let reader = Command::new("cat").arg(closed.path()).stderr(Stdio::null()).status().expect("cat runs");
    File::open(closed.path()).is_err() && !reader.success()
}

/// Takes the two capabilities that override permissions from this thread, and from what it starts. Root stays the owner of its
/// files, so that nothing has to be handed to another user.
#[cfg(target_os = "linux")]
fn give_up_override() {
    /// `CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`.
    const OVERRIDE: [u32; 2] = [1, 2];
    /// `_LINUX_CAPABILITY_VERSION_3`; the thread is this one.
    const HEADER: [u32; 2] = [0x2008_0522, 0];
    for capability in OVERRIDE {
        // SAFETY: only numbers are passed.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0) };
    }
    // Effective, permitted and inheritable ones below 32, then the others.
    let (mut header, mut sets) = (HEADER, [0_u32; 6]);
    // SAFETY: both arrays have the size that the header's version asks for.
    unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    let kept = !OVERRIDE.iter().fold(0, |bits, capability| bits | 1 << capability);
    sets.iter_mut().take(3).for_each(|set| *set &= kept);
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) };
}

#[cfg(not(target_os = "linux"))]
fn give_up_override() {}
