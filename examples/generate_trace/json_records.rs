//! The records of rocprofv3 JSON, field by field in its order.

use serde::Serialize;

use crate::model::{Argument, Dispatch};

/// Handle of agent 0. Handles are numbers of their own and mean nothing outside the file.
const FIRST_AGENT_HANDLE: i64 = 37_944;

/// Anything that JSON wraps as `{"handle": n}`.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Handle {
    pub handle: i64,
}

impl Handle {
    /// The handle of an agent; 0 when it is not known.
    pub fn of_agent(agent_id: Option<i64>) -> Self {
        Self { handle: agent_id.map_or(0, |id| FIRST_AGENT_HANDLE + id) }
    }
}

/// Correlation of a record; asynchronous ones lack the ancestor.
#[derive(Debug, Serialize)]
pub struct Correlation {
    pub internal: i64,
    pub external: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ancestor: Option<i64>,
}

impl Correlation {
    /// That of a kernel or a copy.
    pub fn asynchronous(internal: i64) -> Self {
        Self { internal, external: 0, ancestor: None }
    }

    /// That of a call.
    pub fn within(internal: i64, ancestor: i64) -> Self {
        Self { internal, external: 0, ancestor: Some(ancestor) }
    }
}

/// Sizes along three axes.
#[derive(Debug, Serialize)]
pub struct Extent {
    x: u32,
    y: u32,
    z: u32,
}

impl From<[u32; 3]> for Extent {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

/// The text of a marker, by the internal correlation id of its record.
#[derive(Debug, Serialize)]
pub struct MarkerMessage<'a> {
    pub key: i64,
    pub value: &'a str,
}

/// A call of any API. Arguments, result and stream are those of HIP only.
#[derive(Debug, Serialize)]
pub struct ApiCall<'a> {
    pub size: u32,
    pub kind: u32,
    pub operation: u32,
    pub correlation_id: Correlation,
    pub start_timestamp: u64,
    pub end_timestamp: u64,
    pub thread_id: i64,
    #[serde(flatten)]
    pub hip: Option<HipPart<'a>>,
}

/// Fields that only HIP calls have.
#[derive(Debug, Serialize)]
pub struct HipPart<'a> {
    args: Vec<CallArgument<'a>>,
    retval: HipResult,
    stream_id: Handle,
}

impl<'a> HipPart<'a> {
    /// That of a call without error, on the stream it names or else the default one.
    pub fn successful(arguments: &'a [Argument]) -> Self {
        let named = arguments.iter().find(|argument| argument.name == "stream");
        let stream = named.and_then(|stream| i64::from_str_radix(stream.value.trim_start_matches("0x"), 16).ok());
        Self {
            args: arguments.iter().map(CallArgument::from).collect(),
            retval: HipResult { error: 0 },
            stream_id: Handle { handle: stream.unwrap_or(0) },
        }
    }
}

/// One argument of a call.
#[derive(Debug, Serialize)]
struct CallArgument<'a> {
    #[serde(rename = "type")]
    type_name: &'a str,
    name: &'a str,
    value: &'a str,
}

impl<'a> From<&'a Argument> for CallArgument<'a> {
    fn from(argument: &'a Argument) -> Self {
        Self { type_name: argument.type_name, name: argument.name, value: &argument.value }
    }
}

/// The return value of a HIP call.
#[derive(Debug, Serialize)]
struct HipResult {
    #[serde(rename = "hipError_t_retval")]
    error: i64,
}

/// The launch parameters of a kernel.
#[derive(Debug, Serialize)]
pub struct DispatchInfo {
    size: u32,
    agent_id: Handle,
    queue_id: Handle,
    kernel_id: i64,
    dispatch_id: i64,
    private_segment_size: i64,
    group_segment_size: i64,
    workgroup_size: Extent,
    grid_size: Extent,
}

impl From<&Dispatch> for DispatchInfo {
    fn from(dispatch: &Dispatch) -> Self {
        Self {
            size: 72,
            agent_id: Handle::of_agent(Some(dispatch.agent_id)),
            queue_id: Handle { handle: dispatch.queue_id },
            kernel_id: dispatch.kernel_id,
            dispatch_id: dispatch.id,
            private_segment_size: dispatch.scratch_bytes,
            group_segment_size: dispatch.lds_bytes,
            workgroup_size: dispatch.workgroup.into(),
            grid_size: dispatch.grid.into(),
        }
    }
}

/// A kernel in the buffer.
#[derive(Debug, Serialize)]
pub struct KernelDispatch {
    pub size: u32,
    pub kind: u32,
    pub operation: u32,
    pub thread_id: i64,
    pub correlation_id: Correlation,
    pub start_timestamp: u64,
    pub end_timestamp: u64,
    pub dispatch_info: DispatchInfo,
    pub stream_id: Handle,
}

/// A kernel with its counters.
#[derive(Debug, Serialize)]
pub struct CounterCollection {
    pub thread_id: i64,
    pub dispatch_data: DispatchData,
    pub records: Vec<CounterRecord>,
    pub stream_id: Handle,
}

/// The kernel that was counted.
#[derive(Debug, Serialize)]
pub struct DispatchData {
    pub size: u32,
    pub correlation_id: Correlation,
    pub start_timestamp: u64,
    pub end_timestamp: u64,
    pub dispatch_info: DispatchInfo,
}

/// The value of one instance of a counter.
#[derive(Debug, Serialize)]
pub struct CounterRecord {
    pub counter_id: Handle,
    pub value: f64,
}

/// A memory copy.
#[derive(Debug, Serialize)]
pub struct MemoryCopy {
    pub size: u32,
    pub kind: u32,
    pub operation: u32,
    pub thread_id: i64,
    pub correlation_id: Correlation,
    pub start_timestamp: u64,
    pub end_timestamp: u64,
    pub dst_agent_id: Handle,
    pub src_agent_id: Handle,
    pub bytes: i64,
    pub stream_id: Handle,
}

/// An allocation or a release by a call.
#[derive(Debug, Serialize)]
pub struct MemoryAllocation {
    pub size: u32,
    pub kind: u32,
    pub operation: u32,
    pub thread_id: i64,
    pub correlation_id: Correlation,
    pub start_timestamp: u64,
    pub end_timestamp: u64,
    pub agent_id: Handle,
    pub address: String,
    pub allocation_size: i64,
    pub stream_id: Handle,
}

/// Scratch memory taken or given back by the runtime.
#[derive(Debug, Serialize)]
pub struct ScratchMemory {
    pub size: u32,
    pub kind: u32,
    pub operation: u32,
    pub agent_id: Handle,
    pub queue_id: Handle,
    pub thread_id: i64,
    pub start_timestamp: u64,
    pub end_timestamp: u64,
    pub correlation_id: Correlation,
    pub flags: i64,
    pub allocation_size: i64,
}
