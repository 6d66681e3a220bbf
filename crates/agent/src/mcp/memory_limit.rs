//! Limits the memory of a process that runs statements: a cross join of everything must not exhaust the machine.

/// Makes this process, and no other, end if it needs more than this many bytes or memory is scarce. Systems without
/// such a limit ignore it.
pub fn limit_memory(bytes: u64) {
    // The first process to end when memory is scarce.
    let _ = std::fs::write("/proc/self/oom_score_adj", "900");
    #[cfg(target_os = "linux")]
    {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: the call reads the given structure and changes nothing else of this process. If it fails, there is no
        // limit.
        let _ = unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
