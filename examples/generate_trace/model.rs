//! The model of a trace, independent of the format it is written in.

/// The API domains, named as rocprofv3 names them.
pub mod domain {
    pub const HIP: &str = "HIP_RUNTIME_API_EXT";
    pub const HIP_COMPILER: &str = "HIP_COMPILER_API_EXT";
    pub const HSA: &str = "HSA_CORE_API";
    pub const HSA_AMD: &str = "HSA_AMD_EXT_API";
    pub const RCCL: &str = "RCCL_API";
    pub const MARKER: &str = "MARKER_CORE_RANGE_API";
    pub const KERNEL: &str = "KERNEL_DISPATCH";
    pub const COPY: &str = "MEMORY_COPY";
    pub const ALLOCATION: &str = "MEMORY_ALLOCATION";
    pub const SCRATCH: &str = "SCRATCH_MEMORY";
    pub const ALL: [&str; 10] = [HIP, HIP_COMPILER, HSA, HSA_AMD, RCCL, MARKER, KERNEL, COPY, ALLOCATION, SCRATCH];
}

/// A machine.
#[derive(Debug, Clone)]
pub struct Node {
    /// rocprofv3 uses the low part of `hash`, so a machine has the same id in all files.
    pub id: i64,
    pub hash: i64,
    pub machine_id: String,
    pub hostname: String,
    /// Boot time clock at the start of the run; differs between nodes.
    pub clock_offset_ns: u64,
}

/// One traced process.
#[derive(Debug, Clone)]
pub struct Process {
    pub rank: u64,
    pub pid: i64,
    pub parent_pid: i64,
    pub guid: String,
    pub command: String,
    pub environment: Vec<(String, String)>,
    pub start_ns: u64,
}

/// A CPU or a GPU of the node.
#[derive(Debug, Clone)]
pub struct Agent {
    pub id: i64,
    /// `CPU` or `GPU`.
    pub kind: &'static str,
    /// Index among the agents of this kind.
    pub kind_index: i64,
    pub name: &'static str,
    pub product_name: &'static str,
    pub pci_device_id: i64,
    pub location_id: i64,
    pub uuid_bytes: [u8; 8],
}

/// A queue or a stream: its id and its name.
#[derive(Debug, Clone)]
pub struct Lane {
    pub id: i64,
    pub name: String,
}

/// A loaded code object.
#[derive(Debug, Clone)]
pub struct CodeObject {
    pub id: i64,
    pub agent_id: i64,
    pub uri: String,
    pub load_base: i64,
    pub load_size: i64,
}

/// A kernel symbol of a code object.
#[derive(Debug, Clone)]
pub struct KernelSymbol {
    pub id: i64,
    pub code_object_id: i64,
    pub template: &'static KernelTemplate,
    pub kernel_object: i64,
}

/// Properties of a kernel that are constant, wherever it is loaded.
#[derive(Debug)]
pub struct KernelTemplate {
    /// Mangled, without `.kd`.
    pub mangled_name: &'static str,
    pub display_name: &'static str,
    pub truncated_name: &'static str,
    pub module: Module,
    pub role: Role,
    pub base_duration_ns: u64,
    pub workgroup: [u32; 3],
    /// Workgroups in x and y.
    pub workgroups: [u32; 2],
    pub arch_vgpr_count: i64,
    pub accum_vgpr_count: i64,
    pub sgpr_count: i64,
    pub lds_bytes: i64,
    pub scratch_bytes: i64,
}

impl KernelTemplate {
    /// Work-items in x, y and z.
    pub fn grid(&self) -> [u32; 3] {
        let ([width, height, depth], [columns, rows]) = (self.workgroup, self.workgroups);
        [width * columns, height * rows, depth]
    }
}

/// The library a kernel comes from: one code object each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Module {
    Runtime,
    Blas,
    Framework,
    Attention,
    Collectives,
}

/// The part of a training step a kernel belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Forward and backward.
    Both,
    Forward,
    Backward,
    Optimizer,
    Communication,
    /// In a code object, never launched.
    Unused,
}

