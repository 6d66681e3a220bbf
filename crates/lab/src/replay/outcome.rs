//! The outcome of a replay; the keys of the JSON output. Those that rocm-perf-lab has are as it has them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::compare::Comparison;
use super::statistics::Timing;

/// How a replay ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran, and memory is what it should be, if that was asked.
    Ok,
    /// It ran, and memory is not what it should be.
    Differs,
    /// It ran, and what could be compared is what it should be; the rest is not known.
    Partial,
    /// An address is taken.
    Taken,
    /// The system has no runtime, no GPU, or none that runs this code.
    Unsupported,
    /// Anything else: a capture that cannot be read, a crash, a hang.
    #[default]
    Failed,
}

/// The outcome that a replaying process hands back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub capture: PathBuf,
    pub status: Status,
    /// Why it is not `ok`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Notes that are worth knowing all the same.
    pub notes: Vec<String>,
    /// The state of the address of each span of pages.
    pub addresses: Vec<AddressRow>,
    /// Nothing if only addresses were checked, or it did not come to a dispatch.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Replayed>,
}

/// Whether memory could be reserved at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressState {
    Exact,
    Relocated,
    Failed,
}

/// Pages with regions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRow {
    pub base: u64,
    pub size: u64,
    pub regions: usize,
    pub state: AddressState,
    /// Where the runtime reserved it instead.
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
    /// Demangled, or the symbol.
    pub name: String,
    pub symbol: String,
    pub hsaco_path: PathBuf,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// LDS of a group: of the kernel and what the launch adds.
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
    /// Bases of regions that were not captured, and are zeros.
    pub missing: Vec<u64>,
    /// Whether files were read into the GPU's memory itself.
    pub is_direct: bool,
    /// The first time, with comparing hashes.
    pub restore_seconds: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableFacts {
    pub restored: usize,
    /// Names of those that were not, each with its reason.
    pub skipped: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    pub gpu_agent: String,
    pub isa: String,
    /// The version of the runtime's interface, as rocm-perf-lab has it.
    pub rocm_version: String,
    pub runtime: PathBuf,
    pub pid: u32,
}
