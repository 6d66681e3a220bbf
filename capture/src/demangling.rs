//! Names as they are in the source, by the demangler of the program's C++ library. A program that uses ROCm has one; nothing is
//! loaded for it.

use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::transmute;

type Demangle = unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;

/// The demangled name of a symbol; nothing where it is not mangled, as those of `extern "C"`.
pub(crate) fn demangled(symbol: &str) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let text = CString::new(symbol).ok()?;
    // SAFETY: the name has an end. The function has this type wherever it is, and gives memory of malloc or null.
    unsafe {
        let place = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_demangle".as_ptr());
        if place.is_null() {
            return None;
        }
        let demangle: Demangle = transmute(place);
        let mut status = 0;
        let name = demangle(text.as_ptr(), std::ptr::null_mut(), std::ptr::null_mut(), &raw mut status);
        if name.is_null() {
            return None;
        }
        let found = (status == 0).then(|| CStr::from_ptr(name).to_string_lossy().into_owned());
        libc::free(name.cast());
        found
    }
}
