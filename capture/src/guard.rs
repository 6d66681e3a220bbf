//! No panic leaves the library.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs something, and gives the other value where it panics.
pub(crate) fn caught<T>(otherwise: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or(otherwise)
}
