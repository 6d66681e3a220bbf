//! Values that are made when they are first needed.

use std::sync::OnceLock;

use anyhow::Result;

/// The value of a cell, made if it has none. Not within `get_or_init`: a thread that waits for others there may start work that wants
/// the same.
pub(crate) fn kept<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let made = make()?;
    Ok(cell.get_or_init(|| made))
}
