//! The list of canonical tables. Their meaning and the rules behind them: `docs/tables.md`.

use super::schema::{Column, Origin, Table, Unit, cat, flag, float, id, int, text};

const PROCESS: Column = id("process", "Dense number over the processes of the logical trace, in the order of rank, then guid; the join key");
const RANK: Column = id("rank", "Label of the process: from the path, the recorded environment or the order of paths");

/// All canonical tables in documentation order.
pub(super) static TABLES: &[&Table] = &[&PROCESSES, &AGENTS, &QUEUES, &STREAMS, &THREADS, &CODE_OBJECTS, &KERNEL_SYMBOLS, &KERNELS, &MEMORY_COPIES, &MEMORY_ALLOCATIONS, &REGIONS, &MARKS, &ARGS, &COUNTER_DISPATCHES, &COUNTERS, &COUNTER_INSTANCES, &SAMPLES, &PC_SAMPLES, &GRAPH_LAUNCHES, &HIP_EVENTS, &GPU_SEGMENTS, &REGION_SELF_TIMES, &ANOMALIES];

static PROCESSES: Table = Table { name: "processes", key: &["process"], sort: &["process"], origin: Origin::Source, about: "One row per traced process.", columns: &[
    PROCESS,
    RANK,
    cat("role", "`trace`, or `counters` for a counter pass beside a trace of the same rank"),
    text("guid", "Unique id of the capture").null(),
    id("node", "Dense number of the machine"),
    text("hostname", "Host name").null(),
    text("machine_id", "Machine id of the operating system").null(),
    id("pid", "Process id of the operating system, -1 where unknown"),
    id("ppid", "Process id of the parent").null(),
    text("command", "Command line").null(),
    int("start_ns", Unit::Nanoseconds, "Start of the process").null(),
    int("end_ns", Unit::Nanoseconds, "End of the process").null(),
    text("source", "Name of the file it was read from"),
    cat("format", "Format of that file"),
    text("schema_version", "Schema version the file states").null(),
]};

static AGENTS: Table = Table { name: "agents", key: &["agent_id"], sort: &["agent_id"], origin: Origin::Source, about: "One row per CPU, GPU or NIC a process could see, used or not.", columns: &[
    PROCESS,
    RANK,
    id("agent_id", "Agent, unique in the process"),
    cat("agent_type", "`CPU`, `GPU` or `NIC`"),
    id("gpu", "Index among the GPUs of this process").null(),
    id("device", "Dense number of the physical GPU over all nodes").null(),
    cat("name", "Architecture or model, such as gfx942"),
    text("product_name", "Marketing name").null(),
    int("cu_count", Unit::Count, "Compute units").null(),
    int("num_xcc", Unit::Count, "Accelerator complex dies").null(),
    int("simd_per_cu", Unit::Count, "SIMD units per compute unit").null(),
    int("max_waves_per_simd", Unit::Count, "Wavefront slots per SIMD").null(),
    int("wave_size", Unit::WorkItems, "Work-items of a wavefront").null(),
    int("lds_bytes", Unit::Bytes, "LDS of a compute unit").null(),
    int("max_clock_mhz", Unit::Megahertz, "Highest shader clock").null(),
    int("mem_clock_mhz", Unit::Megahertz, "Highest memory clock").null(),
    int("mem_bus_bits", Unit::Bits, "Width of the memory bus").null(),
    int("mem_bytes", Unit::Bytes, "Device memory").null(),
    id("pci_device_id", "PCI device id").null(),
    text("uuid", "Unique id of the device, 32 hexadecimal digits").null(),
]};

static QUEUES: Table = Table { name: "queues", key: &["queue_id"], sort: &["queue_id"], origin: Origin::Source, about: "One row per hardware queue.", columns: &[
    PROCESS,
    RANK,
    id("queue_id", "Queue, unique in the process"),
    text("name", "Name, as recorded").null(),
]};

static STREAMS: Table = Table { name: "streams", key: &["stream_id"], sort: &["stream_id"], origin: Origin::Source, about: "One row per HIP stream.", columns: &[
    PROCESS,
    RANK,
    id("stream_id", "Stream, unique in the process"),
    text("name", "Name, as recorded").null(),
]};

static THREADS: Table = Table { name: "threads", key: &["tid"], sort: &["tid"], origin: Origin::Source, about: "One row per host thread.", columns: &[
    PROCESS,
    RANK,
    id("tid", "Thread id of the operating system"),
    text("name", "Name, as recorded").null(),
    int("start_ns", Unit::Nanoseconds, "Start of the thread").null(),
    int("end_ns", Unit::Nanoseconds, "End of the thread").null(),
]};

