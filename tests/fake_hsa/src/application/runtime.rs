//! The functions of the runtime, loaded as a program would.

use std::ffi::{CString, c_void};
use std::mem::transmute_copy;

use wavesieve_captures::hsa::*;

macro_rules! runtime {
    ($($name:ident: $type:ty,)*) => {
        pub(crate) struct Runtime {
            $(pub(crate) $name: $type,)*
        }

        impl Runtime {
            /// Loads `libhsa-runtime64.so.1` from where the loader looks.
            pub(crate) fn load() -> Result<Self, String> {
                // SAFETY: the name is a text with an end.
                let library = unsafe { libc::dlopen(c"libhsa-runtime64.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
                if library.is_null() {
                    return Err("libhsa-runtime64.so.1 cannot be loaded; set LD_LIBRARY_PATH".to_owned());
                }
                let symbol = |name: &str| -> Result<*mut c_void, String> {
                    let text = CString::new(name).map_err(|error| error.to_string())?;
                    // SAFETY: the library is open.
                    let place = unsafe { libc::dlsym(library, text.as_ptr()) };
                    if place.is_null() { Err(format!("no {name}")) } else { Ok(place) }
                };
                Ok(Self { $(
                    // SAFETY: the function of this name has this type.
                    $name: unsafe { transmute_copy::<*mut c_void, $type>(&symbol(stringify!($name))?) },
                )* })
            }
        }
    };
}

runtime! {
    hsa_init: HsaInit,
    hsa_shut_down: HsaInit,
    hsa_iterate_agents: IterateAgents,
    hsa_agent_get_info: AgentGetInfo,
    hsa_amd_agent_iterate_memory_pools: AgentIterateMemoryPools,
    hsa_amd_memory_pool_allocate: MemoryPoolAllocate,
    hsa_agent_iterate_regions: AgentIterateRegions,
    hsa_memory_allocate: MemoryAllocate,
    hsa_amd_vmem_address_reserve: VmemAddressReserve,
    hsa_amd_vmem_handle_create: VmemHandleCreate,
    hsa_amd_vmem_map: VmemMap,
    hsa_amd_vmem_set_access: VmemSetAccess,
    hsa_queue_create: QueueCreate,
    hsa_queue_destroy: QueueDestroy,
    hsa_queue_add_write_index_screlease: QueueAddIndex,
    hsa_signal_create: SignalCreate,
    hsa_signal_destroy: SignalDestroy,
    hsa_signal_store_screlease: SignalStore,
    hsa_signal_wait_scacquire: SignalWait,
    hsa_code_object_reader_create_from_file: ReaderCreateFromFile,
    hsa_code_object_reader_create_from_memory: ReaderCreateFromMemory,
    hsa_code_object_reader_destroy: ReaderDestroy,
    hsa_executable_create_alt: ExecutableCreateAlt,
    hsa_executable_load_agent_code_object: ExecutableLoadAgentCodeObject,
    hsa_executable_freeze: ExecutableFreeze,
    hsa_executable_iterate_agent_symbols: ExecutableIterateAgentSymbols,
    hsa_executable_symbol_get_info: SymbolGetInfo,
}

/// An error where a call failed.
pub(crate) fn check(what: &str, status: Status) -> Result<(), String> {
    if status == SUCCESS || status == INFO_BREAK { Ok(()) } else { Err(format!("{what} gave status {status:#x}")) }
}
