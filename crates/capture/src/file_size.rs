//! The file size limit of the program, which also applies to files that this library writes.

use std::mem::MaybeUninit;

/// Blocks SIGXFSZ while it exists. A write beyond `ulimit -f` in this thread, and in threads that it starts, then fails with `EFBIG`
/// instead of ending the program: the kernel sends the signal to the writing thread, and a blocked signal stays pending. On drop, the
/// pending signal is removed before the mask of the thread is restored. Handlers of the program, and other threads, do not change.
pub(crate) struct BlockedSignal {
    /// The mask before; `None` if the signal was already blocked. A pending signal then belongs to the program, or the code that blocked it
    /// removes it.
    before: Option<libc::sigset_t>,
}

impl BlockedSignal {
    pub(crate) fn of_file_size() -> Self {
        let own = file_size_signal();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the set is filled, and there is room for the other.
        let status = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const own, before.as_mut_ptr()) };
        if status != 0 {
            return Self { before: None };
        }
        // SAFETY: the call succeeded, and wrote the set.
        let before = unsafe { before.assume_init() };
        // SAFETY: the set is filled.
        let was_blocked = unsafe { libc::sigismember(&raw const before, libc::SIGXFSZ) } == 1;
        Self { before: (!was_blocked).then_some(before) }
    }
}

impl Drop for BlockedSignal {
    fn drop(&mut self) {
        let Some(before) = self.before else { return };
        let own = file_size_signal();
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the sets and the time are filled; no information about the signal is requested.
        unsafe {
            while libc::sigtimedwait(&raw const own, std::ptr::null_mut(), &raw const now) == libc::SIGXFSZ {}
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        }
    }
}

fn file_size_signal() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call fills the set, the second changes it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGXFSZ);
        set.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::BlockedSignal;

    fn is_blocked() -> bool {
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: there is room for the set, which the call fills.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), set.as_mut_ptr());
            libc::sigismember(set.as_ptr(), libc::SIGXFSZ) == 1
        }
    }

    #[test]
    fn a_signal_is_taken_away_and_the_mask_is_as_it_was() {
        assert!(!is_blocked());
        {
            let _outer = BlockedSignal::of_file_size();
            {
                let _inner = BlockedSignal::of_file_size();
                // SAFETY: the thread is this one.
                unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGXFSZ) };
            }
            assert!(is_blocked());
            std::thread::scope(|scope| assert!(scope.spawn(is_blocked).join().is_ok_and(|blocked| blocked)));
        }
        // The signal would have ended the process.
        assert!(!is_blocked());
    }
}