static CODE_OBJECTS: Table = Table { name: "code_objects", key: &["code_object_id"], sort: &["code_object_id"], origin: Origin::Source, about: "One row per loaded code object.", columns: &[
    PROCESS,
    RANK,
    id("code_object_id", "Code object, unique in the process"),
    id("agent_id", "Agent it was loaded for").null(),
    text("uri", "Where it came from").null(),
    int("load_base", Unit::Bytes, "Address it was loaded at").null(),
    int("load_size", Unit::Bytes, "Size in memory").null(),
]};

static KERNEL_SYMBOLS: Table = Table { name: "kernel_symbols", key: &["kernel_id"], sort: &["kernel_id"], origin: Origin::Source, about: "One row per kernel symbol, used or not.", columns: &[
    PROCESS,
    RANK,
    id("kernel_id", "Kernel symbol, unique in the process"),
    cat("kernel_name", "Full display name"),
    cat("short_name", "The source's truncated name, else the name with template arguments folded"),
    cat("base_name", "Function name without namespaces, templates and parameters"),
    cat("mangled_name", "Symbol name, without the suffix .kd").null(),
    cat("category", "Category from the rule file, applied to the base name first"),
    int("vgpr", Unit::Count, "Architectural vector registers").null(),
    int("accum_vgpr", Unit::Count, "Accumulation vector registers").null(),
    int("sgpr", Unit::Count, "Scalar registers").null(),
    int("lds_static_bytes", Unit::Bytes, "Statically allocated LDS of a workgroup").null(),
    int("scratch_static_bytes", Unit::Bytes, "Statically allocated scratch memory of a work-item").null(),
    id("code_object_id", "Code object that holds it").null(),
]};

static KERNELS: Table = Table { name: "kernels", key: &["dispatch_id"], sort: &["start_ns", "dispatch_id"], origin: Origin::Source, about: "One row per kernel dispatch of a trace (counter passes apart).", columns: &[
    PROCESS,
    RANK,
    id("dispatch_id", "Dispatch, unique in the process"),
    id("kernel_id", "Kernel symbol, see `kernel_symbols`"),
    cat("kernel_name", "Full display name, `kernel_<id>` where the symbol is missing"),
    cat("short_name", "The source's truncated name, else the name with template arguments folded"),
    cat("category", "Category from the rule file, applied to the base name first"),
    id("agent_id", "Agent that ran it, see `agents`").null(),
    id("gpu", "Index among the GPUs of this process").null(),
    id("device", "Dense number of the physical GPU over all nodes").null(),
    id("queue_id", "Hardware queue, see `queues`").null(),
    id("stream_id", "Stream, see `streams`").null(),
    id("tid", "Thread that launched it").null(),
    id("correlation_id", "Internal id shared with the API call that launched it").null(),
    id("external_id", "External correlation id set by a tool or user").null(),
    cat("region_name", "ROCTx range name given by kernel renaming").null(),
    int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
    int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns, as recorded (negative when the end is before the start)"),
    flag("valid", "False when start is not positive, end is before start, or a time is further than a day outside the process"),
    int("workgroup_x", Unit::WorkItems, "Workgroup size in x"),
    int("workgroup_y", Unit::WorkItems, "Workgroup size in y"),
    int("workgroup_z", Unit::WorkItems, "Workgroup size in z"),
    int("grid_x", Unit::WorkItems, "Grid size in x, in work-items"),
    int("grid_y", Unit::WorkItems, "Grid size in y, in work-items"),
    int("grid_z", Unit::WorkItems, "Grid size in z, in work-items"),
    int("lds_bytes", Unit::Bytes, "LDS of a workgroup").null(),
    int("scratch_bytes", Unit::Bytes, "Scratch memory of a work-item").null(),
    id("graph_exec_id", "HIP graph execution it belongs to").null(),
    id("graph_node_id", "HIP graph node it belongs to").null(),
]};

