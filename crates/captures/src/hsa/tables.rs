//! The tables of functions that the runtime hands to a tool, as of ROCm 6.1; later tables only grow at the end.

use std::ffi::c_void;
use std::mem::offset_of;

/// The address of a function; its type is known by the name of the slot.
pub type Slot = *const c_void;

/// The first member of every table.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ApiTableVersion {
    /// A different number means a different layout.
    pub major_id: u32,
    /// Bytes of the table that the runtime filled.
    pub minor_id: u32,
    pub step_id: u32,
    pub reserved: u32,
}

/// Major versions of the known layouts.
pub const API_TABLE_MAJOR: u32 = 3;
pub const CORE_TABLE_MAJOR: u32 = 2;
pub const AMD_EXT_TABLE_MAJOR: u32 = 2;

/// The table that `OnLoad` gets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HsaApiTable {
    pub version: ApiTableVersion,
    pub core: *mut CoreApiTable,
    pub amd_ext: *mut AmdExtTable,
    pub finalizer_ext: *mut c_void,
    pub image_ext: *mut c_void,
    pub tools: *mut c_void,
}

macro_rules! table {
    ($(#[$about:meta])* $name:ident { $($slot:ident,)* }) => {
        $(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            pub version: ApiTableVersion,
            $(pub $slot: Slot,)*
        }

        impl $name {
            /// Whether a table with this version has the slot at a place.
            #[must_use]
            pub fn has(version: &ApiTableVersion, place: usize) -> bool {
                place.saturating_add(size_of::<Slot>()) <= usize::try_from(version.minor_id).unwrap_or(0)
            }

            /// Names and places of all slots.
            pub const SLOTS: &'static [(&'static str, usize)] =
                &[$((stringify!($slot), offset_of!($name, $slot)),)*];
        }
    };
}

table! {
    /// Functions of HSA itself.
    CoreApiTable {
        hsa_init, hsa_shut_down, hsa_system_get_info, hsa_system_extension_supported,
        hsa_system_get_extension_table, hsa_iterate_agents, hsa_agent_get_info, hsa_queue_create,
        hsa_soft_queue_create, hsa_queue_destroy, hsa_queue_inactivate, hsa_queue_load_read_index_scacquire,
        hsa_queue_load_read_index_relaxed, hsa_queue_load_write_index_scacquire,
        hsa_queue_load_write_index_relaxed, hsa_queue_store_write_index_relaxed,
        hsa_queue_store_write_index_screlease, hsa_queue_cas_write_index_scacq_screl,
        hsa_queue_cas_write_index_scacquire, hsa_queue_cas_write_index_relaxed,
        hsa_queue_cas_write_index_screlease, hsa_queue_add_write_index_scacq_screl,
        hsa_queue_add_write_index_scacquire, hsa_queue_add_write_index_relaxed,
        hsa_queue_add_write_index_screlease, hsa_queue_store_read_index_relaxed,
        hsa_queue_store_read_index_screlease, hsa_agent_iterate_regions, hsa_region_get_info,
        hsa_agent_get_exception_policies, hsa_agent_extension_supported, hsa_memory_register,
        hsa_memory_deregister, hsa_memory_allocate, hsa_memory_free, hsa_memory_copy, hsa_memory_assign_agent,
        hsa_signal_create, hsa_signal_destroy, hsa_signal_load_relaxed, hsa_signal_load_scacquire,
        hsa_signal_store_relaxed, hsa_signal_store_screlease, hsa_signal_wait_relaxed,
        hsa_signal_wait_scacquire, hsa_signal_and_relaxed, hsa_signal_and_scacquire, hsa_signal_and_screlease,
        hsa_signal_and_scacq_screl, hsa_signal_or_relaxed, hsa_signal_or_scacquire, hsa_signal_or_screlease,
        hsa_signal_or_scacq_screl, hsa_signal_xor_relaxed, hsa_signal_xor_scacquire, hsa_signal_xor_screlease,
        hsa_signal_xor_scacq_screl, hsa_signal_exchange_relaxed, hsa_signal_exchange_scacquire,
        hsa_signal_exchange_screlease, hsa_signal_exchange_scacq_screl, hsa_signal_add_relaxed,
        hsa_signal_add_scacquire, hsa_signal_add_screlease, hsa_signal_add_scacq_screl,
        hsa_signal_subtract_relaxed, hsa_signal_subtract_scacquire, hsa_signal_subtract_screlease,
        hsa_signal_subtract_scacq_screl, hsa_signal_cas_relaxed, hsa_signal_cas_scacquire,
        hsa_signal_cas_screlease, hsa_signal_cas_scacq_screl, hsa_isa_from_name, hsa_isa_get_info,
        hsa_isa_compatible, hsa_code_object_serialize, hsa_code_object_deserialize, hsa_code_object_destroy,
        hsa_code_object_get_info, hsa_code_object_get_symbol, hsa_code_symbol_get_info,
        hsa_code_object_iterate_symbols, hsa_executable_create, hsa_executable_destroy,
        hsa_executable_load_code_object, hsa_executable_freeze, hsa_executable_get_info,
        hsa_executable_global_variable_define, hsa_executable_agent_global_variable_define,
        hsa_executable_readonly_variable_define, hsa_executable_validate, hsa_executable_get_symbol,
        hsa_executable_symbol_get_info, hsa_executable_iterate_symbols, hsa_status_string,
        hsa_extension_get_name, hsa_system_major_extension_supported, hsa_system_get_major_extension_table,
        hsa_agent_major_extension_supported, hsa_cache_get_info, hsa_agent_iterate_caches,
        hsa_signal_silent_store_relaxed, hsa_signal_silent_store_screlease, hsa_signal_group_create,
        hsa_signal_group_destroy, hsa_signal_group_wait_any_scacquire, hsa_signal_group_wait_any_relaxed,
        hsa_agent_iterate_isas, hsa_isa_get_info_alt, hsa_isa_get_exception_policies, hsa_isa_get_round_method,
        hsa_wavefront_get_info, hsa_isa_iterate_wavefronts, hsa_code_object_get_symbol_from_name,
        hsa_code_object_reader_create_from_file, hsa_code_object_reader_create_from_memory,
        hsa_code_object_reader_destroy, hsa_executable_create_alt, hsa_executable_load_program_code_object,
        hsa_executable_load_agent_code_object, hsa_executable_validate_alt, hsa_executable_get_symbol_by_name,
        hsa_executable_iterate_agent_symbols, hsa_executable_iterate_program_symbols,
    }
}

