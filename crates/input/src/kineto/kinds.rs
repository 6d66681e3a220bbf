//! Kinds of events, by the category that they were recorded with.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A kernel, or a fill of memory by the GPU.
    Kernel,
    Copy,
    /// A call, an operator, a function or an annotation of the program.
    Region,
    /// Memory that an allocator of the program allocated or freed.
    Allocation,
    Span,
    Name,
}

pub struct EventKind {
    /// The category as recorded; older versions use capitals.
    pub category: &'static str,
    pub role: Role,
    pub domain: &'static str,
}

const fn kind(category: &'static str, role: Role, domain: &'static str) -> EventKind {
    EventKind { category, role, domain }
}

pub const KINDS: &[EventKind] = &[
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
    kind("cpu_instant_event", Role::Allocation, ""),
    kind("trace", Role::Span, ""),
    NAMES,
];

/// Whether the kind at a place in [`KINDS`] has this domain.
pub fn has_domain(kind: u8, domain: &str) -> bool {
    KINDS.get(usize::from(kind)).is_some_and(|kind| kind.domain == domain)
}

/// PyTorch's number of the device type of the host.
pub const HOST: i64 = 0;

pub const HIP: &str = "hip";

/// Name of allocator events. They share a category with other events, or have none.
const MEMORY: &[u8] = b"[memory]";

/// Records without category that name processes and threads.
const NAMES: EventKind = kind("", Role::Name, "");

/// The place in [`KINDS`] of events with this phase, category and name, if they are read.
pub fn kind_of(phase: &[u8], category: &[u8], name: &[u8]) -> Option<u8> {
    let place = match phase {
        b"X" if !category.is_empty() => KINDS
            .iter()
            .position(|kind| kind.role != Role::Allocation && kind.category.as_bytes().eq_ignore_ascii_case(category)),
        b"M" => KINDS.iter().position(|kind| kind.role == Role::Name),
        b"i" | b"I" if name == MEMORY => KINDS.iter().position(|kind| kind.role == Role::Allocation),
        _ => None,
    };
    place.and_then(|at| u8::try_from(at).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_events() {
        let named = |phase: &[u8], category: &[u8], name: &[u8]| {
            Some(KINDS[usize::from(kind_of(phase, category, name)?)].category)
        };
        let category = |phase: &[u8], category: &[u8]| named(phase, category, b"x");
        assert_eq!(category(b"X", b"kernel"), Some("kernel"));
        assert_eq!(category(b"X", b"Memcpy"), Some("memcpy"));
        assert_eq!(category(b"M", b""), Some(""));
        assert_eq!((category(b"s", b"kernel"), category(b"X", b""), category(b"X", b"overhead")), (None, None, None));
        let memory = Some("cpu_instant_event");
        assert_eq!([named(b"i", b"cpu_instant_event", MEMORY), named(b"I", b"", MEMORY)], [memory; 2]);
        assert_eq!((named(b"i", b"cpu_instant_event", b"x"), named(b"X", b"cpu_instant_event", MEMORY)), (None, None));
        assert!(KINDS.len() < 128);
    }
}
