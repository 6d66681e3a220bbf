//! Virtual memory: addresses are reserved, handles are files in memory, and mapping puts one at the other.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;

use wavesieve_captures::hsa::*;

use crate::memory::PAGE;
use crate::settings;

/// Bytes of each reserved range.
static RESERVED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
/// Bytes of each handle, which is a file descriptor.
static HANDLES: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

const EMPTY: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Whether something else is to be at an address.
fn is_to_be_taken(address: u64) -> bool {
    let taken = settings::text("FAKE_HSA_TAKEN");
    taken.and_then(|text| u64::from_str_radix(&text, 16).ok()) == Some(address)
}

pub(crate) unsafe extern "C" fn reserve(place: *mut *mut c_void, bytes: usize, address: u64, _flags: u64) -> Status {
    if bytes == 0 || !bytes.is_multiple_of(PAGE) || !(address as usize).is_multiple_of(PAGE) {
        return ERROR_INVALID_ARGUMENT;
    }
    let mut got = libc::MAP_FAILED;
    if address != 0 && !is_to_be_taken(address) {
        let flags = EMPTY | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: nothing that is mapped is replaced.
        got = unsafe { libc::mmap(address as *mut c_void, bytes, libc::PROT_NONE, flags, -1, 0) };
    }
    if got == libc::MAP_FAILED {
        // A request for an address that is taken is not met, as on a GPU.
        // SAFETY: nothing that is mapped is replaced.
        got = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, EMPTY, -1, 0) };
    }
    if got == libc::MAP_FAILED {
        return ERROR_OUT_OF_RESOURCES;
    }
    RESERVED.lock().unwrap().insert(got as usize, bytes);
    // SAFETY: the caller gives room for an address.
    unsafe { place.write(got) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn free(place: *mut c_void, bytes: usize) -> Status {
    if RESERVED.lock().unwrap().remove(&(place as usize)) != Some(bytes) {
        return ERROR_INVALID_ALLOCATION;
    }
    // SAFETY: the range was reserved here.
    unsafe { libc::munmap(place, bytes) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn handle_create(
    _pool: MemoryPool,
    bytes: usize,
    _kind: u32,
    _flags: u64,
    handle: *mut VmemHandle,
) -> Status {
    if bytes == 0 || !bytes.is_multiple_of(PAGE) {
        return ERROR_INVALID_ARGUMENT;
    }
    // SAFETY: the name is a text with an end.
    let file = unsafe { libc::memfd_create(c"fake_hsa".as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: the file was just made.
    if file < 0 || unsafe { libc::ftruncate(file, bytes as i64) } != 0 {
        return ERROR_OUT_OF_RESOURCES;
    }
    HANDLES.lock().unwrap().insert(file as u64, bytes);
    // SAFETY: the caller gives room for a handle.
    unsafe { handle.write(VmemHandle { handle: file as u64 }) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn handle_release(handle: VmemHandle) -> Status {
    if HANDLES.lock().unwrap().remove(&handle.handle).is_none() {
        return ERROR_INVALID_ALLOCATION;
    }
    // SAFETY: the file belongs to the handle; what is mapped of it stays.
    unsafe { libc::close(handle.handle as i32) };
    SUCCESS
}

fn is_reserved(place: usize, bytes: usize) -> bool {
    let reserved = RESERVED.lock().unwrap();
    let around = reserved.range(..=place).next_back();
    around.is_some_and(|(base, size)| place + bytes <= base + size)
}

pub(crate) unsafe extern "C" fn map(
    place: *mut c_void,
    bytes: usize,
    offset: usize,
    handle: VmemHandle,
    _flags: u64,
) -> Status {
    let Some(size) = HANDLES.lock().unwrap().get(&handle.handle).copied() else { return ERROR_INVALID_ALLOCATION };
    if !is_reserved(place as usize, bytes) || offset + bytes > size {
        return ERROR_INVALID_ARGUMENT;
    }
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: the range is reserved, and nothing but that is replaced. Access is given by `set_access`.
    let got = unsafe { libc::mmap(place, bytes, libc::PROT_NONE, flags, handle.handle as i32, offset as i64) };
    if got == libc::MAP_FAILED { ERROR_OUT_OF_RESOURCES } else { SUCCESS }
}

pub(crate) unsafe extern "C" fn unmap(place: *mut c_void, bytes: usize) -> Status {
    if !is_reserved(place as usize, bytes) {
        return ERROR_INVALID_ALLOCATION;
    }
    // SAFETY: the range stays reserved.
    unsafe { libc::mmap(place, bytes, libc::PROT_NONE, EMPTY | libc::MAP_FIXED, -1, 0) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn set_access(
    place: *mut c_void,
    bytes: usize,
    access: *const MemoryAccess,
    count: usize,
) -> Status {
    if !is_reserved(place as usize, bytes) || count == 0 {
        return ERROR_INVALID_ARGUMENT;
    }
    // As where the processor cannot reach all memory of the GPU.
    if count > 1 && settings::text("FAKE_HSA_NO_HOST_ACCESS").is_some() {
        return ERROR;
    }
    // SAFETY: the caller gives at least one description.
    let permissions = unsafe { (*access).permissions };
    let protection = match permissions {
        ACCESS_READ => libc::PROT_READ,
        ACCESS_READ_WRITE => libc::PROT_READ | libc::PROT_WRITE,
        _ => libc::PROT_NONE,
    };
    // SAFETY: the range is reserved by the caller.
    if unsafe { libc::mprotect(place, bytes, protection) } == 0 { SUCCESS } else { ERROR }
}
