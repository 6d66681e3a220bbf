//! Reads notes, sections and symbols of ELF files.

use std::collections::BTreeMap;

use object::LittleEndian;
use object::elf::{
    ELFCLASS32, ELFCLASS64, ELFDATA2LSB, ELFDATA2MSB, EM_AMDGPU, FileHeader64, SHT_DYNSYM, SHT_NULL, STT_FUNC,
};
use object::read::elf::{FileHeader as _, NoteIterator, ProgramHeader as _, SectionHeader as _, Sym as _};

use super::error::ObjectError;

type Header = FileHeader64<LittleEndian>;

const MAGIC: &[u8] = b"\x7fELF";
/// Offset of the class and the byte order.
const CLASS: usize = 4;
const ORDER: usize = 5;
/// The note of metadata in MessagePack, since version 3 of code objects.
const METADATA: (&[u8], u32) = (b"AMDGPU", 32);
/// The note of metadata in YAML, in version 2 of code objects.
const OLD_METADATA: (&[u8], u32) = (b"AMD", 10);
/// The section with device code in host files.
const FAT_BINARY: &[u8] = b".hip_fatbin";

/// A 64-bit ELF file.
pub(super) struct Elf<'a> {
    bytes: &'a [u8],
    header: &'a Header,
}

/// Returns whether bytes start like an ELF file.
pub(super) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

fn damaged(error: object::read::Error) -> ObjectError {
    ObjectError::Elf(lower_first(&error.to_string()))
}

/// A message in the form of a part of another one.
fn lower_first(message: &str) -> String {
    let is_word = message.chars().nth(1).is_some_and(char::is_lowercase);
    let mut characters = message.chars();
    match characters.next() {
        Some(first) if is_word => first.to_lowercase().chain(characters).collect(),
        _ => message.to_owned(),
    }
}

impl<'a> Elf<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, ObjectError> {
        match (bytes.get(CLASS), bytes.get(ORDER)) {
            (Some(&ELFCLASS32), Some(&(ELFDATA2LSB | ELFDATA2MSB))) => return Err(ObjectError::OtherElf("32-bit")),
            (Some(&ELFCLASS64), Some(&ELFDATA2MSB)) => return Err(ObjectError::OtherElf("big-endian")),
            _ => {}
        }
        let header = Header::parse(bytes).map_err(damaged)?;
        header.endian().map_err(damaged)?;
        Ok(Self { bytes, header })
    }

    /// Returns whether its code is for AMD GPUs.
    pub(super) fn is_for_gpus(&self) -> bool {
        self.header.e_machine(LittleEndian) == EM_AMDGPU
    }

    /// The flags that encode the processor.
    pub(super) fn flags(&self) -> u32 {
        self.header.e_flags(LittleEndian)
    }

    /// The device code of a host file, if it has some.
    pub(super) fn fat_binary(&self) -> Result<Option<&'a [u8]>, ObjectError> {
        let sections = self.header.sections(LittleEndian, self.bytes).map_err(damaged)?;
        let Some((_, section)) = sections.section_by_name(LittleEndian, FAT_BINARY) else { return Ok(None) };
        section.data(LittleEndian, self.bytes).map(Some).map_err(damaged)
    }

    /// Checks that all sections and segments are within the file: a truncated file is damaged.
    pub(super) fn check_whole(&self) -> Result<(), ObjectError> {
        let length = self.bytes.len() as u64;
        let is_inside = |offset: u64, size: u64| size == 0 || offset.checked_add(size).is_some_and(|end| end <= length);
        let cut = |what: &str, offset: u64, size: u64| {
            let end = offset.saturating_add(size);
            Err(ObjectError::Elf(format!("{what} ends at byte {end}, the file after {length} bytes")))
        };
        for segment in self.header.program_headers(LittleEndian, self.bytes).map_err(damaged)? {
            let (offset, size) = segment.file_range(LittleEndian);
            if !is_inside(offset, size) {
                return cut("a segment", offset, size);
            }
        }
        // A stripped file has no section table. Sections without bytes have no range.
        for section in self.header.section_headers(LittleEndian, self.bytes).map_err(damaged)? {
            if let Some((offset, size)) = section.file_range(LittleEndian)
                && section.sh_type(LittleEndian) != SHT_NULL
                && !is_inside(offset, size)
            {
                return cut("a section", offset, size);
            }
        }
        Ok(())
    }

    /// The metadata of the kernels.
    pub(super) fn metadata(&self) -> Result<&'a [u8], ObjectError> {
        let mut is_old = false;
        for segment in self.header.program_headers(LittleEndian, self.bytes).map_err(damaged)? {
            let notes = segment.notes(LittleEndian, self.bytes).map_err(damaged)?;
            if let Some(found) = notes.map(|notes| find(notes, &mut is_old)).transpose()?.flatten() {
                return Ok(found);
            }
        }
        // Unlinked files have no segments.
        for section in self.header.section_headers(LittleEndian, self.bytes).map_err(damaged)? {
            let notes = section.notes(LittleEndian, self.bytes).map_err(damaged)?;
            if let Some(found) = notes.map(|notes| find(notes, &mut is_old)).transpose()?.flatten() {
                return Ok(found);
            }
        }
        Err(ObjectError::NoMetadata(if is_old { "its metadata is of version 2" } else { "there is no such note" }))
    }

    /// Bytes of the externally visible functions, by name. Empty without a readable symbol table.
    pub(super) fn function_sizes(&self) -> BTreeMap<&'a [u8], u64> {
        let mut sizes = BTreeMap::new();
        let Ok(sections) = self.header.sections(LittleEndian, self.bytes) else { return sizes };
        let Ok(symbols) = sections.symbols(LittleEndian, self.bytes, SHT_DYNSYM) else { return sizes };
        for symbol in symbols.iter() {
            if symbol.st_type() == STT_FUNC
                && let Ok(name) = symbol.name(LittleEndian, symbols.strings())
            {
                sizes.insert(name, symbol.st_size(LittleEndian));
            }
        }
        sizes
    }
}

fn find<'a>(mut notes: NoteIterator<'a, Header>, is_old: &mut bool) -> Result<Option<&'a [u8]>, ObjectError> {
    while let Some(note) = notes.next().map_err(damaged)? {
        let kind = (note.name(), note.n_type(LittleEndian));
        if kind == METADATA {
            return Ok(Some(note.desc()));
        }
        *is_old |= kind == OLD_METADATA;
    }
    Ok(None)
}
