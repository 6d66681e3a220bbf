//! Runtime calls that a capture makes.

use std::ffi::c_void;

use wavesieve_captures::hsa::*;

use crate::originals::Originals;

/// Copies memory of the program, wherever it is.
pub(crate) fn copy_out(originals: &Originals, address: u64, target: &mut [u8]) -> Result<(), String> {
    let copy = originals.hsa_memory_copy.ok_or("no hsa_memory_copy")?;
    // SAFETY: the target has as many bytes; the source is memory that the program allocated and does not free meanwhile.
    let status = unsafe { copy(target.as_mut_ptr().cast(), address as *const c_void, target.len()) };
    if status == SUCCESS {
        return Ok(());
    }
    Err(format!("hsa_memory_copy of {} bytes at {address:#x} gave status {status:#x}", target.len()))
}

pub(crate) fn agent_name(originals: &Originals, agent: Agent) -> String {
    let mut text = [0_u8; 64];
    if let Some(get) = originals.hsa_agent_get_info {
        // SAFETY: names of agents have 64 bytes.
        unsafe { get(agent, AGENT_INFO_NAME, text.as_mut_ptr().cast()) };
    }
    until_end(&text)
}

/// The work-items of a wavefront; 0 if unknown.
pub(crate) fn wavefront_size(originals: &Originals, agent: Agent) -> u32 {
    let mut size = 0_u32;
    if let Some(get) = originals.hsa_agent_get_info {
        // SAFETY: the size is a number of 32 bits.
        unsafe { get(agent, AGENT_INFO_WAVEFRONT_SIZE, (&raw mut size).cast()) };
    }
    size
}

unsafe extern "C" fn first_isa(isa: Isa, data: *mut c_void) -> Status {
    // SAFETY: the data is the place that `isa_name` passes.
    unsafe { data.cast::<Isa>().write(isa) };
    INFO_BREAK
}

/// The name of the first instruction set of an agent, such as `amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`.
pub(crate) fn isa_name(originals: &Originals, agent: Agent) -> String {
    let (Some(iterate), Some(get)) = (originals.hsa_agent_iterate_isas, originals.hsa_isa_get_info_alt) else {
        return String::new();
    };
    let mut isa = Isa::default();
    let mut length = 0_u32;
    // SAFETY: the callback writes the handle, the call the length.
    let is_known = unsafe {
        iterate(agent, first_isa, (&raw mut isa).cast());
        get(isa, ISA_INFO_NAME_LENGTH, (&raw mut length).cast()) == SUCCESS
    };
    if !is_known || length > 4096 {
        return String::new();
    }
    // One more byte, because the length may not count the terminator.
    let mut name = vec![0_u8; length as usize + 1];
    // SAFETY: the buffer has as many bytes as the runtime stated.
    unsafe { get(isa, ISA_INFO_NAME, name.as_mut_ptr().cast()) };
    until_end(&name)
}

fn until_end(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

fn symbol_number<T: Default>(originals: &Originals, symbol: ExecutableSymbol, attribute: u32) -> Option<T> {
    let get = originals.hsa_executable_symbol_get_info?;
    let mut value = T::default();
    // SAFETY: callers name the type of the attribute.
    let status = unsafe { get(symbol, attribute, (&raw mut value).cast()) };
    (status == SUCCESS).then_some(value)
}

pub(crate) enum Symbol {
    Kernel { object: u64, name: String, kernarg_size: u32, group_size: u32, private_size: u32 },
    Variable { name: String, address: u64, size: u64 },
    Other,
}

pub(crate) fn symbol(originals: &Originals, symbol: ExecutableSymbol) -> Option<Symbol> {
    let kind: u32 = symbol_number(originals, symbol, SYMBOL_INFO_TYPE)?;
    let name = symbol_name(originals, symbol)?;
    Some(match kind {
        SYMBOL_KERNEL => Symbol::Kernel {
            object: symbol_number(originals, symbol, SYMBOL_INFO_KERNEL_OBJECT)?,
            name,
            kernarg_size: symbol_number(originals, symbol, SYMBOL_INFO_KERNARG_SIZE)?,
            group_size: symbol_number(originals, symbol, SYMBOL_INFO_GROUP_SIZE).unwrap_or(0),
            private_size: symbol_number(originals, symbol, SYMBOL_INFO_PRIVATE_SIZE).unwrap_or(0),
        },
        SYMBOL_VARIABLE => Symbol::Variable {
            name,
            address: symbol_number(originals, symbol, SYMBOL_INFO_VARIABLE_ADDRESS)?,
            size: u64::from(symbol_number::<u32>(originals, symbol, SYMBOL_INFO_VARIABLE_SIZE)?),
        },
        _ => Symbol::Other,
    })
}

fn symbol_name(originals: &Originals, symbol: ExecutableSymbol) -> Option<String> {
    let length: u32 = symbol_number(originals, symbol, SYMBOL_INFO_NAME_LENGTH)?;
    let get = originals.hsa_executable_symbol_get_info?;
    let mut name = vec![0_u8; length as usize + 1];
    // SAFETY: the buffer has as many bytes as the runtime stated, and one more.
    let status = unsafe { get(symbol, SYMBOL_INFO_NAME, name.as_mut_ptr().cast()) };
    (status == SUCCESS).then(|| until_end(&name))
}

/// The bytes of a code object that was loaded without a known reader.
pub(crate) fn loaded_bytes(originals: &Originals, loaded: LoadedCodeObject) -> Option<Vec<u8>> {
    let table_of = originals.hsa_system_get_major_extension_table?;
    // SAFETY: all members are addresses, for which zero is a value.
    let mut table = unsafe { std::mem::zeroed::<LoaderTable>() };
    // SAFETY: the table has as many bytes as the call states.
    let status = unsafe { table_of(EXTENSION_AMD_LOADER, 1, size_of::<LoaderTable>(), (&raw mut table).cast()) };
    if status != SUCCESS || table.loaded_code_object_get_info.is_null() {
        return None;
    }
    let (mut base, mut size) = (0_u64, 0_u64);
    // SAFETY: the function has this type; both attributes are numbers of 64 bits. The bytes stay valid while the code is loaded, and it was
    // just loaded.
    unsafe {
        let get: LoadedCodeObjectGetInfo = std::mem::transmute(table.loaded_code_object_get_info);
        let is_known = get(loaded, CODE_OBJECT_INFO_MEMORY_BASE, (&raw mut base).cast()) == SUCCESS
            && get(loaded, CODE_OBJECT_INFO_MEMORY_SIZE, (&raw mut size).cast()) == SUCCESS;
        let size = usize::try_from(size).ok()?;
        (is_known && base != 0 && size != 0).then(|| std::slice::from_raw_parts(base as *const u8, size).to_vec())
    }
}
