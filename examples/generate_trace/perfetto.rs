//! Writes a process as a Perfetto trace of rocprofv3, with scheduler events as the service of Perfetto records them.
//!
//! Field numbers: `protos/perfetto/trace` of Perfetto. The scheduler events of every other bundle are in columns (compact).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::model::{Activity, Dispatch, Region, Setup, Sink, domain};

/// Scheduler events in a bundle.
const BUNDLE: usize = 64;
/// The packet sequence of the events.
const SEQUENCE: u64 = 1;
/// Uuids of tracks: the process, queues from here on, and threads by their ids.
const PROCESS_TRACK: u64 = 1;
const QUEUE_TRACKS: u64 = 100;
/// The CPU of all scheduler events.
pub const CPU: u64 = 3;
/// The state in which a preempted thread leaves its CPU.
pub const PREEMPTED: u64 = 0x100;
/// Those of a thread that sleeps, and of one that cannot be interrupted.
pub const SLEEPS: u64 = 1;
pub const WAITS_FOR_DISK: u64 = 2;

/// What the scheduler does at a time.
#[derive(Debug, Clone, Copy)]
pub enum Scheduled {
    /// The first thread leaves the CPU in a state of the kernel, and the second one takes it.
    Switch(i64, u64, i64),
    /// A thread may run again.
    Waking(i64),
}

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn varint(mut self, field: u64, value: u64) -> Self {
        self.raw_varint(field << 3);
        self.raw_varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.raw_varint(field << 3 | 2);
        self.raw_varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn message(self, field: u64, inner: &Self) -> Self {
        self.bytes(field, &inner.0)
    }

    fn packed(self, field: u64, values: impl Iterator<Item = u64>) -> Self {
        let mut inner = Self::default();
        values.for_each(|value| inner.raw_varint(value));
        self.message(field, &inner)
    }
}

/// Writes the events of one process.
pub struct PerfettoWriter<'a> {
    setup: &'a Setup,
    file: Message,
    rows: u64,
}

impl<'a> PerfettoWriter<'a> {
    /// Describes the tracks.
    pub fn new(setup: &'a Setup) -> Self {
        let mut writer = Self { setup, file: Message::default(), rows: 0 };
        let Setup { process, .. } = setup;
        let pid = process.pid as u64;
        let track = |uuid: u64| Message::default().varint(1, uuid);
        let described = Message::default().varint(1, pid).bytes(6, process.command.as_bytes());
        writer.packet(&Message::default().message(60, &track(PROCESS_TRACK).message(3, &described)));
        for tid in &setup.thread_ids {
            let thread = Message::default().varint(1, pid).varint(2, *tid as u64).bytes(5, b"python3");
            writer.packet(
                &Message::default().message(60, &track(*tid as u64).varint(5, PROCESS_TRACK).message(4, &thread)),
            );
        }
        for agent in setup.agents.iter().filter(|agent| agent.kind == "GPU") {
            for queue in &setup.queues {
                let name = format!("COMPUTE AGENT [{}] QUEUE [{}] (GPU)", agent.id, queue.id);
                let track = track(queue_track(agent.id, queue.id)).varint(5, PROCESS_TRACK).bytes(2, name.as_bytes());
                writer.packet(&Message::default().message(60, &track));
            }
        }
        writer
    }

    fn packet(&mut self, packet: &Message) {
        let packet = Message(packet.0.clone()).varint(10, SEQUENCE);
        self.file = std::mem::take(&mut self.file).message(1, &packet);
    }

    /// A slice: its start with category, name and arguments, and its end.
    fn slice(&mut self, track: u64, (category, name): (&str, &str), times: [u64; 2], arguments: &[(&str, u64)]) {
        let event = |kind: u64| Message::default().varint(9, kind).varint(11, track);
        let mut start = event(1).bytes(22, category.as_bytes()).bytes(23, name.as_bytes());
        for (name, value) in arguments {
            start = start.message(4, &Message::default().bytes(10, name.as_bytes()).varint(3, *value));
        }
        let [start_ns, end_ns] = times;
        self.packet(&Message::default().varint(8, start_ns).message(11, &start));
        self.packet(&Message::default().varint(8, end_ns).message(11, &event(2)));
        self.rows += 1;
    }

