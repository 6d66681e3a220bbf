//! Scheduler events from states of threads: what CPUs record, so that readers of the file find the same states.
//!
//! Fields: `protos/perfetto/trace/ftrace/{ftrace_event_bundle,ftrace_event,sched}.proto` and `ps/process_tree.proto` of Perfetto.

use std::collections::{BTreeMap, BTreeSet};

use super::wire::Message;
use crate::timeline::{HostState, ThreadState};

/// The idle thread of a CPU.
const IDLE: i64 = 0;
/// Maximum number of events in a bundle.
const MAX_BUNDLE: usize = 512;

/// The states of the threads of all processes of a file.
#[derive(Debug, Default)]
pub(super) struct Scheduler {
    /// By thread and time.
    states: Vec<ThreadState>,
    /// The process of each thread.
    processes: BTreeMap<i64, i64>,
    /// States that readers see longer than they are.
    longer: u64,
}

/// A change that a CPU records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// A thread may run again.
    Woken(i64),
    /// A thread leaves the CPU in a state of the kernel, and another one takes it.
    Switch { from: i64, state: u64, to: i64 },
}

impl Change {
    /// A change that says nothing about any thread.
    const NOTHING: Self = Self::Switch { from: IDLE, state: 0, to: IDLE };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recorded {
    time_ns: i64,
    cpu: i64,
    change: Change,
    /// Whether events of the CPU were lost before it: no state lasts from the last event before to this one.
    is_after_loss: bool,
}

/// Threads that leave and take a CPU at a time.
#[derive(Default)]
struct Turn {
    leaving: Vec<(i64, HostState)>,
    taking: Vec<i64>,
}

impl Scheduler {
    /// Adds the states of a process, in any order. Returns the number of states that readers see longer than they are: nothing ends them,
    /// because another thread is in a known state at that time.
    pub fn add(&mut self, pid: i64, mut states: Vec<ThreadState>) -> u64 {
        // Readers know threads by their ids alone.
        states.retain(|state| {
            state.tid > IDLE && state.start_ns < state.end_ns && *self.processes.entry(state.tid).or_insert(pid) == pid
        });
        self.states.append(&mut states);
        self.states.sort_by_key(|state| (state.tid, state.start_ns));
        let longer = Times::new(&self.states).longer(&self.states);
        longer.saturating_sub(std::mem::replace(&mut self.longer, longer))
    }

    /// The packets of all states.
    pub fn packets(self) -> Vec<Message> {
        if self.states.is_empty() {
            return Vec::new();
        }
        let mut packets = vec![Message::default()];
        if let Some(tree) = packets.first_mut() {
            tree.message(2, |tree| {
                for (tid, pid) in &self.processes {
                    tree.message(2, |thread| {
                        thread.varint(1, *tid as u64);
                        thread.varint(3, *pid as u64);
                    });
                }
            });
        }
        let events = recorded(&self.states);
        let is_together = |one: &Recorded, next: &Recorded| one.cpu == next.cpu && !next.is_after_loss;
        for bundle in events.chunk_by(is_together).flat_map(|events| events.chunks(MAX_BUNDLE)) {
            let mut packet = Message::default();
            packet.message(1, |to| write_bundle(bundle, to));
            packets.push(packet);
        }
        packets
    }
}

/// Starts and ends of states in order.
struct Times {
    starts: Vec<i64>,
    ends: Vec<i64>,
}

impl Times {
    fn new(states: &[ThreadState]) -> Self {
        let sorted = |of: fn(&ThreadState) -> i64| {
            let mut times: Vec<i64> = states.iter().map(of).collect();
            times.sort_unstable();
            times
        };
        Self { starts: sorted(|state| state.start_ns), ends: sorted(|state| state.end_ns) }
    }

    fn last_ns(&self) -> Option<i64> {
        self.ends.last().copied()
    }

    /// Whether a state starts before a time and ends after it.
    fn is_within(&self, time_ns: i64) -> bool {
        let started = self.starts.partition_point(|start_ns| *start_ns < time_ns);
        started > self.ends.partition_point(|end_ns| *end_ns <= time_ns)
    }

