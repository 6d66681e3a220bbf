//! Records as rocprofv3 writes them. Missing keys are empty, unknown keys are skipped.

use serde::Deserialize;

use super::values::{Int, Real, Text, or_default};
use crate::common::DispatchRun;

/// A dispatch with the values of its counters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CounterRecord {
    pub replay_pass: Int,
    #[serde(deserialize_with = "or_default")]
    pub dispatch_data: CountedRun,
    #[serde(deserialize_with = "or_default")]
    pub records: Vec<CounterValue>,
}

/// The dispatch run of a counter record.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CountedRun {
    pub start_timestamp: Int,
    pub end_timestamp: Int,
    #[serde(deserialize_with = "or_default")]
    pub dispatch_info: CountedInfo,
    pub replay_pass: Int,
}

/// `dispatch_info` of a counter record.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CountedInfo {
    pub agent_id: Int,
    pub dispatch_id: Int,
}

impl CounterRecord {
    /// The run.
    pub fn run(&self) -> DispatchRun {
        let data = &self.dispatch_data;
        let replay = self.replay_pass.0.or(data.replay_pass.0);
        DispatchRun { replay, start: data.start_timestamp.0, end: data.end_timestamp.0 }
    }
}

/// A value of a counter, for one hardware instance or one time of it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CounterValue {
    pub counter_id: Int,
    pub value: Real,
    pub instance_id: Int,
    pub timestamp: Int,
}

/// A PC sample.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PcSample {
    #[serde(deserialize_with = "or_default")]
    pub record: PcRecord,
    pub inst_index: Int,
}

/// `record` of a PC sample.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PcRecord {
    #[serde(deserialize_with = "or_default")]
    pub hw_id: HardwareId,
    #[serde(deserialize_with = "or_default")]
    pub pc: ProgramCounter,
    pub exec_mask: Int,
    pub timestamp: Int,
    pub dispatch_id: Int,
    pub wave_issued: Int,
    pub inst_type: Text,
    #[serde(deserialize_with = "or_default")]
    pub snapshot: Snapshot,
}

/// `hw_id` of a PC sample.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HardwareId {
    pub chiplet: Int,
    pub wave_id: Int,
    pub simd_id: Int,
    pub cu_or_wgp_id: Int,
    pub shader_engine_id: Int,
}

/// `pc` of a PC sample.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProgramCounter {
    pub code_object_id: Int,
    pub code_object_offset: Int,
}

/// `snapshot` of a stochastic sample.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Snapshot {
    pub stall_reason: Text,
}

/// A loaded code object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CodeObject {
    pub code_object_id: Int,
    pub agent_id: Int,
    pub uri: Text,
    pub load_base: Int,
    pub load_size: Int,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct KernelSymbol {
    pub kernel_id: Int,
    pub code_object_id: Int,
    pub kernel_name: Text,
    pub formatted_kernel_name: Text,
    pub demangled_kernel_name: Text,
    pub truncated_kernel_name: Text,
    pub kernel_object: Int,
    pub arch_vgpr_count: Int,
    pub accum_vgpr_count: Int,
    pub sgpr_count: Int,
    pub group_segment_size: Int,
    pub private_segment_size: Int,
}

/// A counter of an agent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Counter {
    pub id: Int,
    pub name: Text,
    #[serde(deserialize_with = "or_default")]
    pub instances: Vec<CounterInstance>,
}

/// A hardware instance of a counter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CounterInstance {
    pub instance_id: Int,
    #[serde(deserialize_with = "or_default")]
    pub dimensions: Vec<CounterDimension>,
}

/// Position of an instance in one dimension.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CounterDimension {
    pub dimension_name: Text,
    pub index: Int,
}

/// A kind and its operations; records refer to it by its position in the list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Kind {
    pub kind: Text,
    #[serde(deserialize_with = "or_default")]
    pub operations: Vec<Text>,
}

/// A text by its number.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KeyedText {
    pub key: Int,
    pub value: Text,
}
