//! Places and sizes that a C compiler gives from the headers of ROCm 6.1.2.

use std::mem::{offset_of, size_of};

use super::*;

#[test]
fn tables_have_the_layout_of_the_headers() {
    assert_eq!(size_of::<HsaApiTable>(), 56);
    assert_eq!(size_of::<CoreApiTable>(), 1016);
    assert_eq!(size_of::<AmdExtTable>(), 560);
    let core = [
        ("hsa_init", 16),
        ("hsa_queue_create", 72),
        ("hsa_memory_allocate", 280),
        ("hsa_memory_copy", 296),
        ("hsa_signal_create", 312),
        ("hsa_signal_wait_scacquire", 368),
        ("hsa_executable_freeze", 704),
        ("hsa_executable_symbol_get_info", 760),
        ("hsa_system_get_major_extension_table", 800),
        ("hsa_isa_get_info_alt", 888),
        ("hsa_code_object_reader_create_from_memory", 944),
        ("hsa_executable_load_agent_code_object", 976),
        ("hsa_executable_iterate_agent_symbols", 1000),
    ];
    for (name, place) in core {
        assert!(CoreApiTable::SLOTS.contains(&(name, place)), "{name}");
    }
    let extensions = [
        ("hsa_amd_memory_pool_allocate", 120),
        ("hsa_amd_pointer_info", 240),
        ("hsa_amd_queue_intercept_create", 312),
        ("hsa_amd_queue_intercept_register", 320),
        ("hsa_amd_svm_attributes_set", 384),
        ("hsa_amd_vmem_address_reserve", 456),
        ("hsa_amd_vmem_map", 488),
        ("hsa_amd_vmem_set_access", 504),
    ];
    for (name, place) in extensions {
        assert!(AmdExtTable::SLOTS.contains(&(name, place)), "{name}");
    }
}

#[test]
fn structures_have_the_layout_of_the_headers() {
    assert_eq!(size_of::<KernelDispatchPacket>(), 64);
    assert_eq!(offset_of!(KernelDispatchPacket, kernel_object), 32);
    assert_eq!(offset_of!(KernelDispatchPacket, kernarg_address), 40);
    assert_eq!(offset_of!(KernelDispatchPacket, completion_signal), 56);
    assert_eq!(size_of::<BarrierPacket>(), 64);
    assert_eq!(offset_of!(BarrierPacket, completion_signal), 56);
    assert_eq!(size_of::<Queue>(), 40);
    assert_eq!(offset_of!(Queue, doorbell_signal), 16);
    assert_eq!(size_of::<MemoryAccess>(), 16);
    assert_eq!(offset_of!(LoaderTable, loaded_code_object_get_info), 32);
}
