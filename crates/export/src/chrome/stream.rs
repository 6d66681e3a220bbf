//! A file of trace events. Calls are on threads of the process. Kernels and copies are on threads of another process,
//! which represents the GPU; the stream determines the thread id.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::{Context, Result};

use crate::timeline::{Counts, Event, ProcessFacts, Sink, Texts, TrackContent, TrackFacts, Value, WorkKind};

/// Bytes that are written at a time.
const BUFFER: usize = 256 << 10;
/// Thread ids per stream: the lanes of a stream start at its id times this.
const LANES: i64 = 100;
/// Thread ids from here on are for notes of processes and GPUs.
const NOTES: i64 = 1_000_000;
/// Numbers of GPUs are below this.
const MAX_GPUS: i64 = 4096;
/// Arguments that Kineto names differently.
const NAMES: [(&str, &str); 4] =
    [("corr_id", "correlation"), ("stream_ID", "stream"), ("copy_bytes", "bytes"), ("LDS_Block_Size", "shared memory")];
/// Sizes that Kineto writes as arrays of three.
const ARRAYS: [(&str, &str); 2] = [("grid", "grid_"), ("block", "workgroup_")];

/// Kineto's names of copies, by which readers distinguish them from kernels.
const COPIES: [(&str, &str); 4] = [
    ("MEMORY_COPY_HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)"),
    ("MEMORY_COPY_DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)"),
    ("MEMORY_COPY_DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)"),
    ("MEMORY_COPY_HOST_TO_HOST", "Memcpy HtoH (Host -> Host)"),
];

/// Facts about a file.
#[derive(Clone, Debug)]
pub struct Header {
    pub rank: i64,
    pub ranks: usize,
    /// Time that all others are relative to.
    pub base_ns: i64,
}

/// A track: the ids of its process and thread, and the category of its slices.
pub struct Track {
    pid: i64,
    tid: i64,
    kind: StreamKind,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamKind {
    Calls,
    Work { device: i64 },
    Notes,
    Counter,
}

/// How an argument is shown; computed once for each name.
#[derive(Clone, Debug)]
enum Shown {
    /// Under this name.
    As(String),
    /// An element of an array, which ends with its last element.
    Of { array: &'static str, place: usize },
}

/// Writer of a file.
pub struct Stream<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    base_ns: i64,
    pid: i64,
    rank: i64,
    is_first: bool,
    notes: i64,
    devices: BTreeSet<i64>,
    shown: BTreeMap<u32, Shown>,
    counts: Counts,
}

impl<'a> Stream<'a> {
    /// Starts a file. Readers find the rank with a regular expression that needs a blank after the colon.
    ///
    /// # Errors
    /// When the facts cannot be written as JSON.
    pub fn new(
        out: &'a mut dyn Write,
        header: &Header,
        process: &wavesieve_model::schema::process::Process,
    ) -> Result<Self> {
        let mut buffer = Vec::with_capacity(BUFFER + 4096);
        let (rank, ranks) = (header.rank, header.ranks);
        let devices: Vec<serde_json::Value> = process
            .facts
            .agents
            .iter()
            .filter(|agent| agent.is_gpu())
            .filter_map(|agent| {
                let gpu = process.gpus.get(&agent.agent_id)?.gpu;
                Some(serde_json::json!({ "id": gpu, "name": agent.name }))
            })
            .collect();
        let devices = serde_json::to_string(&devices)?;
        let base_ns = header.base_ns;
        write!(
            buffer,
            "{{\"schemaVersion\":1,\n\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {rank}, \"world_size\": {ranks}}},\n\
             \"deviceProperties\":{devices},\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":{base_ns},\n\"traceEvents\":["
        )?;
        Ok(Self {
            out,
            buffer,
            base_ns,
            pid: 0,
            rank,
            is_first: true,
            notes: NOTES,
            devices: BTreeSet::new(),
            shown: BTreeMap::new(),
            counts: Counts::default(),
        })
    }

