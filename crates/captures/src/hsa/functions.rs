//! Types of the functions that are called or replaced.

use std::ffi::{c_char, c_int, c_void};

use super::types::{
    Agent, CodeObjectReader, DispatchTime, Executable, ExecutableSymbol, Isa, LoadedCodeObject, MemoryAccess,
    MemoryPool, Queue, Region, Signal, Status, VmemHandle,
};

pub type HsaInit = unsafe extern "C" fn() -> Status;
pub type StatusString = unsafe extern "C" fn(Status, *mut *const c_char) -> Status;
pub type SystemGetInfo = unsafe extern "C" fn(u32, *mut c_void) -> Status;
pub type SystemGetMajorExtensionTable = unsafe extern "C" fn(u16, u16, usize, *mut c_void) -> Status;

pub type AgentCallback = unsafe extern "C" fn(Agent, *mut c_void) -> Status;
pub type IterateAgents = unsafe extern "C" fn(AgentCallback, *mut c_void) -> Status;
pub type AgentGetInfo = unsafe extern "C" fn(Agent, u32, *mut c_void) -> Status;
pub type IsaCallback = unsafe extern "C" fn(Isa, *mut c_void) -> Status;
pub type AgentIterateIsas = unsafe extern "C" fn(Agent, IsaCallback, *mut c_void) -> Status;
pub type IsaGetInfo = unsafe extern "C" fn(Isa, u32, *mut c_void) -> Status;

pub type QueueCallback = unsafe extern "C" fn(Status, *mut Queue, *mut c_void);
/// `hsa_queue_create` and `hsa_amd_queue_intercept_create`.
pub type QueueCreate =
    unsafe extern "C" fn(Agent, u32, u32, Option<QueueCallback>, *mut c_void, u32, u32, *mut *mut Queue) -> Status;
pub type QueueDestroy = unsafe extern "C" fn(*mut Queue) -> Status;
pub type QueueAddIndex = unsafe extern "C" fn(*const Queue, u64) -> u64;
/// Packets, and their number.
pub type PacketWriter = unsafe extern "C" fn(*const c_void, u64);
/// Packets, their number, the index of the first in the queue of the user, the data of the registration, the writer.
pub type InterceptHandler = unsafe extern "C" fn(*const c_void, u64, u64, *mut c_void, PacketWriter);
pub type QueueInterceptRegister = unsafe extern "C" fn(*mut Queue, InterceptHandler, *mut c_void) -> Status;

pub type SignalCreate = unsafe extern "C" fn(i64, u32, *const Agent, *mut Signal) -> Status;
pub type SignalDestroy = unsafe extern "C" fn(Signal) -> Status;
pub type SignalLoad = unsafe extern "C" fn(Signal) -> i64;
pub type SignalStore = unsafe extern "C" fn(Signal, i64);
/// Signal, condition, value, limit in ticks of the clock, way of waiting; returns the value.
pub type SignalWait = unsafe extern "C" fn(Signal, u32, i64, u64, u32) -> i64;

pub type RegionCallback = unsafe extern "C" fn(Region, *mut c_void) -> Status;
pub type AgentIterateRegions = unsafe extern "C" fn(Agent, RegionCallback, *mut c_void) -> Status;
pub type MemoryAllocate = unsafe extern "C" fn(Region, usize, *mut *mut c_void) -> Status;
/// `hsa_memory_free` and `hsa_amd_memory_pool_free`.
pub type MemoryFree = unsafe extern "C" fn(*mut c_void) -> Status;
/// Destination, source, bytes.
pub type MemoryCopy = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> Status;

pub type PoolCallback = unsafe extern "C" fn(MemoryPool, *mut c_void) -> Status;
pub type AgentIterateMemoryPools = unsafe extern "C" fn(Agent, PoolCallback, *mut c_void) -> Status;
pub type MemoryPoolGetInfo = unsafe extern "C" fn(MemoryPool, u32, *mut c_void) -> Status;
pub type MemoryPoolAllocate = unsafe extern "C" fn(MemoryPool, usize, u32, *mut *mut c_void) -> Status;
pub type AgentsAllowAccess = unsafe extern "C" fn(u32, *const Agent, *const u32, *const c_void) -> Status;

/// Place for the address, bytes, the requested address, flags.
pub type VmemAddressReserve = unsafe extern "C" fn(*mut *mut c_void, usize, u64, u64) -> Status;
pub type VmemAddressFree = unsafe extern "C" fn(*mut c_void, usize) -> Status;
/// Pool, bytes, type of memory, flags, place for the handle.
pub type VmemHandleCreate = unsafe extern "C" fn(MemoryPool, usize, u32, u64, *mut VmemHandle) -> Status;
/// Address, bytes, offset in the handle, handle, flags.
pub type VmemMap = unsafe extern "C" fn(*mut c_void, usize, usize, VmemHandle, u64) -> Status;
pub type VmemUnmap = unsafe extern "C" fn(*mut c_void, usize) -> Status;
pub type VmemSetAccess = unsafe extern "C" fn(*mut c_void, usize, *const MemoryAccess, usize) -> Status;

/// The file descriptor.
pub type ReaderCreateFromFile = unsafe extern "C" fn(c_int, *mut CodeObjectReader) -> Status;
pub type ReaderCreateFromMemory = unsafe extern "C" fn(*const c_void, usize, *mut CodeObjectReader) -> Status;
pub type ReaderDestroy = unsafe extern "C" fn(CodeObjectReader) -> Status;
/// Profile, rounding, options, place for the executable.
pub type ExecutableCreateAlt = unsafe extern "C" fn(u32, u32, *const c_char, *mut Executable) -> Status;
pub type ExecutableDestroy = unsafe extern "C" fn(Executable) -> Status;
pub type ExecutableLoadAgentCodeObject =
    unsafe extern "C" fn(Executable, Agent, CodeObjectReader, *const c_char, *mut LoadedCodeObject) -> Status;
pub type ExecutableFreeze = unsafe extern "C" fn(Executable, *const c_char) -> Status;
pub type ExecutableGetSymbolByName =
    unsafe extern "C" fn(Executable, *const c_char, *const Agent, *mut ExecutableSymbol) -> Status;
pub type SymbolCallback = unsafe extern "C" fn(Executable, Agent, ExecutableSymbol, *mut c_void) -> Status;
pub type ExecutableIterateAgentSymbols = unsafe extern "C" fn(Executable, Agent, SymbolCallback, *mut c_void) -> Status;
pub type SymbolGetInfo = unsafe extern "C" fn(ExecutableSymbol, u32, *mut c_void) -> Status;
pub type LoadedCodeObjectGetInfo = unsafe extern "C" fn(LoadedCodeObject, u32, *mut c_void) -> Status;

pub type ProfilingSetEnabled = unsafe extern "C" fn(*mut Queue, c_int) -> Status;
pub type ProfilingGetDispatchTime = unsafe extern "C" fn(Agent, Signal, *mut DispatchTime) -> Status;

/// The function that a tool exports as `OnLoad`: the table, the version of the runtime, and the names of tools that failed to load.
pub type OnLoad = unsafe extern "C" fn(*mut super::HsaApiTable, u64, u64, *const *const c_char) -> bool;
/// The function that a tool exports as `OnUnload`.
pub type OnUnload = unsafe extern "C" fn();