    /// States that no event ends.
    fn longer(&self, states: &[ThreadState]) -> u64 {
        let is_open = |state: &ThreadState| self.last_ns() != Some(state.end_ns) && self.is_within(state.end_ns);
        with_next(states).filter(|(state, next)| next.is_none() && is_open(state)).count() as u64
    }
}

/// Each state of states by thread and time, with the one that follows at once.
fn with_next(states: &[ThreadState]) -> impl Iterator<Item = (&ThreadState, Option<&ThreadState>)> {
    let follows = |state: &ThreadState, next: &&ThreadState| next.tid == state.tid && next.start_ns == state.end_ns;
    states
        .iter()
        .enumerate()
        .map(move |(place, state)| (state, states.get(place + 1).filter(|next| follows(state, next))))
}

/// The events of states by thread and time, in the order of time. Each event is the start of a state. States that nothing follows end with
/// the last event, or where all CPUs are unknown from then on.
fn recorded(states: &[ThreadState]) -> Vec<Recorded> {
    // States that no CPU is known to have begun are on one more, so that no thread seems to leave another CPU.
    let beyond = states.iter().filter_map(|state| state.cpu).max().map_or(0, |last| last.saturating_add(1));
    let cpu_of = |state: &ThreadState| (state.state == HostState::Running).then(|| state.cpu.unwrap_or(beyond));
    let mut turns: BTreeMap<(i64, i64), Turn> = BTreeMap::new();
    let mut off_cpu: Vec<(i64, Change)> = Vec::new();
    let mut cuts: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    let mut before: Option<&ThreadState> = None;
    for (state, next) in with_next(states) {
        let (ThreadState { tid, start_ns, .. }, own) = (*state, cpu_of(state));
        match (before.and_then(cpu_of), own) {
            (left, Some(cpu)) => {
                left.into_iter().for_each(|left| _ = turns.entry((start_ns, left)).or_default());
                turns.entry((start_ns, cpu)).or_default().taking.push(tid);
            }
            (Some(left), None) => turns.entry((start_ns, left)).or_default().leaving.push((tid, state.state)),
            (None, None) => {
                let is_awake = before.is_some_and(|before| before.state == HostState::Runnable);
                let change = match state.state == HostState::Runnable && !is_awake {
                    true => Change::Woken(tid),
                    false => Change::Switch { from: tid, state: state.state.kernel(), to: IDLE },
                };
                off_cpu.push((start_ns, change));
            }
        }
        if next.is_none() {
            cuts.entry(state.end_ns).or_default().extend(own);
        }
        before = next.map(|_| state);
    }
    let event = |time_ns, cpu, change| Recorded { time_ns, cpu, change, is_after_loss: false };
    let mut events: Vec<Recorded> =
        off_cpu.into_iter().map(|(time_ns, change)| event(time_ns, beyond, change)).collect();
    for ((time_ns, cpu), Turn { leaving, taking }) in turns {
        for place in 0..leaving.len().max(taking.len()).max(1) {
            let (from, state) = leaving.get(place).map_or((IDLE, 0), |(tid, state)| (*tid, state.kernel()));
            let to = taking.get(place).copied().unwrap_or(IDLE);
            events.push(event(time_ns, cpu, Change::Switch { from, state, to }));
        }
    }
    events.sort_by_key(|event| (event.time_ns, matches!(event.change, Change::Woken(_)), event.cpu));
    with_ends(events, cuts, &Times::new(states), beyond)
}

/// The events, with those that end states which nothing follows.
fn with_ends(events: Vec<Recorded>, cuts: BTreeMap<i64, BTreeSet<i64>>, times: &Times, beyond: i64) -> Vec<Recorded> {
    let nothing = |time_ns, cpu| Recorded { time_ns, cpu, change: Change::NOTHING, is_after_loss: false };
    let mut all = Vec::with_capacity(events.len() + cuts.len());
    let mut events = events.into_iter().peekable();
    for (cut_ns, mut cpus) in cuts {
        all.extend(std::iter::from_fn(|| events.next_if(|event| event.time_ns < cut_ns)));
        if times.last_ns() == Some(cut_ns) {
            cpus.extend(cpus.is_empty().then_some(beyond));
            all.extend(cpus.into_iter().map(|cpu| nothing(cut_ns, cpu)));
        } else if !times.is_within(cut_ns)
            && let Some(next) = events.peek_mut()
        {
            // A loss begins at the last event of its CPU.
            cpus.insert(next.cpu);
            all.extend(cpus.into_iter().map(|cpu| nothing(cut_ns, cpu)));
            next.is_after_loss = true;
        }
    }
    all.extend(events);
    all
}

/// Writes perfetto's `FtraceEventBundle`.
fn write_bundle(events: &[Recorded], to: &mut Message) {
    let Some(first) = events.first() else { return };
    to.varint(1, first.cpu as u64);
    if first.is_after_loss {
        to.varint(3, 1);
    }
    for event in events {
        to.message(2, |to| {
            to.varint(1, event.time_ns as u64);
            match event.change {
                Change::Switch { from, state, to: next } => {
                    to.varint(2, from as u64);
                    to.message(4, |switch| {
                        switch.varint(2, from as u64);
                        switch.varint(4, state);
                        switch.varint(6, next as u64);
                    });
                }
                Change::Woken(tid) => {
                    to.varint(2, IDLE as u64);
                    to.message(20, |waking| waking.varint(2, tid as u64));
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(tid: i64, state: HostState, start_ns: i64, end_ns: i64, cpu: Option<i64>) -> ThreadState {
        ThreadState { tid, state, start_ns, end_ns, cpu }
    }

    /// Thread 7 sleeps, is woken, runs and gives its CPU to thread 8; nothing is known from 40 to 60.
    #[test]
    fn states_are_changes_of_cpus() {
        use HostState::{DiskSleep, Runnable, Running, Sleeping};
        let states = [
            state(7, Sleeping, 10, 20, None),
            state(7, Runnable, 20, 25, None),
            state(7, Running, 25, 30, Some(1)),
            state(7, DiskSleep, 30, 40, None),
            state(7, Running, 60, 70, Some(0)),
            state(8, Running, 30, 40, Some(1)),
        ];
        let shown: Vec<(i64, i64, Change, bool)> = recorded(&states)
            .into_iter()
            .map(|event| (event.time_ns, event.cpu, event.change, event.is_after_loss))
            .collect();
        let switch = |from, state, to| Change::Switch { from, state, to };
        assert_eq!(
            shown,
            [
                (10, 2, switch(7, 1, 0), false),
                (20, 2, Change::Woken(7), false),
                (25, 1, switch(0, 0, 7), false),
                (30, 1, switch(7, 2, 8), false),
                (40, 0, Change::NOTHING, false),
                (40, 1, Change::NOTHING, false),
                (60, 0, switch(0, 0, 7), true),
                (70, 0, Change::NOTHING, false),
            ]
        );
        assert_eq!(Scheduler::default().add(5, states.to_vec()), 0);
        // Thread 7 is unknown from 30 on, while thread 8 runs.
        let states = [states[2], state(8, Running, 28, 40, Some(0))];
        assert_eq!(Scheduler::default().add(5, states.to_vec()), 1);
    }
}
