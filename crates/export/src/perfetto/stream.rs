//! A Perfetto trace file: descriptions of tracks, then the events of each, one packet sequence a track with an incremental clock.
//! Field numbers are those of perfetto's trace_packet.proto, track_descriptor.proto and track_event.proto (v58).

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result};
use fnv::FnvHashMap;

use super::gpus::{Gpu, gpus};
use super::interned::{Interned, intern};
use super::scheduler::Scheduler;
use super::wire::{Message, varint_length};
use crate::timeline::{
    Counts, Event, ProcessFacts, Sink, Texts, ThreadState, TrackContent, TrackFacts, Value, WorkKind,
};
use wavesieve_model::schema::process::Process;

/// The clock of ROCm's timestamps, the clock of dates, and the incremental clock of each sequence.
const BOOT_TIME: u64 = 6;
const REAL_TIME: u64 = 1;
const OWN_CLOCK: u64 = 64;
/// Times from here on, in September 2001, are dates: no machine has been running for so long.
const FIRST_DATE_NS: i64 = 1_000_000_000_000_000_000;
/// Bytes that are written at a time.
const BUFFER: usize = 256 << 10;
/// Maximum number of tracks with their own sequence. A viewer needs 20 kB for each, so further tracks share one and
/// repeat their names.
const MAX_SEQUENCES: u64 = 2000;

/// Maximum number of lists of arguments whose bytes a track keeps.
const MAX_REPEATED: usize = 4096;

/// A track that events are written to, in the order of time.
#[derive(Debug)]
pub struct Track {
    /// Id of a track on the shared sequence.
    shared: Option<u64>,
    /// The end of the head of its packets: sequence and flags.
    head: [u8; 12],
    head_length: usize,
    last_ns: i64,
    typed: Option<TypedQueue>,
    categories: Interned,
    names: Interned,
    argument_names: Interned,
    argument_texts: Interned,
    /// The bytes of arguments that many events have, by their number.
    repeated: FnvHashMap<u32, Message>,
}

/// Fields of interned data: tables of texts that kernels refer to as GPU events.
const CONTEXTS: u32 = 23;
const SPECIFICATIONS: u32 = 24;
const KERNELS: u32 = 1000;
const LAUNCH_ARGUMENTS: u32 = 1001;
/// Numbers of the queue and the stage in each sequence.
const QUEUE: u64 = 1;
const STAGE: u64 = 2;
const HIP: u64 = 5;
const COMPUTE: u64 = 2;

/// A queue whose kernels are events of a GPU.
#[derive(Debug)]
struct TypedQueue {
    gpu: u64,
    name: String,
    is_described: bool,
}

/// Writer of a file.
pub struct Stream<'a> {
    out: &'a mut dyn Write,
    buffer: Message,
    next_sequence: u64,
    pid: i64,
    /// The process in the input, and the number of its context, by which readers of the file distinguish processes.
    process: i64,
    context: u64,
    has_dates: bool,
    event: Message,
    interned: Message,
    /// Whether kernels are events of GPUs.
    is_typed: bool,
    /// The places of the GPUs in the list of all, by process and GPU, and the number of the next event.
    gpus: BTreeMap<(i64, i64), u64>,
    next_event: u64,
    has_shared: bool,
    /// States of threads, which are written at the end.
    scheduler: Scheduler,
    counts: Counts,
}

