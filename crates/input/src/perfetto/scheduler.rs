//! Scheduler events of the kernel, which the service of Perfetto records with ftrace: who takes and leaves CPUs, and who is woken. They come
//! in bundles of a CPU, one by one or in columns (compact).
//!
//! Fields: `protos/perfetto/trace/ftrace/{ftrace_event_bundle,ftrace_event,sched}.proto` of Perfetto.

use std::collections::BTreeMap;

use super::wire::{Fields, Malformed, Value, varint};

/// The idle thread of a CPU.
const IDLE: i32 = 0;

/// A change that a CPU recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Events of this CPU after this time were lost.
    Lost,
    /// Events of this CPU were recorded again.
    Resumed,
    /// A thread may run again.
    Woken { tid: i32 },
    /// A thread leaves the CPU in a state of the kernel, and another takes it. Compact events do not name the thread that leaves.
    Switch { from: Option<i32>, state: i32, to: i32 },
}

/// A scheduler event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchedulerEvent {
    pub time_ns: i64,
    pub change: Change,
    pub cpu: u32,
}

/// The scheduler events of a file, in the order of its packets.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    pub events: Vec<SchedulerEvent>,
    /// Processes of threads, by the process trees of the file.
    pub processes: BTreeMap<i64, i64>,
    /// Events on a clock that nothing ties to the boot time.
    pub without_time: u64,
    /// Bundles before which events were lost.
    pub losses: u64,
    /// Events of other kinds, which are not read.
    pub others: u64,
    last_ns: BTreeMap<u32, i64>,
}

/// The head of a bundle.
#[derive(Default)]
struct Bundle {
    cpu: u32,
    is_after_loss: bool,
    clock: u64,
    clock_ns: Option<i64>,
    boot_ns: Option<i64>,
}

/// The columns of compact events. Times are differences.
#[derive(Default)]
struct Compact<'a> {
    switch_times: &'a [u8],
    states: &'a [u8],
    to: &'a [u8],
    woken_times: &'a [u8],
    woken: &'a [u8],
}

impl Scheduler {
    /// Takes a bundle of events.
    pub fn take_bundle(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let mut bundle = Bundle::default();
        for field in Fields::new(message) {
            match field? {
                (1, Value::Varint(cpu)) => bundle.cpu = cpu as u32,
                (3, Value::Varint(flag)) => bundle.is_after_loss = flag != 0,
                (5, Value::Varint(clock)) => bundle.clock = clock,
                (6, Value::Varint(time)) => bundle.clock_ns = Some(time as i64),
                (7, Value::Varint(time)) => bundle.boot_ns = Some(time as i64),
                _ => {}
            }
        }
        if bundle.is_after_loss {
            self.losses += 1;
            let since_ns = self.last_ns.get(&bundle.cpu).copied().unwrap_or(i64::MIN);
            self.events.push(SchedulerEvent { time_ns: since_ns, change: Change::Lost, cpu: bundle.cpu });
        }
        let before = self.events.len();
        for field in Fields::new(message) {
            match field? {
                (2, Value::Bytes(event)) => self.take_event(event, &bundle)?,
                (4, Value::Bytes(compact)) => self.take_compact(compact, &bundle)?,
                _ => {}
            }
        }
        let first_ns = self.events.iter().skip(before).map(|event| event.time_ns).min();
        if let Some(time_ns) = first_ns.filter(|_| bundle.is_after_loss) {
            self.events.insert(before, SchedulerEvent { time_ns, change: Change::Resumed, cpu: bundle.cpu });
        }
        Ok(())
    }

    /// Takes a process tree: the process of each thread.
    pub fn take_tree(&mut self, message: &[u8]) -> Result<(), Malformed> {
        for field in Fields::new(message) {
            let (part, entry) = match field? {
                (part @ (1 | 2), Value::Bytes(entry)) => (part, entry),
                _ => continue,
            };
            let (mut id, mut group) = (None, None);
            for field in Fields::new(entry) {
                match field? {
                    (1, Value::Varint(number)) => id = Some(number as i64),
                    (3, Value::Varint(number)) if part == 2 => group = Some(number as i64),
                    _ => {}
                }
            }
            // The first thread of a process has its id.
            if let Some((thread, process)) = id.zip(if part == 1 { id } else { group }) {
                self.processes.insert(thread, process);
            }
        }
        Ok(())
    }

    fn push(&mut self, time: u64, bundle: &Bundle, change: Change) {
        let time_ns = match (bundle.clock, bundle.clock_ns, bundle.boot_ns) {
            // The boot time, unless another clock is named.
            (0, _, _) => Some(time as i64),
            (_, Some(clock_ns), Some(boot_ns)) => {
                (time as i64).checked_sub(clock_ns).and_then(|since_ns| since_ns.checked_add(boot_ns))
            }
            _ => None,
        };
        let Some(time_ns) = time_ns else {
            self.without_time += 1;
            return;
        };
        let last_ns = self.last_ns.entry(bundle.cpu).or_insert(time_ns);
        *last_ns = time_ns.max(*last_ns);
        self.events.push(SchedulerEvent { time_ns, change, cpu: bundle.cpu });
    }

