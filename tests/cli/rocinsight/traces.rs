//! Small traces as rocprofv3 writes them, made of what a fact names.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::document as analysed;
use crate::rocprofv3_documents::{call, counted, dispatch, document, process};

/// Times of the facts begin at zero, which no trace does.
pub const OFFSET: i64 = 20_000_000_000;
const GPU: u64 = 901;
const HOST: u64 = 900;
/// Operations of copies.
pub const TO_DEVICE: i64 = 2;
pub const TO_HOST: i64 = 3;
/// Handle of the first counter.
const COUNTERS: i64 = 60;
/// Calls that a trace may name.
const CALLS: [&str; 5] = ["hipMalloc", "hipLaunchKernel", "hipHostMalloc", "hipMemcpy", "hipDeviceSynchronize"];

/// A trace that a fact is about.
#[derive(Default)]
pub struct Trace<'a> {
    /// Name, start and end.
    pub kernels: Vec<(&'a str, i64, i64)>,
    /// Operation, start, end and bytes.
    pub copies: Vec<(i64, i64, i64, i64)>,
    /// Values of a dispatch of the first kernel by counter.
    pub counters: Vec<(&'a str, i64)>,
    /// Function, correlation id, start and end; the id of the n-th kernel is 100 + n.
    pub calls: Vec<(&'a str, i64, i64, i64)>,
    /// Label, start and end.
    pub ranges: Vec<(&'a str, i64, i64)>,
    /// How long before the first event the process began.
    pub lead_ns: Option<i64>,
    /// Changes to what is written.
    pub changed: Option<&'a dyn Fn(&mut Value)>,
}

impl Trace<'_> {
    /// The process as rocprofv3 writes it.
    pub fn process(&self, pid: i64) -> Value {
        let mut names: Vec<&str> = self.kernels.iter().map(|(name, ..)| *name).collect();
        names.sort_unstable();
        names.dedup();
        let id = |name: &str| 1 + names.iter().position(|known| *known == name).unwrap() as i64;
        let mut process = process(pid);
        process["metadata"]["init_time"] = json!(OFFSET - self.lead_ns.unwrap_or(10));
        process["metadata"]["fini_time"] = json!(i64::MAX / 4);
        process["agents"].as_array_mut().unwrap().truncate(2);
        process["kernel_symbols"] = names
            .iter()
            .map(|name| {
                json!({"kernel_id": id(name), "code_object_id": 1, "kernel_name": name, "kernel_object": 1,
                    "formatted_kernel_name": name, "demangled_kernel_name": name, "truncated_kernel_name": name})
            })
            .collect();
        let kernels = self.kernels.iter().zip(1..);
        let kernels: Vec<Value> =
            kernels.map(|((name, start, end), at)| dispatched(at, id(name), OFFSET + start, OFFSET + end)).collect();
        let copies = self.copies.iter().zip(500..).map(|((operation, start, end, bytes), at)| {
            let mut copy = call(3, *operation, at, OFFSET + start, OFFSET + end);
            let (source, destination) = if *operation == TO_DEVICE { (HOST, GPU) } else { (GPU, HOST) };
            copy["src_agent_id"] = json!({"handle": source});
            copy["dst_agent_id"] = json!({"handle": destination});
            copy["bytes"] = json!(bytes);
            copy["stream_id"] = json!({"handle": 2});
            copy
        });
        let copies: Vec<Value> = copies.collect();
        process["buffer_records"] = json!({"kernel_dispatch": kernels, "memory_copy": copies});
        self.add_calls(&mut process);
        self.add_counters(&mut process, id);
        if let Some(change) = self.changed {
            change(&mut process);
        }
        process
    }

    fn add_calls(&self, process: &mut Value) {
        process["strings"]["buffer_records"][1]["operations"] = json!(CALLS);
        let calls = self.calls.iter().map(|(name, id, start, end)| {
            let operation = CALLS.iter().position(|known| known == name).unwrap() as i64;
            call(1, operation, *id, OFFSET + start, OFFSET + end)
        });
        let calls: Vec<Value> = calls.collect();
        if !calls.is_empty() {
            process["buffer_records"]["hip_api"] = json!(calls);
        }
        let ranges = self.ranges.iter().zip(9001..);
        let (ranges, labels): (Vec<Value>, Vec<Value>) = ranges
            .map(|((label, start, end), id)| {
                (call(2, 1, id, OFFSET + start, OFFSET + end), json!({"key": id, "value": label}))
            })
            .unzip();
        if !ranges.is_empty() {
            process["buffer_records"]["marker_api"] = json!(ranges);
            process["strings"]["marker_api"] = json!(labels);
        }
    }

    fn add_counters(&self, process: &mut Value, id: impl Fn(&str) -> i64) {
        if self.counters.is_empty() {
            return;
        }
        let declared = self.counters.iter().zip(COUNTERS..).map(|((name, _), handle)| {
            json!({"agent_id": {"handle": GPU}, "id": {"handle": handle}, "name": name,
                "instances": [{"instance_id": handle, "counter_id": handle, "dimensions": []}]})
        });
        process["counters"] = declared.collect();
        let values: Vec<(i64, Value)> =
            self.counters.iter().zip(COUNTERS..).map(|((_, value), handle)| (handle, json!(value))).collect();
        let mut record = counted(1, &values);
        match self.kernels.first() {
            Some((name, start, end)) => {
                record["dispatch_data"] = dispatched(1, id(name), OFFSET + start, OFFSET + end);
            }
            None => process["kernel_symbols"].as_array_mut().unwrap().push(json!({"kernel_id": 8, "code_object_id": 1,
                "kernel_name": "counted", "kernel_object": 1, "formatted_kernel_name": "counted"})),
        }
        process["callback_records"]["counter_collection"] = json!([record]);
    }

    /// The trace as a file of a directory.
    pub fn written(&self) -> Written {
        Written::of(&[("1_results.json", self.process(1))])
    }

    /// The document of rocinsight.
    pub fn document(&self) -> Value {
        analysed(&[&self.written().path()])
    }
}

/// A dispatch without scratch memory.
fn dispatched(id: i64, kernel: i64, start: i64, end: i64) -> Value {
    let mut dispatch = dispatch(id, kernel, GPU, start, end);
    dispatch["dispatch_info"]["private_segment_size"] = json!(0);
    dispatch
}

/// Traces in a directory of their own.
pub struct Written {
    directory: TempDir,
}

impl Written {
    /// Processes by the names of their files.
    pub fn of(processes: &[(&str, Value)]) -> Self {
        let directory = TempDir::new().unwrap();
        for (name, process) in processes {
            fs::write(directory.path().join(name), document(std::slice::from_ref(process)).to_string()).unwrap();
        }
        Self { directory }
    }

    /// Nothing yet.
    pub fn empty() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    /// With a file, whose path this is.
    pub fn add(&self, name: &str, text: &str) -> String {
        let path = self.directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The directory.
    pub fn path(&self) -> String {
        self.directory.path().to_str().unwrap().to_owned()
    }
}

/// A trace of kernels alone.
pub fn kernels<'a>(kernels: &[(&'a str, i64, i64)]) -> Trace<'a> {
    Trace { kernels: kernels.to_vec(), ..Trace::default() }
}

/// A trace of kernels and copies.
pub fn with_copies<'a>(kernels: &[(&'a str, i64, i64)], copies: &[(i64, i64, i64, i64)]) -> Trace<'a> {
    Trace { kernels: kernels.to_vec(), copies: copies.to_vec(), ..Trace::default() }
}

/// Four kernels of which each runs for a quarter of a time without pauses.
pub fn quarters(start: i64, end: i64) -> Vec<(&'static str, i64, i64)> {
    let step = (end - start) / 4;
    ["one", "two", "three", "four"]
        .into_iter()
        .zip(0..)
        .map(|(name, at)| (name, start + at * step, if at == 3 { end } else { start + (at + 1) * step }))
        .collect()
}
