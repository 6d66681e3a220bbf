//! How much memory the process of the tools may take: a join of everything with everything must not take the machine down.

/// Lets this process end, and no other, when it takes more than so many bytes or memory is scarce. Systems that have no such limit go without.
pub(super) fn limit_memory(bytes: u64) {
    // The first to be ended when memory is scarce.
    let _ = std::fs::write("/proc/self/oom_score_adj", "900");
    #[cfg(target_os = "linux")]
    {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: the call reads the structure it is given and changes nothing else of this process. If it fails, there is no limit.
        let _ = unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}
