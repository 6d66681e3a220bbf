//! Writes the records as rocprofv3 JSON.
//!
//! The content is that of the rocpd database of the same arguments. What cannot be the same:
//! - JSON has no guid, environment, parent pid, names of queues and streams, lists of unused queues, streams and threads,
//!   addresses of copies, and no stream or address for scratch memory.
//! - A mark is a call of `roctxMarkA` that ends when it starts. In rocpd 3 it is a sample, which has lost the function's name.
//! - rocpd numbers allocations and scratch together in one table, JSON keeps them in two lists without numbers.
//! - rocpd gives a copy or kernel its own call as the parent; in JSON they have no ancestor, and allocations have 0.
//! - A counter pass has its kernels in `counter_collection` alone, as `rocprofv3 --pmc` has it. A process that collects
//!   counters in addition to everything else has them in `kernel_dispatch` too.
//! - The record of a CPU says 0 XCCs and 0 MHz where a real one knows better, because the database says nothing.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde::Serialize;

use crate::arguments::JsonLayout;
use crate::json_kinds::Kinds;
use crate::json_output::JsonOutput;
use crate::json_records::{
    ApiCall, Correlation, CounterCollection, CounterRecord, DispatchData, Handle, HipPart, KernelDispatch,
    MarkerMessage, MemoryAllocation, MemoryCopy, ScratchMemory,
};
use crate::json_setup::{fill, process_value};
use crate::json_spool::Spools;
use crate::model::{Activity, Allocation, Copy, Dispatch, Mark, Region, Setup, Sink, domain};
use crate::platform::Pass;

const PROCESS: &str = include_str!("process.json");

/// One file, open for writing.
pub struct JsonFile {
    output: JsonOutput,
    directory: PathBuf,
    processes: u64,
}

impl JsonFile {
    /// Replaces the file at `path`.
    pub fn create(path: &Path, gzip: bool, layout: JsonLayout) -> Result<Self> {
        let mut output = JsonOutput::create(path, gzip, layout)?;
        output.write_all(br#"{"rocprofiler-sdk-tool":["#)?;
        let directory = path.parent().unwrap_or(Path::new(".")).to_owned();
        Ok(Self { output, directory, processes: 0 })
    }

    /// Begins one more process.
    pub fn add_process<'file>(&'file mut self, setup: &'file Setup, pass: Pass) -> JsonWriter<'file> {
        JsonWriter { spools: Spools::new(&self.directory), file: self, setup, pass, kinds: Kinds::new(), records: 0 }
    }

    /// Ends the file.
    pub fn close(mut self) -> Result<()> {
        self.output.write_all(b"]}")?;
        self.output.close()
    }
}

/// Writes one process. Its head names the end and its sections follow one another, so nothing is written before the end.
pub struct JsonWriter<'file> {
    file: &'file mut JsonFile,
    setup: &'file Setup,
    pass: Pass,
    kinds: Kinds,
    spools: Spools,
    records: u64,
}

