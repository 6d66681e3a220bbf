//! The processes of a file, with their tracks and rows.

use std::collections::BTreeMap;

use super::document::{Document, Owned};
use super::gpus::{Agents, TrackName};
use super::kinds::{ROLES, Role, Writer};
use super::names::Names;
use super::rows::{Field, Rows};
use super::scheduler::Scheduler;
use super::thread_states::{ThreadState, thread_states};
use super::tracks::{CounterTrack, ProcessTrack, Tracks};

#[derive(Clone, Debug, Default)]
pub(crate) struct UsedTrack {
    pub name: String,
    pub tid: Option<i64>,
    /// Whether it is the track of a thread; its name is then the name of the thread.
    pub is_thread: bool,
    pub counter: CounterTrack,
    /// Whether its values are measured: neither derived nor sums over the run.
    pub is_measured: bool,
    /// Facts that the names of the track and of its parents state.
    pub stated: TrackName,
}

#[derive(Debug, Default)]
pub struct Process {
    pub track: ProcessTrack,
    /// The uuid of its track; 0 if it has none.
    pub uuid: u64,
    pub rows: [Rows; ROLES.len()],
    pub values: Rows,
    pub arguments: Vec<Owned>,
    pub agents: Agents,
    /// States of its threads, by thread and time.
    pub states: Vec<ThreadState>,
}

impl Process {
    pub fn rows(&self, role: Role) -> Option<&Rows> {
        self.rows.get(role as usize)
    }

    pub fn has_rows(&self) -> bool {
        self.rows.iter().any(|rows| rows.height() > 0) || self.values.height() > 0
    }
}

/// Data that the processes of a file share.
#[derive(Debug, Default)]
pub(crate) struct Assembled {
    pub writer: Writer,
    pub names: Names,
    pub tracks: Vec<UsedTrack>,
    pub processes: Vec<Process>,
    /// Values that are not read: derived values, or sums over the run.
    pub values_left_out: u64,
    /// Kernels without a GPU in a process with several.
    pub without_gpu: u64,
    /// Counts of scheduler events; the events themselves belong to processes.
    pub scheduler: Scheduler,
}

/// The key of a process: its track, otherwise its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ProcessKey {
    Track(u64),
    Pid(Option<i64>),
}

