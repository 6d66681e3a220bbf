//! Values that are computed on first use.

use std::sync::OnceLock;

use anyhow::Result;

/// The value of a cell, computed if it is empty. Not inside `get_or_init`: a thread that waits for other threads there may start work that
/// needs the same value.
pub(crate) fn kept<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}