static MEMORY_COPIES: Table = Table { name: "memory_copies", key: &["copy_id"], sort: &["start_ns", "copy_id"], origin: Origin::Source, about: "One row per copy between memories.", columns: &[
    PROCESS,
    RANK,
    id("copy_id", "Copy, unique in the process"),
    cat("direction", "`H2D`, `D2H`, `D2D` (within a GPU), `P2P` (between GPUs), `H2H` or `NONE`"),
    id("src_agent_id", "Source agent").null(),
    id("dst_agent_id", "Destination agent").null(),
    id("gpu", "The source's GPU index if it is a GPU, else the destination's").null(),
    id("peer_gpu", "The other GPU of a P2P copy").null(),
    id("device", "Physical GPU of `gpu`").null(),
    int("bytes", Unit::Bytes, "Bytes copied").null(),
    id("stream_id", "Stream, see `streams`").null(),
    id("tid", "Thread, see `threads`").null(),
    id("correlation_id", "Internal id that ties an API call to what it launched").null(),
    int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
    int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns, as recorded (negative when the end is before the start)"),
    flag("valid", "False when start is not positive, end is before start, or a time is further than a day outside the process"),
    id("graph_exec_id", "HIP graph execution it belongs to").null(),
]};

static MEMORY_ALLOCATIONS: Table = Table { name: "memory_allocations", key: &["alloc_id"], sort: &["start_ns", "alloc_id"], origin: Origin::Source, about: "One row per allocation, free or scratch operation.", columns: &[
    PROCESS,
    RANK,
    id("alloc_id", "Operation, unique in the process"),
    cat("operation", "`ALLOC`, `FREE`, `REALLOC` or `RECLAIM`"),
    cat("level", "`REAL`, `VIRTUAL` or `SCRATCH`"),
    id("agent_id", "Agent whose memory it is").null(),
    id("gpu", "Index among the GPUs of this process").null(),
    id("address", "Address; those above 2^63 appear as negative numbers").null(),
    int("bytes", Unit::Bytes, "Size, 0 for a free"),
    id("flags", "Flags, as recorded").null(),
    id("queue_id", "Hardware queue (scratch)").null(),
    id("stream_id", "Stream, see `streams`").null(),
    id("tid", "Thread, see `threads`").null(),
    id("correlation_id", "Internal id that ties an API call to what it launched").null(),
    int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
    int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns, as recorded (negative when the end is before the start)"),
    flag("valid", "False when start is not positive, end is before start, or a time is further than a day outside the process"),
]};

static REGIONS: Table = Table { name: "regions", key: &["region_id"], sort: &["start_ns", "region_id"], origin: Origin::Source, about: "One row per API call or range with a length.", columns: &[
    PROCESS,
    RANK,
    id("region_id", "Region, unique in the process"),
    cat("domain", "hip hsa marker rccl rocdecode rocjpeg ompt kfd mpi host …"),
    cat("category", "Category, as recorded"),
    cat("name", "Function or operation, `unknown` where the source names none"),
    text("message", "ROCTx text of a marker").null(),
    id("tid", "Thread, see `threads`").null(),
    id("correlation_id", "Internal id that ties an API call to what it launched").null(),
    id("parent_correlation_id", "Internal id of the enclosing call").null(),
    id("external_id", "External correlation id set by a tool or user").null(),
    text("call_stack", "Call stack, JSON").null(),
    int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
    int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns, as recorded (negative when the end is before the start)"),
    flag("valid", "False when start is not positive, end is before start, or a time is further than a day outside the process"),
]};

static MARKS: Table = Table { name: "marks", key: &["mark_id"], sort: &["time_ns", "mark_id"], origin: Origin::Source, about: "One row per record of zero length: ROCTx marks and instantaneous calls.", columns: &[
    PROCESS,
    RANK,
    id("mark_id", "Mark, unique in the process"),
    cat("domain", "As in `regions`"),
    cat("category", "Category, as recorded"),
    cat("name", "Function or operation").null(),
    text("message", "ROCTx text of a marker").null(),
    id("tid", "Thread, see `threads`").null(),
    id("correlation_id", "Internal id that ties an API call to what it launched").null(),
    int("time_ns", Unit::Nanoseconds, "Time on the source's clock"),
]};

static ARGS: Table = Table { name: "args", key: &["owner_id", "position"], sort: &["owner", "owner_id", "position"], origin: Origin::Source, about: "One row per recorded argument of a call, kernel or copy.", columns: &[
    PROCESS,
    RANK,
    cat("owner", "`region`, `kernel` or `copy`"),
    id("owner_id", "Key of the owner in its table"),
    int("position", Unit::Count, "Position in the argument list"),
    text("type", "Type as written in the source language").null(),
    cat("name", "Argument name"),
    text("value", "Value as text").null(),
]};

