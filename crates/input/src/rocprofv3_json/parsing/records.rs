//! Records as rocprofv3 writes them. Keys that are missing are empty, others are skipped.

use serde::Deserialize;

use super::lenient::{Args, CheckedArgs, loosely};
use super::values::{Int, Length, Real, Text, or_default};
use crate::common::DispatchRun;

/// `correlation_id` of a record; a bare number is the internal one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Correlation {
    pub internal: Int,
    pub external: Int,
    pub ancestor: Int,
}

/// Sizes in three dimensions.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Dimensions {
    pub x: Int,
    pub y: Int,
    pub z: Int,
}

/// Fields of every kind of activity: an API call and an event of the driver have no more than this.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Activity {
    pub kind: Int,
    pub operation: Int,
    pub thread_id: Int,
    #[serde(deserialize_with = "loosely")]
    pub correlation_id: Correlation,
    pub start_timestamp: Int,
    pub end_timestamp: Int,
    pub timestamp: Int,
    pub agent_id: Int,
    pub src_agent_id: Int,
    pub dst_agent_id: Int,
    pub queue_id: Int,
    pub source_queue_id: Int,
    pub stream_id: Int,
    pub bytes: Int,
    pub address: Int,
    pub allocation_size: Int,
    pub flags: Int,
    pub graph_exec_id: Int,
    pub hip_event_handle: Int,
    pub kernel_dispatch_count: Int,
    pub start_address: Int,
    pub end_address: Int,
    pub src_agent: Int,
    pub dst_agent: Int,
    pub prefetch_agent: Int,
    pub preferred_agent: Int,
    pub error_code: Int,
    pub count: Int,
    /// Refused where it is when arguments are read.
    pub args: CheckedArgs,
}

impl Activity {
    /// Start, which is the time of a record that has but one.
    pub fn start(&self) -> Option<i64> {
        self.start_timestamp.0.or(self.timestamp.0)
    }

    /// End, which is the time of a record that has but one.
    pub fn end(&self) -> Option<i64> {
        self.end_timestamp.0.or(self.timestamp.0)
    }

    /// Whether it has a length, so that it is a region and no mark.
    pub(crate) fn has_length(&self) -> bool {
        match (self.start(), self.end()) {
            (Some(start), Some(end)) => start != end,
            _ => true,
        }
    }
}

/// `dispatch_info` of a record.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DispatchInfo {
    pub agent_id: Int,
    pub queue_id: Int,
    pub kernel_id: Int,
    pub dispatch_id: Int,
    pub private_segment_size: Int,
    pub group_segment_size: Int,
    #[serde(deserialize_with = "or_default")]
    pub workgroup_size: Dimensions,
    #[serde(deserialize_with = "or_default")]
    pub grid_size: Dimensions,
}

/// A dispatch, in `kernel_dispatch` or as `dispatch_data` of a counter record.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Dispatch {
    pub thread_id: Int,
    #[serde(deserialize_with = "loosely")]
    pub correlation_id: Correlation,
    pub start_timestamp: Int,
    pub end_timestamp: Int,
    #[serde(deserialize_with = "or_default")]
    pub dispatch_info: DispatchInfo,
    pub stream_id: Int,
    pub graph_exec_id: Int,
    pub graph_node_id: Int,
    pub replay_pass: Int,
}

/// A dispatch with counters, without the values.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CountedDispatch {
    pub thread_id: Int,
    pub replay_pass: Int,
    #[serde(deserialize_with = "or_default")]
    pub dispatch_data: Dispatch,
    pub stream_id: Int,
}

impl From<CountedDispatch> for Dispatch {
    fn from(counted: CountedDispatch) -> Self {
        let data = counted.dispatch_data;
        let filled = |own: Int, other: Int| Int(own.0.or(other.0));
        Self {
            thread_id: filled(counted.thread_id, data.thread_id),
            stream_id: filled(counted.stream_id, data.stream_id),
            replay_pass: filled(counted.replay_pass, data.replay_pass),
            ..data
        }
    }
}

/// The run of a dispatch that a counter record is about.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CountedRun {
    #[serde(deserialize_with = "or_default")]
    dispatch_data: RunData,
    replay_pass: Int,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct RunData {
    start_timestamp: Int,
    end_timestamp: Int,
    #[serde(deserialize_with = "or_default")]
    dispatch_info: RunInfo,
    replay_pass: Int,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct RunInfo {
    dispatch_id: Int,
}

impl CountedRun {
    /// The dispatch and its run.
    pub fn run(self) -> (Option<i64>, DispatchRun) {
        let data = self.dispatch_data;
        let replay = self.replay_pass.0.or(data.replay_pass.0);
        let run = DispatchRun { replay, start: data.start_timestamp.0, end: data.end_timestamp.0 };
        (data.dispatch_info.dispatch_id.0, run)
    }
}

/// A dispatch with the values of its counters.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CounterRecord {
    pub replay_pass: Int,
    #[serde(deserialize_with = "or_default")]
    pub dispatch_data: Dispatch,
    #[serde(deserialize_with = "or_default")]
    pub records: Vec<CounterValue>,
}