pub(crate) fn assemble(document: Document) -> Assembled {
    let Document { writer, names, tracks, used, rows, values, arguments, mut scheduler, .. } = document;
    let keys = keys(&tracks, &used);
    let mut numbers: BTreeMap<ProcessKey, usize> = BTreeMap::new();
    let declared = tracks.processes.iter().map(|uuid| ProcessKey::Track(*uuid));
    for key in declared.chain(keys.iter().copied()) {
        let next = numbers.len();
        numbers.entry(key).or_insert(next);
    }
    let of_track: Vec<usize> = keys.iter().map(|key| numbers.get(key).copied().unwrap_or(0)).collect();
    let used_tracks: Vec<UsedTrack> = used.iter().map(|uuid| UsedTrack::new(*uuid, &tracks, writer)).collect();
    let mut processes: Vec<Process> = Vec::new();
    processes.resize_with(numbers.len(), Process::default);
    for (key, number) in &numbers {
        let Some(process) = processes.get_mut(*number) else { continue };
        match key {
            ProcessKey::Track(uuid) => {
                let track = tracks.get(*uuid).and_then(|track| track.process.clone());
                (process.track, process.uuid) = (track.unwrap_or_default(), *uuid);
            }
            ProcessKey::Pid(pid) => process.track.pid = *pid,
        }
    }
    let group = |rows: &Rows| -> Vec<usize> {
        let tracks = rows.column(Field::Track).map(|track| track.and_then(|track| usize::try_from(track).ok()));
        tracks.map(|track| track.and_then(|track| of_track.get(track)).copied().unwrap_or(0)).collect()
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (role, rows) in rows.into_iter().enumerate() {
        let of_rows = group(&rows);
        for (process, part) in processes.iter_mut().zip(rows.split(&of_rows, numbers.len().max(1))) {
            process.rows.iter_mut().skip(role).take(1).zip(Some(part)).for_each(|(slot, part)| *slot = part);
        }
        groups.push(of_rows);
    }
    divide_arguments(&arguments, &groups, &mut processes);
    let (of_values, measured) = measured(values, &used_tracks, group);
    let values_left_out = (of_values - measured.iter().map(Rows::height).sum::<usize>()) as u64;
    for (process, part) in processes.iter_mut().zip(measured) {
        process.values = part;
    }
    let mut without_gpu = 0;
    for process in &mut processes {
        correlate(process, writer);
        process.rows.iter_mut().for_each(|rows| complete(rows, &used_tracks));
        let name_of =
            |name: i64| u32::try_from(name).map_or_else(|_| String::new(), |name| names.text(name).to_owned());
        process.agents = Agents::find(process, &used_tracks, tracks_of(&tracks, process.uuid), writer, name_of);
        without_gpu += Agents::assign(process, &used_tracks, writer);
    }
    assign_states(&mut processes, &tracks, &mut scheduler);
    processes.retain(|process| process.has_rows() || writer == Writer::Wavesieve);
    Assembled { writer, names, tracks: used_tracks, processes, values_left_out, without_gpu, scheduler }
}

/// Gives each process the states of its threads: those with tracks or calls of it, and those that a process tree states.
fn assign_states(processes: &mut [Process], tracks: &Tracks, scheduler: &mut Scheduler) {
    let events = std::mem::take(&mut scheduler.events);
    if events.is_empty() {
        return;
    }
    let threads = || tracks.iter().filter_map(|(_, track)| track.thread.as_ref());
    let mut owners: BTreeMap<i64, usize> = BTreeMap::new();
    for (number, process) in processes.iter().enumerate().rev() {
        let pid = process.track.pid;
        let of_tree = scheduler.processes.iter().filter(|(_, owner)| Some(**owner) == pid).map(|(tid, _)| *tid);
        let of_tracks = threads().filter(|thread| pid.is_some() && thread.pid == pid).filter_map(|thread| thread.tid);
        let calls = process.rows(Role::Call).into_iter().flat_map(|rows| rows.column(Field::Tid)).flatten();
        owners.extend(of_tree.chain(of_tracks).chain(calls).map(|tid| (tid, number)));
    }
    for state in thread_states(events, |tid| owners.contains_key(&tid)) {
        let owner = owners.get(&state.tid).and_then(|number| processes.get_mut(*number));
        owner.into_iter().for_each(|process| process.states.push(state));
    }
}

/// The process of each track that has events. Tracks that name no process belong to the only one.
fn keys(tracks: &Tracks, used: &[u64]) -> Vec<ProcessKey> {
    let only = tracks.processes.first().filter(|_| tracks.processes.len() == 1);
    let with_pid = |pid: i64| {
        tracks.processes.iter().find(|uuid| {
            let process = tracks.get(**uuid).and_then(|track| track.process.as_ref());
            process.is_some_and(|process| process.pid == Some(pid))
        })
    };
    let key = |uuid: &u64| {
        let above = tracks.upwards(*uuid).find(|(_, track)| track.process.is_some()).map(|(uuid, _)| uuid);
        let pid = tracks.upwards(*uuid).find_map(|(_, track)| track.thread.as_ref()?.pid);
        let of_pid = || pid.and_then(with_pid).copied();
        match above.or_else(of_pid) {
            Some(uuid) => ProcessKey::Track(uuid),
            None if pid.is_none() => only.map_or(ProcessKey::Pid(None), |uuid| ProcessKey::Track(*uuid)),
            None => ProcessKey::Pid(pid),
        }
    };
    used.iter().map(key).collect()
}

/// Names of the tracks directly under a process.
fn tracks_of(tracks: &Tracks, process: u64) -> impl Iterator<Item = &str> {
    tracks.iter().filter(move |(_, track)| track.parent == Some(process)).map(|(_, track)| track.name.as_str())
}

/// Gives each process its arguments, with the places of its own rows.
fn divide_arguments(arguments: &[Owned], groups: &[Vec<usize>], processes: &mut [Process]) {
    let places: Vec<Vec<usize>> = groups
        .iter()
        .map(|groups| {
            let mut next = vec![0; processes.len()];
            let place = |group: &usize| {
                let Some(next) = next.get_mut(*group) else { return 0 };
                *next += 1;
                *next - 1
            };
            groups.iter().map(place).collect()
        })
        .collect();
    for argument in arguments {
        let of_role = |all: &[Vec<usize>]| all.get(argument.role as usize)?.get(argument.row).copied();
        if let (Some(group), Some(row)) = (of_role(groups), of_role(&places))
            && let Some(process) = processes.get_mut(group)
        {
            process.arguments.push(Owned { row, ..*argument });
        }
    }
}

/// The number of all values, and the measured values by process.
fn measured(values: Rows, tracks: &[UsedTrack], group: impl Fn(&Rows) -> Vec<usize>) -> (usize, Vec<Rows>) {
    let is_measured = |track| track_at(tracks, track).is_some_and(|track| track.is_measured);
    let groups = group(&values);
    let count = groups.iter().max().map_or(1, |group| group + 1);
    // Other values go to an extra group, which is dropped.
    let kept: Vec<usize> = values
        .column(Field::Track)
        .zip(groups)
        .map(|(track, group)| if is_measured(track) { group } else { count })
        .collect();
    let all = values.height();
    let mut parts = values.split(&kept, count + 1);
    parts.truncate(count);
    (all, parts)
}

type OfTrack = fn(&UsedTrack) -> Option<i64>;

/// Gives rows the thread, the queue and the stream of their track, if their arguments state none.
fn complete(rows: &mut Rows, tracks: &[UsedTrack]) {
    let stated: [(Field, OfTrack); 3] = [
        (Field::Tid, |track| track.tid),
        (Field::Queue, |track| track.stated.queue),
        (Field::Stream, |track| track.stated.stream),
    ];
    for (field, of) in stated {
        rows.fill(field, Field::Track, |track| track_at(tracks, Some(track)).and_then(of));
    }
}

/// Derives missing correlation ids from flows: profilers of ROCm make a flow from the id and the uuid of the process.
fn correlate(process: &mut Process, writer: Writer) {
    let uuid = process.uuid;
    if writer != Writer::Wavesieve && uuid != 0 {
        let of_flow = |flow| Some((flow as u64 ^ uuid) as i64);
        process.rows.iter_mut().for_each(|rows| rows.fill(Field::Correlation, Field::Flow, of_flow));
    }
}

pub(crate) fn track_at(tracks: &[UsedTrack], number: Option<i64>) -> Option<&UsedTrack> {
    tracks.get(usize::try_from(number?).ok()?)
}

impl UsedTrack {
    fn new(uuid: u64, tracks: &Tracks, writer: Writer) -> Self {
        let upwards = || tracks.upwards(uuid);
        let own = upwards().map(|(_, track)| track).next();
        let of_thread = own.and_then(|track| Some(track.thread.as_ref()?.name.as_str()));
        let name =
            own.map(|track| track.name.as_str()).filter(|name| !name.is_empty()).or(of_thread).unwrap_or_default();
        let counter = upwards().next().and_then(|(_, track)| track.counter.clone());
        let is_measured = match writer {
            // Bytes of copies and allocations, and counters summed over the run.
            Writer::Rocprofv3 => false,
            Writer::Systems => true,
            // Values under GPUs and queues are derived.
            Writer::Wavesieve => upwards().next().is_some_and(|(_, track)| {
                let parent = track.parent.and_then(|parent| tracks.get(parent));
                track.order == Some(SAMPLES) && parent.is_some_and(|parent| parent.process.is_some())
            }),
        };
        Self {
            name: name.to_owned(),
            is_thread: upwards().next().is_some_and(|(_, track)| track.thread.is_some()),
            tid: upwards().find_map(|(_, track)| track.thread.as_ref()?.tid),
            counter: counter.unwrap_or(CounterTrack { multiplier: 1, ..CounterTrack::default() }),
            is_measured,
            stated: upwards()
                .map(|(_, track)| TrackName::read(&track.name, writer))
                .fold(TrackName::default(), TrackName::or),
        }
    }
}

/// Order of sample tracks in the files that wavesieve writes.
const SAMPLES: i64 = 90;
