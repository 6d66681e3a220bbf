//! Tables that describe processes and what they could use.

use crate::schema::tables::{PROCESS, RANK};
use crate::schema::{Origin, Table, Unit, cat, id, int, text};

pub(super) static PROCESSES: Table = Table {
    name: "processes",
    key: &["process"],
    sort: &["process"],
    origin: Origin::Source,
    about: "One row per traced process.",
    columns: &[
        PROCESS,
        RANK,
        cat(
            "role",
            "`trace`, `counters` for a counter pass next to a trace of the same rank, or `thread_trace` for instruction statistics",
        ),
        text("guid", "Unique id of the capture").null(),
        id("node", "Dense number of the node"),
        text("hostname", "Host name").null(),
        text("machine_id", "Machine id of the operating system").null(),
        id("pid", "Process id of the operating system, -1 if unknown"),
        id("ppid", "Process id of the parent").null(),
        text("command", "Command line").null(),
        int("start_ns", Unit::Nanoseconds, "Start of the process").null(),
        int("end_ns", Unit::Nanoseconds, "End of the process").null(),
        text("source", "Name of the file it was read from"),
        cat("format", "Format of that file"),
        text("schema_version", "Schema version the file states").null(),
    ],
};

pub(super) static AGENTS: Table = Table {
    name: "agents",
    key: &["agent_id"],
    sort: &["agent_id"],
    origin: Origin::Source,
    about: "One row per CPU, GPU or NIC a process could see, used or not.",
    columns: &[
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
        int("shader_engines", Unit::Count, "Shader engines of the whole agent").null(),
        int("max_waves_per_cu", Unit::Count, "Wavefront slots of a compute unit").null(),
        int("lds_banks", Unit::Count, "LDS banks of a compute unit").null(),
        int("scalar_caches", Unit::Count, "Scalar caches of the whole agent").null(),
        int("l2_channels", Unit::Count, "L2 channels of the whole agent").null(),
        int("hbm_channels", Unit::Count, "Channels of the device memory").null(),
        int("command_pipes", Unit::Count, "Pipes of the command processor").null(),
        int("mem_bytes_per_s", Unit::BytesPerSecond, "Peak bandwidth of the device memory").null(),
        id("pci_device_id", "PCI device id").null(),
        text("uuid", "Unique id of the device, 32 hexadecimal digits").null(),
    ],
};

pub(super) static QUEUES: Table = Table {
    name: "queues",
    key: &["queue_id"],
    sort: &["queue_id"],
    origin: Origin::Source,
    about: "One row per hardware queue.",
    columns: &[PROCESS, RANK, id("queue_id", "Queue, unique in the process"), text("name", "Name, as recorded").null()],
};

pub(super) static STREAMS: Table = Table {
    name: "streams",
    key: &["stream_id"],
    sort: &["stream_id"],
    origin: Origin::Source,
    about: "One row per HIP stream.",
    columns: &[
        PROCESS,
        RANK,
        id("stream_id", "Stream, unique in the process"),
        text("name", "Name, as recorded").null(),
    ],
};

pub(super) static THREADS: Table = Table {
    name: "threads",
    key: &["tid"],
    sort: &["tid"],
    origin: Origin::Source,
    about: "One row per host thread.",
    columns: &[
        PROCESS,
        RANK,
        id("tid", "Thread id of the operating system"),
        text("name", "Name, as recorded").null(),
        int("start_ns", Unit::Nanoseconds, "Start of the thread").null(),
        int("end_ns", Unit::Nanoseconds, "End of the thread").null(),
    ],
};

pub(super) static CODE_OBJECTS: Table = Table {
    name: "code_objects",
    key: &["code_object_id"],
    sort: &["code_object_id"],
    origin: Origin::Source,
    about: "One row per loaded code object.",
    columns: &[
        PROCESS,
        RANK,
        id("code_object_id", "Code object, unique in the process"),
        id("agent_id", "Agent it was loaded for").null(),
        text("uri", "Where it came from").null(),
        int("load_base", Unit::Bytes, "Address it was loaded at").null(),
        int("load_size", Unit::Bytes, "Size in memory").null(),
    ],
};

pub(super) static KERNEL_SYMBOLS: Table = Table {
    name: "kernel_symbols",
    key: &["kernel_id"],
    sort: &["kernel_id"],
    origin: Origin::Source,
    about: "One row per kernel symbol, used or not.",
    columns: &[
        PROCESS,
        RANK,
        id("kernel_id", "Kernel symbol, unique in the process"),
        cat("kernel_name", "Full display name"),
        cat("short_name", "The source's truncated name, otherwise the name with template arguments folded"),
        cat("base_name", "Function name without namespaces, templates and parameters"),
        cat("mangled_name", "Symbol name, without the suffix .kd").null(),
        cat("category", "Category from the rule file, applied to the base name first"),
        int("vgpr", Unit::Count, "Architectural vector registers").null(),
        int("accum_vgpr", Unit::Count, "Accumulation vector registers").null(),
        int("sgpr", Unit::Count, "Scalar registers").null(),
        int("lds_static_bytes", Unit::Bytes, "Statically allocated LDS of a workgroup").null(),
        int("scratch_static_bytes", Unit::Bytes, "Statically allocated scratch memory of a work-item").null(),
        id("code_object_id", "Code object that holds it").null(),
    ],
};
