//! The exported functions, and the tables that they go through.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;
use std::sync::OnceLock;

use wavesieve_captures::hsa::*;

use crate::{agents, executables, memory, queues, settings, signals, system, vmem};

/// The tables, which tools change in place.
pub(crate) struct Tables {
    pub root: HsaApiTable,
    core: Box<CoreApiTable>,
    amd_ext: Box<AmdExtTable>,
}

struct Shared(*mut Tables);
// SAFETY: written when the library is first used and by the tools it loads; read afterwards, as in the real runtime.
unsafe impl Send for Shared {}
// SAFETY: see above.
unsafe impl Sync for Shared {}

/// The tables, made at the first use.
pub(crate) fn tables() -> *mut Tables {
    static TABLES: OnceLock<Shared> = OnceLock::new();
    TABLES.get_or_init(|| Shared(Box::into_raw(new_tables()))).0
}

unsafe extern "C" fn absent() -> Status {
    ERROR
}

fn new_tables() -> Box<Tables> {
    let missing = absent as *const c_void;
    // SAFETY: both tables are numbers and addresses, for which every bit pattern is a value.
    let (mut core, mut amd_ext) =
        unsafe { (Box::new(std::mem::zeroed::<CoreApiTable>()), Box::new(std::mem::zeroed::<AmdExtTable>())) };
    for (_, place) in CoreApiTable::SLOTS {
        // SAFETY: the place is that of a slot in this table.
        unsafe { (&raw mut *core).cast::<u8>().add(*place).cast::<Slot>().write(missing) };
    }
    for (_, place) in AmdExtTable::SLOTS {
        // SAFETY: the place is that of a slot in this table.
        unsafe { (&raw mut *amd_ext).cast::<u8>().add(*place).cast::<Slot>().write(missing) };
    }
    fill_core(&mut core);
    fill_amd_ext(&mut amd_ext);
    let version =
        |major_id, bytes: usize| ApiTableVersion { major_id, minor_id: bytes as u32, step_id: 0, reserved: 0 };
    let core_major = settings::number("FAKE_HSA_CORE_MAJOR").map_or(CORE_TABLE_MAJOR, |major| major as u32);
    let amd_bytes = settings::number("FAKE_HSA_AMD_BYTES").map_or(size_of::<AmdExtTable>(), |bytes| bytes as usize);
    core.version = version(core_major, size_of::<CoreApiTable>());
    amd_ext.version = version(AMD_EXT_TABLE_MAJOR, amd_bytes);
    let mut tables = Box::new(Tables {
        root: HsaApiTable {
            version: version(API_TABLE_MAJOR, size_of::<HsaApiTable>()),
            core: std::ptr::null_mut(),
            amd_ext: std::ptr::null_mut(),
            finalizer_ext: std::ptr::null_mut(),
            image_ext: std::ptr::null_mut(),
            tools: std::ptr::null_mut(),
        },
        core,
        amd_ext,
    });
    tables.root.core = &raw mut *tables.core;
    tables.root.amd_ext = &raw mut *tables.amd_ext;
    tables
}

macro_rules! exports {
    ($fill:ident, $type:ident, $table:ident; $($name:ident = $implementation:path as fn($($argument:ident: $of:ty),*) -> $result:ty;)*) => {
        fn $fill(table: &mut $type) {
            $(table.$name = $implementation as unsafe extern "C" fn($($of),*) -> $result as *const c_void;)*
        }

        $(
            #[doc = "See the specification."]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $of),*) -> $result {
                // SAFETY: the slot holds a function of this type, of this library or of a tool that knows the table.
                unsafe {
                    let function: unsafe extern "C" fn($($of),*) -> $result = transmute((*(*tables()).root.$table).$name);
                    function($($argument),*)
                }
            }
        )*
    };
}

