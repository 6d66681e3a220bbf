//! Records that the time line keeps for each process while a trace is read.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use parking_lot::Mutex;
use polars::prelude::{DataFrame, IntoLazy as _};

use super::columns::{Extent, extent, integers, table, texts, times};
use super::kinds::Kinds;
use super::pieces::{Piece, joined, reduced};
use wavesieve_model::schema::facts::Role;
use wavesieve_tables::columns::frames::{collected, is_identity, selected};
use wavesieve_tables::columns::requests::{ProcessTables, Request, columns_of, known_table};
use wavesieve_tables::trace::consumer::TableConsumer;
use wavesieve_tables::trace::{Trace, TraceProcess};

/// Number of dispatches above which the critical path is left out: it takes as much time as everything else.
const MAX_DISPATCHES: u64 = 1_000_000;
/// Memory for tables that are kept until windows are chosen. If all tables need more, those of chosen processes are read again.
const KEPT_BYTES: u64 = 512 << 20;
/// Pieces of the time of all GPUs together that are kept.
const MAX_PIECES: usize = 1 << 20;
/// Pieces of a GPU: enough for exact shares of each bin if there are few GPUs.
const PIECES: (usize, usize) = (1 << 11, 1 << 16);

/// A unit of work of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its ordinal.
    pub iteration: i64,
    /// `step`, `iteration` …
    pub unit: String,
    /// `steady`, `warmup`, `prefill` …
    pub phase: String,
    /// Level of durations.
    pub level: i64,
    /// Its time.
    pub time: Extent,
}

/// A part of the run of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunPart {
    /// `warmup`, `steady`, `decode` …
    pub kind: String,
    /// Its time.
    pub time: Extent,
}

/// The longest intervals of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Longest {
    /// In the whole run.
    pub whole: Option<Extent>,
    /// In its steady part.
    pub steady: Option<Extent>,
}

/// The time of a GPU.
#[derive(Clone, Debug, Default)]
pub(super) struct GpuRecord {
    /// Index in its process.
    pub gpu: i64,
    /// Its activity.
    pub pieces: Vec<Piece>,
    /// The number of cells of equal width in which pieces are summed up; `None` if they are exact.
    pub cells: Option<usize>,
    /// Longest interval of each kind.
    pub longest: BTreeMap<usize, Longest>,
    /// Time with work.
    pub busy_ns: i64,
    /// Time in which only communication ran.
    pub waits_ns: i64,
}

/// Records of a process.
#[derive(Clone, Default)]
pub(super) struct ProcessRecord {
    /// Join key.
    pub process: i64,
    /// Label.
    pub rank: i64,
    /// Dense number of its clock.
    pub clock: i64,
    /// To be added to its times.
    pub offset_ns: i64,
    /// GPUs with work.
    pub gpus: Vec<GpuRecord>,
    /// From its first event to its last one.
    pub extent: Option<Extent>,
    /// Units of work.
    pub units: Vec<Unit>,
    /// Parts of the run.
    pub parts: Vec<RunPart>,
    /// Its tables, if they are kept.
    pub tables: Option<ProcessTables>,
}

/// Collects records of the processes of a trace.
pub struct TimelineReader {
    /// Columns of chosen processes.
    request: Request,
    /// Processes to read.
    wanted: BTreeSet<i64>,
    /// Whether the tables of all of them are kept.
    are_kept: bool,
    /// Pieces of a process.
    pieces: usize,
    read: Mutex<Records>,
}

/// Records by process, with the kinds of their pieces.
#[derive(Clone, Default)]
pub(super) struct Records {
    /// By process.
    pub processes: BTreeMap<i64, ProcessRecord>,
    /// Numbers of kinds.
    pub kinds: Kinds,
    /// Why there is no record, by process.
    pub failures: BTreeMap<i64, String>,
}

/// Columns of the overview.
fn whole_run_request() -> Request {
    requested(&WHOLE_RUN)
}

/// Columns of `kernels` that lanes show.
pub const KERNEL_COLUMNS: [&str; 10] = [
    "dispatch_id",
    "kernel_name",
    "category",
    "gpu",
    "queue_id",
    "stream_id",
    "region_name",
    "start_ns",
    "end_ns",
    "valid",
];

