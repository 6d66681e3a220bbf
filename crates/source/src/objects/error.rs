//! Reasons why a file gives no code objects.

use std::io;

use thiserror::Error;

/// Reasons why code objects cannot be read.
#[derive(Debug, Error)]
pub enum ObjectError {
    /// The file cannot be opened.
    #[error("cannot read the file: {0}")]
    Io(#[from] io::Error),
    /// The file is of another kind.
    #[error(
        "neither an AMDGPU code object nor a file that contains them; give an .hsaco file, a clang offload bundle, or a program or library built by hipcc"
    )]
    Unrecognized,
    /// A host ELF file without a section of device code.
    #[error("the ELF file has no .hip_fatbin section, so there is no device code in it; give a program built by hipcc")]
    NoDeviceCode,
    /// It is a directory, a device or a FIFO.
    #[error("it is not a regular file; name a file with device code")]
    NotAFile,
    /// It was truncated while it was read.
    #[error("the file was cut while it was read; give it again when nothing writes it")]
    Cut,
    /// An ELF file of a kind that device code never has.
    #[error(
        "unsupported ELF file ({0}); device code is 64-bit little-endian: give an .hsaco file, or a program built by hipcc"
    )]
    OtherElf(&'static str),
    /// The ELF file is damaged.
    #[error("damaged ELF file: {0}; build it again")]
    Elf(String),
    /// The bundle is damaged.
    #[error("damaged offload bundle: {0}; build it again")]
    Bundle(String),
    /// The bundle has an unknown compression.
    #[error("cannot decompress the offload bundle: {0}; build it with --no-offload-compress")]
    Compression(String),
    /// Its metadata is missing or has an unknown version.
    #[error("the code object has no metadata of version 3 or later: {0}; build it with -mcode-object-version=5")]
    NoMetadata(&'static str),
    /// The metadata is damaged.
    #[error("damaged kernel metadata: {0}; build the code object again")]
    Metadata(String),
}
