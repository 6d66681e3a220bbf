//! The GPU, the processor next to it, and their memory.

use std::ffi::c_void;

use super::error::RuntimeError;
use super::library::Hsa;
use wavesieve_captures::hsa::*;

pub(in super::super) struct Gpu {
    pub(super) agent: Agent,
    pub(super) host: Agent,
    /// Its name, such as `gfx942`.
    pub(in super::super) name: String,
    pub(in super::super) isas: Vec<String>,
    /// Its own memory.
    pub(super) pool: MemoryPool,
    /// Page size of that memory.
    pub(in super::super) page: u64,
    /// Host memory for kernel arguments.
    pub(super) kernarg_pool: MemoryPool,
}

/// Collects the items of a runtime iteration.
///
/// # Safety
/// The data is a vector of the items' type.
unsafe extern "C" fn collect<T>(item: T, data: *mut c_void) -> Status {
    // SAFETY: guaranteed by the caller; nothing else uses the vector meanwhile.
    unsafe { (*data.cast::<Vec<T>>()).push(item) };
    SUCCESS
}

impl Gpu {
    pub(in super::super) fn find(hsa: &Hsa, number: usize) -> Result<Self, RuntimeError> {
        let mut agents: Vec<Agent> = Vec::new();
        // SAFETY: the callback gets the vector that it fills, of the right type.
        let status = unsafe { (hsa.calls.hsa_iterate_agents)(collect::<Agent>, (&raw mut agents).cast()) };
        hsa.check("hsa_iterate_agents", status)?;
        let of = |kind: u32| -> Vec<Agent> {
            let is_such = |agent: &Agent| agent_info::<u32>(hsa, *agent, AGENT_INFO_DEVICE).ok() == Some(kind);
            agents.iter().copied().filter(is_such).collect()
        };
        let gpus = of(DEVICE_GPU);
        let lacking = || RuntimeError::NoGpu { wanted: number, found: gpus.len() };
        let agent = *gpus.get(number).ok_or_else(lacking)?;
        let host = *of(DEVICE_CPU).first().ok_or(RuntimeError::Lacking("processor beside it"))?;
        let name = agent_text(hsa, agent, AGENT_INFO_NAME)?;
        let isas = isas(hsa, agent)?;
        let own: Vec<Pool> = pools(hsa, agent)?;
        // Coarse-grained memory is what programs allocate by default.
        let is_coarse = |pool: &&Pool| pool.flags & GLOBAL_FLAG_COARSE_GRAINED != 0;
        let pool = own.iter().find(is_coarse).or(own.first()).ok_or(RuntimeError::Lacking("memory to allocate"))?;
        let of_host = pools(hsa, host)?;
        let for_kernarg = of_host.iter().find(|pool| pool.flags & GLOBAL_FLAG_KERNARG != 0);
        let kernarg_pool = for_kernarg.ok_or(RuntimeError::Lacking("memory for arguments"))?.handle;
        Ok(Self { agent, host, name, isas, pool: pool.handle, page: pool.granule, kernarg_pool })
    }
}

/// Allocatable memory.
struct Pool {
    handle: MemoryPool,
    flags: u32,
    granule: u64,
}

fn pools(hsa: &Hsa, agent: Agent) -> Result<Vec<Pool>, RuntimeError> {
    let mut handles: Vec<MemoryPool> = Vec::new();
    let iterate = hsa.calls.hsa_amd_agent_iterate_memory_pools;
    // SAFETY: the callback gets the vector that it fills, of the right type.
    let status = unsafe { iterate(agent, collect::<MemoryPool>, (&raw mut handles).cast()) };
    hsa.check("hsa_amd_agent_iterate_memory_pools", status)?;
    let mut pools = Vec::new();
    for handle in handles {
        let is_global = pool_info::<u32>(hsa, handle, POOL_INFO_SEGMENT)? == SEGMENT_GLOBAL;
        if is_global && pool_info::<u8>(hsa, handle, POOL_INFO_ALLOC_ALLOWED)? != 0 {
            let flags = pool_info::<u32>(hsa, handle, POOL_INFO_GLOBAL_FLAGS)?;
            let granule = pool_info::<usize>(hsa, handle, POOL_INFO_ALLOC_GRANULE)? as u64;
            pools.push(Pool { handle, flags, granule });
        }
    }
    Ok(pools)
}

fn isas(hsa: &Hsa, agent: Agent) -> Result<Vec<String>, RuntimeError> {
    let mut handles: Vec<Isa> = Vec::new();
    // SAFETY: the callback gets the vector that it fills, of the right type.
    let status = unsafe { (hsa.calls.hsa_agent_iterate_isas)(agent, collect::<Isa>, (&raw mut handles).cast()) };
    hsa.check("hsa_agent_iterate_isas", status)?;
    let mut names = Vec::new();
    for handle in handles {
        let mut length: u32 = 0;
        let info = hsa.calls.hsa_isa_get_info_alt;
        // SAFETY: the length of the name is a 32-bit number.
        hsa.check("hsa_isa_get_info_alt", unsafe { info(handle, ISA_INFO_NAME_LENGTH, (&raw mut length).cast()) })?;
        let mut name = vec![0_u8; length as usize + 1];
        // SAFETY: there is room for the name and its terminator.
        hsa.check("hsa_isa_get_info_alt", unsafe { info(handle, ISA_INFO_NAME, name.as_mut_ptr().cast()) })?;
        names.push(until_zero(&name));
    }
    Ok(names)
}

/// A number of an agent, in the type of the attribute.
fn agent_info<T: Default>(hsa: &Hsa, agent: Agent, attribute: u32) -> Result<T, RuntimeError> {
    let mut value = T::default();
    // SAFETY: the callers use the type of the attribute.
    let status = unsafe { (hsa.calls.hsa_agent_get_info)(agent, attribute, (&raw mut value).cast()) };
    hsa.check("hsa_agent_get_info", status).map(|()| value)
}

fn agent_text(hsa: &Hsa, agent: Agent, attribute: u32) -> Result<String, RuntimeError> {
    let mut text = [0_u8; 65];
    // SAFETY: names of agents have up to 64 bytes.
    let status = unsafe { (hsa.calls.hsa_agent_get_info)(agent, attribute, text.as_mut_ptr().cast()) };
    hsa.check("hsa_agent_get_info", status).map(|()| until_zero(&text))
}

fn pool_info<T: Default>(hsa: &Hsa, pool: MemoryPool, attribute: u32) -> Result<T, RuntimeError> {
    let mut value = T::default();
    // SAFETY: the callers use the type of the attribute.
    let status = unsafe { (hsa.calls.hsa_amd_memory_pool_get_info)(pool, attribute, (&raw mut value).cast()) };
    hsa.check("hsa_amd_memory_pool_get_info", status).map(|()| value)
}

fn until_zero(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}
