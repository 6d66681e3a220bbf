//! Limits threads to the number that the system allows: containers limit processes, batch systems limit memory.

use std::sync::Arc;
use std::{fs, thread};

use anyhow::anyhow;
use parking_lot::Mutex;

use super::exit::Failure;

/// Thread pools of the requested size: one of the readers, and three of polars.
const POOLS: usize = 4;
/// Further threads: for signals, progress, decompression, reading ahead, and freeing memory.
const APART: usize = 10;
/// Address space per thread of each pool: stacks, and per-thread memory. Data needs more on top.
const BYTES_OF_A_THREAD: u64 = 1 << 26;
/// Stack of a thread that tests a limited address space: its own, and room for the data that it reads.
const TESTED_STACK_BYTES: usize = 1 << 25;
/// Limits from this value on are not tested. It is generous, because other programs may start threads too.
const AMPLE: u64 = 1 << 14;

/// The requested number of threads, or as many as there is room for.
pub(crate) fn startable(wanted: usize) -> Result<usize, Failure> {
    if !is_limited() {
        return Ok(wanted);
    }
    let address_space_bytes = resource_limits().address_space_bytes;
    let has_few_addresses = address_space_bytes < u64::MAX;
    if has_few_addresses {
        share_memory_pool();
    }
    let of_addresses = usize::try_from(address_space_bytes / BYTES_OF_A_THREAD).unwrap_or(usize::MAX);
    let wanted = wanted.min(of_addresses.max(1));
    let needed = wanted.saturating_mul(POOLS).saturating_add(APART);
    let started = started(needed, has_few_addresses.then_some(TESTED_STACK_BYTES));
    match started.saturating_sub(APART) / POOLS {
        0 => Err(anyhow!(
            "the system starts {started} threads, and {} are needed; raise the limit of processes (ulimit -u, pids.max of the container) \
             or of address space (ulimit -v)",
            POOLS + APART
        )
        .into()),
        room => Ok(room.min(wanted)),
    }
}

/// Has all threads allocate from one pool. By default, glibc reserves 64 MiB of addresses per thread on its first allocation, which can
/// take the place of the stacks of later threads.
fn share_memory_pool() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call sets one number of the allocator, under the allocator's own lock.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1)
    };
}

/// Starts up to this many threads, which all wait for the last one and then end; returns how many started.
fn started(most: usize, stack_bytes: Option<usize>) -> usize {
    let gate = Arc::new(Mutex::new(()));
    let held = gate.lock();
    let start = |_| {
        let gate = Arc::clone(&gate);
        let thread = thread::Builder::new();
        let thread = match stack_bytes {
            Some(bytes) => thread.stack_size(bytes),
            None => thread,
        };
        thread.spawn(move || drop(gate.lock())).ok()
    };
    let threads: Vec<_> = (0..most).map_while(start).collect();
    drop(held);
    let count = threads.len();
    threads.into_iter().for_each(|thread| _ = thread.join());
    count
}

/// Returns whether a limit of the system may leave too little room for threads.
fn is_limited() -> bool {
    let of_groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    limits(&of_groups).into_iter().any(|file| {
        let limit = fs::read_to_string(file).ok().and_then(|limit| limit.trim().parse().ok());
        limit.is_some_and(|limit: u64| limit < AMPLE)
    }) || is_limited_by_resources()
}

/// The files with the process limits of a process's control groups.
fn limits(of_groups: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in of_groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else { continue };
        let mount = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|name| name == "pids") => "/sys/fs/cgroup/pids",
            _ => continue,
        };
        let above = std::iter::successors(Some(group), |group| group.rsplit_once('/').map(|(above, _)| above));
        files.extend(above.map(|group| format!("{mount}{}/pids.max", group.trim_end_matches('/'))));
    }
    files.dedup();
    files
}

fn is_limited_by_resources() -> bool {
    let ResourceLimits { processes, address_space_bytes } = resource_limits();
    processes < AMPLE || address_space_bytes < u64::MAX
}

/// Maximum processes of the user, and maximum address space of this process; the largest number without a limit.
struct ResourceLimits {
    processes: u64,
    address_space_bytes: u64,
}

#[cfg(unix)]
fn resource_limits() -> ResourceLimits {
    let limit = |resource| {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the call writes the structure it is given, or nothing.
        unsafe { libc::getrlimit(resource, &raw mut limit) };
        limit.rlim_cur
    };
    ResourceLimits { processes: limit(libc::RLIMIT_NPROC), address_space_bytes: limit(libc::RLIMIT_AS) }
}

#[cfg(not(unix))]
fn resource_limits() -> ResourceLimits {
    ResourceLimits { processes: u64::MAX, address_space_bytes: u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_limits_of_their_own_and_of_those_above() {
        let of = |text| limits(text);
        assert_eq!(of("0::/\n"), ["/sys/fs/cgroup/pids.max"]);
        let nested = ["/sys/fs/cgroup/a/b/pids.max", "/sys/fs/cgroup/a/pids.max", "/sys/fs/cgroup/pids.max"];
        assert_eq!(of("0::/a/b\n"), nested);
        let older = ["/sys/fs/cgroup/pids/job/pids.max", "/sys/fs/cgroup/pids/pids.max"];
        assert_eq!(of("9:name=systemd:/x\n8:pids:/job\n4:memory:/m\n"), older);
        assert!(of("").is_empty() && of("nonsense").is_empty());
    }

    #[test]
    fn threads_are_counted() {
        assert_eq!((started(5, None), started(5, Some(TESTED_STACK_BYTES))), (5, 5));
        assert_eq!(startable(1).unwrap(), 1);
    }
}
