//! `metadata.json`.

use serde::{Deserialize, Serialize};

use super::hash::Hash;

/// Marks a capture by wavesieve.
pub const FORMAT: &str = "wavesieve-capture";
/// The version of its format that is written, and the newest that is read.
pub const FORMAT_VERSION: u32 = 1;

/// Metadata of a capture and its other files. The metadata of kerncap has other keys; one of them is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// [`FORMAT`] in captures by wavesieve.
    #[serde(default)]
    pub format: String,
    #[serde(default)]
    pub format_version: u32,
    /// The program that wrote it, such as `wavesieve 0.1.0`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub captured_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Whether only regions that the arguments lead to were kept.
    #[serde(default)]
    pub reachable_only: bool,
    /// Arguments of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernarg: Option<StoredFile>,
    /// The code object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hsaco: Option<StoredFile>,
    /// kerncap: bytes of the arguments, from the notes of the code object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernarg_segment_size_meta: Option<u64>,
}

/// A file with its length and hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    pub bytes: u64,
    pub xxh3: Hash,
}

impl StoredFile {
    /// The length and hash of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, xxh3: Hash::from_bytes(bytes) }
    }
}
