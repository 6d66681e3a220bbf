//! Facts that a source reports about each process it holds, before ranks are known.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

spelled! {
    /// Role of a process in the logical trace.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Role by name {
        /// An ordinary trace.
        Trace = "trace",
        /// A counter pass next to a trace of the same rank; its dispatches are serialized by the collection.
        Counters = "counters",
        /// A thread trace: what the instructions of one dispatch cost, without times.
        #[serde(rename = "thread_trace")]
        ThreadTrace = "thread_trace",
    }
}

/// A CPU, GPU or NIC as a process saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentFacts {
    /// Key in the process.
    pub agent_id: i64,
    /// `CPU`, `GPU` or `NIC`.
    pub agent_type: String,
    /// Index over all agents of the node.
    pub absolute_index: Option<i64>,
    /// Index among the agents of its type.
    pub type_index: Option<i64>,
    /// PCI location on the node.
    pub location: Option<String>,
    /// Architecture or model.
    pub name: String,
    /// Marketing name.
    pub product_name: Option<String>,
    /// Compute units.
    pub cu_count: Option<i64>,
    /// Accelerator complex dies.
    pub num_xcc: Option<i64>,
    /// SIMD units per compute unit.
    pub simd_per_cu: Option<i64>,
    /// Wavefront slots per SIMD.
    pub max_waves_per_simd: Option<i64>,
    /// Work-items of a wavefront.
    pub wave_size: Option<i64>,
    /// LDS of a compute unit in bytes.
    pub lds_bytes: Option<i64>,
    /// Highest shader clock in MHz.
    pub max_clock_mhz: Option<i64>,
    /// Highest memory clock in MHz.
    pub mem_clock_mhz: Option<i64>,
    /// Width of the memory bus in bits.
    pub mem_bus_bits: Option<i64>,
    /// Device memory in bytes.
    pub mem_bytes: Option<i64>,
    /// Shader engines of the whole agent.
    pub shader_engines: Option<i64>,
    /// Wavefront slots of a compute unit.
    pub max_waves_per_cu: Option<i64>,
    /// LDS banks of a compute unit.
    pub lds_banks: Option<i64>,
    /// Scalar caches of the whole agent.
    pub scalar_caches: Option<i64>,
    /// L2 channels of the whole agent.
    pub l2_channels: Option<i64>,
    /// Channels of the device memory.
    pub hbm_channels: Option<i64>,
    /// Pipes of the command processor.
    pub command_pipes: Option<i64>,
    /// Peak bandwidth of the device memory in bytes per second.
    pub mem_bytes_per_s: Option<i64>,
    pub pci_device_id: Option<i64>,
    /// Unique id of the device, 32 hexadecimal digits.
    pub uuid: Option<String>,
}

impl AgentFacts {
    pub fn is_gpu(&self) -> bool {
        self.agent_type == "GPU"
    }

    /// Whether its architecture is one of NVIDIA's, such as sm_90.
    pub fn is_of_nvidia(&self) -> bool {
        self.name.starts_with("sm_")
    }

    /// Identifies this device on its node: uuid, otherwise location, otherwise absolute index, otherwise agent id.
    pub fn device_key(&self) -> String {
        match (&self.uuid, &self.location, self.absolute_index) {
            (Some(uuid), _, _) => format!("uuid {uuid}"),
            (None, Some(location), _) => format!("location {location}"),
            (None, None, Some(index)) => format!("index {index}"),
            (None, None, None) => format!("agent {}", self.agent_id),
        }
    }
}

/// One process as its source describes it. It never contains the recorded environment, only the rank found there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessFacts {
    /// Unique id of the capture.
    pub guid: Option<String>,
    /// Hash of the content, for captures without a guid.
    pub content_hash: String,
    /// Machine id, otherwise host name, otherwise the identity that the source has.
    pub machine_key: String,
    /// Machine id of the operating system.
    pub machine_id: Option<String>,
    /// Host name.
    pub hostname: Option<String>,
    /// Process id; -1 if unknown.
    pub pid: i64,
    /// Process id of the parent.
    pub ppid: Option<i64>,
    /// Command line.
    pub command: Option<String>,
    /// Start in ns on the source's clock.
    pub start_ns: Option<i64>,
    /// End in ns on the source's clock.
    pub end_ns: Option<i64>,
    /// Path as given or found, for `--rank-from` and the natural order.
    pub path: String,
    /// Name of the file.
    pub source: String,
    /// Format id such as `rocpd`.
    pub format: String,
    /// Schema version of the file.
    pub schema_version: Option<String>,
    /// Release of ROCm that it was recorded with, such as `7.2`, if the source or the user names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rocm_version: Option<String>,
    /// Options that the profiler was given, by their names, where the source lists them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub profiler_options: BTreeSet<String>,
    /// Rank in the recorded environment.
    pub environment_rank: Option<i64>,
    /// Ranks of the job, where the source or the recorded environment states them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_size: Option<i64>,
    /// Rank assigned when a dataset was written.
    pub stored_rank: Option<i64>,
    /// Role assigned when a dataset was written.
    pub stored_role: Option<Role>,
    /// Whether it carries counter values of dispatches.
    pub has_counters: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_thread_trace: bool,
    /// Number of reruns of kernels to collect more counters.
    pub replay_passes: i64,
    /// Whether it is one of several whose traces were merged into a file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_merged: bool,
    /// Key that its own trace has too in a merged file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_key: Option<String>,
    /// Number of processes that called the runtime; it distinguishes a file of several ranks from a file of one.
    #[serde(skip)]
    pub callers: usize,
    /// The agents the process could see.
    pub agents: Vec<AgentFacts>,
}

/// Format of traces of the PyTorch profiler.
pub const KINETO: &str = "kineto";

/// Format of analysis databases of rocprofiler-compute.
pub const ANALYSIS_DATABASE: &str = "rocprofiler-compute-db";

impl ProcessFacts {
    /// Whether the profiler of PyTorch recorded it.
    pub fn is_of_pytorch(&self) -> bool {
        self.format == KINETO
    }

    /// Whether counters were collected with its dispatches, which serializes them: time between them means nothing then.
    pub fn may_be_serialized(&self) -> bool {
        self.has_counters || self.format == ANALYSIS_DATABASE
    }

    /// Whether it is a counter pass if a trace without counters has the same rank.
    pub fn carries_counters(&self) -> bool {
        self.stored_role.map_or(self.has_counters, |role| role == Role::Counters || self.has_counters)
    }
}
