//! `module_variables.json`.

use serde::{Deserialize, Serialize};

use super::hash::Hash;

/// Variables of code objects; the keys are kerncap's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variables {
    pub variables: Vec<Variable>,
}

/// A variable of a code object, such as constant memory, that the program may have filled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// The SHA-256 of the code object, in hexadecimal digits; empty if not known.
    #[serde(default)]
    pub executable_sha256: String,
    pub name: String,
    pub size: u64,
    /// The file of its bytes, relative to the capture.
    pub blob: String,
    /// Hash of the bytes; only in captures by wavesieve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xxh3: Option<Hash>,
    /// Address of the variable; only in captures by wavesieve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
}