    fn region(&mut self, region: &Region) {
        let marker = region.domain == domain::MARKER;
        let category = if marker { "marker_api" } else { "hip_api" };
        let name = region.message.as_deref().unwrap_or(region.name);
        let times = [region.start_ns, region.end_ns];
        self.slice(region.thread_id as u64, (category, name), times, &[("corr_id", region.id as u64)]);
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        let symbol = self.setup.symbols.iter().find(|symbol| symbol.id == dispatch.kernel_id);
        let name = symbol.context("a dispatch without kernel")?.template.display_name;
        let arguments = [
            ("corr_id", dispatch.correlation_id as u64),
            ("tid", dispatch.thread_id as u64),
            ("agent", dispatch.agent_id as u64),
            ("queue", dispatch.queue_id as u64),
            ("dispatch_id", dispatch.id as u64),
            ("kernel_id", dispatch.kernel_id as u64),
        ];
        let track = queue_track(dispatch.agent_id, dispatch.queue_id);
        self.slice(track, ("kernel_dispatch", name), [dispatch.start_ns, dispatch.end_ns], &arguments);
        Ok(())
    }

    /// Adds the scheduler events of the CPU, which are in order, in bundles of both forms by turns.
    pub fn schedule(&mut self, events: &[(u64, Scheduled)]) {
        for (number, bundle) in events.chunks(BUNDLE).enumerate() {
            let mut written = Message::default().varint(1, CPU);
            if number % 2 == 1 {
                let switches = bundle.iter().filter_map(|(time, what)| match what {
                    Scheduled::Switch(_, state, to) => Some((*time, *state, *to as u64)),
                    Scheduled::Waking(_) => None,
                });
                let wakings = bundle.iter().filter_map(|(time, what)| match what {
                    Scheduled::Waking(tid) => Some((*time, *tid as u64)),
                    Scheduled::Switch(..) => None,
                });
                let (switches, wakings): (Vec<_>, Vec<_>) = (switches.collect(), wakings.collect());
                let compact = Message::default()
                    .packed(1, differences(switches.iter().map(|(time, ..)| *time)))
                    .packed(2, switches.iter().map(|(_, state, _)| *state))
                    .packed(3, switches.iter().map(|(.., to)| *to))
                    .packed(7, differences(wakings.iter().map(|(time, _)| *time)))
                    .packed(8, wakings.iter().map(|(_, tid)| *tid));
                written = written.message(4, &compact);
            } else {
                for (time, what) in bundle {
                    let event = Message::default().varint(1, *time);
                    let event = match what {
                        Scheduled::Switch(from, state, to) => {
                            let switch = Message::default().varint(2, *from as u64).varint(4, *state);
                            event.message(4, &switch.varint(6, *to as u64))
                        }
                        Scheduled::Waking(tid) => event.message(20, &Message::default().varint(2, *tid as u64)),
                    };
                    written = written.message(2, &event);
                }
            }
            self.packet(&Message::default().message(1, &written));
        }
    }

    /// Writes the file; returns the number of slices.
    pub fn finish(self, path: &Path) -> Result<u64> {
        let folder = path.parent().context("a file without folder")?;
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(path, &self.file.0))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(self.rows)
    }
}

fn queue_track(agent: i64, queue: i64) -> u64 {
    QUEUE_TRACKS + (agent * 16 + queue) as u64
}

fn differences(times: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    times.scan(0, |last, time| Some(time - std::mem::replace(last, time)))
}

impl Sink for PerfettoWriter<'_> {
    fn record(&mut self, activity: &Activity) -> Result<()> {
        match activity {
            Activity::Region(region) => self.region(region),
            Activity::Dispatch(dispatch) => self.dispatch(dispatch)?,
            // Rocprofv3 writes allocations as counters, which are not read; these runs have no copies.
            Activity::Copy(_) | Activity::Allocation(_) | Activity::Mark(_) => {}
        }
        Ok(())
    }
}