const WHOLE_RUN: [(&str, &[&str]); 4] = [
    ("gpu_segments", &["gpu", "start_ns", "end_ns", "compute", "comm", "copies"]),
    ("idle_gaps", &["gpu", "gap_id", "start_ns", "end_ns", "cause", "api_name", "kernel_after"]),
    ("iterations", &["iteration", "unit", "phase", "level", "start_ns", "end_ns"]),
    ("run_parts", &["kind", "start_ns", "end_ns"]),
];

fn requested(tables: &[(&'static str, &[&'static str])]) -> Request {
    tables.iter().map(|(name, columns)| (*name, columns.iter().copied().collect())).collect()
}

/// Columns of the overview and of windows.
fn request(has_path: bool) -> Request {
    let mut tables: Vec<(&'static str, &[&'static str])> = vec![
        ("kernels", &KERNEL_COLUMNS),
        ("memory_copies", &["copy_id", "direction", "gpu", "peer_gpu", "bytes", "start_ns", "end_ns", "valid"]),
        ("regions", &["region_id", "domain", "category", "name", "message", "tid", "start_ns", "end_ns", "valid"]),
        ("launches", &["tid", "gpu", "kind", "target_id", "api_start_ns", "api_end_ns", "start_ns", "end_ns"]),
        ("counter_dispatches", &["dispatch_id", "kernel_name", "gpu", "start_ns", "end_ns"]),
    ];
    if has_path {
        tables.push(("critical_path", &["kind", "target_id", "gpu", "tid", "start_ns", "end_ns"]));
    }
    tables.extend(WHOLE_RUN);
    requested(&tables)
}

impl TimelineReader {
    /// A reader for the processes of a trace.
    pub fn new(trace: &Trace) -> Self {
        Self::within(trace, KEPT_BYTES)
    }

    /// The same with a limit for the bytes of tables that are kept until windows are chosen.
    pub(super) fn within(trace: &Trace, kept_bytes: u64) -> Self {
        let request = request(trace.recorded_dispatches() <= MAX_DISPATCHES);
        // The times of counter passes are not the times of the program; they are better than nothing.
        let of_role = |role: Role| trace.own_members().filter(move |member| member.process.role == role);
        let role = if of_role(Role::Trace).next().is_some() { Role::Trace } else { Role::Counters };
        let wanted: BTreeSet<i64> = of_role(role).map(|member| member.process.process).collect();
        let bytes = of_role(role).map(|member| member.row_bytes_of(&request)).fold(0, u64::saturating_add);
        let are_kept = wanted.len() == 1 || bytes <= kept_bytes;
        let pieces = MAX_PIECES / wanted.len().max(1);
        Self { request, wanted, are_kept, pieces, read: Mutex::default() }
    }