impl<'a> Stream<'a> {
    /// Starts a file of these processes; the id identifies its content.
    ///
    /// # Errors
    /// When writing fails.
    pub fn new(
        out: &'a mut dyn Write,
        id: u128,
        attributes: &[(&str, String)],
        is_typed: bool,
        processes: &[&Process],
    ) -> Result<Self> {
        let (buffer, event, interned) = Default::default();
        let gpus: Vec<Gpu<'_>> = processes.iter().flat_map(|process| gpus(process)).collect();
        let mut stream = Self {
            out,
            next_sequence: 1,
            buffer,
            pid: 0,
            process: 0,
            context: 0,
            has_dates: false,
            event,
            interned,
            is_typed,
            gpus: (0..).zip(&gpus).map(|(number, gpu)| ((gpu.process, gpu.gpu), number)).collect(),
            next_event: 1,
            has_shared: false,
            scheduler: Scheduler::default(),
            counts: Counts::default(),
        };
        // Viewers detect the format by a byte above 127 near the start, which such an id has.
        stream.packet(|packet| {
            packet.message(89, |uuid| {
                uuid.varint(1, (id >> 64) as u64 | 1 << 63);
                uuid.varint(2, id as u64 | 1 << 63);
            });
        })?;
        stream.packet(|packet| {
            packet.message(126, |all| {
                for (key, text) in attributes {
                    all.message(1, |attribute| {
                        attribute.data(1, key.as_bytes());
                        attribute.data(3, text.as_bytes());
                    });
                }
            });
        })?;
        if !gpus.is_empty() {
            stream.packet(|packet| {
                packet.message(128, |all| gpus.iter().for_each(|gpu| all.message(1, |to| gpu.write(to))))
            })?;
        }
        // The root: processes and threads in the order of their ranks.
        stream.packet(|packet| {
            packet.message(60, |root| {
                root.varint(1, 0);
                root.varint(19, 1);
                root.varint(20, 1);
            });
        })?;
        Ok(stream)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// When writing fails.
    pub fn close(mut self) -> Result<()> {
        for packet in std::mem::take(&mut self.scheduler).packets() {
            self.packet(|to| to.raw(packet.bytes()))?;
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write_all(self.buffer.bytes()).context("cannot write the trace")?;
        self.counts.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes a packet that is not an event.
    fn packet(&mut self, fill: impl FnOnce(&mut Message)) -> Result<()> {
        self.buffer.message(1, fill);
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Describes a track.
    fn describe(&mut self, facts: &TrackFacts<'_>) -> Result<()> {
        let pid = self.pid;
        self.packet(|packet| {
            packet.message(60, |track| {
                track.varint(1, facts.uuid);
                if let TrackContent::Thread { tid } = facts.place {
                    track.message(4, |thread| {
                        thread.varint(1, pid as u64);
                        thread.varint(2, tid as u64);
                        thread.data(5, facts.name.as_bytes());
                    });
                    track.varint(12, facts.order as u64);
                    return;
                }
                track.data(2, facts.name.as_bytes());
                track.varint(5, facts.parent);
                if let TrackContent::Counter { unit, .. } = facts.place {
                    track.message(8, |counter| match unit {
                        "ns" => counter.varint(3, 1),
                        "bytes" => counter.varint(3, 3),
                        "count" => counter.varint(3, 2),
                        "" => {}
                        other => counter.data(6, other.as_bytes()),
                    });
                }
                // Children in the order of their ranks.
                track.varint(11, 3);
                track.varint(12, facts.order as u64);
                match facts.lanes_of {
                    // Equal names under a track are otherwise drawn as one.
                    None => track.varint(15, 2),
                    Some(key) => {
                        track.varint(15, 3);
                        track.varint(17, key);
                    }
                }
            });
        })
    }

    /// Writes the first packets of a sequence: its track, and its clock, which advances from event to event.
    fn start_sequence(&mut self, sequence: u64, uuid: u64) -> Result<()> {
        self.packet(|packet| {
            packet.varint(10, sequence);
            packet.varint(13, 1);
            packet.message(59, |defaults| {
                defaults.varint(58, OWN_CLOCK);
                defaults.message(11, |event| event.varint(11, uuid));
            });
        })?;
        self.packet(|packet| {
            packet.varint(10, sequence);
            packet.message(6, |snapshot| {
                snapshot.message(1, |clock| {
                    clock.varint(1, BOOT_TIME);
                    clock.varint(2, 0);
                });
                snapshot.message(1, |clock| {
                    clock.varint(1, OWN_CLOCK);
                    clock.varint(2, 0);
                    clock.varint(3, 1);
                });
                if sequence == 1 {
                    snapshot.varint(2, BOOT_TIME);
                }
            });
        })
    }

    /// Writes a packet of a track with the prepared event.
    fn write_event(&mut self, track: &mut Track, at_ns: i64) -> Result<()> {
        self.write_payload(track, at_ns, 11)
    }

    /// Ties the clock of the file to the clock of dates, once a time is a date.
    fn note_dates(&mut self, at_ns: i64) -> Result<()> {
        if self.has_dates || at_ns < FIRST_DATE_NS {
            return Ok(());
        }
        self.has_dates = true;
        self.packet(|packet| {
            packet.message(6, |snapshot| {
                for clock_id in [BOOT_TIME, REAL_TIME] {
                    snapshot.message(1, |clock| {
                        clock.varint(1, clock_id);
                        clock.varint(2, at_ns as u64);
                    });
                }
            });
        })
    }

    fn write_payload(&mut self, track: &mut Track, at_ns: i64, field: u32) -> Result<()> {
        self.note_dates(at_ns)?;
        let delta = at_ns.saturating_sub(track.last_ns).max(0) as u64;
        // The shared sequence has absolute times.
        if track.shared.is_none() {
            track.last_ns = at_ns.max(track.last_ns);
        }
        let head = track.head.get(..track.head_length).unwrap_or_default();
        let part = |field: u32, length: usize| match length {
            0 => 0,
            length => varint_length(u64::from(field << 3)) + varint_length(length as u64) + length,
        };
        let payload = part(field, self.event.len()).max(varint_length(u64::from(field << 3)) + 1);
        let length = 1 + varint_length(delta) + head.len() + part(12, self.interned.len()) + payload;
        self.buffer.raw(&[0x0a]);
        self.buffer.raw_varint(length as u64);
        self.buffer.varint(8, delta);
        self.buffer.raw(head);
        if !self.interned.is_empty() {
            self.buffer.data(12, self.interned.bytes());
        }
        self.buffer.data(field, self.event.bytes());
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// On a shared sequence each event names its track.
    fn name_shared(&mut self, track: &Track) {
        if let Some(uuid) = track.shared {
            self.event.varint(11, uuid);
        }
    }

    /// Prepares the event of a track that shares its sequence, with its texts.
    fn prepare_shared(&mut self, uuid: u64, kind: u64, event: &Event<'_>, texts: &Texts) {
        let message = &mut self.event;
        for (name, value) in event.all_arguments() {
            message.message(4, |argument| {
                match value {
                    Value::Text(text) => argument.data(6, texts.text(*text).as_bytes()),
                    Value::Integer(value) => argument.varint(4, *value as u64),
                }
                argument.data(10, texts.text(*name).as_bytes());
            });
        }
        message.varint(9, kind);
        message.varint(11, uuid);
        message.data(22, texts.text(event.category).as_bytes());
        message.data(23, texts.text(event.name).as_bytes());
    }

    fn prepare(&mut self, track: &mut Track, kind: u64, event: &Event<'_>, texts: &Texts) {
        self.event.clear();
        self.interned.clear();
        match track.shared {
            Some(uuid) => self.prepare_shared(uuid, kind, event, texts),
            None => self.prepare_interned(track, kind, event, texts),
        }
        // Kernels that are GPU events are linked as submissions, other work by arrows.
        let is_submitted = |flow: &u64| self.is_typed && flow & 1 == 0;
        let submitted: Vec<u64> = event.flows.iter().copied().filter(is_submitted).collect();
        event.flows.iter().filter(|flow| !is_submitted(flow)).for_each(|flow| self.event.fixed64(47, *flow));
        if !submitted.is_empty() {
            self.event.message(3000, |ids| submitted.iter().for_each(|id| ids.varint(1, *id)));
            self.event.varint(3001, HIP);
        }
        if let Some(flow) = event.flow_end {
            self.event.fixed64(48, flow);
            self.counts.flows += 1;
        }
    }

    /// Writes a kernel as a GPU event.
    fn write_kernel(
        &mut self,
        track: &mut Track,
        start_ns: i64,
        end_ns: i64,
        event: &Event<'_>,
        texts: &Texts,
    ) -> Result<()> {
        let Some(queue) = &mut track.typed else { return Ok(()) };
        self.event.clear();
        self.interned.clear();
        let id = event.flow_end.unwrap_or_else(|| {
            // Ids of flows have higher bits set.
            self.next_event += 1;
            self.next_event
        });
        self.counts.flows += u64::from(event.flow_end.is_some());
        let Self { event: message, interned, pid, context: number, .. } = self;
        if !queue.is_described {
            queue.is_described = true;
            interned.message(CONTEXTS, |context| {
                context.varint(1, *number);
                context.varint(2, *pid as u64);
                context.varint(3, HIP);
            });
            interned.message(SPECIFICATIONS, |specification| {
                specification.varint(1, QUEUE);
                specification.data(2, queue.name.as_bytes());
            });
            interned.message(SPECIFICATIONS, |specification| {
                specification.varint(1, STAGE);
                specification.data(2, b"Kernel");
                specification.varint(4, COMPUTE);
            });
        }
        let gpu = queue.gpu;
        let mut intern = |table: &mut Interned, field: u32, text: u32| intern(interned, table, field, text, texts);
        message.varint(1, id);
        message.varint(2, end_ns.abs_diff(start_ns));
        message.varint(5, *number);
        message.varint(11, gpu);
        message.varint(13, QUEUE);
        message.varint(14, STAGE);
        message.varint(19, intern(&mut track.categories, KERNELS, event.name));
        message.varint(20, intern(&mut track.names, 2, event.name));
        message.message(21, |launch| {
            for (field, prefix) in [(1, "grid_"), (2, "workgroup_")] {
                launch.message(field, |sizes| {
                    for (axis, letter) in (1..).zip(["x", "y", "z"]) {
                        let is_size = |name: u32| texts.text(name).strip_prefix(prefix) == Some(letter);
                        let size = event.all_arguments().find(|(name, _)| is_size(*name));
                        if let Some((_, Value::Integer(size))) = size {
                            sizes.varint(axis, *size as u64);
                        }
                    }
                });
            }
            for (name, value) in event.all_arguments() {
                if let Value::Integer(value) = value {
                    let name = intern(&mut track.argument_names, LAUNCH_ARGUMENTS, *name);
                    launch.pair(3, (1, name), (3, *value as u64));
                }
            }
        });
        self.write_payload(track, start_ns, 53)
    }

    fn prepare_interned(&mut self, track: &mut Track, kind: u64, event: &Event<'_>, texts: &Texts) {
        let Self { event: message, interned, .. } = self;
        let mut intern = |table: &mut Interned, field: u32, text: u32| intern(interned, table, field, text, texts);
        message.varint(3, intern(&mut track.categories, 1, event.category));
        let mut add = |message: &mut Message, (name, value): &(u32, Value)| {
            let name = intern(&mut track.argument_names, 3, *name);
            let value = match value {
                Value::Text(text) => (17, intern(&mut track.argument_texts, 29, *text)),
                Value::Integer(value) => (4, *value as u64),
            };
            message.pair(4, (1, name), value);
        };
        event.arguments.iter().for_each(|argument| add(message, argument));
        if !event.repeated.arguments.is_empty() {
            // Numbers of texts belong to the sequence, and so do these bytes.
            let number = event.repeated.number;
            if let Some(bytes) = track.repeated.get(&number) {
                message.raw(bytes.bytes());
            } else {
                let mut bytes = Message::default();
                event.repeated.arguments.iter().for_each(|argument| add(&mut bytes, argument));
                message.raw(bytes.bytes());
                if track.repeated.len() < MAX_REPEATED {
                    track.repeated.insert(number, bytes);
                }
            }
        }
        message.varint(9, kind);
        message.varint(10, intern(&mut track.names, 2, event.name));
    }
}

impl Sink for Stream<'_> {
    type Track = Track;

    fn process(&mut self, facts: &ProcessFacts<'_>) -> Result<()> {
        self.pid = facts.pid;
        self.process = facts.process.process;
        self.context += 1;
        let of_process = &facts.process.facts;
        self.packet(|packet| {
            packet.message(60, |track| {
                track.varint(1, facts.uuid);
                track.message(3, |process| {
                    process.varint(1, facts.pid as u64);
                    process.data(6, facts.name.as_bytes());
                    of_process.hostname.iter().for_each(|host| process.data(8, host.as_bytes()));
                    process.data(8, format!("pid {}", of_process.pid).as_bytes());
                });
                track.varint(12, facts.process.rank as u64);
            });
        })
    }

    fn group(&mut self, facts: &TrackFacts<'_>) -> Result<()> {
        self.describe(facts)
    }

    fn track(&mut self, facts: &TrackFacts<'_>) -> Result<Track> {
        self.counts.tracks += 1;
        let typed = match facts.place {
            TrackContent::Work { gpu, kind: WorkKind::Kernels, .. } if self.is_typed => {
                let next = self.gpus.len() as u64;
                let gpu = *self.gpus.entry((self.process, gpu.unwrap_or(-1))).or_insert(next);
                Some(TypedQueue { gpu, name: facts.name.to_owned(), is_described: false })
            }
            _ => None,
        };
        if typed.is_none() {
            self.describe(facts)?;
        }
        // GPU events refer to texts by number, so they need their own sequence.
        let sequence = if typed.is_some() { self.next_sequence } else { self.next_sequence.min(MAX_SEQUENCES + 1) };
        let shared = (sequence > MAX_SEQUENCES && typed.is_none()).then_some(facts.uuid);
        let mut head = Message::default();
        head.varint(10, sequence);
        head.varint(13, 2);
        if shared.is_some() {
            head.varint(58, BOOT_TIME);
            if !self.has_shared {
                self.has_shared = true;
                self.packet(|packet| {
                    packet.varint(10, sequence);
                    packet.varint(13, 1);
                })?;
            }
        } else {
            self.start_sequence(sequence, facts.uuid)?;
            self.next_sequence += 1;
        }
        let mut bytes = [0; 12];
        let head_length = head.len();
        bytes.iter_mut().zip(head.bytes()).for_each(|(to, from)| *to = *from);
        let (categories, names, argument_names, argument_texts) = Default::default();
        Ok(Track {
            shared,
            head: bytes,
            head_length,
            last_ns: 0,
            typed,
            categories,
            names,
            argument_names,
            argument_texts,
            repeated: FnvHashMap::default(),
        })
    }

    fn begin(&mut self, track: &mut Track, start_ns: i64, end_ns: i64, event: &Event<'_>, texts: &Texts) -> Result<()> {
        self.counts.slices += 1;
        if track.typed.is_some() {
            return self.write_kernel(track, start_ns, end_ns, event, texts);
        }
        self.prepare(track, 1, event, texts);
        self.write_event(track, start_ns)
    }

    fn end(&mut self, track: &mut Track, at_ns: i64) -> Result<()> {
        if track.typed.is_some() {
            return Ok(());
        }
        self.event.clear();
        self.interned.clear();
        self.event.varint(9, 2);
        self.name_shared(track);
        self.write_event(track, at_ns)
    }

    fn instant(&mut self, track: &mut Track, at_ns: i64, event: &Event<'_>, texts: &Texts) -> Result<()> {
        self.counts.instants += 1;
        self.prepare(track, 3, event, texts);
        self.write_event(track, at_ns)
    }

    fn value(&mut self, track: &mut Track, at_ns: i64, value: f64) -> Result<()> {
        self.counts.counter_values += 1;
        self.event.clear();
        self.interned.clear();
        self.event.varint(9, 4);
        // A whole number keeps all of its digits.
        if value == value.trunc() && value.abs() < 9e15 {
            self.event.varint(30, value as i64 as u64);
        } else {
            self.event.double(44, value);
        }
        self.name_shared(track);
        self.write_event(track, at_ns)
    }

    fn states(&mut self, states: Vec<ThreadState>) -> Result<u64> {
        Ok(self.scheduler.add(self.pid, states))
    }

    fn counts(&self) -> Counts {
        Counts { bytes: self.counts.bytes + self.buffer.len() as u64, ..self.counts }
    }
}
