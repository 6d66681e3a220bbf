//! What events are, by the category that they were recorded with.

/// What an event becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    /// A kernel, or a fill of memory by the GPU.
    Kernel,
    Copy,
    /// A call, an operator, a function or an annotation of the program.
    Region,
    /// The time of the recording.
    Span,
    /// A name of a process or thread.
    Name,
}

/// A category of events.
pub(crate) struct Kind {
    /// As it was recorded; older versions use capitals.
    pub category: &'static str,
    pub role: Role,
    /// Domain of a region.
    pub domain: &'static str,
}

const fn kind(category: &'static str, role: Role, domain: &'static str) -> Kind {
    Kind { category, role, domain }
}

/// Categories that are read.
pub(crate) const KINDS: &[Kind] = &[
    kind("python_function", Role::Region, "python"),
    kind("cpu_op", Role::Region, "torch"),
    kind("cuda_runtime", Role::Region, HIP),
    kind("kernel", Role::Kernel, ""),
    kind("gpu_memcpy", Role::Copy, ""),
    kind("gpu_memset", Role::Kernel, ""),
    kind("cuda_driver", Role::Region, HIP),
    kind("user_annotation", Role::Region, "marker"),
    kind("hip_runtime", Role::Region, HIP),
    kind("runtime", Role::Region, HIP),
    kind("operator", Role::Region, "torch"),
    kind("python function", Role::Region, "python"),
    kind("memcpy", Role::Copy, ""),
    kind("memset", Role::Kernel, ""),
    kind("trace", Role::Span, ""),
    NAMES,
];

/// Domain of calls of the runtime.
pub(crate) const HIP: &str = "hip";

/// Records without category that name processes and threads.
const NAMES: Kind = kind("", Role::Name, "");

/// The place of what has this phase and category in [`KINDS`], if it is read.
pub(crate) fn kind_of(phase: &[u8], category: &[u8]) -> Option<u8> {
    let wanted: &[u8] = match phase {
        b"X" if !category.is_empty() => category,
        b"M" => b"",
        _ => return None,
    };
    KINDS
        .iter()
        .position(|kind| kind.category.as_bytes().eq_ignore_ascii_case(wanted))
        .and_then(|at| u8::try_from(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_events() {
        let category = |phase: &[u8], category: &[u8]| Some(KINDS[usize::from(kind_of(phase, category)?)].category);
        assert_eq!(category(b"X", b"kernel"), Some("kernel"));
        assert_eq!(category(b"X", b"Memcpy"), Some("memcpy"));
        assert_eq!(category(b"M", b""), Some(""));
        assert_eq!((category(b"s", b"kernel"), category(b"X", b""), category(b"X", b"overhead")), (None, None, None));
        assert!(KINDS.len() < 128);
    }
}