    fn take_event(&mut self, message: &[u8], bundle: &Bundle) -> Result<(), Malformed> {
        let (mut time, mut change) = (0, None);
        for field in Fields::new(message) {
            match field? {
                (1, Value::Varint(number)) => time = number,
                (4, Value::Bytes(switch)) => change = Some(read_switch(switch)?),
                // sched_wakeup follows sched_waking, which some configurations leave out.
                (17 | 20, Value::Bytes(waking)) => change = Some(read_woken(waking)?),
                _ => {}
            }
        }
        match change {
            Some(change) => self.push(time, bundle, change),
            None => self.others += 1,
        }
        Ok(())
    }

    fn take_compact(&mut self, message: &[u8], bundle: &Bundle) -> Result<(), Malformed> {
        let mut columns = Compact::default();
        for field in Fields::new(message) {
            match field? {
                (1, Value::Bytes(packed)) => columns.switch_times = packed,
                (2, Value::Bytes(packed)) => columns.states = packed,
                (3, Value::Bytes(packed)) => columns.to = packed,
                (7, Value::Bytes(packed)) => columns.woken_times = packed,
                (8, Value::Bytes(packed)) => columns.woken = packed,
                _ => {}
            }
        }
        let mut time = 0_u64;
        let Compact { mut switch_times, mut states, mut to, mut woken_times, mut woken } = columns;
        while !switch_times.is_empty() {
            time = time.wrapping_add(next(&mut switch_times)?);
            let (state, to) = (next(&mut states)? as i32, next(&mut to)? as i32);
            self.push(time, bundle, Change::Switch { from: None, state, to });
        }
        time = 0;
        while !woken_times.is_empty() {
            time = time.wrapping_add(next(&mut woken_times)?);
            let tid = next(&mut woken)? as i32;
            self.push(time, bundle, Change::Woken { tid });
        }
        Ok(())
    }
}

/// The next number of a packed column.
fn next(packed: &mut &[u8]) -> Result<u64, Malformed> {
    let (value, length) = varint(packed)?;
    *packed = packed.get(length..).unwrap_or_default();
    Ok(value)
}

fn read_switch(message: &[u8]) -> Result<Change, Malformed> {
    // A field with the value 0 may be left out.
    let (mut from, mut state, mut to) = (IDLE, 0, IDLE);
    for field in Fields::new(message) {
        match field? {
            (2, Value::Varint(number)) => from = number as i32,
            (4, Value::Varint(number)) => state = number as i32,
            (6, Value::Varint(number)) => to = number as i32,
            _ => {}
        }
    }
    Ok(Change::Switch { from: Some(from), state, to })
}

fn read_woken(message: &[u8]) -> Result<Change, Malformed> {
    let mut tid = IDLE;
    for field in Fields::new(message) {
        if let (2, Value::Varint(number)) = field? {
            tid = number as i32;
        }
    }
    Ok(Change::Woken { tid })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time_ns: i64, change: Change) -> SchedulerEvent {
        SchedulerEvent { time_ns, change, cpu: 2 }
    }

    #[test]
    fn events_one_by_one_and_in_columns() {
        // CPU 2: at 10 thread 7 leaves in state 1 for thread 0; thread 7 is woken at 20; columns: 7 for 0 at 25, 0 for 7 in state 2 at 300.
        let switch = [8, 10, 34, 6, 16, 7, 32, 1, 48, 0];
        let waking = [8, 20, 162, 1, 2, 16, 7];
        let compact = [10, 3, 25, 147, 2, 18, 2, 0, 2, 26, 2, 7, 0, 58, 1, 30, 66, 1, 9];
        let mut bundle = vec![8, 2];
        for (key, part) in [(18, &switch[..]), (18, &waking[..]), (34, &compact[..])] {
            bundle.extend([key, part.len() as u8]);
            bundle.extend(part);
        }
        let mut scheduler = Scheduler::default();
        scheduler.take_bundle(&bundle).unwrap();
        let switch = |from, state, to| Change::Switch { from, state, to };
        let expected = [
            event(10, switch(Some(7), 1, 0)),
            event(20, Change::Woken { tid: 7 }),
            event(25, switch(None, 0, 7)),
            event(300, switch(None, 2, 0)),
            event(30, Change::Woken { tid: 9 }),
        ];
        assert_eq!((scheduler.events.as_slice(), scheduler.others), (&expected[..], 0));
        // After a loss, states are unknown from the last event before it.
        scheduler.take_bundle(&[8, 2, 24, 1]).unwrap();
        assert_eq!((scheduler.events.last(), scheduler.losses), (Some(&event(300, Change::Lost)), 1));
        // A column that ends early is damage.
        assert!(scheduler.take_bundle(&[34, 3, 10, 1, 5]).is_err());
    }

    #[test]
    fn other_clocks_need_a_snapshot() {
        // At 100 of the other clock the boot time was 4.
        let switch = [18, 4, 8, 120, 34, 0];
        let mut scheduler = Scheduler::default();
        scheduler.take_bundle(&[&[40, 4, 48, 100, 56, 4][..], &switch].concat()).unwrap();
        scheduler.take_bundle(&[&[40, 4][..], &switch].concat()).unwrap();
        let times: Vec<i64> = scheduler.events.iter().map(|event| event.time_ns).collect();
        assert_eq!((times, scheduler.without_time), (vec![24], 1));
    }

    #[test]
    fn threads_have_processes() {
        let mut scheduler = Scheduler::default();
        // Process 40, and its thread 41.
        scheduler.take_tree(&[10, 2, 8, 40, 18, 4, 8, 41, 24, 40]).unwrap();
        assert_eq!(scheduler.processes, BTreeMap::from([(40, 40), (41, 40)]));
    }
}
