//! Which threads, queues and streams the records name, and how many calls have a length: what several small tables
//! need of every record, gathered in one pass.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::capture::{Capture, Findings};
use super::index::Section;
use super::parts::Sink;
use super::records::{Activity, Surveyed};
use super::roles::{ALLOCATIONS, COPIES, COUNTERS, DISPATCHES, GRAPH_LAUNCHES, HIP_EVENTS};

/// Category of the calls that give names to threads and other things.
const NAMING: &str = "MARKER_NAME_API";
/// Operation of those that name a thread.
const NAMES_THREAD: &str = "roctxNameOsThread";

/// What the records name.
#[derive(Debug, Default)]
pub struct Census {
    /// Threads.
    pub threads: BTreeSet<i64>,
    /// Queues.
    pub queues: BTreeSet<i64>,
    /// Streams.
    pub streams: BTreeSet<i64>,
    /// Calls with a length.
    pub regions: u64,
    /// Calls without.
    pub marks: u64,
    /// Arguments of calls with a length.
    pub args: u64,
    /// Correlation id of the call that named each thread, the last if there are several.
    pub naming_calls: BTreeMap<i64, i64>,
}

struct Survey<'a> {
    census: Census,
    of_calls: bool,
    is_naming: &'a (dyn Fn(Option<i64>, Option<i64>) -> bool + Sync),
    last: [Option<i64>; 3],
}

// The closure is shared between threads by reference; the rest is owned.
impl Sink for Survey<'_> {
    type Output = Census;
    type Record<'de> = Surveyed;

    fn push(&mut self, record: Surveyed) {
        let counted = record.dispatch_data;
        let seen = [
            record.thread_id.0.or(counted.thread_id.0),
            record.queue_id.0.or(record.dispatch_info.queue_id.0).or(counted.dispatch_info.queue_id.0),
            record.stream_id.0.or(counted.stream_id.0),
        ];
        let census = &mut self.census;
        let sets = [&mut census.threads, &mut census.queues, &mut census.streams];
        for ((set, last), id) in sets.into_iter().zip(&mut self.last).zip(seen) {
            if *last != id {
                set.extend(id);
                *last = id;
            }
        }
        if self.of_calls {
            let times = Activity {
                start_timestamp: record.start_timestamp,
                end_timestamp: record.end_timestamp,
                timestamp: record.timestamp,
                ..Activity::default()
            };
            if times.has_length() {
                census.regions += 1;
                census.args += record.args.0 as u64;
            } else {
                census.marks += 1;
            }
            if (self.is_naming)(record.kind.0, record.operation.0)
                && let (Some(thread), Some(call)) = (record.thread_id.0, record.correlation_id.internal.0)
            {
                census.naming_calls.insert(thread, call);
            }
        }
    }

    fn finish(self) -> Census {
        self.census
    }
}

impl Census {
    fn read(capture: &Capture, findings: &mut Findings) -> Result<Self> {
        let (kinds, of_kinds) = capture.kinds()?;
        findings.extend(of_kinds);
        let is_naming = |kind: Option<i64>, operation: Option<i64>| {
            kinds.kind(kind) == Some(NAMING) && kinds.operation(kind, operation) == Some(NAMES_THREAD)
        };
        let mut census = Self::default();
        let others = [DISPATCHES, COPIES, HIP_EVENTS, COUNTERS].into_iter().chain(ALLOCATIONS.iter().copied());
        let others = others.chain(GRAPH_LAUNCHES.iter().copied()).map(|name| (name, false));
        for (name, of_calls) in capture.roles.calls.iter().map(|name| (name.as_str(), true)).chain(others) {
            for section in capture.process.named(name) {
                census.add_section(capture, findings, section, of_calls, &is_naming)?;
            }
        }
        Ok(census)
    }

    fn add_section(
        &mut self,
        capture: &Capture,
        findings: &mut Findings,
        section: &Section,
        of_calls: bool,
        is_naming: &(dyn Fn(Option<i64>, Option<i64>) -> bool + Sync),
    ) -> Result<()> {
        let survey = || Survey { census: Self::default(), of_calls, is_naming, last: [None; 3] };
        for part in capture.records(section, findings, survey)? {
            self.threads.extend(part.threads);
            self.queues.extend(part.queues);
            self.streams.extend(part.streams);
            self.regions += part.regions;
            self.marks += part.marks;
            self.args += part.args;
            self.naming_calls.extend(part.naming_calls);
        }
        Ok(())
    }
}

impl Capture {
    /// What the records name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn census(&self) -> Result<(&Census, &Findings)> {
        Self::cached(&self.census, |findings| Census::read(self, findings))
    }
}
