//! The functions in the slots of the runtime: each calls the function of the runtime, and notes the call.

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;

use wavesieve_captures::hsa::*;

use crate::calls::{self, Symbol};
use crate::code::{Loaded, ModuleVariable};
use crate::events::Event;
use crate::guard::caught;
use crate::kernels::Kernel;
use crate::memory::{Origin, Tracked};
use crate::originals::Originals;
use crate::packets;
use crate::recorder::{Recorder, recorder};

/// Calls the original function. Returns an error if it is missing; no slot leads here then.
macro_rules! original {
    ($name:ident($($argument:expr),*)) => {
        match originals().and_then(|originals| originals.$name) {
            // SAFETY: the arguments are those that the program gave.
            Some(function) => unsafe { function($($argument),*) },
            None => ERROR,
        }
    };
}

/// The functions of the runtime, also in a fork, where nothing is noted.
fn originals() -> Option<&'static Originals> {
    crate::recorder::originals()
}

/// Notes something after a call that succeeded.
fn note(status: Status, act: impl FnOnce(&'static Recorder)) -> Status {
    if status == SUCCESS {
        caught((), || {
            if let Some(recorder) = recorder() {
                act(recorder);
            }
        });
    }
    status
}

/// Notes something before a call: memory is not freed while a capture is written.
fn before(act: impl FnOnce(&'static Recorder)) {
    caught((), || {
        if let Some(recorder) = recorder() {
            let _quiet = (!packets::is_capturing()).then(|| recorder.quiet.read());
            act(recorder);
        }
    });
}

pub(crate) unsafe extern "C" fn pool_allocate(
    pool: MemoryPool,
    bytes: usize,
    flags: u32,
    place: *mut *mut c_void,
) -> Status {
    let status = original!(hsa_amd_memory_pool_allocate(pool, bytes, flags, place));
    note(status, |recorder| {
        // SAFETY: the runtime wrote the address.
        let base = unsafe { *place } as u64;
        recorder.memory.lock().add(Tracked { base, size: bytes as u64, origin: Origin::Pool(pool.handle) });
    })
}

pub(crate) unsafe extern "C" fn pool_free(place: *mut c_void) -> Status {
    before(|recorder| recorder.memory.lock().remove(place as u64));
    original!(hsa_amd_memory_pool_free(place))
}

pub(crate) unsafe extern "C" fn memory_allocate(region: Region, bytes: usize, place: *mut *mut c_void) -> Status {
    let status = original!(hsa_memory_allocate(region, bytes, place));
    note(status, |recorder| {
        // SAFETY: the runtime wrote the address.
        let base = unsafe { *place } as u64;
        recorder.memory.lock().add(Tracked { base, size: bytes as u64, origin: Origin::Region(region.handle) });
    })
}

pub(crate) unsafe extern "C" fn memory_free(place: *mut c_void) -> Status {
    before(|recorder| recorder.memory.lock().remove(place as u64));
    original!(hsa_memory_free(place))
}

pub(crate) unsafe extern "C" fn vmem_map(
    place: *mut c_void,
    bytes: usize,
    offset: usize,
    handle: VmemHandle,
    flags: u64,
) -> Status {
    let status = original!(hsa_amd_vmem_map(place, bytes, offset, handle, flags));
    note(status, |recorder| {
        let origin = Origin::Virtual { handle: handle.handle, access: 0 };
        recorder.memory.lock().add(Tracked { base: place as u64, size: bytes as u64, origin });
    })
}

pub(crate) unsafe extern "C" fn vmem_unmap(place: *mut c_void, bytes: usize) -> Status {
    before(|recorder| recorder.memory.lock().unmap(place as u64, bytes as u64));
    original!(hsa_amd_vmem_unmap(place, bytes))
}

pub(crate) unsafe extern "C" fn vmem_set_access(
    place: *mut c_void,
    bytes: usize,
    access: *const MemoryAccess,
    count: usize,
) -> Status {
    let status = original!(hsa_amd_vmem_set_access(place, bytes, access, count));
    note(status, |recorder| {
        // SAFETY: the program passes as many descriptions as it states, and the runtime accepted them.
        let given = unsafe { std::slice::from_raw_parts(access, count) };
        let most = given.iter().map(|access| access.permissions).max().unwrap_or(0);
        recorder.memory.lock().set_access(place as u64, bytes as u64, most);
    })
}

pub(crate) unsafe extern "C" fn reader_from_memory(
    bytes: *const c_void,
    size: usize,
    reader: *mut CodeObjectReader,
) -> Status {
    let status = original!(hsa_code_object_reader_create_from_memory(bytes, size, reader));
    note(status, |recorder| {
        // SAFETY: the program passed this many bytes, and the runtime wrote the handle.
        let (bytes, reader) = unsafe { (std::slice::from_raw_parts(bytes.cast::<u8>(), size), *reader) };
        recorder.code.lock().readers.insert(reader.handle, bytes.to_vec().into());
    })
}

pub(crate) unsafe extern "C" fn reader_from_file(file: c_int, reader: *mut CodeObjectReader) -> Status {
    let status = original!(hsa_code_object_reader_create_from_file(file, reader));
    note(status, |recorder| {
        // SAFETY: the program keeps the descriptor: it is not closed here. The runtime wrote the handle.
        let (file, reader) = unsafe { (ManuallyDrop::new(File::from_raw_fd(file)), *reader) };
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        // Reads at an offset, so that the file position of the program does not change.
        if file.read_exact_at(&mut bytes, 0).is_ok() {
            recorder.code.lock().readers.insert(reader.handle, bytes.into());
        }
    })
}

pub(crate) unsafe extern "C" fn reader_destroy(reader: CodeObjectReader) -> Status {
    before(|recorder| drop(recorder.code.lock().readers.remove(&reader.handle)));
    original!(hsa_code_object_reader_destroy(reader))
}

pub(crate) unsafe extern "C" fn load(
    executable: Executable,
    agent: Agent,
    reader: CodeObjectReader,
    options: *const c_char,
    loaded: *mut LoadedCodeObject,
) -> Status {
    let mut own = LoadedCodeObject::default();
    let place = if loaded.is_null() { &raw mut own } else { loaded };
    let status = original!(hsa_executable_load_agent_code_object(executable, agent, reader, options, place));
    note(status, |recorder| {
        let known = recorder.code.lock().readers.get(&reader.handle).cloned();
        // SAFETY: the runtime wrote the handle.
        let bytes = known.or_else(|| calls::loaded_bytes(&recorder.originals, unsafe { *place }).map(Into::into));
        match bytes {
            Some(bytes) => recorder.code.lock().module(executable).loaded.push(Loaded { agent, bytes }),
            None => {
                let reason = "the bytes of a code object are not known; its kernels cannot be captured".to_owned();
                recorder.events.add(Event::Note { reason });
            }
        }
    })
}

unsafe extern "C" fn collect(_: Executable, _: Agent, symbol: ExecutableSymbol, data: *mut c_void) -> Status {
    // SAFETY: the data is the list that `freeze` passes.
    caught((), || unsafe { (*data.cast::<Vec<ExecutableSymbol>>()).push(symbol) });
    SUCCESS
}

pub(crate) unsafe extern "C" fn freeze(executable: Executable, options: *const c_char) -> Status {
    let status = original!(hsa_executable_freeze(executable, options));
    note(status, |recorder| {
        let originals = &recorder.originals;
        let Some(iterate) = originals.hsa_executable_iterate_agent_symbols else { return };
        let mut variables = Vec::new();
        let agents = recorder.code.lock().module(executable).agents();
        for agent in agents {
            let mut symbols: Vec<ExecutableSymbol> = Vec::new();
            // SAFETY: the callback fills the list.
            unsafe { iterate(executable, agent, collect, (&raw mut symbols).cast()) };
            for symbol in symbols {
                match calls::symbol(originals, symbol) {
                    Some(Symbol::Kernel { object, name, kernarg_size, group_size, private_size }) => {
                        let executable = executable.handle;
                        let kernel = Kernel { agent, executable, symbol: name, kernarg_size, group_size, private_size };
                        recorder.kernels.lock().add(object, kernel);
                    }
                    Some(Symbol::Variable { name, address, size }) => {
                        variables.push(ModuleVariable { agent, name, address, size });
                    }
                    Some(Symbol::Other) | None => {}
                }
            }
        }
        recorder.code.lock().module(executable).variables = variables;
    })
}

pub(crate) unsafe extern "C" fn executable_destroy(executable: Executable) -> Status {
    before(|recorder| {
        recorder.code.lock().modules.remove(&executable.handle);
        recorder.kernels.lock().remove(executable.handle);
    });
    original!(hsa_executable_destroy(executable))
}

pub(crate) unsafe extern "C" fn queue_create(
    agent: Agent,
    size: u32,
    kind: u32,
    callback: Option<QueueCallback>,
    data: *mut c_void,
    private: u32,
    group: u32,
    queue: *mut *mut Queue,
) -> Status {
    if recorder().is_none() {
        return original!(hsa_queue_create(agent, size, kind, callback, data, private, group, queue));
    }
    let status = original!(hsa_amd_queue_intercept_create(agent, size, kind, callback, data, private, group, queue));
    if status != SUCCESS {
        note(SUCCESS, |recorder| note_unwatched(recorder, status));
        return original!(hsa_queue_create(agent, size, kind, callback, data, private, group, queue));
    }
    note(status, |recorder| {
        // SAFETY: the runtime wrote the address of the queue.
        let made = unsafe { *queue };
        let mut signal = Signal::default();
        let (Some(create), Some(register)) =
            (recorder.originals.hsa_signal_create, recorder.originals.hsa_amd_queue_intercept_register)
        else {
            return;
        };
        // SAFETY: the signal is new.
        let status = unsafe { create(0, 0, std::ptr::null(), &raw mut signal) };
        if status != SUCCESS {
            return note_unwatched(recorder, status);
        }
        // SAFETY: the handler stays for the process lifetime, and its data is the queue itself.
        let status = unsafe { register(made, packets::handle, made.cast()) };
        if status == SUCCESS {
            recorder.queues.lock().insert(made as u64, signal);
        } else {
            let _ = original!(hsa_signal_destroy(signal));
            note_unwatched(recorder, status);
        }
    })
}

fn note_unwatched(recorder: &Recorder, status: Status) {
    let reason = format!("a queue cannot be watched (status {status:#x}); its dispatches are not seen");
    recorder.events.add(Event::Note { reason });
}

pub(crate) unsafe extern "C" fn queue_destroy(queue: *mut Queue) -> Status {
    let mut signal = None;
    before(|recorder| signal = recorder.queues.lock().remove(&(queue as u64)));
    let status = original!(hsa_queue_destroy(queue));
    if let Some(signal) = signal {
        // No work of the queue runs anymore.
        let _ = original!(hsa_signal_destroy(signal));
    }
    status
}
