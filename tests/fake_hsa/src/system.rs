//! Starting and stopping, versions and the clock.

use std::ffi::{c_char, c_void};
use std::sync::Mutex;
use std::time::Instant;

use wavesieve_captures::hsa::*;

use crate::{executables, settings, tools};

/// Ticks of the clock in a second, as on the real hardware: not nanoseconds.
pub(crate) const TICKS_PER_SECOND: u64 = 100_000_000;

static USERS: Mutex<u32> = Mutex::new(0);

pub(crate) unsafe extern "C" fn init() -> Status {
    if settings::text("FAKE_HSA_NO_AGENT").is_some() {
        return ERROR_OUT_OF_RESOURCES;
    }
    let mut users = USERS.lock().unwrap();
    *users += 1;
    if *users == 1 {
        drop(users);
        tools::load();
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn shut_down() -> Status {
    let mut users = USERS.lock().unwrap();
    match *users {
        0 => return ERROR_NOT_INITIALIZED,
        1 => {
            *users = 0;
            drop(users);
            tools::unload();
        }
        _ => *users -= 1,
    }
    SUCCESS
}

/// The clock.
pub(crate) fn ticks() -> u64 {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let nanoseconds = BEGIN.get_or_init(Instant::now).elapsed().as_nanos() as u64;
    1_000_000 + nanoseconds / (1_000_000_000 / TICKS_PER_SECOND)
}

pub(crate) unsafe extern "C" fn get_info(attribute: u32, value: *mut c_void) -> Status {
    // SAFETY: the caller gives room for the type of the attribute.
    unsafe {
        match attribute {
            SYSTEM_INFO_VERSION_MAJOR => value.cast::<u16>().write(1),
            SYSTEM_INFO_VERSION_MINOR => value.cast::<u16>().write(1),
            SYSTEM_INFO_TIMESTAMP => value.cast::<u64>().write(ticks()),
            SYSTEM_INFO_TIMESTAMP_FREQUENCY => value.cast::<u64>().write(TICKS_PER_SECOND),
            _ => return ERROR_INVALID_ARGUMENT,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn convert_tick(_agent: Agent, tick: u64, system: *mut u64) -> Status {
    // SAFETY: the caller gives room for a number.
    unsafe { system.write(tick) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn get_major_extension_table(
    extension: u16,
    major: u16,
    bytes: usize,
    table: *mut c_void,
) -> Status {
    if extension != EXTENSION_AMD_LOADER || major != 1 || bytes < size_of::<LoaderTable>() {
        return ERROR_INVALID_ARGUMENT;
    }
    let null = std::ptr::null();
    let functions = LoaderTable {
        query_host_address: null,
        query_segment_descriptors: null,
        query_executable: null,
        executable_iterate_loaded_code_objects: null,
        loaded_code_object_get_info: executables::loaded_get_info as LoadedCodeObjectGetInfo as *const c_void,
    };
    // SAFETY: the caller gives as many bytes as it says.
    unsafe { table.cast::<LoaderTable>().write(functions) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn status_string(status: Status, text: *mut *const c_char) -> Status {
    let name = match status {
        SUCCESS => c"HSA_STATUS_SUCCESS",
        ERROR => c"HSA_STATUS_ERROR",
        ERROR_INVALID_ARGUMENT => c"HSA_STATUS_ERROR_INVALID_ARGUMENT",
        ERROR_INVALID_ALLOCATION => c"HSA_STATUS_ERROR_INVALID_ALLOCATION",
        ERROR_OUT_OF_RESOURCES => c"HSA_STATUS_ERROR_OUT_OF_RESOURCES",
        ERROR_INCOMPATIBLE_ARGUMENTS => c"HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS",
        ERROR_INVALID_CODE_OBJECT => c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT",
        ERROR_INVALID_SYMBOL_NAME => c"HSA_STATUS_ERROR_INVALID_SYMBOL_NAME",
        _ => c"HSA_STATUS_ERROR of another kind",
    };
    // SAFETY: the caller gives room for an address.
    unsafe { text.write(name.as_ptr()) };
    SUCCESS
}