exports! { fill_core, CoreApiTable, core;
    hsa_init = system::init as fn() -> Status;
    hsa_shut_down = system::shut_down as fn() -> Status;
    hsa_system_get_info = system::get_info as fn(attribute: u32, value: *mut c_void) -> Status;
    hsa_system_get_major_extension_table = system::get_major_extension_table as fn(extension: u16, major: u16, bytes: usize, table: *mut c_void) -> Status;
    hsa_status_string = system::status_string as fn(status: Status, text: *mut *const c_char) -> Status;
    hsa_iterate_agents = agents::iterate as fn(callback: AgentCallback, data: *mut c_void) -> Status;
    hsa_agent_get_info = agents::get_info as fn(agent: Agent, attribute: u32, value: *mut c_void) -> Status;
    hsa_agent_iterate_isas = agents::iterate_isas as fn(agent: Agent, callback: IsaCallback, data: *mut c_void) -> Status;
    hsa_isa_get_info_alt = agents::isa_get_info as fn(isa: Isa, attribute: u32, value: *mut c_void) -> Status;
    hsa_queue_create = queues::create as fn(agent: Agent, size: u32, kind: u32, callback: Option<QueueCallback>, data: *mut c_void, private: u32, group: u32, queue: *mut *mut Queue) -> Status;
    hsa_queue_destroy = queues::destroy as fn(queue: *mut Queue) -> Status;
    hsa_queue_load_read_index_scacquire = queues::load_read_index as fn(queue: *const Queue) -> u64;
    hsa_queue_load_read_index_relaxed = queues::load_read_index as fn(queue: *const Queue) -> u64;
    hsa_queue_load_write_index_scacquire = queues::load_write_index as fn(queue: *const Queue) -> u64;
    hsa_queue_load_write_index_relaxed = queues::load_write_index as fn(queue: *const Queue) -> u64;
    hsa_queue_store_write_index_relaxed = queues::store_write_index as fn(queue: *const Queue, value: u64) -> ();
    hsa_queue_store_write_index_screlease = queues::store_write_index as fn(queue: *const Queue, value: u64) -> ();
    hsa_queue_add_write_index_scacq_screl = queues::add_write_index as fn(queue: *const Queue, value: u64) -> u64;
    hsa_queue_add_write_index_scacquire = queues::add_write_index as fn(queue: *const Queue, value: u64) -> u64;
    hsa_queue_add_write_index_relaxed = queues::add_write_index as fn(queue: *const Queue, value: u64) -> u64;
    hsa_queue_add_write_index_screlease = queues::add_write_index as fn(queue: *const Queue, value: u64) -> u64;
    hsa_agent_iterate_regions = memory::iterate_regions as fn(agent: Agent, callback: RegionCallback, data: *mut c_void) -> Status;
    hsa_region_get_info = memory::region_get_info as fn(region: Region, attribute: u32, value: *mut c_void) -> Status;
    hsa_memory_allocate = memory::allocate as fn(region: Region, bytes: usize, place: *mut *mut c_void) -> Status;
    hsa_memory_free = memory::free as fn(place: *mut c_void) -> Status;
    hsa_memory_copy = memory::copy as fn(to: *mut c_void, from: *const c_void, bytes: usize) -> Status;
    hsa_signal_create = signals::create as fn(value: i64, count: u32, consumers: *const Agent, signal: *mut Signal) -> Status;
    hsa_signal_destroy = signals::destroy as fn(signal: Signal) -> Status;
    hsa_signal_load_relaxed = signals::load as fn(signal: Signal) -> i64;
    hsa_signal_load_scacquire = signals::load as fn(signal: Signal) -> i64;
    hsa_signal_store_relaxed = signals::store as fn(signal: Signal, value: i64) -> ();
    hsa_signal_store_screlease = signals::store as fn(signal: Signal, value: i64) -> ();
    hsa_signal_silent_store_relaxed = signals::store as fn(signal: Signal, value: i64) -> ();
    hsa_signal_silent_store_screlease = signals::store as fn(signal: Signal, value: i64) -> ();
    hsa_signal_add_relaxed = signals::add as fn(signal: Signal, value: i64) -> ();
    hsa_signal_add_screlease = signals::add as fn(signal: Signal, value: i64) -> ();
    hsa_signal_subtract_relaxed = signals::subtract as fn(signal: Signal, value: i64) -> ();
    hsa_signal_subtract_screlease = signals::subtract as fn(signal: Signal, value: i64) -> ();
    hsa_signal_wait_relaxed = signals::wait as fn(signal: Signal, condition: u32, value: i64, ticks: u64, way: u32) -> i64;
    hsa_signal_wait_scacquire = signals::wait as fn(signal: Signal, condition: u32, value: i64, ticks: u64, way: u32) -> i64;
    hsa_code_object_reader_create_from_file = executables::reader_from_file as fn(file: c_int, reader: *mut CodeObjectReader) -> Status;
    hsa_code_object_reader_create_from_memory = executables::reader_from_memory as fn(bytes: *const c_void, size: usize, reader: *mut CodeObjectReader) -> Status;
    hsa_code_object_reader_destroy = executables::reader_destroy as fn(reader: CodeObjectReader) -> Status;
    hsa_executable_create = executables::create_old as fn(profile: u32, state: u32, options: *const c_char, executable: *mut Executable) -> Status;
    hsa_executable_create_alt = executables::create as fn(profile: u32, rounding: u32, options: *const c_char, executable: *mut Executable) -> Status;
    hsa_executable_destroy = executables::destroy as fn(executable: Executable) -> Status;
    hsa_executable_load_agent_code_object = executables::load as fn(executable: Executable, agent: Agent, reader: CodeObjectReader, options: *const c_char, loaded: *mut LoadedCodeObject) -> Status;
    hsa_executable_freeze = executables::freeze as fn(executable: Executable, options: *const c_char) -> Status;
    hsa_executable_get_symbol_by_name = executables::symbol_by_name as fn(executable: Executable, name: *const c_char, agent: *const Agent, symbol: *mut ExecutableSymbol) -> Status;
    hsa_executable_symbol_get_info = executables::symbol_get_info as fn(symbol: ExecutableSymbol, attribute: u32, value: *mut c_void) -> Status;
    hsa_executable_iterate_agent_symbols = executables::iterate_agent_symbols as fn(executable: Executable, agent: Agent, callback: SymbolCallback, data: *mut c_void) -> Status;
    hsa_executable_iterate_symbols = executables::iterate_symbols as fn(executable: Executable, callback: executables::AnySymbolCallback, data: *mut c_void) -> Status;
}

