//! Finds and loads the runtime.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};

use libloading::Library;

use super::error::RuntimeError;
use wavesieve_captures::hsa::*;

/// Its file name, under which ROCm programs load it.
const NAME: &str = "libhsa-runtime64.so.1";

macro_rules! calls {
    ($($name:ident: $type:ty,)*) => {
        pub(super) struct Calls {
            $(pub $name: $type,)*
        }

        impl Calls {
            /// Looks up all functions, or returns the name of the first missing one.
            fn find(library: &Library) -> Result<Self, &'static str> {
                Ok(Self { $($name: {
                    // SAFETY: the type is the one that the specification has for this function.
                    let found = unsafe { library.get::<$type>(concat!(stringify!($name), "\0").as_bytes()) };
                    *found.map_err(|_| stringify!($name))?
                },)* })
            }
        }
    };
}

calls! {
    hsa_init: HsaInit,
    hsa_shut_down: HsaInit,
    hsa_status_string: StatusString,
    hsa_system_get_info: SystemGetInfo,
    hsa_iterate_agents: IterateAgents,
    hsa_agent_get_info: AgentGetInfo,
    hsa_agent_iterate_isas: AgentIterateIsas,
    hsa_isa_get_info_alt: IsaGetInfo,
    hsa_queue_create: QueueCreate,
    hsa_queue_destroy: QueueDestroy,
    hsa_queue_add_write_index_screlease: QueueAddIndex,
    hsa_signal_create: SignalCreate,
    hsa_signal_store_screlease: SignalStore,
    hsa_signal_wait_scacquire: SignalWait,
    hsa_memory_copy: MemoryCopy,
    hsa_code_object_reader_create_from_memory: ReaderCreateFromMemory,
    hsa_executable_create_alt: ExecutableCreateAlt,
    hsa_executable_load_agent_code_object: ExecutableLoadAgentCodeObject,
    hsa_executable_freeze: ExecutableFreeze,
    hsa_executable_get_symbol_by_name: ExecutableGetSymbolByName,
    hsa_executable_symbol_get_info: SymbolGetInfo,
    hsa_amd_agent_iterate_memory_pools: AgentIterateMemoryPools,
    hsa_amd_memory_pool_get_info: MemoryPoolGetInfo,
    hsa_amd_memory_pool_allocate: MemoryPoolAllocate,
    hsa_amd_agents_allow_access: AgentsAllowAccess,
    hsa_amd_profiling_set_profiler_enabled: ProfilingSetEnabled,
    hsa_amd_profiling_get_dispatch_time: ProfilingGetDispatchTime,
    hsa_amd_vmem_address_reserve: VmemAddressReserve,
    hsa_amd_vmem_address_free: VmemAddressFree,
    hsa_amd_vmem_handle_create: VmemHandleCreate,
    hsa_amd_vmem_map: VmemMap,
    hsa_amd_vmem_set_access: VmemSetAccess,
}

pub(in super::super) struct Hsa {
    pub(super) calls: Calls,
    pub(in super::super) path: PathBuf,
    // Never closed, because it has its own threads.
    _library: std::mem::ManuallyDrop<Library>,
}

impl Hsa {
    pub(in super::super) fn start(place: Option<&Path>) -> Result<Self, RuntimeError> {
        let (path, library) = open(place)?;
        let calls = Calls::find(&library).map_err(|function| RuntimeError::TooOld { path: path.clone(), function })?;
        let hsa = Self { calls, path, _library: std::mem::ManuallyDrop::new(library) };
        // SAFETY: the function takes no arguments.
        let status = unsafe { (hsa.calls.hsa_init)() };
        if status == SUCCESS {
            return Ok(hsa);
        }
        let hint = if Path::new("/dev/kfd").exists() {
            "is the user in the groups video and render? see rocminfo"
        } else {
            "/dev/kfd is missing, so this machine has no AMD GPU or its driver is not loaded"
        };
        Err(RuntimeError::NotStarted { status: hsa.status_name(status), hint })
    }

    /// Shuts the runtime down, so that its tools write their data.
    pub(in super::super) fn shut_down(&self) {
        // SAFETY: the function takes no arguments, and no call follows it.
        unsafe { (self.calls.hsa_shut_down)() };
    }

    pub(super) fn check(&self, call: &'static str, status: Status) -> Result<(), RuntimeError> {
        if status == SUCCESS {
            return Ok(());
        }
        Err(RuntimeError::Call { call, status: self.status_name(status) })
    }

    /// The name of a status, with its number.
    pub(super) fn status_name(&self, status: Status) -> String {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: there is room for the address.
        let found = unsafe { (self.calls.hsa_status_string)(status, &raw mut text) };
        if found != SUCCESS || text.is_null() {
            return format!("status {status:#x}");
        }
        // SAFETY: the runtime returns a terminated, static text.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        format!("{} ({status:#x})", text.split(':').next().unwrap_or_default().trim())
    }

    fn system_info<T: Default>(&self, attribute: u32) -> Option<T> {
        let mut value = T::default();
        // SAFETY: the callers below use the type of the attribute.
        let status = unsafe { (self.calls.hsa_system_get_info)(attribute, (&raw mut value).cast()) };
        (status == SUCCESS).then_some(value)
    }

    pub(in super::super) fn ticks_per_second(&self) -> u64 {
        self.system_info::<u64>(SYSTEM_INFO_TIMESTAMP_FREQUENCY).filter(|ticks| *ticks > 0).unwrap_or(1_000_000_000)
    }

    pub(in super::super) fn version(&self) -> String {
        let major = self.system_info::<u16>(SYSTEM_INFO_VERSION_MAJOR).unwrap_or_default();
        let minor = self.system_info::<u16>(SYSTEM_INFO_VERSION_MINOR).unwrap_or_default();
        format!("{major}.{minor}")
    }
}

/// Opens the named file, or otherwise the one of ROCM_PATH, of /opt/rocm, or the one that the loader finds.
fn open(place: Option<&Path>) -> Result<(PathBuf, Library), RuntimeError> {
    let mut tried = Vec::new();
    for path in candidates(place) {
        // The search path of the loader is unknown here.
        if path.components().count() > 1 && !path.exists() {
            tried.push(format!("{} does not exist", path.display()));
            continue;
        }
        // SAFETY: the user or ROCm names the library, and is responsible for its initializers.
        match unsafe { Library::new(&path) } {
            Ok(library) => return Ok((path, library)),
            Err(error) => tried.push(error.to_string()),
        }
    }
    Err(RuntimeError::NoRuntime { tried })
}

fn candidates(place: Option<&Path>) -> Vec<PathBuf> {
    if let Some(place) = place {
        let is_directory = place.is_dir();
        let inside = [place.join(NAME), place.join("lib").join(NAME)];
        let found = inside.iter().find(|path| path.exists()).unwrap_or(&inside[0]);
        // The loader would search for a name without a directory.
        let named = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
        return vec![if is_directory { found.clone() } else { named }];
    }
    let roots = std::env::var_os("ROCM_PATH").map(PathBuf::from).into_iter().chain([PathBuf::from("/opt/rocm")]);
    let mut paths: Vec<PathBuf> = roots.map(|root| root.join("lib").join(NAME)).collect();
    paths.push(PathBuf::from(NAME));
    paths
}
