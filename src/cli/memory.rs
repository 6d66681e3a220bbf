//! Amounts of memory: how they are written, and how much there is.

use std::fs;
use std::path::Path;

/// Reads a size: bytes, with K, M, G or T for powers of 1024, or a percentage of the memory there is.
///
/// # Errors
/// When it is no size above zero.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || "write a size such as 512M, 8G or 50%".to_owned();
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let unit = unit.trim().to_lowercase();
    let factor = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => f64::from(1 << 20),
        "g" => f64::from(1 << 30),
        "t" => f64::from(1 << 20) * f64::from(1 << 20),
        "%" if number > 100.0 => return Err("more than 100% of the memory is not there".to_owned()),
        "%" => {
            available_bytes().ok_or("the memory of this machine is unknown; write a size such as 8G")? as f64 / 100.0
        }
        _ => return Err(wrong()),
    };
    let bytes = number * factor;
    if bytes >= 1.0 && bytes.is_finite() { Ok(bytes as u64) } else { Err(wrong()) }
}

/// Memory of the machine, or of the control group where that is less; `None` where neither is known.
pub fn available_bytes() -> Option<u64> {
    [machine(), group()].into_iter().flatten().min()
}

fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The least limit of the control groups that this process is in.
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
        // In a container, the path is often one of the host, and the limit is that of the root that is seen.
        let below = Path::new(path.trim_start_matches('/'));
        below.ancestors().filter_map(|group| limit(&Path::new(root).join(group).join(file))).min()
    });
    limits.min()
}

fn limit(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("1", 1),
            ("512M", 512 << 20),
            ("8G", 8 << 30),
            ("8GiB", 8 << 30),
            ("1.5k", 1536),
            ("2 gb", 2 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "0", "-1G", "8X", "1e400", "nan", "120%", "100.1%"] {
            assert!(parse(text).is_err(), "{text}");
        }
        if let Some(all) = available_bytes() {
            assert!(parse("50%").unwrap().abs_diff(all / 2) <= 1024);
        }
    }
}
