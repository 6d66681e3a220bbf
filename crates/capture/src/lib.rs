//! The library that a program loads through `HSA_TOOLS_LIB` under `wavesieve lab capture`. It watches the memory, the code objects and the
//! dispatches of the program, and writes the wanted dispatches, with their code and memory, before they run.
//!
//! Nothing of ROCm is linked: the runtime hands over its table of functions. Versions are checked before a slot is replaced, and every
//! function that the runtime calls catches panics, so that the worst result is a missing capture.

mod calls;
mod code;
mod events;
mod file_size;
mod guard;
mod hooks;
mod kernels;
mod memory;
mod names;
mod originals;
mod packets;
mod reach;
mod recorder;
mod settings;
mod snapshot;
mod tables;

use std::ffi::c_char;

use wavesieve_captures::hsa::HsaApiTable;

/// Takes the runtime's tables when the program starts to use it. Returns whether the library stays.
///
/// # Safety
/// The table belongs to the runtime, and lives as long as it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OnLoad(
    table: *mut HsaApiTable,
    _runtime_version: u64,
    _failed_tools: u64,
    _failed_names: *const *const c_char,
) -> bool {
    // SAFETY: as promised by the caller.
    guard::caught(false, || unsafe { recorder::begin(table) })
}

/// Ends the recording; the runtime calls this before it ends.
#[unsafe(no_mangle)]
pub extern "C" fn OnUnload() {
    guard::caught((), recorder::end);
}
