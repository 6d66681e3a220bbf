//! Size of the available memory.

use std::fs;
use std::path::Path;

/// Memory of the machine, or of the control group if that is less; `None` if neither is known.
pub fn available_bytes() -> Option<u64> {
    [machine(), group()].into_iter().flatten().min()
}

fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the control groups that this process is in.
fn group() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            controllers if controllers.split(',').any(|controller| controller == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // In a container, the path is often a path of the host. The limit is then at the visible root.
        let below = Path::new(path.trim_start_matches('/'));
        below.ancestors().filter_map(|group| limit(&Path::new(root).join(group).join(file))).min()
    });
    limits.min()
}

fn limit(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}
