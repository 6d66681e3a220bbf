//! The tools of `HSA_TOOLS_LIB`: names separated by spaces.

use std::ffi::{CStr, CString, c_void};
use std::mem::transmute;
use std::sync::Mutex;

use wavesieve_captures::hsa::*;

use crate::exports::tables;
use crate::settings;

static UNLOADERS: Mutex<Vec<OnUnload>> = Mutex::new(Vec::new());

fn symbol(library: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the library was opened and is never closed.
    let place = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!place.is_null()).then_some(place)
}

pub(crate) fn load() {
    for name in settings::text("HSA_TOOLS_LIB").unwrap_or_default().split_whitespace() {
        let Ok(path) = CString::new(name) else { continue };
        // SAFETY: the path is a text with an end.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            eprintln!("fake hsa: cannot load the tool {name}");
            continue;
        }
        let Some(on_load) = symbol(library, c"OnLoad") else {
            eprintln!("fake hsa: {name} has no OnLoad");
            continue;
        };
        // SAFETY: `OnLoad` of a tool has this type; the tables live as long as the process.
        let accepted = unsafe {
            let on_load: OnLoad = transmute(on_load);
            on_load(&raw mut (*tables()).root, 1, 0, std::ptr::null())
        };
        if let (true, Some(on_unload)) = (accepted, symbol(library, c"OnUnload")) {
            // SAFETY: `OnUnload` of a tool has this type.
            UNLOADERS.lock().unwrap().push(unsafe { transmute::<*mut c_void, OnUnload>(on_unload) });
        }
    }
}

pub(crate) fn unload() {
    let unloaders = std::mem::take(&mut *UNLOADERS.lock().unwrap());
    for unload in unloaders {
        // SAFETY: the library of the tool is still loaded.
        unsafe { unload() };
    }
}