impl JsonWriter<'_> {
    /// Writes the process, which ended at `end_ns`; returns the number of its records and messages.
    pub fn finish(mut self, end_ns: u64) -> Result<u64> {
        let output = &mut self.file.output;
        if self.file.processes > 0 {
            output.write_all(b",")?;
        }
        self.file.processes += 1;
        fill(PROCESS, output, |name, output| match name.strip_prefix("spool:") {
            Some(section) => self.spools.drain(section, output),
            None => Ok(output.write_all(process_value(name, self.setup, &self.kinds, end_ns)?.as_bytes())?),
        })?;
        let remaining = self.spools.remaining();
        ensure!(remaining.is_empty(), "process.json lacks {remaining:?}");
        Ok(self.records)
    }

    fn push(&mut self, section: &'static str, record: &impl Serialize) -> Result<()> {
        self.records += 1;
        self.spools.push(section, record)
    }

    fn region(&mut self, region: &Region) -> Result<()> {
        let section = match region.domain {
            domain::HIP | domain::HIP_COMPILER => "hip_api",
            domain::MARKER => "marker_api",
            domain::RCCL => "rccl_api",
            _ => "hsa_api",
        };
        let numbers = self.kinds.numbers(region.domain, region.name)?;
        let hip = (section == "hip_api").then(|| HipPart::successful(&region.arguments));
        let call = ApiCall {
            size: 64,
            kind: numbers.kind,
            operation: numbers.operation,
            correlation_id: Correlation::within(region.id, region.parent_id),
            start_timestamp: region.start_ns,
            end_timestamp: region.end_ns,
            thread_id: region.thread_id,
            hip,
        };
        self.push(section, &call)?;
        match &region.message {
            Some(message) => self.message(region.id, message),
            None => Ok(()),
        }
    }

    fn message(&mut self, correlation_id: i64, message: &str) -> Result<()> {
        self.push("marker_messages", &MarkerMessage { key: correlation_id, value: message })
    }

    fn mark(&mut self, mark: &Mark) -> Result<()> {
        let numbers = self.kinds.numbers(domain::MARKER, "roctxMarkA")?;
        let call = ApiCall {
            size: 64,
            kind: numbers.kind,
            operation: numbers.operation,
            correlation_id: Correlation::within(mark.correlation_id, 0),
            start_timestamp: mark.time_ns,
            end_timestamp: mark.time_ns,
            thread_id: mark.thread_id,
            hip: None,
        };
        self.push("marker_api", &call)?;
        self.message(mark.correlation_id, &mark.message)
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        if !dispatch.counters.is_empty() {
            let records = dispatch.counters.iter().flat_map(|values| {
                let counter_id = Handle { handle: values.counter_id };
                values.instances.iter().map(move |value| CounterRecord { counter_id, value: *value })
            });
            let collection = CounterCollection {
                thread_id: dispatch.thread_id,
                dispatch_data: DispatchData {
                    size: 136,
                    correlation_id: Correlation::asynchronous(dispatch.correlation_id),
                    start_timestamp: dispatch.start_ns,
                    end_timestamp: dispatch.end_ns,
                    dispatch_info: dispatch.into(),
                },
                records: records.collect(),
                stream_id: Handle { handle: dispatch.stream_id },
            };
            self.push("counter_collection", &collection)?;
        }
        if self.pass == Pass::Counters {
            return Ok(());
        }
        let numbers = self.kinds.numbers(domain::KERNEL, "KERNEL_DISPATCH_COMPLETE")?;
        let record = KernelDispatch {
            size: 184,
            kind: numbers.kind,
            operation: numbers.operation,
            thread_id: dispatch.thread_id,
            correlation_id: Correlation::asynchronous(dispatch.correlation_id),
            start_timestamp: dispatch.start_ns,
            end_timestamp: dispatch.end_ns,
            dispatch_info: dispatch.into(),
            stream_id: Handle { handle: dispatch.stream_id },
        };
        self.push("kernel_dispatch", &record)
    }

    fn copy(&mut self, copy: &Copy) -> Result<()> {
        let numbers = self.kinds.numbers(domain::COPY, copy.name)?;
        let record = MemoryCopy {
            size: 104,
            kind: numbers.kind,
            operation: numbers.operation,
            thread_id: copy.thread_id,
            correlation_id: Correlation::asynchronous(copy.correlation_id),
            start_timestamp: copy.start_ns,
            end_timestamp: copy.end_ns,
            dst_agent_id: Handle::of_agent(Some(copy.target_agent_id)),
            src_agent_id: Handle::of_agent(Some(copy.source_agent_id)),
            bytes: copy.bytes,
            stream_id: Handle { handle: copy.stream_id },
        };
        self.push("memory_copy", &record)
    }

    fn scratch(&mut self, allocation: &Allocation) -> Result<()> {
        let operation = format!("SCRATCH_MEMORY_{}", allocation.operation);
        let numbers = self.kinds.numbers(domain::SCRATCH, &operation)?;
        let record = ScratchMemory {
            size: 96,
            kind: numbers.kind,
            operation: numbers.operation,
            agent_id: Handle::of_agent(allocation.agent_id),
            queue_id: Handle { handle: allocation.queue_id.unwrap_or(0) },
            thread_id: allocation.thread_id,
            start_timestamp: allocation.start_ns,
            end_timestamp: allocation.end_ns,
            correlation_id: Correlation::within(allocation.correlation_id, 0),
            flags: allocation.flags.unwrap_or(0),
            allocation_size: allocation.bytes,
        };
        self.push("scratch_memory", &record)
    }

    fn allocation(&mut self, allocation: &Allocation) -> Result<()> {
        if allocation.level == "SCRATCH" {
            return self.scratch(allocation);
        }
        let operation = match allocation.operation {
            "ALLOC" => "MEMORY_ALLOCATION_ALLOCATE",
            _ => "MEMORY_ALLOCATION_FREE",
        };
        let numbers = self.kinds.numbers(domain::ALLOCATION, operation)?;
        let record = MemoryAllocation {
            size: 96,
            kind: numbers.kind,
            operation: numbers.operation,
            thread_id: allocation.thread_id,
            correlation_id: Correlation::within(allocation.correlation_id, 0),
            start_timestamp: allocation.start_ns,
            end_timestamp: allocation.end_ns,
            agent_id: Handle::of_agent(allocation.agent_id),
            address: format!("0x{:016x}", allocation.address),
            allocation_size: allocation.bytes,
            stream_id: Handle { handle: 0 },
        };
        self.push("memory_allocation", &record)
    }
}

impl Sink for JsonWriter<'_> {
    fn record(&mut self, activity: &Activity) -> Result<()> {
        match activity {
            Activity::Region(region) => self.region(region),
            Activity::Dispatch(dispatch) => self.dispatch(dispatch),
            Activity::Copy(copy) => self.copy(copy),
            Activity::Allocation(allocation) => self.allocation(allocation),
            Activity::Mark(mark) => self.mark(mark),
        }
    }
}
