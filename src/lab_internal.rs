//! Internals that the capture library, and the runtime that tests put in place of ROCm's, share with the program. They change without
//! notice.

pub use crate::lab::{captures, hsa, recording};

/// A symbol as it is in the source; nothing where it is not mangled.
#[must_use]
pub fn demangled(symbol: &str) -> Option<String> {
    crate::source::objects::demangled(symbol)
}