    /// Writes the end, and returns the bytes of the file.
    ///
    /// # Errors
    /// When writing fails.
    pub fn close(mut self) -> Result<u64> {
        self.buffer.extend_from_slice(b"\n]}\n");
        self.flush()?;
        Ok(self.counts.bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer).context("cannot write the trace")?;
        self.counts.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the start of an event: its phase, process and thread.
    fn open(&mut self, phase: &str, pid: i64, tid: i64) {
        self.buffer.extend_from_slice(if self.is_first { b"\n" } else { b",\n" });
        self.is_first = false;
        self.buffer.extend_from_slice(b"{\"ph\":\"");
        self.buffer.extend_from_slice(phase.as_bytes());
        self.number("\",\"pid\":", pid);
        self.number(",\"tid\":", tid);
    }

    fn number(&mut self, before: &str, value: i64) {
        self.buffer.extend_from_slice(before.as_bytes());
        self.buffer.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// Writes a time or length in microseconds, exact to the nanosecond.
    fn microseconds(&mut self, before: &str, nanoseconds: i64) {
        self.buffer.extend_from_slice(before.as_bytes());
        if nanoseconds < 0 {
            self.buffer.push(b'-');
        }
        let nanoseconds = nanoseconds.unsigned_abs();
        self.buffer.extend_from_slice(itoa::Buffer::new().format(nanoseconds / 1000).as_bytes());
        let rest = nanoseconds % 1000;
        let digit = |value: u64| b'0' + (value % 10) as u8;
        self.buffer.extend_from_slice(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
    }

    fn text(&mut self, before: &str, text: &str) -> Result<()> {
        self.buffer.extend_from_slice(before.as_bytes());
        Ok(serde_json::to_writer(&mut self.buffer, text)?)
    }

    fn shut(&mut self, end: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(end);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Writes a fact about a process or a thread.
    fn fact(&mut self, kind: &str, pid: i64, tid: i64, key: &str, value: &serde_json::Value) -> Result<()> {
        self.open("M", pid, tid);
        self.text(",\"name\":", kind)?;
        self.buffer.extend_from_slice(b",\"args\":{");
        self.text("", key)?;
        self.buffer.push(b':');
        serde_json::to_writer(&mut self.buffer, value)?;
        self.shut(b"}}")
    }

    fn device(&mut self, gpu: i64) -> Result<()> {
        if self.devices.insert(gpu) {
            self.fact("process_name", gpu, 0, "name", &format!("GPU {gpu}").into())?;
            self.fact("process_labels", gpu, 0, "labels", &format!("GPU {gpu}").into())?;
            self.fact("process_sort_index", gpu, 0, "sort_index", &(5_000_000 + gpu).into())?;
        }
        Ok(())
    }

    /// Returns how an argument is shown.
    fn shown(&mut self, name: u32, texts: &Texts) -> Shown {
        if let Some(shown) = self.shown.get(&name) {
            return shown.clone();
        }
        let text = texts.text(name);
        let place = |prefix: &str| ["x", "y", "z"].iter().position(|axis| text.strip_prefix(prefix) == Some(axis));
        let array = ARRAYS.iter().find_map(|(array, prefix)| Some((*array, place(prefix)?)));
        let shown = match array {
            Some((array, place)) => Shown::Of { array, place },
            None => {
                let known = NAMES.iter().find(|(known, _)| *known == text);
                Shown::As(known.map_or(text, |(_, name)| name).to_owned())
            }
        };
        self.shown.insert(name, shown.clone());
        shown
    }

    /// Writes the arguments of an event.
    fn arguments(&mut self, event: &Event<'_>, kind: StreamKind, length_ns: i64, texts: &Texts) -> Result<()> {
        self.buffer.extend_from_slice(b",\"args\":{");
        let mut separator = "";
        if let StreamKind::Work { device } = kind {
            self.number("\"device\":", device);
            separator = ",";
        }
        let mut bytes = None;
        let mut block = [1_i64; 3];
        for (name, value) in event.all_arguments() {
            match self.shown(*name, texts) {
                Shown::As(shown) => {
                    self.text(separator, &shown)?;
                    match value {
                        Value::Integer(value) => {
                            if shown == "bytes" {
                                bytes = Some(*value);
                            }
                            self.number(":", *value);
                        }
                        Value::Text(text) => self.text(":", texts.text(*text))?,
                    }
                }
                Shown::Of { array, place } => {
                    let Value::Integer(mut value) = *value else { continue };
                    if let Some(size) = block.get_mut(place) {
                        // Grids are recorded in work-items and shown in blocks. The sizes of blocks come before those
                        // of grids.
                        match array {
                            "block" => *size = value.max(1),
                            _ => value = value.div_euclid(*size) + i64::from(value.rem_euclid(*size) > 0),
                        }
                    }
                    if place == 0 {
                        self.text(separator, array)?;
                        self.number(":[", value);
                    } else {
                        self.number(",", value);
                    }
                    if place == 2 {
                        self.buffer.push(b']');
                    }
                }
            }
            separator = ",";
        }
        if let Some(bytes) = bytes.filter(|_| length_ns > 0) {
            // Bytes per nanosecond are gigabytes per second.
            let rate = bytes as f64 / length_ns as f64;
            self.text(separator, "memory bandwidth (GB/s)")?;
            self.buffer.push(b':');
            serde_json::to_writer(&mut self.buffer, &rate)?;
        }
        self.buffer.push(b'}');
        Ok(())
    }

    /// Writes one end of a flow.
    fn flow(&mut self, phase: &str, track: &Track, at_ns: i64, id: u64) -> Result<()> {
        self.open(phase, track.pid, track.tid);
        self.microseconds(",\"ts\":", at_ns.saturating_sub(self.base_ns));
        self.buffer.extend_from_slice(b",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":");
        self.buffer.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
        self.shut(if phase == "f" { b",\"bp\":\"e\"}" } else { b"}" })
    }

    fn category<'t>(kind: StreamKind, category: &'t str, name: &str) -> &'t str {
        match (kind, category) {
            (StreamKind::Calls, "hip_api") => "cuda_runtime",
            (StreamKind::Calls, "hsa_api") => "cuda_driver",
            (StreamKind::Calls, "marker_api") => "user_annotation",
            (StreamKind::Work { .. }, "kernel_dispatch") if name.starts_with("__amd_rocclr_fillBuffer") => "gpu_memset",
            (StreamKind::Work { .. }, "kernel_dispatch") => "kernel",
            (StreamKind::Work { .. }, "memory_copy") => "gpu_memcpy",
            (_, other) => other,
        }
    }
}

impl Sink for Stream<'_> {
    type Track = Track;

    fn process(&mut self, facts: &ProcessFacts<'_>) -> Result<()> {
        self.pid = facts.pid;
        // Smaller process ids stand for GPUs.
        if self.pid < MAX_GPUS {
            self.pid += NOTES;
        }
        self.fact("process_name", self.pid, 0, "name", &facts.name.clone().into())?;
        let host = facts.process.facts.hostname.as_deref().unwrap_or_default();
        let labels = format!("CPU {host} pid {}", facts.process.facts.pid);
        self.fact("process_labels", self.pid, 0, "labels", &labels.trim().into())?;
        self.fact("process_sort_index", self.pid, 0, "sort_index", &self.rank.into())
    }

    fn group(&mut self, facts: &TrackFacts<'_>) -> Result<()> {
        match facts.place {
            TrackContent::Gpu { gpu } => self.device(gpu),
            _ => Ok(()),
        }
    }

    fn track(&mut self, facts: &TrackFacts<'_>) -> Result<Track> {
        self.counts.tracks += 1;
        let other = |stream: &mut Self| {
            stream.notes += 1;
            stream.notes
        };
        let (pid, tid, kind) = match facts.place {
            TrackContent::Thread { tid } => (self.pid, tid, StreamKind::Calls),
            TrackContent::BesideThread => (self.pid, other(self), StreamKind::Calls),
            TrackContent::Work { gpu, kind, number, lane } => {
                let pid = gpu.unwrap_or(self.pid);
                let lane = i64::try_from(lane).unwrap_or_default();
                let tid = match kind {
                    _ if lane >= LANES / 2 || !(0..i64::MAX / LANES).contains(&number) => other(self),
                    WorkKind::Kernels => number * LANES + lane,
                    WorkKind::Copies => number * LANES + LANES / 2 + lane,
                };
                (pid, tid, StreamKind::Work { device: gpu.unwrap_or(-1) })
            }
            TrackContent::Notes { gpu } => (gpu.unwrap_or(self.pid), other(self), StreamKind::Notes),
            TrackContent::Counter { gpu, .. } => (gpu.unwrap_or(self.pid), 0, StreamKind::Counter),
            TrackContent::Gpu { .. } | TrackContent::Group => (self.pid, 0, StreamKind::Notes),
        };
        if kind != StreamKind::Counter {
            self.fact("thread_name", pid, tid, "name", &facts.name.into())?;
            self.fact("thread_sort_index", pid, tid, "sort_index", &facts.order.into())?;
        }
        Ok(Track { pid, tid, kind, name: facts.name.to_owned() })
    }

    fn begin(&mut self, track: &mut Track, start_ns: i64, end_ns: i64, event: &Event<'_>, texts: &Texts) -> Result<()> {
        self.counts.slices += 1;
        let name = texts.text(event.name);
        self.open("X", track.pid, track.tid);
        self.microseconds(",\"ts\":", start_ns.saturating_sub(self.base_ns));
        let duration_ns = end_ns.saturating_sub(start_ns);
        self.microseconds(",\"dur\":", duration_ns);
        self.text(",\"cat\":", Self::category(track.kind, texts.text(event.category), name))?;
        let copy = COPIES.iter().find(|(known, _)| *known == name).filter(|_| track.kind != StreamKind::Calls);
        self.text(",\"name\":", copy.map_or(name, |(_, shown)| shown))?;
        self.arguments(event, track.kind, duration_ns, texts)?;
        self.shut(b"}")?;
        for id in event.flows {
            self.flow("s", track, start_ns, *id)?;
        }
        if let Some(id) = event.flow_end {
            self.counts.flows += 1;
            self.flow("f", track, start_ns, id)?;
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Track, _: i64) -> Result<()> {
        Ok(())
    }

    fn instant(&mut self, track: &mut Track, at_ns: i64, event: &Event<'_>, texts: &Texts) -> Result<()> {
        self.counts.instants += 1;
        self.open("i", track.pid, track.tid);
        self.microseconds(",\"ts\":", at_ns.saturating_sub(self.base_ns));
        self.text(",\"cat\":", texts.text(event.category))?;
        self.text(",\"name\":", texts.text(event.name))?;
        self.arguments(event, StreamKind::Notes, 0, texts)?;
        self.shut(b",\"s\":\"t\"}")
    }

    fn value(&mut self, track: &mut Track, at_ns: i64, value: f64) -> Result<()> {
        self.counts.counter_values += 1;
        self.open("C", track.pid, track.tid);
        self.microseconds(",\"ts\":", at_ns.saturating_sub(self.base_ns));
        self.text(",\"name\":", &track.name)?;
        self.buffer.extend_from_slice(b",\"args\":{\"value\":");
        serde_json::to_writer(&mut self.buffer, &value)?;
        self.shut(b"}}")
    }

    fn counts(&self) -> Counts {
        Counts { bytes: self.counts.bytes + self.buffer.len() as u64, ..self.counts }
    }
}