static COUNTER_DISPATCHES: Table = Table { name: "counter_dispatches", key: &["pass", "dispatch_id"], sort: &["start_ns", "pass", "dispatch_id"], origin: Origin::Source, about: "One row per dispatch of a counter pass; dispatches of a lone trace with counters are in `kernels` too.", columns: &[
    PROCESS,
    RANK,
    id("pass", "Counter pass among those of the same rank"),
    id("dispatch_id", "Dispatch, unique in the pass"),
    id("kernel_id", "Kernel symbol, see `kernel_symbols`"),
    cat("kernel_name", "Full display name, `kernel_<id>` where the symbol is missing"),
    cat("short_name", "The source's truncated name, else the name with template arguments folded"),
    cat("category", "Category from the rule file, applied to the base name first"),
    id("agent_id", "Agent that ran it, see `agents`").null(),
    id("gpu", "Index among the GPUs of this process").null(),
    id("device", "Dense number of the physical GPU over all nodes").null(),
    id("queue_id", "Hardware queue, see `queues`").null(),
    id("stream_id", "Stream, see `streams`").null(),
    id("tid", "Thread that launched it").null(),
    id("correlation_id", "Internal id shared with the API call that launched it").null(),
    id("external_id", "External correlation id set by a tool or user").null(),
    cat("region_name", "ROCTx range name given by kernel renaming").null(),
    int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
    int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns, as recorded (negative when the end is before the start)"),
    flag("valid", "False when start is not positive, end is before start, or a time is further than a day outside the process"),
    int("workgroup_x", Unit::WorkItems, "Workgroup size in x"),
    int("workgroup_y", Unit::WorkItems, "Workgroup size in y"),
    int("workgroup_z", Unit::WorkItems, "Workgroup size in z"),
    int("grid_x", Unit::WorkItems, "Grid size in x, in work-items"),
    int("grid_y", Unit::WorkItems, "Grid size in y, in work-items"),
    int("grid_z", Unit::WorkItems, "Grid size in z, in work-items"),
    int("lds_bytes", Unit::Bytes, "LDS of a workgroup").null(),
    int("scratch_bytes", Unit::Bytes, "Scratch memory of a work-item").null(),
    id("graph_exec_id", "HIP graph execution it belongs to").null(),
    id("graph_node_id", "HIP graph node it belongs to").null(),
]};

static COUNTERS: Table = Table { name: "counters", key: &["pass", "dispatch_id", "counter"], sort: &["pass", "dispatch_id", "counter"], origin: Origin::Source, about: "One row per counter of a dispatch.", columns: &[
    PROCESS,
    RANK,
    id("pass", "Counter pass among those of the same rank"),
    id("dispatch_id", "Dispatch, unique in the pass"),
    cat("counter", "Counter name"),
    float("value", "Sum over instances"),
    float("min", "Least of the instances"),
    float("max", "Greatest of the instances"),
    float("mean", "Mean over instances"),
    int("instances", Unit::Count, "Instances recorded"),
]};

static COUNTER_INSTANCES: Table = Table { name: "counter_instances", key: &[], sort: &["pass", "dispatch_id", "counter", "instance"], origin: Origin::Source, about: "One row per hardware instance of a counter of a dispatch.", columns: &[
    PROCESS,
    RANK,
    id("pass", "Counter pass among those of the same rank"),
    id("dispatch_id", "Dispatch, unique in the pass"),
    cat("counter", "Counter name"),
    id("instance", "Ordinal of the instance, in recorded order"),
    id("xcc", "Accelerator complex die").null(),
    id("shader_engine", "Shader engine").null(),
    id("channel", "Channel").null(),
    float("value", "Value"),
]};

static SAMPLES: Table = Table { name: "samples", key: &[], sort: &["time_ns", "track", "name"], origin: Origin::Source, about: "One row per telemetry or streaming counter sample.", columns: &[
    PROCESS,
    RANK,
    cat("track", "Track, as recorded"),
    cat("name", "Metric name"),
    cat("unit", "Unit, as recorded").null(),
    id("agent_id", "Agent it belongs to").null(),
    id("device", "Physical GPU it belongs to").null(),
    int("time_ns", Unit::Nanoseconds, "Time on the source's clock"),
    float("value", "Value"),
]};

static PC_SAMPLES: Table = Table { name: "pc_samples", key: &[], sort: &["time_ns", "dispatch_id", "wave"], origin: Origin::Source, about: "One row per program counter sample.", columns: &[
    PROCESS,
    RANK,
    id("dispatch_id", "Dispatch that was running").null(),
    id("code_object_id", "Code object of the instruction").null(),
    int("code_object_offset", Unit::Bytes, "Offset of the instruction in its code object").null(),
    text("instruction", "Disassembled instruction").null(),
    text("comment", "Source location or comment").null(),
    cat("stall_reason", "Why the wavefront did not issue").null(),
    cat("instruction_type", "Type of the instruction").null(),
    flag("wave_issued", "Whether the wavefront issued an instruction").null(),
    text("exec_mask", "Active lanes, hexadecimal").null(),
    id("xcc", "Accelerator complex die").null(),
    id("shader_engine", "Shader engine").null(),
    id("cu", "Compute unit or workgroup processor").null(),
    id("simd", "SIMD unit").null(),
    id("wave", "Wavefront slot").null(),
    int("time_ns", Unit::Nanoseconds, "Time on the source's clock"),
]};

