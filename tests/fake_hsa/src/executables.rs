//! Readers, executables and their symbols. A handle is a number from 1 on.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;

use wavesieve_captures::hsa::*;

use crate::agents;
use crate::{code, memory};

/// `hsa_executable_iterate_symbols`.
pub(crate) type AnySymbolCallback = unsafe extern "C" fn(Executable, ExecutableSymbol, *mut c_void) -> Status;

/// A kernel or variable that is loaded.
pub(crate) struct LoadedSymbol {
    executable: u64,
    name: String,
    address: u64,
    bytes: u64,
    is_kernel: bool,
    /// Bytes of LDS, of scratch memory and of arguments.
    sizes: [u32; 3],
}

#[derive(Default)]
struct State {
    readers: Vec<Vec<u8>>,
    is_frozen: Vec<bool>,
    symbols: Vec<LoadedSymbol>,
    /// Bytes of code objects that were loaded.
    loaded: Vec<Vec<u8>>,
}

static STATE: Mutex<State> =
    Mutex::new(State { readers: Vec::new(), is_frozen: Vec::new(), symbols: Vec::new(), loaded: Vec::new() });

/// The name of the kernel whose descriptor is at an address, with a way to its variables.
pub(crate) fn kernel_at(kernel_object: u64) -> Option<(String, u64)> {
    let state = STATE.lock().unwrap();
    let symbol = state.symbols.iter().rev().find(|symbol| symbol.is_kernel && symbol.address == kernel_object)?;
    Some((symbol.name.trim_end_matches(".kd").to_owned(), symbol.executable))
}

/// Addresses and names of the variables of an executable.
pub(crate) fn variables(executable: u64) -> Vec<(String, u64)> {
    let state = STATE.lock().unwrap();
    let own = state.symbols.iter().filter(|symbol| symbol.executable == executable && !symbol.is_kernel);
    own.map(|symbol| (symbol.name.clone(), symbol.address)).collect()
}

fn new_reader(bytes: Vec<u8>, reader: *mut CodeObjectReader) -> Status {
    let mut state = STATE.lock().unwrap();
    state.readers.push(bytes);
    // SAFETY: the caller gives room for a handle.
    unsafe { reader.write(CodeObjectReader { handle: state.readers.len() as u64 }) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn reader_from_file(file: c_int, reader: *mut CodeObjectReader) -> Status {
    let mut bytes = Vec::new();
    let mut part = vec![0; 1 << 16];
    loop {
        // SAFETY: the buffer has as many bytes.
        let got = unsafe { libc::pread(file, part.as_mut_ptr().cast(), part.len(), bytes.len() as i64) };
        match got {
            0 => return new_reader(bytes, reader),
            1.. => bytes.extend_from_slice(&part[..got as usize]),
            _ => return ERROR_INVALID_FILE,
        }
    }
}

pub(crate) unsafe extern "C" fn reader_from_memory(
    bytes: *const c_void,
    size: usize,
    reader: *mut CodeObjectReader,
) -> Status {
    // SAFETY: the caller gives as many bytes as it says.
    new_reader(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) }.to_vec(), reader)
}

