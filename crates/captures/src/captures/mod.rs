//! Captures of dispatches: files that hold a dispatch with its code and memory. Captures by wavesieve are written and read; captures by
//! rocm-perf-lab and kerncap are only read. This module does not use polars, because the capturing library needs it too.

mod blob;
mod capture;
mod dispatch;
mod error;
mod files;
mod hash;
mod metadata;
mod names;
mod read;
mod regions;
mod spans;
mod variables;
mod write;

pub mod properties;
#[cfg(test)]
mod tests;

pub use blob::{Blob, CHUNK_BYTES, Chunk, Encoding};
pub use capture::{Capture, Origin};
pub use dispatch::{Dispatch, last_word};
pub use error::CaptureError;
pub use files::{read_file, write_file, write_json};
pub use hash::Hash;
pub use metadata::{FORMAT, FORMAT_VERSION, Metadata, StoredFile};
pub use names::{DISPATCH, HSACO, KERNARG, MEMORY, METADATA, REGIONS, VARIABLES, variable_file};
pub use read::{Check, StoredBlob, restore, restore_by};
pub use regions::{Region, Regions};
pub use spans::{MIN_PAGE, Span, spans};
pub use variables::{Variable, Variables};
pub use write::{BlobOptions, write_blob};
