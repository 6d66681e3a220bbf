//! The functions of the runtime as they were before any was replaced.

use std::mem::{offset_of, transmute_copy};

use wavesieve_captures::hsa::*;

use crate::tables::Tables;

macro_rules! originals {
    ($($table:ident: $fields:ident { $($(#[$needed:ident])? $name:ident: $type:ty,)* })*) => {
        /// Functions of the runtime. A function is `None` if its table is too short for it.
        #[derive(Clone, Copy)]
        pub(crate) struct Originals {
            $($(pub(crate) $name: Option<$type>,)*)*
        }

        impl Originals {
            /// From tables whose major versions are known.
            ///
            /// # Safety
            /// Both tables have as many bytes as their versions state.
            pub(crate) unsafe fn of(tables: Tables) -> Self {
                Self { $($(
                    $name: {
                        let table = tables.$fields;
                        // SAFETY: the version is the first member; the slot is read where the table has it, and holds a
                        // function of this type or nothing.
                        unsafe {
                            $table::has(&(*table).version, offset_of!($table, $name))
                                .then(|| transmute_copy::<Slot, Option<$type>>(&(*table).$name))
                                .flatten()
                        }
                    },
                )*)* }
            }

            /// The first needed function that is missing.
            pub(crate) fn missing(&self) -> Option<&'static str> {
                $($($(
                    let _ = stringify!($needed);
                    if self.$name.is_none() {
                        return Some(stringify!($name));
                    }
                )?)*)*
                None
            }
        }
    };
}

originals! {
    CoreApiTable: core {
        #[needed] hsa_agent_get_info: AgentGetInfo,
        hsa_agent_iterate_isas: AgentIterateIsas,
        hsa_isa_get_info_alt: IsaGetInfo,
        hsa_system_get_major_extension_table: SystemGetMajorExtensionTable,
        #[needed] hsa_queue_create: QueueCreate,
        #[needed] hsa_queue_destroy: QueueDestroy,
        #[needed] hsa_signal_create: SignalCreate,
        #[needed] hsa_signal_destroy: SignalDestroy,
        #[needed] hsa_signal_load_scacquire: SignalLoad,
        #[needed] hsa_signal_add_relaxed: SignalStore,
        #[needed] hsa_memory_allocate: MemoryAllocate,
        #[needed] hsa_memory_free: MemoryFree,
        #[needed] hsa_memory_copy: MemoryCopy,
        #[needed] hsa_code_object_reader_create_from_file: ReaderCreateFromFile,
        #[needed] hsa_code_object_reader_create_from_memory: ReaderCreateFromMemory,
        #[needed] hsa_code_object_reader_destroy: ReaderDestroy,
        #[needed] hsa_executable_load_agent_code_object: ExecutableLoadAgentCodeObject,
        #[needed] hsa_executable_freeze: ExecutableFreeze,
        #[needed] hsa_executable_destroy: ExecutableDestroy,
        #[needed] hsa_executable_iterate_agent_symbols: ExecutableIterateAgentSymbols,
        #[needed] hsa_executable_symbol_get_info: SymbolGetInfo,
    }
    AmdExtTable: amd_ext {
        #[needed] hsa_amd_memory_pool_allocate: MemoryPoolAllocate,
        #[needed] hsa_amd_memory_pool_free: MemoryFree,
        #[needed] hsa_amd_queue_intercept_create: QueueCreate,
        #[needed] hsa_amd_queue_intercept_register: QueueInterceptRegister,
        hsa_amd_vmem_map: VmemMap,
        hsa_amd_vmem_unmap: VmemUnmap,
        hsa_amd_vmem_set_access: VmemSetAccess,
    }
}