    /// The consumer that fills it while the trace is read for something else.
    pub fn consumer(&self) -> TableConsumer<'_> {
        let request = if self.are_kept { self.request.clone() } else { whole_run_request() };
        TableConsumer::new(request, |member, tables| {
            if self.wanted.contains(&member.process.process) {
                // A page without a time line is better than no page.
                if let Err(reason) = self.take(member, tables) {
                    let rank = member.process.rank;
                    self.read.lock().failures.insert(member.process.process, format!("rank {rank}: {reason:#}"));
                }
            }
            Ok(())
        })
    }

    fn take(&self, member: &TraceProcess, tables: &ProcessTables) -> Result<()> {
        let mut record = self.record(member, tables)?;
        if self.are_kept {
            record.tables = Some(self.narrowed(tables)?);
        }
        self.read.lock().processes.insert(record.process, record);
        Ok(())
    }

    /// Only the columns of the request, so that the others can be dropped.
    fn narrowed(&self, tables: &ProcessTables) -> Result<ProcessTables> {
        let narrow = |(name, frame): (&&'static str, _)| {
            let columns = self.request.get(name)?;
            let narrow = |table| {
                let own = columns_of(table, columns).filter(|name| !is_identity(name));
                Ok((*name, collected(&selected(frame, own)?)?.lazy()))
            };
            Some(known_table(name).and_then(narrow))
        };
        tables.iter().filter_map(narrow).collect()
    }

    fn record(&self, member: &TraceProcess, tables: &ProcessTables) -> Result<ProcessRecord> {
        let process = &member.process;
        let segments = table(tables, "gpu_segments")?;
        let gaps = table(tables, "idle_gaps")?;
        let parts = parts(&table(tables, "run_parts")?)?;
        let whole = extent_of(tables, &["gpu_segments", "idle_gaps"])?;
        let whole = whole.into_iter().chain(extent_of(tables, &EVENTS)?).reduce(Extent::with);
        let steady = parts.iter().find(|part| part.kind == "steady").map(|part| part.time);
        let mut kinds = Kinds::default();
        let gpus = gpus(&segments, &gaps, steady, &mut kinds)?;
        let read = &mut self.read.lock().kinds;
        let most = (self.pieces / gpus.len().max(1)).clamp(PIECES.0, PIECES.1);
        let gpus = gpus.into_iter().map(|gpu| numbered(gpu, &kinds, read, most)).collect();
        Ok(ProcessRecord {
            process: process.process,
            rank: process.rank,
            clock: process.clock.number,
            offset_ns: process.clock.offset_ns,
            gpus,
            extent: whole,
            units: units(&table(tables, "iterations")?)?,
            parts,
            tables: None,
        })
    }

    /// All records and the columns of chosen processes; processes that no consumer has seen are read now.
    ///
    /// # Errors
    /// When a table cannot be read or built.
    pub(super) fn finish(self, trace: &Trace) -> Result<(Records, Request)> {
        let seen: BTreeSet<i64> = self.read.lock().processes.keys().copied().collect();
        let left: BTreeSet<i64> = self.wanted.difference(&seen).copied().collect();
        self.read.lock().failures.clear();
        if !left.is_empty() {
            trace.consume_again(&left, &Request::new(), &[self.consumer()])?;
        }
        Ok((self.read.into_inner(), self.request))
    }
}

/// Adds the tables of some processes that were not kept.
pub(super) fn read_again(
    trace: &Trace,
    request: &Request,
    records: &mut Records,
    chosen: &BTreeSet<i64>,
) -> Result<()> {
    let is_missing = |process: &&i64| records.processes.get(process).is_some_and(|record| record.tables.is_none());
    let missing: BTreeSet<i64> = chosen.iter().filter(is_missing).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    let found: Mutex<BTreeMap<i64, ProcessTables>> = Mutex::default();
    let consumer = TableConsumer::new(request.clone(), |member, tables| {
        found.lock().insert(member.process.process, tables.clone());
        Ok(())
    });
    trace.consume_again(&missing, &Request::new(), &[consumer])?;
    for (process, tables) in found.into_inner() {
        if let Some(record) = records.processes.get_mut(&process) {
            let events = extent_of(&tables, &EVENTS)?;
            record.extent = record.extent.or(events);
            record.tables = Some(tables);
        }
    }
    Ok(())
}

/// Tables with events.
const EVENTS: [&str; 4] = ["kernels", "memory_copies", "regions", "counter_dispatches"];

fn extent_of(tables: &ProcessTables, names: &[&str]) -> Result<Option<Extent>> {
    let mut whole = None;
    for name in names {
        whole = whole.into_iter().chain(extent(&table(tables, name)?)?).reduce(Extent::with);
    }
    Ok(whole)
}

/// The same GPU with other numbers of kinds, and no more pieces than are kept.
fn numbered(mut gpu: GpuRecord, kinds: &Kinds, all: &mut Kinds, most: usize) -> GpuRecord {
    let mut number = |kind: usize| all.index(kinds.id(kind));
    for piece in &mut gpu.pieces {
        piece.kind = number(piece.kind);
    }
    gpu.longest = gpu.longest.into_iter().map(|(kind, longest)| (number(kind), longest)).collect();
    gpu.cells = (gpu.pieces.len() > most).then_some(most);
    gpu.pieces = reduced(gpu.pieces, most);
    gpu
}

