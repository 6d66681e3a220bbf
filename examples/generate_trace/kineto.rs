//! Writes the records as a trace of the PyTorch profiler.
//!
//! The content is that of the rocpd database of the same arguments, limited to what this format has: calls of HIP, ranges as
//! annotations, kernels and copies. Calls of HSA, allocations and counters are left out. Each launch and copy has an operator of PyTorch
//! around it, and the kernels of collectives state what they transfer.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::arguments::JsonLayout;
use crate::json_output::JsonOutput;
use crate::model::{Activity, Copy, Dispatch, Mark, Region, Role, Setup, Sink, domain};

/// The base time: times in the file count from here.
const BASE_NS: u64 = 1_000_000_000;
/// Elements that a collective takes.
const COLLECTIVE_ELEMENTS: u64 = 1 << 20;

/// One file, open for writing.
pub struct KinetoFile {
    output: JsonOutput,
}

impl KinetoFile {
    /// Replaces the file at `path`.
    pub fn create(path: &Path, gzip: bool, layout: JsonLayout) -> Result<Self> {
        Ok(Self { output: JsonOutput::create(path, gzip, layout)? })
    }

    /// Begins the process of the file, one of so many ranks.
    pub fn add_process<'file>(&'file mut self, setup: &'file Setup, ranks: u64) -> Result<KinetoWriter<'file>> {
        let gpus = setup.agents.iter().filter(|agent| agent.kind == "GPU");
        let devices: Vec<Value> = gpus.map(|agent| device(agent.id, agent.product_name)).collect();
        let distributed = json!({
            "backend": "nccl",
            "rank": setup.process.rank,
            "world_size": ranks,
            "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": ranks}],
        });
        write!(
            self.output,
            "{{\"schemaVersion\": 1,\"deviceProperties\": {},\"distributedInfo\": {distributed},\"record_shapes\": 1,\
             \"displayTimeUnit\": \"ms\",\"baseTimeNanoseconds\": {BASE_NS},\"traceEvents\": [",
            Value::Array(devices)
        )?;
        Ok(KinetoWriter { output: &mut self.output, setup, ranks, collectives: 0, events: 0 })
    }

    /// Ends the file.
    pub fn close(self) -> Result<()> {
        self.output.close()
    }
}

fn device(id: i64, name: &str) -> Value {
    json!({
        "id": id, "name": name, "totalGlobalMem": 206_141_652_992_u64, "computeMajor": 9, "computeMinor": 4,
        "maxThreadsPerBlock": 1024, "warpSize": 64, "sharedMemPerBlock": 65_536, "numSms": 304,
        "maxSharedMemoryPerMultiProcessor": 65_536,
    })
}

/// Writes the events of one process.
pub struct KinetoWriter<'file> {
    output: &'file mut JsonOutput,
    setup: &'file Setup,
    ranks: u64,
    collectives: u64,
    events: u64,
}

