//! States of threads, from the scheduler events of all CPUs.

use std::collections::{BTreeMap, BTreeSet};

use super::scheduler::{Change, SchedulerEvent};

/// The idle thread of each CPU, which has no states of its own.
const IDLE: i64 = 0;
/// A longer state comes from a wrong time.
const DAY_NS: i64 = 86_400 * 1_000_000_000;

/// A state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    Runnable,
    Sleeping,
    DiskSleep,
    Stopped,
    Other,
}

/// An interval in which a thread was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadState {
    pub tid: i64,
    pub state: State,
    pub start_ns: i64,
    pub end_ns: i64,
    /// The CPU on which it ran.
    pub cpu: Option<u32>,
}

impl State {
    pub(crate) const ALL: [Self; 6] =
        [Self::Running, Self::Runnable, Self::Sleeping, Self::DiskSleep, Self::Stopped, Self::Other];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "runnable",
            Self::Sleeping => "sleeping",
            Self::DiskSleep => "disk_sleep",
            Self::Stopped => "stopped",
            Self::Other => "other",
        }
    }

    /// The state of a thread that leaves its CPU, from the bits of the kernel (`TASK_*` of `include/linux/sched.h`). Bits above the first
    /// eight say that it was preempted, which does not change the state.
    fn of_kernel(bits: i32) -> Self {
        match bits & 0xff {
            0 => Self::Runnable,
            bits if bits & 2 != 0 => Self::DiskSleep,
            bits if bits & 1 != 0 => Self::Sleeping,
            bits if bits & 12 != 0 => Self::Stopped,
            _ => Self::Other,
        }
    }
}

