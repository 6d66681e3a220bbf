//! Roles of slices, by their categories, and names of their arguments in the files of different writers.

use super::rows::Field;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writer {
    /// rocprofv3 or rocpd.
    #[default]
    Rocprofv3,
    /// rocprofiler-systems, or Omnitrace before it.
    Systems,
    Wavesieve,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Kernel,
    Copy,
    Allocation,
    /// A call, a range or a function of the program.
    Call,
}

pub const ROLES: [Role; 4] = [Role::Kernel, Role::Copy, Role::Allocation, Role::Call];

const SYSTEMS: &str = "rocm_";
/// Other categories that only profilers of ROCm write.
const ROCM: [&str; 19] = [
    "hip_api",
    "hsa_api",
    "marker_api",
    "rccl_api",
    "rocdecode_api",
    "rocjpeg_api",
    "openmp",
    "ompt_api",
    "kernel_dispatch",
    "memory_copy",
    "memory_allocation",
    "scratch_memory",
    "counter_collection",
    "kfd_events",
    "device_hip",
    "device_hsa",
    "roctracer",
    "rocprofiler",
    "host",
];
/// Categories of GPU work whose roles depend on names and arguments: work on streams, or recorded by roctracer.
const MIXED: [&str; 3] = ["hip_stream", "device_hip", "device_hsa"];
const OF_KERNELS: [&str; 4] = ["dispatch_id", "kernel_id", "workgroup_size", "grid_size"];
const OF_COPIES: [&str; 3] = ["copy_bytes", "dst_agent", "dst_agent_id"];

pub(crate) fn is_of_rocm(category: &str) -> bool {
    category.starts_with(SYSTEMS) || ROCM.contains(&category)
}

pub(crate) fn is_of_systems(category: &str) -> bool {
    category.starts_with(SYSTEMS) || matches!(category, "host" | "device_hip" | "device_hsa")
}

/// The role of a slice by its category, name and the names of its arguments; `None` for data that wavesieve derived.
pub fn role(writer: Writer, category: &str, name: &str, has: impl Fn(&str) -> bool) -> Option<Role> {
    let base = category.strip_prefix(SYSTEMS).unwrap_or(category);
    match base {
        "kernel_dispatch" => Some(Role::Kernel),
        "memory_copy" => Some(Role::Copy),
        "memory_allocation" | "scratch_memory" => Some(Role::Allocation),
        _ if MIXED.contains(&base) => Some(mixed(name, has)),
        _ if writer == Writer::Wavesieve && !category.ends_with("_api") => None,
        _ => Some(Role::Call),
    }
}

fn mixed(name: &str, has: impl Fn(&str) -> bool) -> Role {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if OF_KERNELS.iter().any(|name| has(name)) {
        Role::Kernel
    } else if starts(&["MEMORY_COPY", "Copy"]) || OF_COPIES.iter().any(|name| has(name)) {
        Role::Copy
    } else if starts(&["SCRATCH_MEMORY", "MEMORY_ALLOCATION", "MEMORY_FREE"]) {
        Role::Allocation
    } else {
        Role::Kernel
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Of(Field),
    /// Three sizes, or their product. This is the field of the first size.
    Sizes(Field),
    /// The name of the function, if it is a text.
    Function,
    FullName,
    /// The slice has no end.
    Unfinished,
    /// A value that is also stated elsewhere.
    Nothing,
}

/// The meaning of an argument of a slice with a role; `None` if it has no known meaning.
pub fn key(role: Role, name: &str) -> Option<Key> {
    let field = match name {
        "begin_ns" => Field::Start,
        "end_ns" | "bad_end_ns" => Field::End,
        "corr_id" | "stack_id" => Field::Correlation,
        "ancestor_id" => Field::Parent,
        "tid" => Field::Tid,
        "delta_ns" | "clipped" | "kind" => return Some(Key::Nothing),
        "operation" => return Some(Key::Function),
        "unfinished" => return Some(Key::Unfinished),
        _ if role == Role::Call => return None,
        "agent" | "agent_id" | "node_id" => Field::Agent,
        "queue" | "queue_id" => Field::Queue,
        "stream_id" | "stream_ID" => Field::Stream,
        "src_agent" | "src_agent_id" => Field::FromAgent,
        "dst_agent" | "dst_agent_id" => Field::ToAgent,
        "copy_bytes" | "bytes" | "allocation_size" | "size" => Field::Bytes,
        "dispatch_id" => Field::Dispatch,
        "kernel_id" => Field::Kernel,
        "Scratch_Size" | "private_segment_size" => Field::Scratch,
        "LDS_Block_Size" | "group_segment_size" => Field::Lds,
        "VGPR_Count" => Field::Vgpr,
        "Accum_VGPR_Count" => Field::AccumVgpr,
        "SGPR_Count" => Field::Sgpr,
        "workgroup_x" => Field::WorkgroupX,
        "workgroup_y" => Field::WorkgroupY,
        "workgroup_z" => Field::WorkgroupZ,
        "grid_x" => Field::GridX,
        "grid_y" => Field::GridY,
        "grid_z" => Field::GridZ,
        "workgroup_size" => return Some(Key::Sizes(Field::WorkgroupX)),
        "grid_size" => return Some(Key::Sizes(Field::GridX)),
        "kernel" if role == Role::Kernel => return Some(Key::FullName),
        _ => return None,
    };
    Some(Key::Of(field))
}

/// Three sizes from a text such as `256 (x=64,y=4,z=1)` or `(64,4,1)`, or the total as the first.
pub fn sizes(text: &str) -> Option<[i64; 3]> {
    let numbers = |text: &str| -> Vec<i64> {
        text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    let inside = text.split_once('(').map(|(_, inside)| inside);
    match (inside.map(numbers).as_deref(), text.trim().parse()) {
        (Some([x, y, z]), _) => Some([*x, *y, *z]),
        (None, Ok(all)) => Some([all, 1, 1]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_by_category_name_and_arguments() {
        let nothing = |_: &str| false;
        let of = |category: &str, name: &str| role(Writer::Systems, category, name, nothing);
        assert_eq!(of("rocm_kernel_dispatch", "a"), Some(Role::Kernel));
        assert_eq!(of("rocm_hip_stream", "MEMORY_COPY_HOST_TO_DEVICE"), Some(Role::Copy));
        assert_eq!(of("rocm_hip_stream", "SCRATCH_MEMORY_ALLOC"), Some(Role::Allocation));
        assert_eq!(
            role(Writer::Systems, "rocm_hip_stream", "MEMORY_COPY_fake", |name| name == "kernel_id"),
            Some(Role::Kernel)
        );
        assert_eq!((of("device_hip", "CopyHostToDevice"), of("host", "main")), (Some(Role::Copy), Some(Role::Call)));
        let own = |category: &str| role(Writer::Wavesieve, category, "", nothing);
        assert_eq!((own("hip_api"), own("idle"), own("memory_copy")), (Some(Role::Call), None, Some(Role::Copy)));
    }

    #[test]
    fn sizes_in_all_spellings() {
        assert_eq!(sizes("256 (x=64,y=4,z=1)"), Some([64, 4, 1]));
        assert_eq!(sizes("(1024,1,1)"), Some([1024, 1, 1]));
        assert_eq!((sizes("256"), sizes("(1,2)"), sizes("x")), (Some([256, 1, 1]), None, None));
    }
}