impl KinetoWriter<'_> {
    /// Writes the names and the time of the recording, which ended at `end_ns`; returns the number of events.
    pub fn finish(mut self, end_ns: u64) -> Result<u64> {
        let (pid, start_ns) = (self.setup.process.pid, self.setup.process.start_ns);
        let command = self.setup.process.command.clone();
        self.name("process_name", pid, 0, json!({"name": command}))?;
        self.name("process_labels", pid, 0, json!({"labels": "CPU"}))?;
        for thread in &self.setup.thread_ids {
            self.name("thread_name", pid, *thread, json!({"name": format!("thread {thread} (python3)")}))?;
        }
        let span = Span { category: "Trace", name: "PyTorch Profiler (0)", start_ns, end_ns };
        self.event(&span, "\"Spans\"", "\"PyTorch Profiler\"", &json!({"Op count": 0}))?;
        self.output.write_all(b"],\"traceName\": \"trace.json\"}")?;
        Ok(self.events)
    }

    fn separate(&mut self) -> Result<()> {
        if self.events > 0 {
            self.output.write_all(b",")?;
        }
        self.events += 1;
        Ok(())
    }

    fn event(&mut self, span: &Span<'_>, pid: &str, tid: &str, args: &Value) -> Result<()> {
        self.separate()?;
        let Span { category, name, start_ns, end_ns } = span;
        let (start, length) = (microseconds(start_ns.saturating_sub(BASE_NS)), microseconds(end_ns - start_ns));
        let (name, args) = (Value::from(*name), args.to_string());
        write!(
            self.output,
            "{{\"ph\": \"X\",\"cat\": \"{category}\",\"name\": {name},\"pid\": {pid},\"tid\": {tid},\"ts\": {start},\
             \"dur\": {length},\"args\": {args}}}"
        )?;
        Ok(())
    }

    fn flow(&mut self, phase: &str, id: i64, pid: i64, tid: i64, time_ns: u64) -> Result<()> {
        self.separate()?;
        let time = microseconds(time_ns.saturating_sub(BASE_NS));
        write!(
            self.output,
            "{{\"ph\": \"{phase}\",\"id\": {id},\"pid\": {pid},\"tid\": {tid},\"ts\": {time},\"cat\": \"ac2g\",\
             \"name\": \"ac2g\",\"bp\": \"e\"}}"
        )?;
        Ok(())
    }

    fn name(&mut self, what: &str, pid: i64, tid: i64, args: Value) -> Result<()> {
        self.separate()?;
        write!(
            self.output,
            "{{\"name\": \"{what}\",\"ph\": \"M\",\"ts\": 0.000,\"pid\": {pid},\"tid\": {tid},\"args\": {args}}}"
        )?;
        Ok(())
    }

    fn region(&mut self, region: &Region) -> Result<()> {
        let pid = self.setup.process.pid.to_string();
        let tid = region.thread_id.to_string();
        let span = |category, name| Span { category, name, start_ns: region.start_ns, end_ns: region.end_ns };
        match (region.domain, &region.message) {
            (domain::HIP, _) => {
                let operator = match region.name {
                    name if name.contains("Launch") => Some("aten::mul"),
                    name if name.contains("Memcpy") => Some("aten::copy_"),
                    _ => None,
                };
                let mut args = json!({"correlation": region.id});
                if let Some(operator) = operator {
                    let rows = 64 + region.id % 4 * 64;
                    let mut shapes = json!({
                        "External id": region.id,
                        "Concrete Inputs": ["", ""],
                        "Input type": ["c10::BFloat16", "c10::BFloat16"],
                        "Input Strides": [[1024, 1], []],
                        "Input Dims": [[rows, 1024], []],
                    });
                    // Every fourth is recorded by autograd, as one that needs gradients is.
                    if region.id % 4 == 0 {
                        add(&mut shapes, json!({"Sequence number": region.id, "Fwd thread id": 0}));
                    }
                    self.event(&span("cpu_op", operator), &pid, &tid, &shapes)?;
                    args = json!({"External id": region.id, "correlation": region.id});
                    self.flow("s", region.id, self.setup.process.pid, region.thread_id, region.start_ns)?;
                }
                self.event(&span("cuda_runtime", region.name), &pid, &tid, &args)
            }
            (domain::MARKER, Some(message)) => {
                if let Some(layer) = message.strip_prefix("layer ") {
                    let name = format!("nn.Module: Layer_{layer}");
                    let module = Span {
                        category: "python_function",
                        name: &name,
                        start_ns: region.start_ns,
                        end_ns: region.end_ns,
                    };
                    self.event(&module, &pid, &tid, &json!({"Python id": region.id}))?;
                }
                if message == "backward" {
                    let node = span("cpu_op", "autograd::engine::evaluate_function: MulBackward0");
                    self.event(&node, &pid, &tid, &json!({"Sequence number": 0, "Fwd thread id": 1}))?;
                }
                self.event(&span("user_annotation", message), &pid, &tid, &json!({}))
            }
            _ => Ok(()),
        }
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        let symbol = self.setup.symbols.iter().find(|symbol| symbol.id == dispatch.kernel_id);
        let template = symbol.context("a dispatch without kernel")?.template;
        let blocks: Vec<u32> =
            dispatch.grid.iter().zip(dispatch.workgroup).map(|(items, size)| items / size.max(1)).collect();
        let mut args = json!({
            "External id": dispatch.correlation_id,
            "device": dispatch.agent_id,
            "stream": dispatch.stream_id,
            "correlation": dispatch.correlation_id,
            "kind": "Dispatch Kernel",
            "grid": blocks,
            "block": dispatch.workgroup,
        });
        if template.role == Role::Communication {
            let members: Vec<String> = (0..self.ranks).map(|rank| rank.to_string()).collect();
            let collective = json!({
                "Collective name": "allreduce",
                "In msg nelems": COLLECTIVE_ELEMENTS,
                "Out msg nelems": COLLECTIVE_ELEMENTS,
                "Group size": self.ranks,
                "dtype": "BFloat16",
                "Process Group Name": "0",
                "Process Group Description": "default_pg",
                "Process Group Ranks": format!("[{}]", members.join(", ")),
                "Seq": self.collectives,
            });
            self.collectives += 1;
            add(&mut args, collective);
        }
        let (device, stream) = (dispatch.agent_id.to_string(), dispatch.stream_id.to_string());
        let (start_ns, end_ns) = (dispatch.start_ns, dispatch.end_ns);
        let span = Span { category: "kernel", name: template.display_name, start_ns, end_ns };
        self.event(&span, &device, &stream, &args)?;
        self.flow("f", dispatch.correlation_id, dispatch.agent_id, dispatch.stream_id, start_ns)
    }

    fn copy(&mut self, copy: &Copy) -> Result<()> {
        let is_gpu = |id: i64| self.setup.agents.iter().any(|agent| agent.id == id && agent.kind == "GPU");
        let (kind, name, device) = match (is_gpu(copy.source_agent_id), is_gpu(copy.target_agent_id)) {
            (false, true) => ("HtoD", "Memcpy HtoD (Host -> Device)", copy.target_agent_id),
            (true, false) => ("DtoH", "Memcpy DtoH (Device -> Host)", copy.source_agent_id),
            (true, true) => ("DtoD", "Memcpy DtoD (Device -> Device)", copy.source_agent_id),
            (false, false) => ("HtoH", "Memcpy HtoH (Host -> Host)", copy.source_agent_id),
        };
        let mut args = json!({
            "device": device,
            "stream": copy.stream_id,
            "correlation": copy.correlation_id,
            "kind": kind,
            "bytes": copy.bytes,
        });
        if kind == "DtoD" && copy.source_agent_id != copy.target_agent_id {
            add(&mut args, json!({"fromDevice": copy.source_agent_id, "toDevice": copy.target_agent_id}));
        }
        let span = Span { category: "gpu_memcpy", name, start_ns: copy.start_ns, end_ns: copy.end_ns };
        self.event(&span, &device.to_string(), &copy.stream_id.to_string(), &args)
    }

    fn mark(&mut self, mark: &Mark) -> Result<()> {
        let span =
            Span { category: "user_annotation", name: &mark.message, start_ns: mark.time_ns, end_ns: mark.time_ns };
        self.event(&span, &self.setup.process.pid.to_string(), &mark.thread_id.to_string(), &json!({}))
    }
}

/// Adds the members of an object to another.
fn add(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
}

/// An event with its time.
struct Span<'a> {
    category: &'a str,
    name: &'a str,
    start_ns: u64,
    end_ns: u64,
}

/// Microseconds with three decimals, as the profiler writes them.
fn microseconds(time_ns: u64) -> String {
    format!("{}.{:03}", time_ns / 1000, time_ns % 1000)
}

impl Sink for KinetoWriter<'_> {
    fn record(&mut self, activity: &Activity) -> Result<()> {
        match activity {
            Activity::Region(region) => self.region(region),
            Activity::Dispatch(dispatch) => self.dispatch(dispatch),
            Activity::Copy(copy) => self.copy(copy),
            Activity::Mark(mark) => self.mark(mark),
            Activity::Allocation(_) => Ok(()),
        }
    }
}
