//! Meanings of the tracers' words: types of operations, directions of copies, domains of calls.

use wavesieve_model::schema::domain::domain_of_category;

/// The type of a GPU operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKind {
    /// A dispatch: a kernel, a task of a graph, a fill.
    Kernel,
    Copy,
    /// Something that does no work, such as a barrier.
    Other,
}

/// Kind of an operation by its recorded type: `KernelExecution`, `Task`, `FillBuffer`, `CopyHostToDevice`,
/// `MEMORY_COPY_HOST_TO_DEVICE`, `Memcpy`, `Barrier`. What is not known did run on the GPU and counts as a dispatch.
pub(crate) fn op_kind(op_type: &str) -> OpKind {
    let lower = op_type.to_ascii_lowercase();
    if lower.contains("copy") || lower.contains("memcpy") {
        OpKind::Copy
    } else if lower.contains("barrier") || lower.ends_with("marker") {
        OpKind::Other
    } else {
        OpKind::Kernel
    }
}

/// Direction in the spelling that all readers understand, from the recorded type of a copy, otherwise its description, otherwise
/// HIP's number of the kind.
pub fn direction(op_type: &str, description: &str, kind: Option<i64>) -> Option<&'static str> {
    let of_text = |text: &str| {
        let joined: String = text.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_lowercase();
        let has = |words: [&str; 2]| words.iter().any(|word| joined.contains(word));
        if has(["hosttodevice", "htod"]) {
            Some("H2D")
        } else if has(["devicetohost", "dtoh"]) {
            Some("D2H")
        } else if has(["devicetodevice", "dtod"]) {
            Some("D2D")
        } else if has(["hosttohost", "htoh"]) {
            Some("H2H")
        } else {
            None
        }
    };
    of_text(op_type).or_else(|| of_text(description)).or(match kind {
        Some(0) => Some("H2H"),
        Some(1) => Some("H2D"),
        Some(2) => Some("D2H"),
        Some(3) => Some("D2D"),
        _ => None,
    })
}

/// Whether a call of that name, or of a domain of that name, is a marker of the program.
pub fn is_marker(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower == "usermarker" || lower.starts_with("roctx") || lower.starts_with("nvtx") || lower == "marker"
}

/// Domain of a call: the recorded one of schema 3, otherwise by the name. Ranges of the program's own and the tracer's work
/// are `host`.
pub fn domain(name: &str, recorded: Option<&str>) -> String {
    let recorded = recorded.filter(|recorded| !recorded.is_empty());
    if recorded.is_some_and(is_marker) || (recorded.is_none() && is_marker(name)) {
        return "marker".to_owned();
    }
    if let Some(recorded) = recorded {
        return domain_of_category(recorded);
    }
    let by_prefix = [("hip", "hip"), ("hsa_", "hsa"), ("nccl", "rccl"), ("rccl", "rccl"), ("mpi_", "mpi")];
    let lower = name.to_ascii_lowercase();
    let known = by_prefix.iter().find(|(prefix, _)| lower.starts_with(prefix));
    known.map_or("host", |(_, domain)| domain).to_owned()
}

/// Whether the launch call of that name gives its grid in work-items; all others give it in workgroups.
pub(crate) fn grid_is_work_items(api_name: &str) -> bool {
    api_name.starts_with("hipExtModuleLaunchKernel") || api_name.starts_with("hipHccModuleLaunchKernel")
}

/// The number of a handle such as a stream, written as `0x4a11db20`; large ones keep their bits.
pub fn handle(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(u64::cast_signed),
        None => text.parse().ok(),
    }
}

/// Unit of a monitored value, if the tracer's source code reveals it.
pub fn unit(monitor_type: &str) -> Option<&'static str> {
    match monitor_type {
        "sclk" | "mclk" | "fclk" | "socclk" => Some("MHz"),
        "power" => Some("W"),
        "temp" => Some("°C"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations() {
        for (name, kind) in [
            ("KernelExecution", OpKind::Kernel),
            ("Task", OpKind::Kernel),
            ("FillBuffer", OpKind::Kernel),
            ("CopyDeviceToDevice", OpKind::Copy),
            ("MEMORY_COPY_HOST_TO_DEVICE", OpKind::Copy),
            ("Memcpy", OpKind::Copy),
            ("Barrier", OpKind::Other),
            ("InternalMarker", OpKind::Other),
            ("", OpKind::Kernel),
        ] {
            assert_eq!(op_kind(name), kind, "{name}");
        }
    }

    #[test]
    fn directions() {
        assert_eq!(direction("CopyHostToDevice2D", "", None), Some("H2D"));
        assert_eq!(direction("MEMORY_COPY_DEVICE_TO_HOST", "", Some(1)), Some("D2H"));
        assert_eq!(direction("Memcpy", "hipMemcpyDeviceToDevice", None), Some("D2D"));
        assert_eq!(direction("Memcpy", "", Some(0)), Some("H2H"));
        assert_eq!(direction("Memcpy", "", Some(77)), None);
    }

    #[test]
    fn domains() {
        for (name, recorded, expected) in [
            ("UserMarker", None, "marker"),
            ("UserMarker", Some("roctx"), "marker"),
            ("hipMalloc", None, "hip"),
            ("hipMalloc", Some(""), "hip"),
            ("hcc_activity_callback", None, "host"),
            ("forward", Some("python"), "python"),
        ] {
            assert_eq!(domain(name, recorded), expected, "{name}");
        }
    }

    #[test]
    fn handles() {
        assert_eq!(handle("0x0"), Some(0));
        assert_eq!(handle("0x4a11db20"), Some(0x4a11_db20));
        assert_eq!(handle("0xffffffffffffffff"), Some(-1));
        assert_eq!(handle(""), None);
    }
}