/// The states of the threads that are wanted, by thread and time. A state lasts until the next one, the last event of the file, or events
/// that were lost. The state before the first event of a thread is unknown, and so is each state while a CPU loses events: it may run
/// the thread.
pub(crate) fn thread_states(mut events: Vec<SchedulerEvent>, is_wanted: impl Fn(i64) -> bool) -> Vec<ThreadState> {
    // A stable sort keeps events of one time in the order of the file; a thread is woken after it left its CPU.
    events.sort_by_key(|event| (event.time_ns, matches!(event.change, Change::Woken { .. })));
    let mut losing: BTreeSet<u32> = BTreeSet::new();
    let mut running: BTreeMap<u32, i32> = BTreeMap::new();
    let mut open: BTreeMap<i64, ThreadState> = BTreeMap::new();
    let mut states: Vec<ThreadState> = Vec::new();
    let mut close = |state: Option<ThreadState>, end_ns: i64| {
        let is_likely =
            |state: &ThreadState| (1..=DAY_NS).contains(&end_ns.checked_sub(state.start_ns).unwrap_or(i64::MAX));
        states.extend(state.map(|state| ThreadState { end_ns, ..state }).filter(is_likely));
    };
    for event in &events {
        let SchedulerEvent { time_ns, cpu, .. } = *event;
        let is_known = losing.is_empty();
        let is_wanted = |tid: i64| is_known && tid != IDLE && is_wanted(tid);
        let opened = |tid: i64, state, cpu| ThreadState { tid, state, start_ns: time_ns, end_ns: time_ns, cpu };
        match event.change {
            Change::Lost => {
                running.remove(&cpu);
                losing.insert(cpu);
                std::mem::take(&mut open).into_values().for_each(|state| close(Some(state), time_ns));
            }
            Change::Resumed => _ = losing.remove(&cpu),
            Change::Woken { tid } => {
                let tid = i64::from(tid);
                let is_awake = |state: &ThreadState| matches!(state.state, State::Running | State::Runnable);
                if is_wanted(tid) && !open.get(&tid).is_some_and(is_awake) {
                    close(open.insert(tid, opened(tid, State::Runnable, None)), time_ns);
                }
            }
            Change::Switch { from, state, to } => {
                let last = running.insert(cpu, to);
                if let Some(tid) = from.or(last).map(i64::from).filter(|tid| is_wanted(*tid)) {
                    close(open.insert(tid, opened(tid, State::of_kernel(state), None)), time_ns);
                }
                let tid = i64::from(to);
                if is_wanted(tid) {
                    close(open.insert(tid, opened(tid, State::Running, Some(cpu))), time_ns);
                }
            }
        }
    }
    let end_ns = events.last().map_or(0, |event| event.time_ns);
    open.into_values().for_each(|state| close(Some(state), end_ns));
    states.sort_by_key(|state| (state.tid, state.start_ns));
    states
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(time_ns: i64, cpu: u32, change: Change) -> SchedulerEvent {
        SchedulerEvent { time_ns, change, cpu }
    }

    fn shown(events: Vec<SchedulerEvent>) -> Vec<(i64, &'static str, i64, i64, Option<u32>)> {
        let states = thread_states(events, |tid| tid > 0);
        states.iter().map(|one| (one.tid, one.state.name(), one.start_ns, one.end_ns, one.cpu)).collect()
    }

    /// Thread 7 sleeps, is woken, waits for the CPU of thread 8, runs, is preempted, and waits for a disk.
    #[test]
    fn a_thread_over_time() {
        let switch = |from, state, to| Change::Switch { from, state, to };
        let events = vec![
            at(10, 0, switch(Some(7), 1, 8)),
            at(30, 1, Change::Woken { tid: 7 }),
            at(45, 0, switch(None, 0x100, 7)),
            at(60, 0, switch(None, 0, 0)),
            at(65, 1, switch(Some(0), 0, 7)),
            at(70, 1, switch(Some(7), 0x102, 0)),
            at(90, 1, Change::Woken { tid: 8 }),
        ];
        assert_eq!(
            shown(events),
            [
                (7, "sleeping", 10, 30, None),
                (7, "runnable", 30, 45, None),
                (7, "running", 45, 60, Some(0)),
                (7, "runnable", 60, 65, None),
                (7, "running", 65, 70, Some(1)),
                (7, "disk_sleep", 70, 90, None),
                (8, "running", 10, 45, Some(0)),
                (8, "runnable", 45, 90, None),
            ]
        );
    }

    #[test]
    fn nothing_is_known_after_a_loss() {
        let switch = |from, state, to| Change::Switch { from, state, to };
        let events = vec![
            at(10, 0, switch(Some(7), 1, 0)),
            at(20, 0, Change::Lost),
            at(30, 1, switch(Some(7), 1, 0)),
            at(50, 0, Change::Resumed),
            at(50, 1, switch(None, 0, 9)),
            at(60, 0, switch(Some(7), 2, 0)),
            at(70, 1, switch(None, 4, 0)),
        ];
        assert_eq!(
            shown(events),
            [(7, "sleeping", 10, 20, None), (7, "disk_sleep", 60, 70, None), (9, "running", 50, 70, Some(1))]
        );
    }

    /// Some calls have no thread, which is not the idle one.
    #[test]
    fn the_idle_thread_has_no_states() {
        let switch = |from, to| Change::Switch { from: Some(from), state: 0, to };
        let events = vec![at(10, 0, switch(0, 7)), at(20, 0, switch(7, 0)), at(30, 0, switch(0, 0))];
        let tids: Vec<i64> = thread_states(events, |_| true).iter().map(|state| state.tid).collect();
        assert_eq!(tids, [7, 7]);
    }

    /// Thread 9 takes the CPU for no time, and thread 7 is woken when it falls asleep.
    #[test]
    fn events_of_one_time_keep_their_order() {
        let switch = |from, state, to| Change::Switch { from, state, to };
        let events = vec![
            at(10, 0, switch(Some(0), 0, 9)),
            at(10, 0, switch(Some(9), 1, 7)),
            at(30, 1, Change::Woken { tid: 7 }),
            at(30, 0, switch(Some(7), 1, 0)),
            at(40, 0, switch(Some(0), 0, 0)),
        ];
        assert_eq!(
            shown(events),
            [(7, "running", 10, 30, Some(0)), (7, "runnable", 30, 40, None), (9, "sleeping", 10, 40, None)]
        );
    }

    #[test]
    fn a_state_of_years_is_a_wrong_time() {
        let switch = |from, state, to| Change::Switch { from, state, to };
        let events = vec![at(-5, 0, switch(Some(7), 1, 8)), at(i64::MAX, 0, switch(Some(8), 1, 7))];
        assert!(shown(events).is_empty());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Any events: intervals have a length, and those of a thread do not overlap.
        #[test]
        fn states_of_a_thread_do_not_overlap(
            events in prop::collection::vec((0_i64..40, 0_u32..3, 0_u8..5, 0_i32..4, 0_i32..0x104, 0_i32..4), 0..30),
        ) {
            let events = events.into_iter().map(|(time, cpu, kind, from, state, to)| at(time, cpu, match kind {
                0 => Change::Woken { tid: to },
                1 => Change::Switch { from: None, state, to },
                2 => Change::Switch { from: Some(from), state, to },
                3 => Change::Lost,
                _ => Change::Resumed,
            }));
            let found = shown(events.collect());
            prop_assert!(found.iter().all(|one| one.2 < one.3));
            prop_assert!(found.windows(2).all(|pair| pair[0].0 < pair[1].0 || pair[0].3 <= pair[1].2), "{found:?}");
        }
    }
}