table! {
    /// AMD's extensions.
    AmdExtTable {
        hsa_amd_coherency_get_type, hsa_amd_coherency_set_type, hsa_amd_profiling_set_profiler_enabled,
        hsa_amd_profiling_async_copy_enable, hsa_amd_profiling_get_dispatch_time,
        hsa_amd_profiling_get_async_copy_time, hsa_amd_profiling_convert_tick_to_system_domain,
        hsa_amd_signal_async_handler, hsa_amd_async_function, hsa_amd_signal_wait_any,
        hsa_amd_queue_cu_set_mask, hsa_amd_memory_pool_get_info, hsa_amd_agent_iterate_memory_pools,
        hsa_amd_memory_pool_allocate, hsa_amd_memory_pool_free, hsa_amd_memory_async_copy,
        hsa_amd_memory_async_copy_on_engine, hsa_amd_memory_copy_engine_status,
        hsa_amd_agent_memory_pool_get_info, hsa_amd_agents_allow_access, hsa_amd_memory_pool_can_migrate,
        hsa_amd_memory_migrate, hsa_amd_memory_lock, hsa_amd_memory_unlock, hsa_amd_memory_fill,
        hsa_amd_interop_map_buffer, hsa_amd_interop_unmap_buffer, hsa_amd_image_create, hsa_amd_pointer_info,
        hsa_amd_pointer_info_set_userdata, hsa_amd_ipc_memory_create, hsa_amd_ipc_memory_attach,
        hsa_amd_ipc_memory_detach, hsa_amd_signal_create, hsa_amd_ipc_signal_create, hsa_amd_ipc_signal_attach,
        hsa_amd_register_system_event_handler, hsa_amd_queue_intercept_create, hsa_amd_queue_intercept_register,
        hsa_amd_queue_set_priority, hsa_amd_memory_async_copy_rect, hsa_amd_runtime_queue_create_register,
        hsa_amd_memory_lock_to_pool, hsa_amd_register_deallocation_callback,
        hsa_amd_deregister_deallocation_callback, hsa_amd_signal_value_pointer, hsa_amd_svm_attributes_set,
        hsa_amd_svm_attributes_get, hsa_amd_svm_prefetch_async, hsa_amd_spm_acquire, hsa_amd_spm_release,
        hsa_amd_spm_set_dest_buffer, hsa_amd_queue_cu_get_mask, hsa_amd_portable_export_dmabuf,
        hsa_amd_portable_close_dmabuf, hsa_amd_vmem_address_reserve, hsa_amd_vmem_address_free,
        hsa_amd_vmem_handle_create, hsa_amd_vmem_handle_release, hsa_amd_vmem_map, hsa_amd_vmem_unmap,
        hsa_amd_vmem_set_access, hsa_amd_vmem_get_access, hsa_amd_vmem_export_shareable_handle,
        hsa_amd_vmem_import_shareable_handle, hsa_amd_vmem_retain_alloc_handle,
        hsa_amd_vmem_get_alloc_properties_from_handle, hsa_amd_agent_set_async_scratch_limit,
    }
}
