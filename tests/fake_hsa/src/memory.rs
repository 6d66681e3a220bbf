//! Pools, regions and allocations: pages of the host at addresses that are the same in every run.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;

use wavesieve_captures::hsa::*;

use crate::{agents, settings};

pub(crate) const PAGE: usize = 4096;
const GPU_POOL: u64 = 0x21;
const CPU_POOL: u64 = 0x11;
const KERNARG_POOL: u64 = 0x12;

/// Where the next allocation is tried.
static NEXT: Mutex<usize> = Mutex::new(0x6000_0000_0000);
/// Bytes and pool of each allocation.
static ALLOCATIONS: Mutex<BTreeMap<usize, (usize, u64)>> = Mutex::new(BTreeMap::new());

/// Maps pages at the next free address.
pub(crate) fn map_pages(bytes: usize) -> Option<*mut c_void> {
    let bytes = bytes.checked_next_multiple_of(PAGE)?;
    let mut next = NEXT.lock().unwrap();
    for _ in 0..1_000_000 {
        let place = *next;
        // A page stays free behind each, so that writing behind an allocation is seen.
        *next += bytes + PAGE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: nothing that is mapped is replaced.
        let got = unsafe { libc::mmap(place as *mut c_void, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if got as usize == place {
            return Some(got);
        }
        if got != libc::MAP_FAILED {
            // SAFETY: the pages were mapped just now.
            unsafe { libc::munmap(got, bytes) };
        }
    }
    None
}

fn allocate_from(pool: u64, bytes: usize, place: *mut *mut c_void) -> Status {
    if ![GPU_POOL, CPU_POOL, KERNARG_POOL].contains(&pool) {
        return ERROR_INVALID_MEMORY_POOL;
    }
    if bytes == 0 {
        return ERROR_INVALID_ARGUMENT;
    }
    let Some(pages) = map_pages(bytes) else { return ERROR_OUT_OF_RESOURCES };
    ALLOCATIONS.lock().unwrap().insert(pages as usize, (bytes, pool));
    // SAFETY: the caller gives room for an address.
    unsafe { place.write(pages) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn pool_allocate(
    pool: MemoryPool,
    bytes: usize,
    _flags: u32,
    place: *mut *mut c_void,
) -> Status {
    allocate_from(pool.handle, bytes, place)
}

pub(crate) unsafe extern "C" fn allocate(region: Region, bytes: usize, place: *mut *mut c_void) -> Status {
    allocate_from(region.handle, bytes, place)
}

pub(crate) unsafe extern "C" fn free(place: *mut c_void) -> Status {
    if place.is_null() {
        return SUCCESS;
    }
    let Some((bytes, _)) = ALLOCATIONS.lock().unwrap().remove(&(place as usize)) else {
        return ERROR_INVALID_ALLOCATION;
    };
    // SAFETY: the pages were mapped for this allocation.
    unsafe { libc::munmap(place, bytes.next_multiple_of(PAGE)) };
    SUCCESS
}

/// Whether copies from or to a range are to fail.
fn is_to_fail(place: usize, bytes: usize) -> bool {
    settings::text("FAKE_HSA_FAIL_COPY_FROM").is_some_and(|list| {
        let addresses =
            list.split(',').filter_map(|word| usize::from_str_radix(word.trim_start_matches("0x"), 16).ok());
        addresses.into_iter().any(|address| (place..place + bytes).contains(&address))
    })
}

pub(crate) unsafe extern "C" fn copy(to: *mut c_void, from: *const c_void, bytes: usize) -> Status {
    if is_to_fail(from as usize, bytes) {
        return ERROR;
    }
    // SAFETY: the caller owns both ranges.
    unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn fill(place: *mut c_void, value: u32, count: usize) -> Status {
    for index in 0..count {
        // SAFETY: the caller owns as many numbers.
        unsafe { place.cast::<u32>().add(index).write(value) };
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn allow_access(
    _count: u32,
    _agents: *const Agent,
    _flags: *const u32,
    place: *const c_void,
) -> Status {
    let is_known = ALLOCATIONS.lock().unwrap().contains_key(&(place as usize));
    if is_known { SUCCESS } else { ERROR_INVALID_ARGUMENT }
}

pub(crate) unsafe extern "C" fn pointer_info(
    place: *const c_void,
    info: *mut PointerInfo,
    _reserve: Option<unsafe extern "C" fn(usize) -> *mut c_void>,
    _count: *mut u32,
    _agents: *mut *mut Agent,
) -> Status {
    let allocations = ALLOCATIONS.lock().unwrap();
    let found = allocations.range(..=place as usize).next_back();
    let found = found.filter(|(base, (bytes, _))| (place as usize) < *base + bytes);
    // SAFETY: the caller gives room for the structure.
    let info = unsafe { &mut *info };
    info.size = size_of::<PointerInfo>() as u32;
    info.kind = 0;
    if let Some((base, (bytes, pool))) = found {
        info.kind = 1;
        info.agent_base = *base as *mut c_void;
        info.host_base = *base as *mut c_void;
        info.size_in_bytes = *bytes;
        info.agent_owner = if *pool == GPU_POOL { agents::GPU } else { agents::CPU };
    }
    SUCCESS
}

fn pools(agent: Agent) -> &'static [u64] {
    match agent {
        agents::CPU => &[CPU_POOL, KERNARG_POOL],
        agents::GPU => &[GPU_POOL],
        _ => &[],
    }
}

pub(crate) unsafe extern "C" fn iterate_pools(agent: Agent, callback: PoolCallback, data: *mut c_void) -> Status {
    for handle in pools(agent) {
        // SAFETY: the callback is the caller's.
        match unsafe { callback(MemoryPool { handle: *handle }, data) } {
            SUCCESS => {}
            other => return other,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn iterate_regions(agent: Agent, callback: RegionCallback, data: *mut c_void) -> Status {
    for handle in pools(agent) {
        // SAFETY: the callback is the caller's.
        match unsafe { callback(Region { handle: *handle }, data) } {
            SUCCESS => {}
            other => return other,
        }
    }
    SUCCESS
}

fn flags_of(pool: u64) -> u32 {
    match pool {
        KERNARG_POOL => GLOBAL_FLAG_KERNARG | GLOBAL_FLAG_FINE_GRAINED,
        CPU_POOL => GLOBAL_FLAG_FINE_GRAINED,
        _ => GLOBAL_FLAG_COARSE_GRAINED,
    }
}

pub(crate) unsafe extern "C" fn pool_get_info(pool: MemoryPool, attribute: u32, value: *mut c_void) -> Status {
    // SAFETY: the caller gives room for the type of the attribute.
    unsafe {
        match attribute {
            POOL_INFO_SEGMENT => value.cast::<u32>().write(SEGMENT_GLOBAL),
            POOL_INFO_GLOBAL_FLAGS => value.cast::<u32>().write(flags_of(pool.handle)),
            POOL_INFO_SIZE | POOL_INFO_ALLOC_MAX_SIZE => value.cast::<usize>().write(64 << 30),
            POOL_INFO_ALLOC_ALLOWED => value.cast::<bool>().write(true),
            POOL_INFO_ALLOC_GRANULE | POOL_INFO_ALLOC_ALIGNMENT => value.cast::<usize>().write(PAGE),
            POOL_INFO_ACCESSIBLE_BY_ALL => value.cast::<bool>().write(pool.handle != GPU_POOL),
            _ => return ERROR_INVALID_ARGUMENT,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn region_get_info(region: Region, attribute: u32, value: *mut c_void) -> Status {
    // SAFETY: pools and regions have the same numbers for these attributes.
    unsafe { pool_get_info(MemoryPool { handle: region.handle }, attribute, value) }
}
