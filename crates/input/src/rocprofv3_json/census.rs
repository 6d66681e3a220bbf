//! The threads, queues and streams in the records, and the number of calls with a length. Several small tables need these from every
//! record, so one pass gathers them.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::capture::{Capture, SectionAnomalies};
use super::driver_events;
use super::integers::by_template;
use super::layout::Selected;
use super::layouts::Surveyed;
use super::parsing::row::{Row, Values};
use super::parts::{Collector, Shortcuts};
use super::structure::gathered::Keep;
use super::structure::index::Section;
use super::structure::roles::{ALLOCATIONS, COPIES, COUNTERS, DISPATCHES, GRAPH_LAUNCHES, HIP_EVENTS};
use super::template::IntColumn;

/// Category of the calls that name threads and other objects.
const NAMING: &str = "MARKER_NAME_API";
/// Operation of the calls that name a thread.
const NAMES_THREAD: &str = "roctxNameOsThread";

/// Ids and counts from the records.
#[derive(Debug, Default)]
pub(crate) struct Census {
    pub threads: BTreeSet<i64>,
    pub queues: BTreeSet<i64>,
    pub streams: BTreeSet<i64>,
    /// Calls with a length.
    pub regions: u64,
    /// Calls without a length.
    pub marks: u64,
    /// Arguments of calls with a length.
    pub args: u64,
    /// Correlation id of the last call that named each thread.
    pub naming_calls: BTreeMap<i64, i64>,
}

struct Survey<'a> {
    census: Census,
    of_calls: bool,
    is_naming: &'a (dyn Fn(Option<i64>, Option<i64>) -> bool + Sync),
    last: [Option<i64>; 3],
}

impl Survey<'_> {
    fn take(&mut self, values: &Values) {
        let [thread, queue, stream, kind, operation, correlation, start, end, args, ..] = *values;
        let census = &mut self.census;
        let sets = [&mut census.threads, &mut census.queues, &mut census.streams];
        for ((set, last), id) in sets.into_iter().zip(&mut self.last).zip([thread, queue, stream]) {
            if *last != id {
                set.extend(id);
                *last = id;
            }
        }
        if self.of_calls {
            if Keep::WithLength.accepts(start, end) {
                census.regions += 1;
                census.args += args.and_then(|args| u64::try_from(args).ok()).unwrap_or_default();
            } else {
                census.marks += 1;
            }
            if (self.is_naming)(kind, operation)
                && let (Some(thread), Some(call)) = (thread, correlation)
            {
                census.naming_calls.insert(thread, call);
            }
        }
    }

    fn take_all(mut self, columns: &[IntColumn]) -> Self {
        let mut rows: Vec<_> = columns.iter().map(IntColumn::iter).collect();
        for _ in 0..columns.first().map_or(0, |column| column.values().len()) {
            let mut values = Values::default();
            values.iter_mut().zip(&mut rows).for_each(|(value, column)| *value = column.next().flatten().copied());
            self.take(&values);
        }
        self
    }
}

impl Census {
    fn read(capture: &Capture, findings: &mut SectionAnomalies) -> Result<Self> {
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
        findings: &mut SectionAnomalies,
        section: &Section,
        of_calls: bool,
        is_naming: &(dyn Fn(Option<i64>, Option<i64>) -> bool + Sync),
    ) -> Result<()> {
        let survey = || Survey { census: Self::default(), of_calls, is_naming, last: [None; 3] };
        let selected = Selected::new::<Surveyed>(Keep::Every, |_| true);
        let push = |survey: &mut Survey<'_>, record: Row<Surveyed>| survey.take(&record.values);
        let template = |text: &[u8], length: usize| Some(survey().take_all(&by_template(&selected, text, length)?));
        let shortcuts = Some(Shortcuts { gathered: &|_| None, template: &template });
        let collector = Collector { new: &survey, push: &push, shortcuts };
        for Survey { census: part, .. } in capture.collect(section, findings, &collector)? {
            self.threads.extend(part.threads);
            self.queues.extend(part.queues);
            self.streams.extend(part.streams);
            self.regions += part.regions;
            self.marks += part.marks;
            self.args += part.args;
            self.naming_calls.extend(part.naming_calls);
        }
        if driver_events::are_in(&section.name) {
            self.args += driver_events::count_details(capture, section)?;
        }
        Ok(())
    }
}

impl Capture {
    /// Ids and counts from the records.
    pub(crate) fn census(&self) -> Result<(&Census, &SectionAnomalies)> {
        Self::cached(&self.census, |findings| Census::read(self, findings))
    }
}
