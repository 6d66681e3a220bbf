//! Handles and structures.

use std::ffi::c_void;

/// `hsa_status_t`; the values are in `constants`.
pub type Status = u32;

macro_rules! handles {
    ($($(#[$about:meta])* $name:ident,)*) => {
        $($(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name {
            pub handle: u64,
        })*
    };
}

handles! {
    Agent,
    CodeObjectReader,
    Executable,
    ExecutableSymbol,
    Isa,
    LoadedCodeObject,
    MemoryPool,
    Region,
    Signal,
    VmemHandle,
    Wavefront,
}

/// `hsa_queue_t` on 64 bits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    pub kind: u32,
    pub features: u32,
    pub base_address: *mut c_void,
    pub doorbell_signal: Signal,
    /// Packets; a power of two.
    pub size: u32,
    pub reserved1: u32,
    pub id: u64,
}

/// `hsa_amd_memory_access_desc_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryAccess {
    /// One of `ACCESS_…`.
    pub permissions: u32,
    pub agent: Agent,
}

/// `hsa_amd_profiling_dispatch_time_t`: ticks of the system's clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct DispatchTime {
    pub start: u64,
    pub end: u64,
}

/// `hsa_amd_pointer_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointerInfo {
    /// Bytes of this structure, set before the call.
    pub size: u32,
    pub kind: u32,
    pub agent_base: *mut c_void,
    pub host_base: *mut c_void,
    pub size_in_bytes: usize,
    pub user_data: *mut c_void,
    pub agent_owner: Agent,
    pub global_flags: u32,
}

/// The functions of `hsa_ven_amd_loader_1_01_pfn_t` by place; only the last is used.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LoaderTable {
    pub query_host_address: *const c_void,
    pub query_segment_descriptors: *const c_void,
    pub query_executable: *const c_void,
    pub executable_iterate_loaded_code_objects: *const c_void,
    pub loaded_code_object_get_info: *const c_void,
}