static GRAPH_LAUNCHES: Table = Table { name: "graph_launches", key: &["graph_launch_id"], sort: &["start_ns", "graph_launch_id"], origin: Origin::Source, about: "One row per HIP graph launch.", columns: &[
    PROCESS,
    RANK,
    id("graph_launch_id", "Launch, unique in the process"),
    id("agent_id", "Agent it ran on").null(),
    id("gpu", "Index among the GPUs of this process").null(),
    id("device", "Dense number of the physical GPU over all nodes").null(),
    id("queue_id", "Hardware queue").null(),
    id("tid", "Thread, see `threads`").null(),
    id("correlation_id", "Internal id that ties an API call to what it launched").null(),
    id("graph_exec_id", "HIP graph execution").null(),
    int("kernels", Unit::Count, "Dispatches of the launch").null(),
    int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
    int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns, as recorded (negative when the end is before the start)"),
    flag("valid", "False when start is not positive, end is before start, or a time is further than a day outside the process"),
]};

static HIP_EVENTS: Table = Table { name: "hip_events", key: &["hip_event_id"], sort: &["start_ns", "hip_event_id"], origin: Origin::Source, about: "One row per HIP event record or wait on a queue.", columns: &[
    PROCESS,
    RANK,
    id("hip_event_id", "Record, unique in the process"),
    cat("operation", "Operation, as recorded"),
    id("agent_id", "Agent").null(),
    id("gpu", "Index among the GPUs of this process").null(),
    id("device", "Dense number of the physical GPU over all nodes").null(),
    id("queue_id", "Hardware queue").null(),
    id("source_queue_id", "Queue that was waited for").null(),
    id("stream_id", "Stream, see `streams`").null(),
    id("tid", "Thread, see `threads`").null(),
    id("event_handle", "Handle of the HIP event").null(),
    id("correlation_id", "Internal id that ties an API call to what it launched").null(),
    int("start_ns", Unit::Nanoseconds, "Start on the source's clock"),
    int("end_ns", Unit::Nanoseconds, "End on the source's clock"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns, as recorded (negative when the end is before the start)"),
    flag("valid", "False when start is not positive, end is before start, or a time is further than a day outside the process"),
]};

static GPU_SEGMENTS: Table = Table { name: "gpu_segments", key: &["gpu", "start_ns"], sort: &["gpu", "start_ns"], origin: Origin::Derived, about: "Disjoint stretches of each used GPU over the span of its process, with the activities that run in each; idle stretches are rows with zeros. A P2P copy counts on both GPUs.", columns: &[
    PROCESS,
    RANK,
    id("gpu", "Index among the GPUs of this process"),
    id("device", "Dense number of the physical GPU over all nodes").null(),
    int("start_ns", Unit::Nanoseconds, "Start of the segment"),
    int("end_ns", Unit::Nanoseconds, "End of the segment"),
    int("duration_ns", Unit::Nanoseconds, "end_ns minus start_ns"),
    int("compute", Unit::Count, "Kernels running, communication apart"),
    int("comm", Unit::Count, "Communication kernels running"),
    int("copies", Unit::Count, "Copies running"),
]};

static REGION_SELF_TIMES: Table = Table { name: "region_self_times", key: &["region_id"], sort: &["region_id"], origin: Origin::Derived, about: "Time of each valid region without the regions contained in it on the same thread.", columns: &[
    PROCESS,
    RANK,
    id("region_id", "Region, see `regions`"),
    int("self_ns", Unit::Nanoseconds, "Duration minus that of the regions contained in it on the same thread"),
]};

static ANOMALIES: Table = Table { name: "anomalies", key: &[], sort: &["check_id", "table_name"], origin: Origin::Derived, about: "One row per kind of anomaly found in a process.", columns: &[
    PROCESS,
    RANK,
    cat("check_id", "Check that found it"),
    cat("severity", "`error`, `warning` or `info`"),
    cat("table_name", "Table it is in"),
    int("count", Unit::Count, "Rows affected"),
    text("first_key", "Key of the first row affected").null(),
    text("detail", "What it means and what to do"),
]};
