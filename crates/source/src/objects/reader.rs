//! Reads code objects from bytes.

use std::io::Read as _;
use std::path::Path;

use super::bundle;
use super::elf::{Elf, is_elf};
use super::error::ObjectError;
use super::metadata::code_object;
use super::model::CodeObject;
use wavesieve_files::mapped::MappedFile;
use wavesieve_files::regular;

/// Maximum bytes read from files without a length.
const MOST_UNMAPPED: u64 = 64 << 20;

/// The code objects in a file: an `.hsaco`, a clang offload bundle (also compressed), or a program, library or object
/// file of the host with device code. They are in file order, for all targets.
///
/// # Errors
/// When the bytes are of another kind, or damaged.
pub fn code_objects(bytes: &[u8]) -> Result<Vec<CodeObject>, ObjectError> {
    let mut found = Vec::new();
    if is_elf(bytes) {
        let elf = Elf::parse(bytes)?;
        if elf.is_for_gpus() {
            found.push(code_object(&elf, bytes.len() as u64)?);
            return Ok(found);
        }
        let section = elf.fat_binary()?.ok_or(ObjectError::NoDeviceCode)?;
        // Linkers also put a single code object there.
        if is_elf(section) {
            let inner = Elf::parse(section)?;
            if inner.is_for_gpus() {
                found.push(code_object(&inner, section.len() as u64)?);
                return Ok(found);
            }
        }
        bundles(section, &mut found)?;
    } else if bundle::is_bundle(bytes) {
        bundles(bytes, &mut found)?;
    } else {
        return Err(ObjectError::Unrecognized);
    }
    if found.is_empty() {
        return Err(ObjectError::Bundle("it holds no code objects".to_owned()));
    }
    Ok(found)
}

/// [`code_objects`] of a mapped file: only the needed pages are read.
///
/// # Errors
/// When the file cannot be opened, is of another kind, or is damaged.
pub fn read_file(path: &Path) -> Result<Vec<CodeObject>, ObjectError> {
    // Checked before the file is opened: opening a FIFO waits for a writer, and devices have no end.
    let facts = std::fs::metadata(path)?;
    if !facts.is_file() {
        return Err(ObjectError::NotAFile);
    }
    let file = regular::open(path)?;
    if facts.len() == 0 {
        // Such files cannot be mapped; system files report no length.
        let mut bytes = Vec::new();
        file.take(MOST_UNMAPPED).read_to_end(&mut bytes)?;
        return code_objects(&bytes);
    }
    let map = MappedFile::new(&file)?;
    let found = code_objects(&map);
    if map.was_cut() { Err(ObjectError::Cut) } else { found }
}

/// Reads consecutive bundles: every compiled file adds one to the section, with zeros between them.
pub(super) fn bundles(section: &[u8], found: &mut Vec<CodeObject>) -> Result<(), ObjectError> {
    let mut rest = section;
    if !bundle::is_bundle(rest) {
        rest = bundle::next(rest).and_then(|at| rest.get(at..)).unwrap_or_default();
    }
    while !rest.is_empty() {
        let (content, taken) = bundle::plain(rest)?;
        let (entries, plain_end) = bundle::entries(&content)?;
        for entry in entries.iter().filter(|entry| !entry.id.starts_with("host")) {
            // Other entries are empty, or code that is not compiled yet.
            if is_elf(entry.bytes) {
                found.push(code_object(&Elf::parse(entry.bytes)?, entry.bytes.len() as u64)?);
            }
        }
        let end = if matches!(content, std::borrow::Cow::Owned(_)) { taken } else { plain_end };
        // If the length is unknown, it is the rest of the section.
        let after = rest.get(end.max(1)..).unwrap_or_default();
        rest = bundle::next(after).and_then(|at| after.get(at..)).unwrap_or_default();
    }
    Ok(())
}
