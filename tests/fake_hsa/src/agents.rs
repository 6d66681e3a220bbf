//! One processor and one GPU.

use std::ffi::c_void;

use wavesieve_captures::hsa::*;

use crate::settings;

pub(crate) const CPU: Agent = Agent { handle: 1 };
pub(crate) const GPU: Agent = Agent { handle: 2 };
const GPU_ISA: Isa = Isa { handle: 3 };

/// The name of the GPU.
pub(crate) fn gpu_name() -> String {
    settings::text("FAKE_HSA_AGENT").unwrap_or_else(|| "gfx942".to_owned())
}

fn isa_name() -> String {
    let features = match gpu_name().as_str() {
        "gfx90a" | "gfx942" => ":sramecc+:xnack-",
        _ => "",
    };
    format!("amdgcn-amd-amdhsa--{}{features}", gpu_name())
}

/// Writes a text with its end into room for `room` bytes.
///
/// # Safety
/// There are as many bytes.
pub(crate) unsafe fn write_text(value: *mut c_void, text: &str, room: usize) {
    let bytes = &text.as_bytes()[..text.len().min(room.saturating_sub(1))];
    // SAFETY: as promised by the caller.
    unsafe {
        value.cast::<u8>().write_bytes(0, room);
        value.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
}

pub(crate) unsafe extern "C" fn iterate(callback: AgentCallback, data: *mut c_void) -> Status {
    for agent in [CPU, GPU] {
        // SAFETY: the callback is the caller's.
        match unsafe { callback(agent, data) } {
            SUCCESS => {}
            other => return other,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn get_info(agent: Agent, attribute: u32, value: *mut c_void) -> Status {
    let is_gpu = match agent {
        CPU => false,
        GPU => true,
        _ => return ERROR_INVALID_AGENT,
    };
    // SAFETY: the caller gives room for the type of the attribute.
    unsafe {
        match attribute {
            AGENT_INFO_NAME => write_text(value, &if is_gpu { gpu_name() } else { "fake cpu".to_owned() }, 64),
            AGENT_INFO_VENDOR_NAME => write_text(value, "fake", 64),
            AGENT_INFO_FEATURE => value.cast::<u32>().write(u32::from(is_gpu)),
            AGENT_INFO_DEVICE => value.cast::<u32>().write(if is_gpu { DEVICE_GPU } else { DEVICE_CPU }),
            AGENT_INFO_WAVEFRONT_SIZE => {
                value.cast::<u32>().write(if gpu_name().starts_with("gfx9") { 64 } else { 32 });
            }
            AGENT_INFO_QUEUE_MAX_SIZE => value.cast::<u32>().write(if is_gpu { 1 << 17 } else { 0 }),
            AGENT_INFO_ISA => value.cast::<Isa>().write(GPU_ISA),
            AMD_AGENT_INFO_COMPUTE_UNIT_COUNT => value.cast::<u32>().write(if is_gpu { 304 } else { 1 }),
            AMD_AGENT_INFO_PRODUCT_NAME => write_text(value, "Fake GPU of host memory", 64),
            _ => return ERROR_INVALID_ARGUMENT,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn iterate_isas(agent: Agent, callback: IsaCallback, data: *mut c_void) -> Status {
    if agent != GPU {
        return ERROR_INVALID_AGENT;
    }
    // SAFETY: the callback is the caller's.
    unsafe { callback(GPU_ISA, data) }
}

pub(crate) unsafe extern "C" fn isa_get_info(isa: Isa, attribute: u32, value: *mut c_void) -> Status {
    if isa != GPU_ISA {
        return ERROR_INVALID_ISA;
    }
    let name = isa_name();
    // SAFETY: the caller gives room for the type of the attribute.
    unsafe {
        match attribute {
            ISA_INFO_NAME_LENGTH => value.cast::<u32>().write(name.len() as u32 + 1),
            ISA_INFO_NAME => write_text(value, &name, name.len() + 1),
            _ => return ERROR_INVALID_ARGUMENT,
        }
    }
    SUCCESS
}