pub(crate) unsafe extern "C" fn reader_destroy(reader: CodeObjectReader) -> Status {
    match STATE.lock().unwrap().readers.get_mut(reader.handle as usize - 1) {
        Some(bytes) => *bytes = Vec::new(),
        None => return ERROR_INVALID_CODE_OBJECT_READER,
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn create(
    _profile: u32,
    _rounding: u32,
    _options: *const c_char,
    executable: *mut Executable,
) -> Status {
    let mut state = STATE.lock().unwrap();
    state.is_frozen.push(false);
    // SAFETY: the caller gives room for a handle.
    unsafe { executable.write(Executable { handle: state.is_frozen.len() as u64 }) };
    SUCCESS
}

pub(crate) unsafe extern "C" fn create_old(
    profile: u32,
    _state: u32,
    options: *const c_char,
    executable: *mut Executable,
) -> Status {
    // SAFETY: as promised by the caller.
    unsafe { create(profile, FLOAT_ROUNDING_DEFAULT, options, executable) }
}

pub(crate) unsafe extern "C" fn destroy(executable: Executable) -> Status {
    let mut state = STATE.lock().unwrap();
    state.symbols.iter_mut().filter(|symbol| symbol.executable == executable.handle).for_each(|symbol| {
        symbol.executable = 0;
        symbol.address = 0;
    });
    SUCCESS
}

pub(crate) unsafe extern "C" fn load(
    executable: Executable,
    agent: Agent,
    reader: CodeObjectReader,
    _options: *const c_char,
    loaded: *mut LoadedCodeObject,
) -> Status {
    if agent != agents::GPU {
        return ERROR_INVALID_AGENT;
    }
    let mut state = STATE.lock().unwrap();
    match state.is_frozen.get(executable.handle as usize - 1) {
        None => return ERROR_INVALID_EXECUTABLE,
        Some(true) => return ERROR_FROZEN_EXECUTABLE,
        Some(false) => {}
    }
    let Some(bytes) = state.readers.get(reader.handle as usize - 1).cloned() else {
        return ERROR_INVALID_CODE_OBJECT_READER;
    };
    let Ok(code) = code::read(&bytes) else { return ERROR_INVALID_CODE_OBJECT };
    if code.processor != Some(agents::gpu_name().as_str()) {
        return ERROR_INCOMPATIBLE_ARGUMENTS;
    }
    let Some(base) = memory::map_pages(code.image.len().max(1)) else { return ERROR_OUT_OF_RESOURCES };
    // SAFETY: as many pages were just mapped.
    unsafe { base.cast::<u8>().copy_from_nonoverlapping(code.image.as_ptr(), code.image.len()) };
    let base = base as u64;
    for (place, address) in &code.relocations {
        if *place as usize + 8 <= code.image.len() {
            // SAFETY: the place is within the pages.
            unsafe { ((base + place) as *mut u64).write_unaligned(base + address) };
        }
    }
    for symbol in &code.symbols {
        state.symbols.push(LoadedSymbol {
            executable: executable.handle,
            name: symbol.name.clone(),
            address: base + symbol.address,
            bytes: symbol.bytes,
            is_kernel: symbol.is_kernel,
            sizes: code::descriptor(&code.image, symbol.address).unwrap_or_default(),
        });
    }
    state.loaded.push(bytes);
    if !loaded.is_null() {
        // SAFETY: the caller gives room for a handle.
        unsafe { loaded.write(LoadedCodeObject { handle: state.loaded.len() as u64 }) };
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn loaded_get_info(
    loaded: LoadedCodeObject,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    let state = STATE.lock().unwrap();
    let Some(bytes) = state.loaded.get(loaded.handle as usize - 1) else { return ERROR_INVALID_ARGUMENT };
    // SAFETY: the caller gives room for the type of the attribute.
    unsafe {
        match attribute {
            CODE_OBJECT_INFO_MEMORY_BASE => value.cast::<u64>().write(bytes.as_ptr() as u64),
            CODE_OBJECT_INFO_MEMORY_SIZE => value.cast::<u64>().write(bytes.len() as u64),
            _ => return ERROR_INVALID_ARGUMENT,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn freeze(executable: Executable, _options: *const c_char) -> Status {
    match STATE.lock().unwrap().is_frozen.get_mut(executable.handle as usize - 1) {
        Some(is_frozen) => *is_frozen = true,
        None => return ERROR_INVALID_EXECUTABLE,
    }
    SUCCESS
}

/// Symbols of an executable: their handles.
fn of_executable(executable: u64) -> Vec<ExecutableSymbol> {
    let state = STATE.lock().unwrap();
    let all = state.symbols.iter().zip(1..);
    all.filter(|(symbol, _)| symbol.executable == executable).map(|(_, handle)| ExecutableSymbol { handle }).collect()
}

pub(crate) unsafe extern "C" fn symbol_by_name(
    executable: Executable,
    name: *const c_char,
    _agent: *const Agent,
    symbol: *mut ExecutableSymbol,
) -> Status {
    // SAFETY: the name is a text with an end.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let state = STATE.lock().unwrap();
    let mut all = state.symbols.iter().zip(1..);
    match all.find(|(symbol, _)| symbol.executable == executable.handle && symbol.name == name) {
        // SAFETY: the caller gives room for a handle.
        Some((_, handle)) => unsafe { symbol.write(ExecutableSymbol { handle }) },
        None => return ERROR_INVALID_SYMBOL_NAME,
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn iterate_agent_symbols(
    executable: Executable,
    agent: Agent,
    callback: SymbolCallback,
    data: *mut c_void,
) -> Status {
    for symbol in of_executable(executable.handle) {
        // SAFETY: the callback is the caller's.
        match unsafe { callback(executable, agent, symbol, data) } {
            SUCCESS => {}
            other => return other,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn iterate_symbols(
    executable: Executable,
    callback: AnySymbolCallback,
    data: *mut c_void,
) -> Status {
    for symbol in of_executable(executable.handle) {
        // SAFETY: the callback is the caller's.
        match unsafe { callback(executable, symbol, data) } {
            SUCCESS => {}
            other => return other,
        }
    }
    SUCCESS
}

pub(crate) unsafe extern "C" fn symbol_get_info(
    symbol: ExecutableSymbol,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    let state = STATE.lock().unwrap();
    let Some(symbol) = state.symbols.get(symbol.handle as usize - 1) else { return ERROR_INVALID_ARGUMENT };
    // SAFETY: the caller gives room for the type of the attribute; names have no end.
    unsafe {
        match attribute {
            SYMBOL_INFO_TYPE => {
                value.cast::<u32>().write(if symbol.is_kernel { SYMBOL_KERNEL } else { SYMBOL_VARIABLE });
            }
            SYMBOL_INFO_NAME_LENGTH => value.cast::<u32>().write(symbol.name.len() as u32),
            SYMBOL_INFO_NAME => {
                value.cast::<u8>().copy_from_nonoverlapping(symbol.name.as_ptr(), symbol.name.len());
            }
            SYMBOL_INFO_AGENT => value.cast::<Agent>().write(agents::GPU),
            SYMBOL_INFO_VARIABLE_ADDRESS if !symbol.is_kernel => value.cast::<u64>().write(symbol.address),
            SYMBOL_INFO_VARIABLE_SIZE if !symbol.is_kernel => value.cast::<u32>().write(symbol.bytes as u32),
            SYMBOL_INFO_VARIABLE_IS_CONST if !symbol.is_kernel => value.cast::<bool>().write(false),
            SYMBOL_INFO_KERNEL_OBJECT if symbol.is_kernel => value.cast::<u64>().write(symbol.address),
            SYMBOL_INFO_GROUP_SIZE if symbol.is_kernel => value.cast::<u32>().write(symbol.sizes[0]),
            SYMBOL_INFO_PRIVATE_SIZE if symbol.is_kernel => value.cast::<u32>().write(symbol.sizes[1]),
            SYMBOL_INFO_KERNARG_SIZE if symbol.is_kernel => value.cast::<u32>().write(symbol.sizes[2]),
            SYMBOL_INFO_KERNARG_ALIGNMENT if symbol.is_kernel => value.cast::<u32>().write(16),
            _ => return ERROR_INVALID_ARGUMENT,
        }
    }
    SUCCESS
}
