//! From bytes to code objects.

use std::path::Path;

use super::error::ObjectError;
use super::model::CodeObject;

/// The code objects in a file: an `.hsaco`, a clang offload bundle (also compressed), or a program, library or object
/// file of the host with device code in it. In their order, whatever their targets.
///
/// # Errors
/// When the bytes are something else, or damaged.
pub(crate) fn code_objects(bytes: &[u8]) -> Result<Vec<CodeObject>, ObjectError> {
    let _ = bytes;
    Err(ObjectError::Unrecognized)
}

/// The same of a file, which is mapped: only the pages that are looked at are read.
///
/// # Errors
/// When the file cannot be opened, is something else, or is damaged.
pub(crate) fn read_file(path: &Path) -> Result<Vec<CodeObject>, ObjectError> {
    let _ = path;
    Err(ObjectError::Unrecognized)
}