/// The GPUs of a process: pieces with work from the segments, idle pieces by cause from the gaps.
fn gpus(segments: &DataFrame, gaps: &DataFrame, steady: Option<Extent>, kinds: &mut Kinds) -> Result<Vec<GpuRecord>> {
    let mut by_gpu: BTreeMap<i64, Vec<Piece>> = BTreeMap::new();
    let (compute, communication, copy) =
        (kinds.index("compute"), kinds.index("exposed_communication"), kinds.index("exposed_copy"));
    if segments.height() > 0 {
        let gpus = integers(segments, "gpu")?;
        let counts = ["compute", "comm", "copies"].map(|name| integers(segments, name));
        let [Ok(computing), Ok(communicating), Ok(copying)] = counts else {
            anyhow::bail!("internal: segments have no counts");
        };
        for (row, time) in times(segments)? {
            let runs = |counts: &wavesieve_tables::columns::values::I64Values| counts.get(row).unwrap_or(0) > 0;
            let kind = match (runs(&computing), runs(&communicating), runs(&copying)) {
                (true, ..) => compute,
                (_, true, _) => communication,
                (.., true) => copy,
                _ => continue,
            };
            let piece = Piece { start_ns: time.start_ns, end_ns: time.end_ns, kind };
            by_gpu.entry(gpus.get(row).unwrap_or(-1)).or_default().push(piece);
        }
    }
    if gaps.height() > 0 {
        let (gpus, causes) = (integers(gaps, "gpu")?, texts(gaps, "cause")?);
        for (row, time) in times(gaps)? {
            let Some(cause) = causes.get(row).filter(|cause| *cause != "copy_only") else { continue };
            let kind = kinds.index(&format!("idle:{cause}"));
            let piece = Piece { start_ns: time.start_ns, end_ns: time.end_ns, kind };
            by_gpu.entry(gpus.get(row).unwrap_or(-1)).or_default().push(piece);
        }
    }
    let record = |(gpu, pieces): (i64, Vec<Piece>)| {
        let pieces = joined(pieces);
        let mut record = GpuRecord { gpu, ..GpuRecord::default() };
        for piece in &pieces {
            if [compute, communication, copy].contains(&piece.kind) {
                record.busy_ns = record.busy_ns.saturating_add(piece.length_ns());
            }
            if piece.kind == communication {
                record.waits_ns = record.waits_ns.saturating_add(piece.length_ns());
            }
            let time = Extent { start_ns: piece.start_ns, end_ns: piece.end_ns };
            let longest = record.longest.entry(piece.kind).or_default();
            let is_longer = |known: Option<Extent>| known.is_none_or(|known| known.length_ns() < time.length_ns());
            if is_longer(longest.whole) {
                longest.whole = Some(time);
            }
            let is_steady = steady.is_some_and(|part| part.start_ns <= time.start_ns && time.end_ns <= part.end_ns);
            if is_steady && is_longer(longest.steady) {
                longest.steady = Some(time);
            }
        }
        record.pieces = pieces;
        record
    };
    Ok(by_gpu.into_iter().map(record).collect())
}

fn units(frame: &DataFrame) -> Result<Vec<Unit>> {
    if frame.height() == 0 {
        return Ok(Vec::new());
    }
    let (iterations, levels) = (integers(frame, "iteration")?, integers(frame, "level")?);
    let (units, phases) = (texts(frame, "unit")?, texts(frame, "phase")?);
    let unit = |(row, time): (usize, Extent)| {
        Some(Unit {
            iteration: iterations.get(row)?,
            unit: units.get(row)?.to_owned(),
            phase: phases.get(row)?.to_owned(),
            level: levels.get(row)?,
            time,
        })
    };
    Ok(times(frame)?.into_iter().filter_map(unit).collect())
}

fn parts(frame: &DataFrame) -> Result<Vec<RunPart>> {
    if frame.height() == 0 {
        return Ok(Vec::new());
    }
    let kinds = texts(frame, "kind")?;
    let part = |(row, time): (usize, Extent)| Some(RunPart { kind: kinds.get(row)?.to_owned(), time });
    Ok(times(frame)?.into_iter().filter_map(part).collect())
}
