//! The outcome of a replay, with the keys of the JSON output. Keys that rocm-perf-lab also has are the same as there.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::compare::Comparison;
use super::statistics::Timing;

/// The status of a replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran, and memory is as expected, if that was checked.
    Ok,
    /// It ran, and memory differs from the expected memory.
    Differs,
    /// It ran, and the compared part of memory is as expected; the rest is unknown.
    Partial,
    /// An address is taken.
    Taken,
    /// The system has no runtime, no GPU, or no GPU that runs this code.
    Unsupported,
    /// Any other failure: an unreadable capture, a crash, a hang.
    #[default]
    Failed,
}

/// The outcome that a replaying process returns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub capture: PathBuf,
    pub status: Status,
    /// The reason why it is not `ok`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Notes that do not affect the status.
    pub notes: Vec<String>,
    /// The state of the address of each span of pages.
    pub addresses: Vec<AddressRow>,
    /// `None` if only addresses were checked, or no dispatch ran.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Replayed>,
}

/// Whether memory could be reserved at its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressState {
    Exact,
    Relocated,
    Failed,
}

/// A span of pages with regions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRow {
    pub base: u64,
    pub size: u64,
    pub regions: usize,
    pub state: AddressState,
    /// The address that the runtime reserved instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    pub kernel: KernelFacts,
    pub execution: Execution,
    pub timing: Timing,
    pub memory: MemoryFacts,
    pub variables: VariableFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    pub environment: Environment,
}

/// The kernel and its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFacts {
    /// The demangled name, or the symbol.
    pub name: String,
    pub symbol: String,
    pub hsaco_path: PathBuf,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// LDS of a workgroup: of the kernel plus the part that the launch adds.
    pub group_segment_size: u32,
    pub dynamic_group_segment_size: u32,
    pub private_segment_size: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    pub iterations: u32,
    /// `stateless` or `stateful`.
    pub mode: String,
    pub warm_up: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryFacts {
    pub regions: usize,
    pub bytes: u64,
    /// Bases of regions that were not captured, and are filled with zeros.
    pub missing: Vec<u64>,
    /// Whether files were read directly into GPU memory.
    pub is_direct: bool,
    /// Time of the first restore, including the comparison of hashes.
    pub restore_seconds: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableFacts {
    pub restored: usize,
    /// Names of variables that were not restored, each with its reason.
    pub skipped: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    pub gpu_agent: String,
    pub isa: String,
    /// The version of the runtime's interface, under the key of rocm-perf-lab.
    pub rocm_version: String,
    pub runtime: PathBuf,
    pub pid: u32,
}