exports! { fill_amd_ext, AmdExtTable, amd_ext;
    hsa_amd_profiling_set_profiler_enabled = queues::set_profiling as fn(queue: *mut Queue, enable: c_int) -> Status;
    hsa_amd_profiling_get_dispatch_time = signals::dispatch_time as fn(agent: Agent, signal: Signal, time: *mut DispatchTime) -> Status;
    hsa_amd_profiling_convert_tick_to_system_domain = system::convert_tick as fn(agent: Agent, tick: u64, system: *mut u64) -> Status;
    hsa_amd_agent_iterate_memory_pools = memory::iterate_pools as fn(agent: Agent, callback: PoolCallback, data: *mut c_void) -> Status;
    hsa_amd_memory_pool_get_info = memory::pool_get_info as fn(pool: MemoryPool, attribute: u32, value: *mut c_void) -> Status;
    hsa_amd_memory_pool_allocate = memory::pool_allocate as fn(pool: MemoryPool, bytes: usize, flags: u32, place: *mut *mut c_void) -> Status;
    hsa_amd_memory_pool_free = memory::free as fn(place: *mut c_void) -> Status;
    hsa_amd_agents_allow_access = memory::allow_access as fn(count: u32, agents: *const Agent, flags: *const u32, place: *const c_void) -> Status;
    hsa_amd_memory_fill = memory::fill as fn(place: *mut c_void, value: u32, count: usize) -> Status;
    hsa_amd_pointer_info = memory::pointer_info as fn(place: *const c_void, info: *mut PointerInfo, reserve: Option<unsafe extern "C" fn(usize) -> *mut c_void>, count: *mut u32, agents: *mut *mut Agent) -> Status;
    hsa_amd_queue_intercept_create = queues::intercept_create as fn(agent: Agent, size: u32, kind: u32, callback: Option<QueueCallback>, data: *mut c_void, private: u32, group: u32, queue: *mut *mut Queue) -> Status;
    hsa_amd_queue_intercept_register = queues::intercept_register as fn(queue: *mut Queue, handler: InterceptHandler, data: *mut c_void) -> Status;
    hsa_amd_vmem_address_reserve = vmem::reserve as fn(place: *mut *mut c_void, bytes: usize, address: u64, flags: u64) -> Status;
    hsa_amd_vmem_address_free = vmem::free as fn(place: *mut c_void, bytes: usize) -> Status;
    hsa_amd_vmem_handle_create = vmem::handle_create as fn(pool: MemoryPool, bytes: usize, kind: u32, flags: u64, handle: *mut VmemHandle) -> Status;
    hsa_amd_vmem_handle_release = vmem::handle_release as fn(handle: VmemHandle) -> Status;
    hsa_amd_vmem_map = vmem::map as fn(place: *mut c_void, bytes: usize, offset: usize, handle: VmemHandle, flags: u64) -> Status;
    hsa_amd_vmem_unmap = vmem::unmap as fn(place: *mut c_void, bytes: usize) -> Status;
    hsa_amd_vmem_set_access = vmem::set_access as fn(place: *mut c_void, bytes: usize, access: *const MemoryAccess, count: usize) -> Status;
}
