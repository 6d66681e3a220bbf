//! Meanings of the tracers' words: types of operations, directions of copies, domains of calls.

use wavesieve_model::schema::domain::domain_of_category;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKind {
    /// A dispatch: a kernel, a task of a graph, a fill.
    Kernel,
    Copy,
    /// Something that does no work, such as a barrier.
    Other,
}

/// Kind of an operation by its recorded type: `KernelExecution`, `Task`, `FillBuffer`, `CopyHostToDevice`, `MEMORY_COPY_HOST_TO_DEVICE`,
/// `Memcpy`, `Barrier`. Unknown types ran on the GPU and count as dispatches.
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

/// Directions, HIP's numbers of their kinds, and parts of the names of copies.
const DIRECTIONS: [(&str, i64, [&str; 2]); 4] = [
    ("H2D", 1, ["hosttodevice", "htod"]),
    ("D2H", 2, ["devicetohost", "dtoh"]),
    ("D2D", 3, ["devicetodevice", "dtod"]),
    ("H2H", 0, ["hosttohost", "htoh"]),
];

/// Direction in the spelling that all readers understand, from the recorded type of a copy, otherwise its description, otherwise
/// HIP's number of the kind.
pub fn direction(op_type: &str, description: &str, kind: Option<i64>) -> Option<&'static str> {
    let of_text = |text: &str| {
        let joined: String = text.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_lowercase();
        DIRECTIONS.iter().find(|(_, _, words)| words.iter().any(|word| joined.contains(word)))
    };
    let of_kind = || DIRECTIONS.iter().find(|(_, number, _)| Some(*number) == kind);
    let found = of_text(op_type).or_else(|| of_text(description)).or_else(of_kind);
    found.map(|(direction, _, _)| *direction)
}

/// Whether a call with this name, or of a domain with this name, is a marker of the program.
pub fn is_marker(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower == "usermarker" || lower.starts_with("roctx") || lower.starts_with("nvtx") || lower == "marker"
}

/// Domain of a call: the recorded domain of schema 3, otherwise by the name. Other ranges of the program and work of the tracer are `host`.
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

/// Whether a launch call with this name gives its grid in work-items; all other calls give it in workgroups.
pub(crate) fn grid_is_work_items(api_name: &str) -> bool {
    api_name.starts_with("hipExtModuleLaunchKernel") || api_name.starts_with("hipHccModuleLaunchKernel")
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
}
