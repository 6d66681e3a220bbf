//! Writes a whole trace, process after process.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result};
use xxhash_rust::xxh3::Xxh3;

use super::process::{Findings, ProcessWriter};
use super::sink::{Counts, Sink};
use super::texts::Texts;
use wavesieve_files::regular;
use wavesieve_model::schema;
use wavesieve_model::schema::facts::Role;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Arguments of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Arguments {
    /// None
    None,
    /// Ids, sizes and bytes, as rocprofv3 calls them
    #[default]
    Lean,
    /// Also the times in nanoseconds, which TraceLens reads
    Rocprof,
}

/// Meaning of a track of kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// A hardware queue
    #[default]
    Queue,
    /// A stream of the program
    Stream,
}

/// Tracks of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Tracks {
    /// As recorded; the fastest
    Recorded,
    /// Also idle time by cause, exposed communication, queue depths and iterations
    Analyzed,
    /// Also the critical path and findings
    #[default]
    All,
}

/// How a time line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub arguments: Arguments,
    pub by: By,
    pub tracks: Tracks,
    /// Whether kernels have their short names; the full ones are arguments.
    pub are_names_short: bool,
}

/// Records that the output lacks or changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Rows without a start.
    pub without_start: u64,
    /// Rows that end before they start, which have no length in the output.
    pub bad_ends: u64,
    /// Rows without an end, which last until the last end in the output.
    pub unfinished: u64,
    /// Slices of a thread that nest in no other, on tracks next to it.
    pub overlaps: u64,
    /// Flows to work that starts before its call.
    pub skewed_flows: u64,
    /// Flows that are left out because their call has too many.
    pub flows_beyond: u64,
    /// States of threads that are longer in the output, because nothing shows that they end.
    pub longer_states: u64,
}

impl Omitted {
    fn add(&mut self, other: &Self) {
        self.without_start += other.without_start;
        self.bad_ends += other.bad_ends;
        self.unfinished += other.unfinished;
        self.overlaps += other.overlaps;
        self.skewed_flows += other.skewed_flows;
        self.flows_beyond += other.flows_beyond;
        self.longer_states += other.longer_states;
    }
}

/// Result of writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub counts: Counts,
    pub omitted: Omitted,
}

impl Summary {
    /// Adds the counts of another file.
    pub fn add(&mut self, other: &Self) {
        let (counts, added) = (&mut self.counts, &other.counts);
        counts.slices += added.slices;
        counts.instants += added.instants;
        counts.counter_values += added.counter_values;
        counts.flows += added.flows;
        counts.tracks += added.tracks;
        counts.bytes += added.bytes;
        self.omitted.add(&other.omitted);
    }
}

/// Tables whose rows are counted to distinguish captures.
const COUNTED: [&str; 4] = ["kernels", "memory_copies", "regions", "marks"];

/// The processes that have a time line; counter passes have none.
pub fn members(trace: &Trace) -> impl Iterator<Item = &TraceProcess> {
    trace.members().iter().filter(|member| member.process.role == Role::Trace)
}

/// An id of the written content of some processes. Only the same content, filters and options give the same id.
pub fn content_id<'a>(
    trace: &Trace,
    members: impl Iterator<Item = &'a TraceProcess>,
    options: &Options,
    others: &[&str],
) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(
        format!("{:?} {options:?} {others:?} {}", trace.choice().command_line(), env!("CARGO_PKG_VERSION")).as_bytes(),
    );
    for member in members {
        let facts = &member.process.facts;
        let rows = COUNTED.map(|name| schema::table(name).map_or(0, |table| trace.recorded_rows(member, table)));
        let times = (facts.pid, facts.start_ns, facts.end_ns);
        let names = (&facts.guid, &facts.content_hash, &facts.command, &facts.hostname);
        hash.update(format!("{} {names:?} {times:?} {rows:?}", member.process.rank).as_bytes());
        hash_file(&mut hash, Path::new(&facts.path));
    }
    hash.digest128()
}

/// Adds the bytes of a file, or evenly spread pieces of a large one. Other captures are identified by their facts.
fn hash_file(hash: &mut Xxh3, path: &Path) {
    const PIECE_BYTES: u64 = 1 << 20;
    const PIECES: u64 = 256;
    let Ok(mut file) = regular::open(path) else { return };
    let length = file.metadata().map_or(0, |metadata| if metadata.is_file() { metadata.len() } else { 0 });
    hash.update(&length.to_le_bytes());
    let step = (length / PIECES).max(PIECE_BYTES);
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < length {
        bytes.clear();
        let is_read =
            file.seek(SeekFrom::Start(at)).and_then(|_| (&mut file).take(PIECE_BYTES).read_to_end(&mut bytes));
        if is_read.is_err() {
            return;
        }
        hash.update(&bytes);
        at = at.saturating_add(step);
    }
}

/// Writes the processes, which are read one after the other, and table after table.
///
/// # Errors
/// When a table cannot be read, or writing fails.
pub fn write<S: Sink>(trace: &Trace, options: &Options, findings: &Findings, sink: &mut S) -> Result<Summary> {
    write_members(trace, members(trace), options, findings, sink)
}

/// The meaning of a track of kernels. It is a stream if a process records no queues, so that work of several streams is
/// not in one track.
fn tracks_by(trace: &Trace, member: &TraceProcess, by: By) -> By {
    let rows = |name: &str| schema::table(name).map_or(0, |table| trace.recorded_rows(member, table));
    if by == By::Queue && rows("queues") == 0 && rows("streams") > 0 { By::Stream } else { by }
}

/// Writes some of the processes.
///
/// # Errors
/// When a table cannot be read, or writing fails.
pub fn write_members<'a, S: Sink>(
    trace: &'a Trace,
    members: impl Iterator<Item = &'a TraceProcess>,
    options: &Options,
    findings: &Findings,
    sink: &mut S,
) -> Result<Summary> {
    let mut omitted = Omitted::default();
    let mut pids: BTreeMap<i64, i64> = BTreeMap::new();
    for member in members {
        let earlier = pids.entry(member.process.facts.pid).or_insert(-1);
        *earlier += 1;
        let options = &Options { by: tracks_by(trace, member, options.by), ..*options };
        let mut writer = ProcessWriter {
            sink,
            trace,
            member,
            texts: Texts::default(),
            options,
            findings,
            earlier: *earlier,
            omitted: &mut omitted,
            gpus: BTreeMap::new(),
            cut_at: trace.cut_at(member),
            first_ns: None,
            last_ns: 0,
        };
        writer.write().with_context(|| format!("cannot write rank {}", member.process.rank))?;
    }
    Ok(Summary { counts: sink.counts(), omitted })
}