/// One value of a counter: of one hardware instance, or of one moment of it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CounterValue {
    pub counter_id: Int,
    pub value: Real,
    pub instance_id: Int,
    pub timestamp: Int,
}

/// An argument of a call.
#[derive(Clone, Debug, Default)]
pub struct Arg<'a> {
    pub type_name: Text<'a>,
    pub name: Text<'a>,
    pub value: Text<'a>,
}

/// A call with its arguments. It is understood if and only if the call alone is, because regions are numbered by those
/// that are.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallWithArgs<'a> {
    pub call: Activity,
    pub args: Args<'a>,
}

/// Fields of any record that the census of threads, queues, streams, regions and marks needs.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Surveyed {
    pub kind: Int,
    pub operation: Int,
    pub thread_id: Int,
    #[serde(deserialize_with = "loosely")]
    pub correlation_id: Correlation,
    pub start_timestamp: Int,
    pub end_timestamp: Int,
    pub timestamp: Int,
    pub queue_id: Int,
    pub stream_id: Int,
    #[serde(deserialize_with = "or_default")]
    pub dispatch_info: DispatchInfo,
    #[serde(deserialize_with = "or_default")]
    pub dispatch_data: Dispatch,
    pub args: Length,
}

/// A program counter sample.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PcSample<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    pub record: PcRecord<'a>,
    pub inst_index: Int,
}

/// `record` of a program counter sample.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PcRecord<'a> {
    #[serde(deserialize_with = "or_default")]
    pub hw_id: HardwareId,
    #[serde(deserialize_with = "or_default")]
    pub pc: ProgramCounter,
    pub exec_mask: Int,
    pub timestamp: Int,
    pub dispatch_id: Int,
    pub wave_issued: Int,
    #[serde(borrow)]
    pub inst_type: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub snapshot: Snapshot<'a>,
}

/// `hw_id` of a program counter sample.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HardwareId {
    pub chiplet: Int,
    pub wave_id: Int,
    pub simd_id: Int,
    pub cu_or_wgp_id: Int,
    pub shader_engine_id: Int,
}

/// `pc` of a program counter sample.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProgramCounter {
    pub code_object_id: Int,
    pub code_object_offset: Int,
}

/// `snapshot` of a stochastic sample.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Snapshot<'a> {
    #[serde(borrow)]
    pub stall_reason: Text<'a>,
}

/// A loaded code object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CodeObject<'a> {
    pub code_object_id: Int,
    pub agent_id: Int,
    #[serde(borrow)]
    pub uri: Text<'a>,
    pub load_base: Int,
    pub load_size: Int,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct KernelSymbol<'a> {
    pub kernel_id: Int,
    pub code_object_id: Int,
    #[serde(borrow)]
    pub kernel_name: Text<'a>,
    #[serde(borrow)]
    pub formatted_kernel_name: Text<'a>,
    #[serde(borrow)]
    pub demangled_kernel_name: Text<'a>,
    #[serde(borrow)]
    pub truncated_kernel_name: Text<'a>,
    pub kernel_object: Int,
    pub arch_vgpr_count: Int,
    pub accum_vgpr_count: Int,
    pub sgpr_count: Int,
    pub group_segment_size: Int,
    pub private_segment_size: Int,
}

/// A counter an agent has.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Counter<'a> {
    pub id: Int,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub instances: Vec<CounterInstance<'a>>,
}

/// A hardware instance of a counter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CounterInstance<'a> {
    pub instance_id: Int,
    #[serde(borrow, deserialize_with = "or_default")]
    pub dimensions: Vec<CounterDimension<'a>>,
}

/// Place of an instance in one dimension.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CounterDimension<'a> {
    #[serde(borrow)]
    pub dimension_name: Text<'a>,
    pub index: Int,
}

/// A kind and its operations; the place in the list is the number that records use.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Kind<'a> {
    #[serde(borrow)]
    pub kind: Text<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub operations: Vec<Text<'a>>,
}

/// A text by its number.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KeyedText<'a> {
    pub key: Int,
    #[serde(borrow)]
    pub value: Text<'a>,
}