/// A hardware counter on one GPU.
#[derive(Debug, Clone)]
pub struct Counter {
    pub id: i64,
    pub agent_id: i64,
    pub instances: u64,
    /// More counters are listed than collected.
    pub collected: bool,
    pub template: &'static CounterTemplate,
}

/// Constant properties of a counter.
#[derive(Debug)]
pub struct CounterTemplate {
    pub name: &'static str,
    pub block: &'static str,
    pub description: &'static str,
    pub expression: &'static str,
    /// Whether there is one instance per XCC instead of one in all.
    pub per_xcc: bool,
    /// Value per instance and microsecond of kernel, before variation; 0 for a percentage.
    pub rate_per_us: u64,
}

/// All that is known before the first activity.
#[derive(Debug, Clone)]
pub struct Setup {
    pub node: Node,
    pub process: Process,
    pub thread_ids: Vec<i64>,
    pub agents: Vec<Agent>,
    pub queues: Vec<Lane>,
    pub streams: Vec<Lane>,
    pub code_objects: Vec<CodeObject>,
    pub symbols: Vec<KernelSymbol>,
    pub counters: Vec<Counter>,
    /// Names of API functions, copies and operations that activities use.
    pub names: Vec<&'static str>,
}

/// One argument of an API call.
#[derive(Debug, Clone)]
pub struct Argument {
    pub type_name: &'static str,
    pub name: &'static str,
    pub value: String,
}

/// An API call or a marker range.
#[derive(Debug, Clone)]
pub struct Region {
    /// The internal correlation id.
    pub id: i64,
    /// Enclosing traced call; 0 at the top.
    pub parent_id: i64,
    pub thread_id: i64,
    pub domain: &'static str,
    pub name: &'static str,
    pub message: Option<String>,
    pub start_ns: u64,
    pub end_ns: u64,
    pub arguments: Vec<Argument>,
}

/// One counter's values on one dispatch.
#[derive(Debug, Clone)]
pub struct CounterValues {
    pub counter_id: i64,
    pub instances: Vec<f64>,
}

/// A kernel that ran.
#[derive(Debug, Clone)]
pub struct Dispatch {
    pub id: i64,
    pub correlation_id: i64,
    pub thread_id: i64,
    pub agent_id: i64,
    pub kernel_id: i64,
    pub queue_id: i64,
    pub stream_id: i64,
    pub start_ns: u64,
    pub end_ns: u64,
    pub scratch_bytes: i64,
    pub lds_bytes: i64,
    pub workgroup: [u32; 3],
    /// In work-items.
    pub grid: [u32; 3],
    pub counters: Vec<CounterValues>,
}

/// A memory copy that ran.
#[derive(Debug, Clone)]
pub struct Copy {
    pub id: i64,
    pub correlation_id: i64,
    pub thread_id: i64,
    pub name: &'static str,
    pub source_agent_id: i64,
    pub target_agent_id: i64,
    pub source_address: i64,
    pub target_address: i64,
    pub bytes: i64,
    pub stream_id: i64,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// An allocation or a release.
#[derive(Debug, Clone)]
pub struct Allocation {
    pub id: i64,
    pub correlation_id: i64,
    pub thread_id: i64,
    /// Unknown on FREE, as rocprofv3 has it.
    pub agent_id: Option<i64>,
    /// `ALLOC` or `FREE`.
    pub operation: &'static str,
    /// `REAL` or `SCRATCH`.
    pub level: &'static str,
    pub address: i64,
    pub bytes: i64,
    pub queue_id: Option<i64>,
    pub flags: Option<i64>,
    pub start_ns: u64,
    pub end_ns: u64,
}

/// A marker without duration.
#[derive(Debug, Clone)]
pub struct Mark {
    pub id: i64,
    pub correlation_id: i64,
    pub thread_id: i64,
    pub message: String,
    pub time_ns: u64,
}

/// Anything that happened.
#[derive(Debug, Clone)]
pub enum Activity {
    Region(Region),
    Dispatch(Dispatch),
    Copy(Copy),
    Allocation(Allocation),
    Mark(Mark),
}

/// A writer of one process, in whatever format. Activities of a kind arrive in the order of their ids.
pub trait Sink {
    /// Takes the next activity.
    fn record(&mut self, activity: &Activity) -> anyhow::Result<()>;
}
